"""A deal of which only the tally is known: who took each trick, act by act or as the score sheet has it.

What only the cards could show is believed (A-O31, B-O40, C-O36). What a sister's sheet is read by is its
:class:`Sheet`, which the script is told.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Annotated, Any, NamedTuple, cast

from msgspec import Meta

from referee import offences, phases
from referee.acts import (
    KNOCKS_MAX,
    TRICKS_MAX,
    Answer,
    Ask,
    Bid,
    Deal,
    EarlyAndLate,
    Fault,
    Knock,
    KnockOut,
    KnockTold,
    Offence,
    Report,
    Score,
    SeatAndAnswerSent,
    SeatAndBidSent,
    SeatAndTrick,
    Trick,
)
from referee.events import Breach, TrickTaken
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.in_play import InPlay, P
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS
from referee.phases import phase_of
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Script
from referee.value import SeatSent, Value
from referee.visibility import Event

Knocks = Annotated[tuple[KnockTold, ...], Meta(max_length=KNOCKS_MAX)]
Exits = Annotated[tuple[SeatAndTrick, ...], Meta(max_length=TRICKS_MAX)]


class Told(Value, forbid_unknown_fields=True, omit_defaults=True):
    """What a result tells in every sister."""

    bids: Annotated[tuple[SeatAndBidSent, ...], Meta(max_length=TRICKS_MAX)] = ()
    """Seat and bid, as they were spoken."""
    tricks: Annotated[tuple[SeatSent, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Who took each trick, in order; or `taken` instead."""
    taken: Annotated[tuple[EarlyAndLate, ...], Meta(max_length=8)] | None = None
    """By seat, how many of the first four tricks it took, and of the last two."""
    answers: Annotated[tuple[SeatAndAnswerSent, ...], Meta(max_length=8)] = ()
    """Seat and answer to the question, as they were spoken."""
    asked: bool = True
    """Whether the question was put in time."""


class Sheet(Value):
    """What a sister's sheet is read by."""

    cites: Cites
    six_tricks: str
    """The rule by which a deal is played to its end."""
    question_time: Callable[[Any], bool]
    question_due: Callable[[Any], bool]
    asker: Callable[[Any], int]
    order_decides: Callable[[Any, Any], str | None]
    """When the play begins and when it is over: the rule by which it matters who took which trick when, if it
    does."""
    owed_total: Callable[[Any, int], int] | None = None
    """What keeps a seat from zero, where exit knocks are told."""
    exits_end: Callable[[Any], bool] = lambda table: False
    """Whether an exit knock breaks off the deal."""
    windowed: Callable[[Any], bool] = lambda table: False
    """Whether a knock can come too late while the deal goes on, which only the table knows."""
    offences: Mapping[str, str] = {}
    """What can be knocked for, and the rules that it breaks."""


SHOWN = frozenset(("fold_question", "exit_knock"))
"""Offences that the tally itself shows."""
OF_THE_DEAL = frozenset(("wrong_cut", "early_pick_up", "misdeal", "wrong_count"))
"""Offences before the bidding."""
MISDEAL = frozenset(("misdeal", "wrong_count"))


# Act by act


def trick(cites: Cites, before_the_lead: Callable[[Any, int, Moment], tuple[Breach, ...]]) -> phases.Decision:
    """Who took a trick: anybody who plays on, once the question is answered (A37, B52, C32)."""

    def taken(state: InPlay, act: Trick, moment: Moment) -> tuple[Event, ...]:
        if not state.table.tally:
            raise WrongPhase("not_tallied", None)
        if act.second is not None:
            raise AgainstTheRules("second_not_told", None)
        if act.seat not in state.order:
            raise NotInPlay("has_folded", cites.folded)
        if state.question.pending:
            raise AgainstTheRules("answers_pending", cites.answers, turn=state.question.pending[0])
        breaches = before_the_lead(state, state.turn, moment)
        return (TrickTaken(seat=act.seat, trick=len(state.won) + 1, breaches=breaches),)

    return taken


def led(state: P, event: TrickTaken, number: int, passed_over: Callable[[P, int], P]) -> P:
    """The state when the lead to a trick has been made that nobody saw."""
    if not state.table.tally:
        return state
    return passed_over(offences.noted(state, event.breaches, number), number)


# A whole deal


class _Placed(NamedTuple):
    """Something told, and where: after how many tricks, and at which place of the result."""

    after: int
    at: str
    told: Any
    another: bool = False
    """Whether it is one more error of a kind, and the sheet does not say in which trick."""


State = Any
Steps = Generator[tuple[str, Request], State, State]
"""A part of a script, and the state after it."""


def script(state: State, result: Any, sheet: Sheet) -> Script:
    """The acts of a deal in their order: what came before it, bids, tricks with all that came between, its score."""
    table, dealer, early = state.table, state.table.dealer, OF_THE_DEAL
    knocks = _placed_knocks(_of(result, "knocks"))
    for placed in knocks:
        if placed.told.offence in early and placed.told.after is None:
            if placed.told.offence in MISDEAL and placed.told.upheld:  # B27: it is dealt again
                state = yield placed.at, Deal(seat=dealer)
            state = yield from _knock(state, placed, sheet)
    state = yield "", Deal(seat=dealer)
    for place, (seat, bid) in enumerate(result.bids):
        state = yield f"/bids/{place}", Bid(seat=seat, bid=bid)
    if to_speak := getattr(state, "to_speak", ()):
        raise AgainstTheRules("bids_missing", sheet.cites.bid_turn, at="/bids", turn=to_speak[0])
    tricks = _tricks(state, result, sheet)
    _check_order(state, result, sheet)
    during = [one for one in knocks if one.told.after is not None]
    last = [one for one in knocks if one.told.after is None and one.told.offence not in early]
    alone: int | None = None
    exits = [_Placed(after, f"/exits/{place}", seat) for place, (seat, after) in enumerate(_of(result, "exits"))]
    state = yield from _between(state, 0, exits, during, last, sheet)
    for place, (at, seat) in enumerate(tricks):
        if phase_of(state) == "playing" and place == len(state.won):
            state = yield at, Trick(seat=seat)
        else:
            _check_uncontested(state, place, seat, at, alone, sheet)
        first = place + 1 == ASKED_AFTER and _asked_before_exits(state, result, sheet)
        if place + 1 == ASKED_AFTER and phase_of(state) == "playing":
            alone = _alone(state, result)
        if first:
            state = yield from _question(state, result, sheet)
        state = yield from _between(state, place + 1, exits, during, last, sheet)
        if place + 1 == ASKED_AFTER and not first:
            state = yield from _question(state, result, sheet)
    if phase_of(state) == "playing":
        raise AgainstTheRules("tricks_missing", sheet.six_tricks, at=_where(result), done=len(state.won))
    if result.answers and len(tricks) < ASKED_AFTER:
        raise AgainstTheRules("answers_without_question", sheet.cites.question, at="/answers")
    state = yield from _between(state, TRICKS, exits, during, last, sheet)
    for placed in (*exits, *during):
        raise AgainstTheRules("after_the_last_trick", sheet.six_tricks, at=placed.at, done=TRICKS)
    for placed in last:
        state = yield from _knock(state, placed, sheet)
    if phase_of(state) == "played":
        _check_order(state, result, sheet)
        yield "", Score(seat=table.playing[0])


def _placed_knocks(knocks: tuple[KnockTold, ...]) -> list[_Placed]:
    """Return the knocks of a sheet with their places. Equal errors without ``after`` are several."""
    placed, upheld = [], set[tuple[int, Offence]]()
    for place, knock in enumerate(knocks):
        error = knock.accused, knock.offence
        another = knock.after is None and error in upheld
        placed.append(_Placed(knock.after or 0, f"/knocks/{place}", knock, another))
        if knock.upheld:
            upheld.add(error)
    return placed


def _of(result: Any, name: str) -> tuple[Any, ...]:
    """What a result tells by a name that not every sister has."""
    told: tuple[Any, ...] = getattr(result, name, None) or ()
    return told


def _where(result: Any) -> str:
    return "/taken" if result.tricks is None and result.taken is not None else "/tricks"


def _tricks(state: State, result: Any, sheet: Sheet) -> list[tuple[str, int]]:
    """Who took each trick, and where that is told; of counts one order that they allow."""
    if result.tricks is not None and result.taken is not None:
        raise AgainstTheRules("tricks_or_taken", None, at="/taken")
    if result.taken is None:
        return [(f"/tricks/{place}", seat) for place, seat in enumerate(result.tricks or ())]
    if len(result.taken) != state.table.seats:
        raise AgainstTheRules("one_count_a_seat", None, at="/taken", seats=state.table.seats)
    early, late = (sum(counts[half] for counts in result.taken) for half in (0, 1))
    if early > ASKED_AFTER or late > TRICKS - ASKED_AFTER or (late and early < ASKED_AFTER):
        raise AgainstTheRules("tricks_do_not_add_up", sheet.six_tricks, at="/taken", early=early, late=late)
    last = [seat not in _all_or_nothing(state) for seat in range(state.table.seats)]
    seats = sorted(range(state.table.seats), key=lambda seat: (last[seat], -sum(result.taken[seat])))
    return [(f"/taken/{seat}", seat) for half in (0, 1) for seat in seats for _ in range(result.taken[seat][half])]


def _all_or_nothing(state: State) -> tuple[int, ...]:
    """Whose tricks came first where the play stops with the first that one of them loses (A-O2, B64, C42)."""
    contract = getattr(state, "contract", None)
    return tuple(seat for seat, bid in contract.calls if bid == "rodskagg") if contract else ()


def _check_order(state: State, result: Any, sheet: Sheet) -> None:
    """Counts do not tell who came first."""
    if result.tricks is None and result.taken is not None and (rule := sheet.order_decides(state, result)):
        raise AgainstTheRules("order_needed", rule, at="/taken")


def _alone(state: State, result: Any) -> int | None:
    """Who is left when all others have folded."""
    folded = {seat for seat, answer in result.answers if answer == "fold"}
    left = [seat for seat in state.order if seat not in folded]
    return left[0] if len(left) == 1 else None


def _check_uncontested(state: State, place: int, seat: int, at: str, alone: int | None, sheet: Sheet) -> None:
    """Tricks for which nobody was left may be told, too; more there are not."""
    won = getattr(state, "won", ()) or (state.outcome.won if phase_of(state) == "played" else ())
    many = len(won) or (TRICKS if alone is not None else 0)  # where the deal has been written down by itself
    if place >= many:
        raise AgainstTheRules("too_many_tricks", sheet.six_tricks, at=at, done=place)
    if seat != (won[place][0] if won else alone):
        raise NotInPlay("has_folded", sheet.cites.folded, at=at)


def _asked_before_exits(state: State, result: Any, sheet: Sheet) -> bool:
    """B78: where an exit breaks off the deal, a question that was put came before it, as far as can be told."""
    if not (result.asked and sheet.exits_end(state.table)) or phase_of(state) != "playing":
        return False
    return bool(result.answers) or not sheet.question_due(state)


def _question(state: State, result: Any, sheet: Sheet) -> Steps:
    """After the fourth trick: it was put, and all answered who had to; or it was not."""
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
    for place, (seat, answer) in enumerate(result.answers):
        state = yield f"/answers/{place}", Answer(seat=seat, answer=answer)
    if phase_of(state) == "playing" and state.question.pending:
        pending = state.question.pending
        raise AgainstTheRules("answers_missing", sheet.cites.answers, at="/answers", pending=pending)
    return state


def _between(
    state: State, done: int, exits: list[_Placed], knocks: list[_Placed], last: list[_Placed], sheet: Sheet
) -> Steps:
    """What came after so many tricks: exits of who stands at zero, knocks, and exits that became due by them.

    Where an exit breaks off the deal (B78), all knocks came before it.
    """
    waiting = _due(exits, done)
    ending = bool(waiting) and sheet.exits_end(state.table)
    for placed in [one for one in waiting if not (ending or _kept_from_zero(state, one.told, sheet))]:
        waiting.remove(placed)
        state = yield placed.at, KnockOut(seat=placed.told)
    for placed in _due(knocks, done) + (_due(last, done) if ending else []):
        state = yield from _knock(state, placed, sheet)
    for placed in waiting:
        if total := _kept_from_zero(state, placed.told, sheet):
            raise AgainstTheRules("not_at_zero", "B67", at=placed.at, total=total)
        state = yield placed.at, KnockOut(seat=placed.told)
    return state


def _due(told: list[_Placed], done: int) -> list[_Placed]:
    """What was told to have come after so many tricks, no more to be told."""
    due = [one for one in told if one.after <= done]
    for one in due:
        told.remove(one)
    return due


def _kept_from_zero(state: State, seat: int, sheet: Sheet) -> int:
    """What keeps a seat from zero; nothing where the decision itself has another answer."""
    if sheet.owed_total is None or seat >= state.table.seats or phase_of(state) not in ("playing", "played"):
        return 0
    return sheet.owed_total(state, seat)


def _knock(state: State, placed: _Placed, sheet: Sheet) -> Steps:
    """A knock as the table agreed on it: what the tally does not show is reported before. Who accuses himself has
    knocked for his own exit in vain (B-O31)."""
    at, told = placed.at, placed.told
    if (
        sheet.owed_total is not None
        and told.offence == "exit_knock"
        and told.seat == told.accused
        and not told.upheld
    ):
        in_vain = _kept_from_zero(state, told.seat, sheet)
        state = yield at, KnockOut(seat=told.seat)
        if not in_vain:
            raise AgainstTheRules("ruling_differs", "B67", at=at, verdict="upheld")
        return state
    offence: Offence = "misdeal" if told.offence in MISDEAL else told.offence
    if told.upheld and offence not in SHOWN:
        report = Report(seat=told.seat, accused=told.accused, fault=cast(Fault, offence), another=placed.another)
        state = yield at, report
    dismissed = len(state.table.ledger.dismissed)
    late = not told.upheld and offence in SHOWN and sheet.windowed(state.table)
    state = yield at, Knock(seat=told.seat, accused=told.accused, offence=offence, note=told.note, late=late)
    upheld = len(state.table.ledger.dismissed) == dismissed
    if upheld != told.upheld:
        verdict = "upheld" if upheld else "dismissed"
        raise AgainstTheRules("ruling_differs", sheet.offences.get(offence), at=at, verdict=verdict)
    return state
