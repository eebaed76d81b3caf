"""The edge to the event store: rows, matches as folds of them, and the desk that commits."""
