"""The log of the store: its signing, and what anybody can check of it."""
