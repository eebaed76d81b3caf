"""What is kept of matches."""
