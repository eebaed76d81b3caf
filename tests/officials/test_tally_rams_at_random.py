"""English Rams: deals are played with cards and entered as a table writes them down, with the same lines."""

from collections.abc import Iterator
from typing import Any

import pytest

from referee.acts import Act, Bid, BidEntered, Deal, Exchange, FaultEntered, Knock, Report, Result, Score, Trick
from referee.events import DealScored, MatchOpened, TrickTaken
from referee.games.rams_english.states import Declared, TurnUpTaken
from referee.visibility import Event
from tests.officials.tally_comparison import PlayedWithCards, written
from tests.support.random_deals import RETOLD

FAULTS: tuple[Any, ...] = ("revoke", "not_heading", "exposed_card", "wrong_count", "led_out_of_turn")


class Careless(PlayedWithCards):
    """A table at which generalrams is rare and faults are frequent."""

    def some_act(self) -> Act | Knock | None:
        phase, chance = self.state.__struct_config__.tag, self.chance
        if self.table and phase in ("playing", "played") and chance.random() < 0.04:
            self.listed = False
            seat, accused = chance.choice(self.seats), chance.choice(self.seats)
            return Report(seat=seat, accused=accused, fault=chance.choice(FAULTS))
        if self.table and phase == "declaring" and chance.random() < 0.005:
            self.listed = False
            return Report(seat=0, accused=self.state.table.dealer, fault="misdeal")
        act = super().some_act()
        if isinstance(act, Bid) and act.bid == "generalrams" and chance.random() < 0.8:
            return super().some_act()
        return act


def written_down(opened: MatchOpened, deal: list[tuple[int, Event]]) -> Result:
    """Return the sheet of a deal: words, winners and second-best cards of the tricks, and faults."""
    numbered = dict(deal)
    line = next(event for event in numbered.values() if isinstance(event, DealScored))
    if line.kind == "misdeal":
        return Result(misdeal=True)
    bids = tuple(
        BidEntered(seat=event.seat, bid=event.word) for event in numbered.values() if isinstance(event, Declared)
    )
    if line.kind == "paid":
        return Result(bids=bids)
    taken = [number for number, event in deal if isinstance(event, TrickTaken)]
    shares = {entry.events[0]: entry.seat for entry in line.entries if entry.rule == "D71"}
    breaches = [breach for _, event in deal for breach in getattr(event, "breaches", ()) if breach.points]
    faults = tuple(FaultEntered(seat=breach.seat, fault=breach.offence) for breach in breaches)
    return Result(
        bids=bids,
        tricks=tuple(numbered[number].seat for number in taken),
        second=tuple(shares.get(number) for number in taken) if shares else None,
        exchanged=any(isinstance(event, TurnUpTaken) for event in numbered.values()),
        faults=faults or None,
    )


def one_by_one(state: Any, result: Result) -> Iterator[Act]:
    """Yield the acts of a deal; each fault is reported once its seat has taken its last trick."""
    dealer = state.table.dealer
    yield Deal(seat=dealer)
    if result.misdeal:
        yield Report(seat=dealer, accused=dealer, fault="misdeal")
        return
    for one in result.bids or ():
        yield Bid(seat=one.seat, bid=one.bid)
    if result.tricks is None:
        return
    if result.exchanged:
        yield Exchange(seat=dealer)
    announcer = next((one.seat for one in result.bids or () if one.bid == "generalrams"), None)
    *first, last = result.tricks
    for seat in first:
        yield Trick(seat=seat)
    faults = result.faults or ()
    early = [one for one in faults if one.seat == announcer == last]
    for one in early:
        yield Report(seat=one.seat, accused=one.seat, fault=one.fault)
    yield Trick(seat=last)
    for one in faults:
        if one not in early:
            yield Report(seat=one.seat, accused=one.seat, fault=one.fault)
    at_fault = {one.seat for one in faults}
    for seat, second in zip(result.tricks, result.second or (), strict=False):
        if seat in at_fault and second is not None:
            yield Trick(seat=seat, second=second)
    yield Score(seat=dealer)


@pytest.mark.rule("D22", "D45", "D59", "D71", "D-O29")
def test_the_same_lines_as_with_cards() -> None:
    met = written("rams-english", 2 * RETOLD, written_down, one_by_one, played=Careless)
    assert met["written"] == 2 * RETOLD
    kinds = ("played", "generalrams_won", "generalrams_lost", "paid", "misdeal")
    assert all(met[f"kind:{kind}"] for kind in kinds), met
    assert all(met[rule] for rule in ("D31", "D60", "D70", "D71", "D-O11")), met
