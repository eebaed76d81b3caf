"""Tallies, compared with the same deals played with cards.

A deal of a random match (:mod:`tests.support.random_deals`) is entered in a separate match, as a table would write it
down. The two lines must be equal, apart from the numbers of events.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from random import Random
from typing import Any

from msgspec.structs import replace

from referee.acts import AnyAct, Result
from referee.events import DealScored, Dealt, FirstDealerDrawn, MatchOpened
from referee.games import RULESETS
from referee.visibility import Event
from tests.support.random_deals import Playout
from tests.support.random_openings import some_match
from tests.support.random_tallies import Tally

DEALS_MAX = 20
"""The most deals in one match."""

Writes = Callable[[MatchOpened, list[tuple[int, Event]]], Result]
"""Returns the sheet that a table would write of a deal, from its events and their numbers."""
Acts = Callable[[Any, Result], Iterator[AnyAct]]
"""Yields the acts of the same deal, from the state before it."""


def without_numbers(line: DealScored) -> DealScored:
    """Return a line without the numbers of events and without the order of faults."""
    entries = sorted([replace(one, events=()) for one in line.entries], key=repr)
    pot_entries = sorted([replace(one, events=()) for one in line.pot_entries], key=repr)
    return replace(line, entries=tuple(entries), pot_entries=tuple(pot_entries))


def line_of(events: tuple[Event, ...]) -> DealScored:
    """Return the line among these events."""
    return next(event for event in events if isinstance(event, DealScored))


class PlayedWithCards(Playout):
    """A match whose deals are written down as well."""

    def __init__(self, *args: Any, writes: Writes, acts: Acts | None = None, **kwargs: Any) -> None:
        self.writes, self.acts = writes, acts
        self.sheets: tuple[Tally, ...] = ()
        self.of_the_deal: list[tuple[int, Event]] = []
        super().__init__(*args, **kwargs)
        if not self.sheets and self.opened.first_dealer is not None:
            self.sheets = self.begun(self.opened.first_dealer)

    def begun(self, first_dealer: int) -> tuple[Tally, ...]:
        """Return two tallies: one for results, and one for the same deals act by act."""
        return tuple([Tally(self.opened, first_dealer) for _ in range(1 if self.acts is None else 2)])

    def stand(self, events: tuple[Event, ...], state: Any = None) -> None:
        number = self.version
        super().stand(events, state)
        for event in events:
            number += 1
            match event:
                case FirstDealerDrawn():
                    self.sheets = self.begun(event.seat)
                case Dealt():
                    self.of_the_deal = []
                case DealScored():
                    self.write(event)
            self.of_the_deal.append((number, event))

    def write(self, line: DealScored) -> None:
        """Check that the sheet of a deal gives the same line."""
        result, wanted = self.writes(self.opened, [*self.of_the_deal, (0, line)]), without_numbers(line)
        self.met["written"] += 1
        self.met.update([entry.rule for entry in line.entries])
        assert without_numbers(line_of(self.sheets[0].do(result))) == wanted, result
        if self.acts is None:
            return
        sheet = self.sheets[1]
        assert without_numbers(line_of(sheet.do(*self.acts(sheet.state, result)))) == wanted, result


def written(
    key: str,
    deals: int,
    writes: Writes,
    acts: Acts | None = None,
    *,
    closed: bool | None = None,
    played: type[PlayedWithCards] = PlayedWithCards,
    tempting: Mapping[str, Any] | None = None,
) -> Counter[str]:
    """Play this many deals with cards and enter each; return counts of what was met. ``tempting``: options of every
    other match."""
    rules, met = RULESETS[key], Counter[str]()
    for number in count():
        chance = Random(f"{key} {number}")
        try:
            opened = some_match(chance, rules, tempting=tempting if number % 2 else None)
            match = played(rules, chance, met, keep=False, opened=opened, closed=closed, writes=writes, acts=acts)
            while not match.over and match.deals < DEALS_MAX and met["written"] < deals:
                match.step()
        except Exception as error:
            error.add_note(f"in match {number} of {key}")
            raise
        if met["written"] >= deals:
            return met
    raise AssertionError("never reached")
