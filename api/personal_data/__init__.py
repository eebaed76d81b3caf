"""Names, payment numbers and texts of members. They are kept outside the events, so that they can be erased."""
