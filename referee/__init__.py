"""The referee: rules as pure functions, and the event store."""
