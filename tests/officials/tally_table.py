"""A table at which only the tally is kept: deals are entered whole, or act by act."""

from typing import Any

from referee.acts import Result
from referee.events import DealScored
from referee.refusals import Refused
from referee.requests import Request
from tests import given
from tests.played import opening


class Tallied(given.Table):
    """A match of which only the tally is kept; the last seat deals first."""

    def __init__(self, ruleset: str, players: int = 4, *, dealer: int | None = None, **match: Any) -> None:
        first_dealer = players - 1 if dealer is None else dealer
        super().__init__(
            opening(ruleset=ruleset, players=players, first_dealer=first_dealer, dealing="tally", **match)
        )

    def enter(self, **told: Any) -> DealScored:
        """The line of a deal that is entered whole."""
        self.do(Result(**told))
        return self.line

    def wrong(self, act: Request, *, rule: str | None, code: str, at: str | None = None) -> Refused:
        """The refusal of an act, where in it it rests, and nothing has happened."""
        refusal = self.refused(act, rule=rule, code=code)
        assert refusal.facts.get("at") == at
        return refusal

    def change(self) -> tuple[int, ...]:
        """What the last deal brought each seat."""
        return tuple(after - before for before, after in zip(self.line.before, self.line.points, strict=True))
