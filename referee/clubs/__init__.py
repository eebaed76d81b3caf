"""Clubs: members (as numbers), keys, evenings and money, with rules as pure as those of the matches.

Projections know a club only by :mod:`~referee.clubs.facts`. Its commands (:mod:`~referee.clubs.commands`) are decided
on its state (:mod:`~referee.clubs.state`) by :data:`~referee.clubs.rules.RULES`.
"""
