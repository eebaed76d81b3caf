"""The HTTP service, and where the parts are put together."""
