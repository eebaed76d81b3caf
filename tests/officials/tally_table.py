"""A tally for tests: deals are entered whole, or act by act."""

from typing import Any

from referee.acts import Result
from referee.events import DealScored
from referee.refusals import Refused
from referee.requests import Request
from tests.support import match_driver
from tests.support.random_matches import opening


class Tallied(match_driver.Table):
    """A tally in which the last seat deals first."""

    def __init__(self, ruleset: str, players: int = 4, *, dealer: int | None = None, **match: Any) -> None:
        first_dealer = players - 1 if dealer is None else dealer
        super().__init__(
            opening(ruleset=ruleset, players=players, first_dealer=first_dealer, dealing="tally", **match)
        )

    def enter(self, **fields: Any) -> DealScored:
        """Enter a whole deal; return its line."""
        self.do(Result(**fields))
        return self.line

    def wrong(self, act: Request, *, rule: str | None, code: str, at: str | None = None) -> Refused:
        """Return the refusal of an act; check its rule, its code and the place in the act that it names."""
        refusal = self.refused(act, rule=rule, code=code)
        assert refusal.facts.get("at") == at
        return refusal

    def change(self) -> tuple[int, ...]:
        """Return the points of the last deal, by seat."""
        return tuple(after - before for before, after in zip(self.line.before, self.line.points, strict=True))
