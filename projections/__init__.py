"""What readers ask for: books built from the events, without any rules."""
