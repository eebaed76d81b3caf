"""A club: its members as numbers, its keys and its evenings, beside the matches and by rules as pure.

:mod:`~referee.clubs.facts` is all that projections may know of it. What is asked of it
(:mod:`~referee.clubs.commands`) is decided on how it stands (:mod:`~referee.clubs.state`) by :data:`~referee.clubs.rules.RULES`.
"""
