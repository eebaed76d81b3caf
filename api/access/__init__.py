"""Who is asking, and who may see and do what: calls ask :mod:`api.access.access`, and decide nothing themselves."""
