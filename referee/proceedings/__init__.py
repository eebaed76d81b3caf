"""Facts of the procedure, which stands above the games."""
