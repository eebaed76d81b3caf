"""The HTTP service."""

VERSION = "0.1.0"
"""Version of the package (``pyproject.toml`` reads it) and of the OpenAPI description."""
