"""Documentation for client developers: the games, their rules, the problem types, and the API reference."""
