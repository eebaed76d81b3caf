"""What a client's developer reads: the games, their rules, and the reference."""
