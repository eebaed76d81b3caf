"""Names, payment numbers and texts of members. They are outside the events, so that they can be erased."""
