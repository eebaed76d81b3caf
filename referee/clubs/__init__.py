"""Clubs: members (as numbers), keys, evenings and money. Projections use only :mod:`~referee.clubs.facts`."""
