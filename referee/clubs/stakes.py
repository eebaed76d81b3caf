"""A club's settings for stakes, as applied when a match is opened."""

from collections.abc import Sequence

from referee.clubs.state import Club
from referee.events import Dealing, Stakes, StakesNeed
from referee.refusals import AgainstTheClub
from referee.ruleset import Ruleset
from referee.settlement import sum_of_payments


def check_limit(club: Club, rules: Ruleset, stakes: Stakes, points: Sequence[int], pot: int) -> None:
    """Raise ``AgainstTheClub`` if a point, or the points or pot at the start, exceed the club's limit."""
    at_start = max(sum_of_payments(points), abs(pot)) if rules.has_pot else stakes.unit * max(map(abs, points))
    amount = max(stakes.unit, at_start)
    if club.stake_limit is not None and amount > club.stake_limit:
        raise AgainstTheClub("stakes_above_limit", None, limit=club.stake_limit, amount=amount)


def stakes_need_of(club: Club, rules: Ruleset, dealing: Dealing, points: Sequence[int], pot: int) -> StakesNeed:
    """Return the people who must agree to the stakes: as the club has set, but all members if the house deals or the
    start is unusual."""
    usual_start = not pot and all(one == rules.start_points for one in points)
    return club.stakes_need if dealing != "house" and usual_start else "members"
