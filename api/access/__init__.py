"""Callers and their rights. Calls leave every decision on rights to :mod:`api.access.access`."""
