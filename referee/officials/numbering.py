"""Temporary numbers for facts of a correction, which share one event, because games compare numbers (B71, B-O12).

Recorded lines have the numbers of the ruling and the correction instead.
"""

from typing import Any

from msgspec.structs import replace

from referee.events import Breach, DealScored, KnockDismissed, KnockUpheld
from referee.offences import Ledger, NotedBreach
from referee.visibility import Event


def recorded_form(fact: Event, correction: int) -> Event:
    """Return a fact whose proofs name event ``correction`` instead of later events."""
    if isinstance(fact, KnockUpheld | KnockDismissed):
        return replace(fact, rests_on=_capped(fact.rests_on, correction))
    breaches: tuple[Breach, ...] | None = getattr(fact, "breaches", None)
    if not breaches:
        return fact
    shown = [replace(breach, shown_by=_capped(breach.shown_by, correction)) for breach in breaches]
    return replace(fact, breaches=tuple(shown))


def _capped(numbers: tuple[int, ...], last: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys([min(number, last) for number in numbers]))


class Numbering:
    """Makes temporary numbers greater than ``last``, and maps each to the number of a recorded event."""

    def __init__(self, last: int) -> None:
        self._last = last
        self._recorded: dict[int, int] = {}
        """Numbers of recorded events, by temporary number, for the deal under way."""

    def next(self, correction: int) -> int:
        """Return a number for the next fact of this correction. The number before it means the ruling."""
        self._last += 2
        self._recorded[self._last - 1] = correction - 1
        self._recorded[self._last] = correction
        return self._last

    def events(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return these numbers. If some are temporary, replace them by recorded numbers and drop repetitions."""
        if self._recorded.keys().isdisjoint(numbers):
            return numbers
        return tuple(dict.fromkeys([self._recorded.get(number, number) for number in numbers]))

    def line(self, line: DealScored) -> DealScored:
        if not self._recorded:
            return line
        return replace(
            line,
            entries=tuple([replace(one, events=self.events(one.events)) for one in line.entries]),
            pot_entries=tuple([replace(one, events=self.events(one.events)) for one in line.pot_entries]),
            detail=self._detail(line.detail),
        )

    def ledger(self, ledger: Ledger) -> Ledger:
        """Return the ledger after a deal, with recorded numbers in its past breaches.

        Forget the temporary numbers, because later deals refer to a scored deal only by these breaches.
        """
        if not self._recorded:
            return ledger
        ledger = replace(ledger, past=tuple([self._breach(one) for one in ledger.past]))
        self._recorded.clear()
        return ledger

    def _detail(self, value: Any) -> Any:
        """Return a part of a line's detail with recorded numbers in every list named ``events``."""
        if isinstance(value, dict):
            return {
                name: list(self.events(tuple(part))) if name == "events" else self._detail(part)
                for name, part in value.items()
            }
        return [self._detail(part) for part in value] if isinstance(value, list) else value

    def _breach(self, one: NotedBreach) -> NotedBreach:
        breach = replace(one.breach, shown_by=self.events(one.breach.shown_by))
        (event,) = self.events((one.event,))
        return replace(one, breach=breach, event=event)
