"""The calls for the signed log."""
