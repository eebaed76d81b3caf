"""Deals in a tally, entered trick by trick or whole from the score sheet (A-O31, B-O40, C-O36).

A script yields the acts of a whole deal, each with a JSON pointer to its place in the result. After each act it
receives the next state.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Annotated, Any, NamedTuple

from msgspec import Meta

from referee import phases
from referee.acts import (
    KNOCKS_MAX,
    TRICKS_MAX,
    Answer,
    AnswerEntered,
    Ask,
    Bid,
    BidEntered,
    Deal,
    ExitEntered,
    Knock,
    KnockEntered,
    KnockOut,
    Offence,
    Report,
    Score,
    Trick,
    TrickCount,
)
from referee.events import Breach, TrickTaken
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.in_play import InPlay
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS
from referee.phases import phase_of
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Script
from referee.value import SeatSent, Value
from referee.visibility import Event

Knocks = Annotated[tuple[KnockEntered, ...], Meta(max_length=KNOCKS_MAX)]
Exits = Annotated[tuple[ExitEntered, ...], Meta(max_length=TRICKS_MAX)]


class SharedResult(Value, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a result that all three games have."""

    bids: Annotated[tuple[BidEntered, ...], Meta(max_length=TRICKS_MAX)] = ()
    """Bids, in the order spoken."""
    tricks: Annotated[tuple[SeatSent, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Seat that took each trick, in order; give either this or `taken`."""
    taken: Annotated[tuple[TrickCount, ...], Meta(max_length=8)] | None = None
    """Number of tricks, by seat."""
    late: Annotated[tuple[TrickCount, ...], Meta(max_length=8)] | None = None
    """Number of tricks among the last two, by seat; left out: none."""
    answers: Annotated[tuple[AnswerEntered, ...], Meta(max_length=8)] = ()
    """Answers to the question, in the order spoken."""
    asked: bool = True
    """True if the question was put in time."""

    def halves(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return, by seat, the numbers of tricks among the first four and the last two; empty without ``taken``."""
        taken = self.taken or ()
        late = self.late or (0,) * len(taken)
        return tuple([all_ - after for all_, after in zip(taken, late, strict=True)]), late


class Sheet(Value):
    """Functions and rules to read a game's score sheet."""

    cites: CitedRules
    six_tricks: str
    """Rule that a deal has six tricks."""
    question_time: Callable[[Any], bool]
    """Returns whether the question may be put."""
    question_due: Callable[[Any], bool]
    """Returns whether the question must be put."""
    asker: Callable[[Any], int]
    order_decides: Callable[[Any, Any], str | None]
    """Returns the rule by which the order of tricks matters, or ``None``. Called before and after the play."""
    running_total: Callable[[Any, int], int] | None = None
    """Returns the running total of a seat. ``None``: the game has no exit knocks."""
    exit_ends_deal: Callable[[Any], bool] = lambda table: False
    """Returns whether an exit knock can end the deal."""
    knocks_can_be_late: Callable[[Any], bool] = lambda table: False
    """Returns whether a knock can come too late during the deal."""
    offences: Mapping[str, str] = {}
    """Rule ids by offence."""


SHOWN_BY_TALLY = frozenset(("fold_question", "exit_knock"))
BEFORE_BIDDING = frozenset(("wrong_cut", "early_pick_up", "misdeal", "wrong_count"))
MISDEAL_OFFENCES = frozenset(("misdeal", "wrong_count"))


def trick_decision(
    cites: CitedRules, before_the_lead: Callable[[Any, int, Moment], tuple[Breach, ...]]
) -> phases.Decision:
    """Return the function that decides on a trick in a tally (A37, B52, C32).

    It raises WrongPhase outside a tally, NotInPlay for a seat folded or out, AgainstTheRules while an answer is due
    or if ``second`` is given, and what ``before_the_lead`` raises.
    """

    def taken(state: InPlay[Any], act: Trick, moment: Moment) -> tuple[Event, ...]:
        if not state.table.tally:
            raise WrongPhase("not_tallied", None)
        if act.second is not None:
            raise AgainstTheRules("second_not_entered", None)
        if act.seat not in state.order:
            raise NotInPlay("has_folded", cites.folded)
        if state.question.pending:
            raise AgainstTheRules("answers_pending", cites.answers, turn=state.question.pending[0])
        breaches = before_the_lead(state, state.turn, moment)
        return (TrickTaken(seat=act.seat, trick=len(state.won) + 1, breaches=breaches),)

    return taken


class _Placed(NamedTuple):
    """An exit or knock due ``after`` a number of tricks."""

    after: int
    pointer: str
    content: Any
    """The knock, or the seat of the exit."""
    another: bool = False
    """True for a further error of the same offence and seat."""


State = Any
Steps = Generator[tuple[str, Request], State, State]
"""Part of a script. Returns the last state."""


class _Waiting(NamedTuple):
    """Exits and knocks not yet yielded."""

    exits: list[_Placed]
    knocks: list[_Placed]
    final_knocks: list[_Placed]
    """Knocks after the last trick."""


def script(state: State, result: Any, sheet: Sheet) -> Script:
    """Yield the acts of a deal. Raises AgainstTheRules or NotInPlay for an impossible result or ruling."""
    knocks = _placed_knocks(_list_or_empty(result, "knocks"))
    state = yield from _before_play(state, result, knocks, sheet)
    tricks = _pointers_and_takers(state, result, sheet)
    _check_order(state, result, sheet)
    exits = [
        _Placed(one.after, f"/exits/{place}", one.seat) for place, one in enumerate(_list_or_empty(result, "exits"))
    ]
    during = [one for one in knocks if one.content.after is not None]
    last = [one for one in knocks if one.content.after is None and one.content.offence not in BEFORE_BIDDING]
    state = yield from _play(state, result, tricks, _Waiting(exits, during, last), sheet)
    for placed in (*exits, *during):
        raise AgainstTheRules("after_the_last_trick", sheet.six_tricks, at=placed.pointer, done=TRICKS)
    for placed in last:
        state = yield from _report_and_knock(state, placed, sheet)
    if phase_of(state) == "played":
        _check_order(state, result, sheet)
        yield "", Score(seat=state.table.playing[0])


def _before_play(state: State, result: Any, knocks: list[_Placed], sheet: Sheet) -> Steps:
    """Yield knocks for early errors, the deal and the bids. Raises AgainstTheRules if bids are missing."""
    dealer = state.table.dealer
    for placed in knocks:
        knock = placed.content
        if knock.offence in BEFORE_BIDDING and knock.after is None:
            # a deal first, because a misdeal leads to a new one (B27)
            if knock.offence in MISDEAL_OFFENCES and knock.upheld:
                state = yield placed.pointer, Deal(seat=dealer)
            state = yield from _report_and_knock(state, placed, sheet)
    state = yield "", Deal(seat=dealer)
    for place, one in enumerate(result.bids):
        state = yield f"/bids/{place}", Bid(seat=one.seat, bid=one.bid)
    if to_speak := getattr(state, "to_speak", ()):
        raise AgainstTheRules("bids_missing", sheet.cites.bid_turn, at="/bids", turn=to_speak[0])
    return state


def _play(state: State, result: Any, tricks: list[tuple[str, int]], waiting: _Waiting, sheet: Sheet) -> Steps:
    """Yield tricks, with the question, exits and knocks between them. Raises AgainstTheRules for missing tricks or
    unexpected answers."""
    alone: int | None = None
    state = yield from _exits_and_knocks(state, 0, waiting, sheet)
    for place, (at, seat) in enumerate(tricks):
        if phase_of(state) == "playing" and place == len(state.won):
            state = yield at, Trick(seat=seat)
        else:
            _check_uncontested(state, place, seat, at, alone, sheet)
        asked_now = place + 1 == ASKED_AFTER
        if asked_now and phase_of(state) == "playing":
            alone = _only_seat_left(state, result)
        first = asked_now and _asked_before_exits(state, result, sheet)
        if first:
            state = yield from _question_and_answers(state, result, sheet)
        state = yield from _exits_and_knocks(state, place + 1, waiting, sheet)
        if asked_now and not first:
            state = yield from _question_and_answers(state, result, sheet)
    if phase_of(state) == "playing":
        at = "/tricks" if result.taken is None else "/taken"
        raise AgainstTheRules("tricks_missing", sheet.six_tricks, at=at, done=len(state.won))
    if result.answers and len(tricks) < ASKED_AFTER:
        raise AgainstTheRules("answers_without_question", sheet.cites.question, at="/answers")
    return (yield from _exits_and_knocks(state, TRICKS, waiting, sheet))


def _placed_knocks(knocks: tuple[KnockEntered, ...]) -> list[_Placed]:
    """Return the knocks. One without ``after`` that repeats an upheld one is for another error."""
    placed, upheld = [], set[tuple[int, Offence]]()
    for place, knock in enumerate(knocks):
        error = knock.accused, knock.offence
        another = knock.after is None and error in upheld
        placed.append(_Placed(knock.after or 0, f"/knocks/{place}", knock, another))
        if knock.upheld:
            upheld.add(error)
    return placed


def _list_or_empty(result: Any, name: str) -> tuple[Any, ...]:
    content: tuple[Any, ...] = getattr(result, name, None) or ()
    return content


def _pointers_and_takers(state: State, result: Any, sheet: Sheet) -> list[tuple[str, int]]:
    """Return the JSON pointer and taker of each trick, in a chosen order if only counts were entered.

    Raises: AgainstTheRules if tricks and counts are given, ``late`` lacks ``taken``, or counts are incomplete or do
    not add up.
    """
    counted = "taken" if result.taken is not None else "late"
    if getattr(result, counted) is not None and (result.tricks is not None or result.taken is None):
        raise AgainstTheRules("tricks_or_taken", None, at=f"/{counted}")
    if result.taken is None:
        return [(f"/tricks/{place}", seat) for place, seat in enumerate(result.tricks or ())]
    for name in ("taken", "late"):
        if (counts := getattr(result, name)) is not None and len(counts) != state.table.seats:
            raise AgainstTheRules("one_count_a_seat", None, at=f"/{name}", seats=state.table.seats)
    halves = result.halves()
    early, late = map(sum, halves)
    if min(halves[0]) < 0 or early > ASKED_AFTER or late > TRICKS - ASKED_AFTER or (late and early < ASKED_AFTER):
        raise AgainstTheRules("tricks_do_not_add_up", sheet.six_tricks, at="/taken", early=early, late=late)
    # theirs come first, because a lost trick may end the play (A-O2, B64, C42)
    last = [seat not in _bidders_of_rodskagg(state) for seat in range(state.table.seats)]
    seats = sorted(range(state.table.seats), key=lambda seat: (last[seat], -result.taken[seat]))
    return [(f"/taken/{seat}", seat) for half in halves for seat in seats for _ in range(half[seat])]


def _bidders_of_rodskagg(state: State) -> tuple[int, ...]:
    contract = getattr(state, "contract", None)
    return tuple(seat for seat, bid in contract.calls if bid == "rodskagg") if contract else ()


def _check_order(state: State, result: Any, sheet: Sheet) -> None:
    """Raise AgainstTheRules if the order matters but only counts were entered."""
    if result.taken is not None and (rule := sheet.order_decides(state, result)):
        raise AgainstTheRules("order_needed", rule, at="/taken")


def _only_seat_left(state: State, result: Any) -> int | None:
    folded = {one.seat for one in result.answers if one.answer == "fold"}
    left = [seat for seat in state.order if seat not in folded]
    return left[0] if len(left) == 1 else None


def _check_uncontested(state: State, place: int, seat: int, at: str, alone: int | None, sheet: Sheet) -> None:
    """Raise AgainstTheRules if no trick is left, NotInPlay if it was credited to another seat.

    Seat ``alone`` has the other tricks of a scored deal.
    """
    won = getattr(state, "won", ()) or (state.outcome.won if phase_of(state) == "played" else ())
    many = len(won) or (TRICKS if alone is not None else 0)
    if place >= many:
        raise AgainstTheRules("too_many_tricks", sheet.six_tricks, at=at, done=place)
    if seat != (won[place][0] if won else alone):
        raise NotInPlay("has_folded", sheet.cites.folded, at=at)


def _asked_before_exits(state: State, result: Any, sheet: Sheet) -> bool:
    """Return whether the question precedes an exit that ends the deal (B78); not if due but unanswered."""
    if not (result.asked and sheet.exit_ends_deal(state.table)) or phase_of(state) != "playing":
        return False
    return bool(result.answers) or not sheet.question_due(state)


def _question_and_answers(state: State, result: Any, sheet: Sheet) -> Steps:
    """Yield the question and answers, if it was put. Raises AgainstTheRules for missing or unexpected answers."""
    if phase_of(state) != "playing":
        return state
    if not result.asked:
        if result.answers:
            raise AgainstTheRules("answers_without_question", sheet.cites.question, at="/answers")
        return state
    in_time = sheet.question_time(state)
    if not (in_time or result.answers):
        return state
    state = yield "/answers", Ask(seat=sheet.asker(state) if in_time else state.turn)
    for place, one in enumerate(result.answers):
        state = yield f"/answers/{place}", Answer(seat=one.seat, answer=one.answer)
    if phase_of(state) == "playing" and state.question.pending:
        pending = state.question.pending
        raise AgainstTheRules("answers_missing", sheet.cites.answers, at="/answers", pending=pending)
    return state


def _exits_and_knocks(state: State, done: int, waiting: _Waiting, sheet: Sheet) -> Steps:
    """Yield the exits and knocks due after ``done`` tricks, and remove them from ``waiting``.

    An exit follows the knocks if its seat is not yet at zero, and the final ones if it may end the
    deal (B78).
    Raises: AgainstTheRules for an exit of a seat not at zero.
    """
    exits = _take_due(waiting.exits, done)
    ending = bool(exits) and sheet.exit_ends_deal(state.table)
    for placed in [one for one in exits if not (ending or _distance_to_zero(state, one.content, sheet))]:
        exits.remove(placed)
        state = yield placed.pointer, KnockOut(seat=placed.content)
    for placed in _take_due(waiting.knocks, done) + (_take_due(waiting.final_knocks, done) if ending else []):
        state = yield from _report_and_knock(state, placed, sheet)
    for placed in exits:
        if total := _distance_to_zero(state, placed.content, sheet):
            raise AgainstTheRules("not_at_zero", "B67", at=placed.pointer, total=total)
        state = yield placed.pointer, KnockOut(seat=placed.content)
    return state


def _take_due(placed: list[_Placed], done: int) -> list[_Placed]:
    due = [one for one in placed if one.after <= done]
    for one in due:
        placed.remove(one)
    return due


def _distance_to_zero(state: State, seat: int, sheet: Sheet) -> int:
    """Return the running total of the seat; 0 also if no exit knock is possible."""
    if sheet.running_total is None or seat >= state.table.seats or phase_of(state) not in ("playing", "played"):
        return 0
    return sheet.running_total(state, seat)


def _report_and_knock(state: State, placed: _Placed, sheet: Sheet) -> Steps:
    """Yield a knock, after a report if it is upheld for an error that the tally does not show.

    A seat's dismissed knock for its own ``exit_knock`` becomes an exit knock in vain (B-O31).
    Raises: AgainstTheRules if the ruling differs from the sheet.
    """
    at, knock = placed.pointer, placed.content
    if (
        sheet.running_total is not None
        and knock.offence == "exit_knock"
        and knock.seat == knock.accused
        and not knock.upheld
    ):
        in_vain = _distance_to_zero(state, knock.seat, sheet)
        state = yield at, KnockOut(seat=knock.seat)
        if not in_vain:
            raise AgainstTheRules("ruling_differs", "B67", at=at, verdict="upheld")
        return state
    offence: Offence = "misdeal" if knock.offence in MISDEAL_OFFENCES else knock.offence
    if knock.upheld and offence not in SHOWN_BY_TALLY:
        report = Report(seat=knock.seat, accused=knock.accused, fault=offence, another=placed.another)
        state = yield at, report
    dismissed = len(state.table.ledger.dismissed)
    late = not knock.upheld and offence in SHOWN_BY_TALLY and sheet.knocks_can_be_late(state.table)
    state = yield at, Knock(seat=knock.seat, accused=knock.accused, offence=offence, note=knock.note, late=late)
    upheld = len(state.table.ledger.dismissed) == dismissed
    if upheld != knock.upheld:
        verdict = "upheld" if upheld else "dismissed"
        raise AgainstTheRules("ruling_differs", sheet.offences.get(offence), at=at, verdict=verdict)
    return state
