"""The HTTP service."""

VERSION = "0.1.0"
"""The version of the package and of the OpenAPI description. ``pyproject.toml`` reads it here."""
