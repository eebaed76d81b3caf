"""Names, payment numbers and texts of members, outside the events, so that they can be erased."""
