"""Writing a hand into the score sheet, duels, and the end of the match (C38-C55)."""

from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import replace

from referee.acts import Announce, Cut, Deal, Score, Void
from referee.cards import clockwise
from referee.events import DealScored, DealVoided, Entry, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import BidValue, Contract
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.facts import Announced, DuelCalled
from referee.games._rodskagg.money import points_left
from referee.games._rodskagg.question import said
from referee.games._rodskagg.ritual import Undealt
from referee.games._rodskagg.score_line import Noted, Told, Writes, entries, noted, penalties, told, written
from referee.games.rodskagg_catsatcards.play import (
    LATE,
    counts_as_asked,
    had_early,
    late_value,
    running_total,
    trick_value,
)
from referee.games.rodskagg_catsatcards.play import announced as near_zero_announced
from referee.games.rodskagg_catsatcards.states import Outcome, Played, Table
from referee.phases import ended_by, next_deal
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event
from referee.wire_types import ListOfMany

FIVE_UP = 5
"""C39: what the Declarer's missed bid costs."""
SIX_UP = 6
"""C35: what playing on in vain costs."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """C-O23 (B-O28): where something can be passed over, any seat in the deal writes it into the score sheet."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "C-O23")
    return scored(state.table, state.outcome)


def follows(state: Played, moment: Moment) -> tuple[Event, ...]:
    """C-O23, C-O24, C55: scored as soon as no announcement is due, where nothing can be passed over or zero has won
    at once."""
    if state.owed or (state.table.penalise and state.outcome.kind != "zero_at_once"):
        return ()
    return scored(state.table, state.outcome)


def must_score_first(state: Played, act: Deal | Cut, moment: Moment) -> tuple[Event, ...]:
    """C-O23, C49: what comes before the next deal."""
    if state.table.penalise:
        raise WrongPhase("deal_not_scored", "C-O23")
    raise AgainstTheRules("announcement_owed", "C49", pending=state.owed)


def announce(state: Played, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """C44, C49, C-O24, C-O25: near zero while it is due; thanks from whoever will stand at zero, once."""
    seat, table = act.seat, state.table
    if act.what == "thanks":
        points = _line(table, state.outcome).points[seat]
        if points or seat in state.thanked:
            raise AgainstTheRules("not_at_zero", "C44", total=points)
        return (Announced(seat=seat, what="thanks", total=0),)
    if seat not in state.owed:
        raise AgainstTheRules("nothing_to_announce", "C49")
    return (Announced(seat=seat, what="near_zero", total=running_total(table, state.outcome, seat)),)


def may_thank(state: Played, seat: int) -> bool:
    """C-O25: the seat will stand at zero and has not said it."""
    return seat not in state.thanked and _line(state.table, state.outcome).points[seat] == 0


def announced(state: Played, event: Announced, number: int) -> Played:
    """The state after thanks, or after the announcement near zero."""
    if event.what == "thanks":
        return replace(state, thanked=(*state.thanked, event.seat))
    return near_zero_announced(state, event, number)


def scored_anew(state: Played, seed: str) -> tuple[Event, ...]:
    """The line and what comes of it; nothing where zero won at once and who took the trick is not there (C55)."""
    table, hand = state.table, state.outcome
    at_once = hand.kind == "zero_at_once"
    return () if at_once and running_total(table, hand, hand.won[-1][0]) else scored(table, hand)


def scored(table: Table, hand: Outcome) -> tuple[Event, ...]:
    """The line of the deal, who is out, and what comes of it: a win, a duel, or the next deal."""
    line = _line(table, hand)
    out = (PlayerEliminated(seat=seat, rule="C42") for seat in _eliminated(hand))
    return line, *out, *_outcome(table, hand, line)


def _eliminated(hand: Outcome) -> tuple[int, ...]:
    """C42, C-O5: all who announced Redbeard and lost a trick."""
    return hand.redbeards if hand.kind == "redbeard_failed" else ()


def _line(table: Table, hand: Outcome) -> DealScored:
    out = _eliminated(hand)
    written_down = tuple(entry for entry in _entries(table, hand) if entry.seat not in out)  # C-O27
    return written(table, hand, hand.kind, written_down, out, _detail(table, hand))


class Detail(Told):
    """What is told of the deal beside its numbers."""

    bids: ListOfMany[Annotated[list[BidValue], Meta(min_length=2, max_length=2)]]
    """The bids as they were written down (C20), in the order in which they were spoken: seat and bid of each."""
    noted: ListOfMany[Noted]
    """Revokes that closed hands showed."""


def _detail(table: Table, hand: Outcome) -> Detail:
    """What is told of the deal beside its numbers."""
    bids = [list(call) for call in hand.contract.calls] if hand.contract else []
    return {"bids": bids, **told(table, hand, table.duel), "noted": noted(table.ledger)}


# The line of a deal


WRITES = {
    # plus points
    "missed": Writes(FIVE_UP, "contract", "C39"),
    "in_vain": Writes(SIX_UP, "answer", "C35"),
    "declarer_in_vain": Writes(SIX_UP, "contract", "C35"),  # C-O2
    # what tricks take off
    "trick": Writes(-1, "trick", "C38"),
    "trick_of_missed": Writes(-1, "trick", "C40"),
    "trick_of_inexact": Writes(-1, "trick", "C53"),
    # and after the question, apart from those before it
    "late_trick": Writes(-LATE, "late_trick", "C34"),
    "late_trick_of_all": Writes(-LATE, "late_trick", "C-O1"),
}
"""What can be written, each number by its rule; one seat may write several (C34-C35, C38-C40, C53)."""


def _entries(table: Table, hand: Outcome) -> list[Entry]:
    """C34-C42, C52-C55: penalties that were knocked for, then seat by seat plus points and tricks."""
    down, contract = [*penalties(table.ledger)], hand.contract
    if contract is None or hand.kind == "redbeard_made":
        return down
    bids = dict(contract.calls)
    for seat in table.playing:
        missed = bids[seat] != hand.tricks[seat]  # C39, C52: not exactly the number bid
        up = () if hand.kind == "zero_at_once" else _plus_points(table, hand, contract, seat, missed=missed)
        down += entries((*up, *_tricks_off(table, hand, contract, seat, missed=missed)), hand, contract, seat)
    return down


def _plus_points(table: Table, hand: Outcome, contract: Contract, seat: int, *, missed: bool) -> tuple[Writes, ...]:
    """C35, C39, C52, C54, C-O2, C-O14, C-O16, C-O17, C-O35."""
    options, declares = table.options, seat == contract.declarer
    if options.exact_tricks_for_all and missed:
        return (Writes(options.exact_tricks_penalty, "contract", "C52"),)
    up = (WRITES["missed"],) if declares and missed else ()
    if hand.tricks[seat]:
        return up
    if not declares:
        return (WRITES["in_vain"],) if seat in said(hand.question.answers, "play") else ()
    in_vain = options.play_on_applies_to_declarer and counts_as_asked(table, hand)
    return (*up, WRITES["declarer_in_vain"]) if in_vain else up


def _tricks_off(table: Table, hand: Outcome, contract: Contract, seat: int, *, missed: bool) -> tuple[Writes, ...]:
    """C34, C38, C40, C53, C-O1: the tricks at one each, and apart from them the late ones at two."""
    if not trick_value(table, hand, seat, 0):
        return ()
    declares, exact = seat == contract.declarer, table.options.exact_tricks_for_all
    each = WRITES["trick_of_inexact" if missed and exact else "trick_of_missed" if missed and declares else "trick"]
    if late_value(table, hand, seat) == 1:
        return (each,)
    late = "late_trick" if declares or not had_early(hand, seat) else "late_trick_of_all"
    return each._replace(by="early_trick"), WRITES[late]


# What comes of it


def _outcome(table: Table, hand: Outcome, line: DealScored) -> tuple[Event, ...]:
    """C41, C43-C47, C55, C-O8, C-O21, C-O23, C-O34: who has won, or a duel; nothing while the match goes on."""
    if hand.kind == "redbeard_made":
        return (_won(table, line, hand.won[-1][0], "redbeard", "C41"),)
    if hand.kind == "zero_at_once":
        return (_won(table, line, hand.won[-1][0], "zero_at_once", "C55"),)
    if table.duel:
        most = max(hand.tricks[seat] for seat in table.playing)
        best = tuple(seat for seat in table.playing if hand.tricks[seat] == most)
        return (_won(table, line, best[0], "duel", "C47"),) if len(best) == 1 else _duel(table, line, best, "C-O9")
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if line.declarer in at_zero and len(at_zero) > 1:
        return (_won(table, line, line.declarer, "zero", "C45"),)
    if len(at_zero) == 1:
        return (_won(table, line, at_zero[0], "zero", "C43"),)
    if at_zero:
        return _duel(table, line, at_zero, "C46")
    if len(left) == 1:
        return (_won(table, line, left[0], "last_standing", "C-O23"),)
    return () if left else (_won(table, line, None, "nobody_left", "C-O34"),)


def _won(table: Table, line: DealScored, seat: int | None, by: str, rule: str) -> MatchWon:
    won = MatchWon(seat=seat, by=by, rule=rule, points=line.points)
    if table.options.money == "none":
        return won
    payments = () if seat is None else points_left(line.points, seat, rule="C-O37", below_zero="C-O37")
    return ended_by(table, won, payments)


def _duel(table: Table, line: DealScored, seats: tuple[int, ...], rule: str) -> tuple[Event, ...]:
    """C46, C-O9, C-O31: the deal moves on as usual."""
    return (DuelCalled(seats=tuple(sorted(seats)), dealer=next_deal(table, line).dealer, rule=rule),)


# What follows


def still_told(table: Table, points: tuple[int, ...]) -> tuple[int | None, ...]:
    """C-O24: the values near zero that were announced or passed over, and at which their seats still stand."""
    return tuple(value if value == total else None for value, total in zip(table.told, points, strict=True))


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt[Table]:
    """The state between deals: the deal moves on clockwise among those left (C9)."""
    told = still_told(state.table, event.points)
    return Undealt(table=replace(next_deal(state.table, event), told=told, duel=False, lead=None))


def duel_called(state: Undealt[Table], event: DuelCalled, number: int) -> Drawing[Table] | Undealt[Table]:
    """The state before a duel: cards are drawn for the lead, the dealer first or who comes after (C48)."""
    return undealt(replace(state.table, playing=event.seats, dealer=event.dealer, duel=True))


def drawing_for_lead(table: Table) -> Drawing[Table]:
    """C48: the dealer draws first, or who comes after."""
    order = tuple(seat for seat in clockwise(table.dealer, table.seats) if seat in table.playing)
    return Drawing(table=table, contenders=order)


def undealt(table: Table) -> Undealt[Table] | Drawing[Table]:
    """The state before a deal; before a duel the lead is drawn first."""
    drawn = table.duel and table.lead is None and not table.tally  # C-O36
    return drawing_for_lead(table) if drawn else Undealt(table=table)


# Voiding a deal


def void(state: Any, act: Void, moment: Moment) -> tuple[Event, ...]:
    """C-O23 (B-O38): the official voids the deal under way; penalties knocked in it enter the score sheet."""
    table = state.table
    entries = penalties(table.ledger)
    if not entries:
        return (DealVoided(deal=table.deal, reason=act.reason),)
    points = tuple(points + table.ledger.points(seat) for seat, points in enumerate(table.points))
    return (DealVoided(deal=table.deal, reason=act.reason, before=table.points, points=points, entries=entries),)


def deal_voided(state: Any, event: DealVoided, number: int) -> Undealt[Table]:
    """Nothing of the deal counts but the penalties knocked in it; in a duel the lead stays drawn."""
    table = state.table
    points = event.points or table.points
    told = still_told(table, points)
    ledger = replace(table.ledger.closed(), dismissed=table.ledger.dismissed)
    return Undealt(table=replace(table, points=points, told=told, ledger=ledger))
