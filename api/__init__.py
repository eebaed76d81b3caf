"""The HTTP service, and where the parts are put together."""

VERSION = "0.1.0"
"""Of the package and of the description of its interface: ``pyproject.toml`` reads it here."""
