"""The facts of what officials do, which no game knows."""
