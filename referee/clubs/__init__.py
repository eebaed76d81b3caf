"""Clubs: members (as numbers), keys, evenings and money. Projections know a club only by
:mod:`~referee.clubs.facts`."""
