"""Erasable names, payment numbers and texts of members, stored outside the events."""
