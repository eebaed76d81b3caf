"""A club's settings for the stakes of a match at its opening."""

from collections.abc import Sequence

from referee.clubs.state import Club
from referee.events import Dealing, Stakes, StakesNeed
from referee.refusals import AgainstTheClub
from referee.ruleset import Ruleset
from referee.settlement import moved


def check_limit(club: Club, rules: Ruleset, stakes: Stakes, points: Sequence[int], pot: int) -> None:
    """Raise ``AgainstTheClub`` if one point, or a player's points at the start, are worth more than a match may move.

    Every deal may raise the points, so no opening can be sure to stay below the limit. The books do not count a
    result above it.
    """
    at_start = max(moved(points), abs(pot)) if rules.has_pot else stakes.unit * max(map(abs, points))
    amount = max(stakes.unit, at_start)
    if club.stake_limit is not None and amount > club.stake_limit:
        raise AgainstTheClub("stakes_above_limit", None, limit=club.stake_limit, amount=amount)


def need_of(club: Club, rules: Ruleset, dealing: Dealing, points: Sequence[int], pot: int) -> StakesNeed:
    """Return who agrees to the stakes: each member if the house deals or the points at the start are unusual;
    otherwise the club's setting decides."""
    as_ever = not pot and all(one == rules.start_points for one in points)
    return club.stakes_need if dealing != "house" and as_ever else "members"
