"""Deals in a tally: the winner of each trick is entered, but no cards (D22-D71, D-O29).

With ``forfeited_share`` ``second_best`` a trick of a player at fault needs the second-best card: the best one of the
players without fault.
"""

from collections.abc import Generator
from typing import Annotated, Any

from msgspec.structs import replace

from referee import wire_types
from referee.acts import KNOCKS_MAX, TRICKS_MAX, Bid, BidEntered, Deal, Exchange, FaultEntered, Report, Score, Trick
from referee.events import TrickTaken
from referee.games.rams_english import payment
from referee.games.rams_english.deal import seats_in_play
from referee.games.rams_english.states import Declaring, Played, Playing, SecondEntered, State, Undealt
from referee.refusals import AgainstTheRules, NotInPlay, Refused, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Script
from referee.value import Seat, Value
from referee.visibility import Event


def trick(state: Playing, act: Trick, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a trick, with the seat of the second-best card, if given (D40, D57, D71).

    Raises: WrongPhase outside a tally, NotInPlay if a seat does not play, AgainstTheRules if the seats are equal.
    """
    if not state.table.tally:
        raise WrongPhase("not_tallied", None)
    if act.seat not in state.order:
        raise _not_in_play_refusal(state, act.seat)
    if (refusal := _second_refusal(state, act.seat, act.second)) is not None:
        raise refusal
    return (TrickTaken(seat=act.seat, trick=len(state.won) + 1, second=act.second),)


def _not_in_play_refusal(state: Playing | Played, seat: int) -> NotInPlay:
    """Return the refusal of a seat that does not play the deal or does not exist (D2, D40, D-O9)."""
    if seat >= state.table.seats:
        return NotInPlay("no_such_seat", None, seat=seat)
    return NotInPlay("not_in_play", "D40" if seat in state.dealing.order else "D-O9", seat=seat)


def _second_refusal(state: Playing | Played, taker: int, second: int | None) -> Refused | None:
    """Return the refusal if seat ``second`` cannot have played the second-best card, else None (D71)."""
    if second is None:
        return None
    if second not in seats_in_play(state):
        return _not_in_play_refusal(state, second)
    return AgainstTheRules("second_is_first", "D71", seat=taker) if second == taker else None


def trick_without_second(state: Played) -> int | None:
    """Return the index of the first trick that needs a second-best card, or None (D71, D-O11, D-O29)."""
    table, deal = state.table, state.outcome
    if not table.tally or deal.kind != "played" or table.options.forfeited_share != "second_best":
        return None
    faults = payment.fault_events_by_seat(table)
    if not faults.keys() or not faultless_seats(state):
        return None
    places = enumerate(deal.won)
    return next((n for n, one in places if one.seat in faults and (one.second is None or one.second in faults)), None)


def faultless_seats(state: Played) -> tuple[int, ...]:
    faults = payment.fault_events_by_seat(state.table)
    return tuple([seat for seat in state.outcome.order if seat not in faults])


def name_second(state: Played, act: Trick, moment: Moment) -> tuple[Event, ...]:
    """Return the event that names the second-best card of the first trick that needs it (D71, D-O29).

    Raises: WrongPhase if no trick needs it, AgainstTheRules for a different winner or without a faultless seat.
    """
    deal, place = state.outcome, trick_without_second(state)
    if place is None:
        raise WrongPhase("all_tricks_entered", "D58" if deal.said.announcer is not None else "D3")
    if deal.won[place].seat != act.seat or act.second not in faultless_seats(state):
        raise _second_missing_refusal(state, place)
    return (SecondEntered(seat=act.second, trick=place + 1),)


def _second_missing_refusal(state: Played, place: int) -> AgainstTheRules:
    return AgainstTheRules(
        "second_needed", "D71", trick=place + 1, seat=state.outcome.won[place].seat, allowed=faultless_seats(state)
    )


def second_named(state: Played, event: SecondEntered, number: int) -> Played:
    won = [
        replace(one, second=event.seat) if place == event.trick else one
        for place, one in enumerate(state.outcome.won, 1)
    ]
    return replace(state, outcome=replace(state.outcome, won=tuple(won)))


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Return the line of the deal. Raises AgainstTheRules if a trick needs a second-best card (D71, D-O24)."""
    if (place := trick_without_second(state)) is not None:
        raise _second_missing_refusal(state, place)
    return payment.score(state, act, moment)


class Result(Value, forbid_unknown_fields=True):
    """The result of a deal. After a misdeal it has only ``misdeal`` (D67)."""

    bids: Annotated[tuple[BidEntered, ...], wire_types.at_most(TRICKS_MAX)] | None = None
    """Declarations, in order (D22-D45)."""
    tricks: Annotated[tuple[Seat, ...], wire_types.at_most(TRICKS_MAX)] | None = None
    """Winner of each trick; left out if the deal was bought off (D32)."""
    second: Annotated[tuple[Seat | None, ...], wire_types.at_most(TRICKS_MAX)] = ()
    """Seat that played the best card of players without fault, by trick (D71)."""
    exchanged: bool = False
    """True if the dealer took the turned-up card (D46)."""
    faults: Annotated[tuple[FaultEntered, ...], wire_types.at_most(KNOCKS_MAX)] = ()
    """Faults in play, one entry for each (D68-D70)."""
    misdeal: bool = False
    """True if the dealer misdealt, and the deal passed on (D67)."""


def script(state: Undealt, result: Result) -> Script:
    """Yield the acts of a result. Raises Refused for a missing or impossible value."""
    dealer = state.table.dealer
    now: State = yield "", Deal(seat=dealer)
    if result.misdeal:
        _check_nothing_else(result, ("bids", "tricks", "second", "exchanged", "faults"), "D67")
        yield "/misdeal", Report(seat=dealer, accused=dealer, fault="misdeal")
        return
    if result.bids is None:
        raise AgainstTheRules("missing_in_the_result", "D24", at="/bids")
    for place, one in enumerate(result.bids):
        if not isinstance(now, Declaring | Playing):
            raise WrongPhase("declarations_over", "D32", at=f"/bids/{place}")
        now = yield f"/bids/{place}", Bid(seat=one.seat, bid=one.bid)
    if isinstance(now, Declaring):
        raise AgainstTheRules("bids_missing", "D28", turn=now.to_speak[0], at="/bids")
    if not isinstance(now, Playing):
        _check_nothing_else(result, ("tricks", "second", "exchanged", "faults"), "D32")
        return
    now = yield from _play_steps(now, result)
    if (wanted := trick_without_second(now)) is not None:
        refusal = _second_missing_refusal(now, wanted)
        refusal.facts["at"] = f"/second/{wanted}"
        raise refusal
    yield "", Score(seat=dealer)


def _play_steps(state: Playing, result: Result) -> Generator[tuple[str, Request], Any, Played]:
    """Yield the exchange, the tricks and the faults, and return the state after them (D3, D46, D58, D-O15).

    Faults come after the tricks, or before the last trick if the announcer took it.
    """
    tricks, announcer = result.tricks, state.said.announcer
    if tricks is None:
        raise AgainstTheRules("missing_in_the_result", "D3", at="/tricks")
    if len(result.second) > len(tricks):
        raise AgainstTheRules("one_second_a_trick", "D71", done=len(tricks), at=f"/second/{len(tricks)}")
    reports = [
        (f"/faults/{place}", Report(seat=fault.seat, accused=fault.seat, fault=fault.fault))
        for place, fault in enumerate(result.faults)
    ]
    reported_after = len(tricks) - 1 if announcer in tricks[-1:] else len(tricks)
    now: State = state
    if result.exchanged:
        now = yield "/exchanged", Exchange(seat=state.table.dealer)
    for place, seat in enumerate(tricks):
        if not isinstance(now, Playing):
            raise AgainstTheRules(
                "too_many_tricks", "D3" if announcer is None else "D58", done=place, at=f"/tricks/{place}"
            )
        second = result.second[place] if place < len(result.second) else None
        if (refusal := _second_refusal(now, seat, second)) is not None:
            refusal.facts["at"] = f"/second/{place}"
            raise refusal
        if place == reported_after:
            for report in reports:
                yield report
        now = yield f"/tricks/{place}", Trick(seat=seat, second=second)
    if isinstance(now, Playing):
        raise AgainstTheRules("tricks_missing", "D3", done=len(tricks), at="/tricks")
    if reported_after == len(tricks):
        for report in reports:
            now = yield report
    assert isinstance(now, Played), "the play has ended"
    return now


def _check_nothing_else(result: Result, names: tuple[str, ...], rule: str) -> None:
    """Raise AgainstTheRules if one of ``names`` has a value."""
    for name in names:
        if getattr(result, name):
            raise AgainstTheRules("nothing_was_played", rule, at=f"/{name}")
