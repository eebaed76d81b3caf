"""Projections: read models built from the events, without any rules of the games."""
