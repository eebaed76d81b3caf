"""The referee: rules of the games and clubs as pure functions, and the event store."""
