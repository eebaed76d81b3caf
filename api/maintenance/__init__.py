"""What operators do with a store: verify, diagnose, back up and restore it."""
