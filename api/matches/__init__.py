"""Matches: opening one, looking at it, acting in it, and what happened."""
