"""The referee: pure rules inside, the event store at its edge."""
