"""The facts of what stands above the games, a module for each part of it."""
