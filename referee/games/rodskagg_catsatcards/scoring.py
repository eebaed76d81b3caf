"""The line of a deal, duels between players at zero, and the end of the match (C38-C55)."""

from functools import partial
from typing import Any

from msgspec.structs import replace

from referee.acts import Announce, Cut, Deal, Score, Void
from referee.cards import clockwise
from referee.events import DealScored, DealVoided, Entry, PlayerEliminated
from referee.games._rodskagg.bids import Contract, calls_as_shown
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.facts import Announced, DuelCalled
from referee.games._rodskagg.money import won_by_house_rule
from referee.games._rodskagg.question import seats_that_answered
from referee.games._rodskagg.ritual import Undealt
from referee.games._rodskagg.score_line import (
    Noted,
    ScoreRule,
    SharedDetail,
    entries_by_rules,
    line_of_deal,
    noted_breaches,
    penalty_entries,
    shared_detail,
)
from referee.games.rodskagg_catsatcards.play import (
    LATE,
    counts_as_asked,
    has_early_trick,
    late_value,
    running_total,
    trick_value,
)
from referee.games.rodskagg_catsatcards.play import announced as near_zero_announced
from referee.games.rodskagg_catsatcards.states import Outcome, Played, Table
from referee.phases import next_deal
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment
from referee.value import SeatAndBid
from referee.visibility import Event
from referee.wire_types import ListOfMany

FIVE_UP = 5
"""Points that a missed bid of the Declarer adds (C39)."""
SIX_UP = 6
"""Points that playing on in vain adds (C35)."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` (C-O23, B-O28). Raises WrongPhase if errors are refused."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "C-O23")
    return scored(state.table, state.outcome)


def automatic_events(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` unless an announcement is due or an act must score the deal (C-O23, C-O24,
    C55)."""
    if state.owed or (state.table.penalise and state.outcome.kind != "zero_at_once"):
        return ()
    return scored(state.table, state.outcome)


def must_score_first(state: Played, act: Deal | Cut, moment: Moment) -> tuple[Event, ...]:
    """Raise WrongPhase if this deal waits for ``score``, AgainstTheRules if for an announcement (C-O23,
    C49)."""
    if state.table.penalise:
        raise WrongPhase("deal_not_scored", "C-O23")
    raise AgainstTheRules("announcement_owed", "C49", pending=state.owed)


def announce(state: Played, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an announcement near zero, or of thanks for a score of zero (C44, C49, C-O24, C-O25).

    Raises: AgainstTheRules if none is due; for thanks, unless :func:`may_thank`.
    """
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
    """Return whether the seat will be at zero and has not given thanks (C-O25)."""
    return seat not in state.thanked and _line(state.table, state.outcome).points[seat] == 0


def announced(state: Played, event: Announced, number: int) -> Played:
    if event.what == "thanks":
        return replace(state, thanked=(*state.thanked, event.seat))
    return near_zero_announced(state, event, number)


def rescoring_events(state: Played, seed: str) -> tuple[Event, ...]:
    """Return the events of :func:`scored`; none if zero ended the play and its winner is no longer at zero (C55)."""
    table, deal = state.table, state.outcome
    at_once = deal.kind == "zero_at_once"
    return () if at_once and running_total(table, deal, deal.won[-1][0]) else scored(table, deal)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """Return the line of the deal, and eliminations, a win or a duel, if any."""
    line = _line(table, deal)
    out = [PlayerEliminated(seat=seat, rule="C42") for seat in _eliminated(deal)]
    return line, *out, *_win_or_duel(table, deal, line)


def _eliminated(deal: Outcome) -> tuple[int, ...]:
    """Return the seats that bid Redbeard, if the play ended as ``redbeard_failed`` (C42, C-O5)."""
    return deal.redbeards if deal.kind == "redbeard_failed" else ()


def _line(table: Table, deal: Outcome) -> DealScored:
    out = _eliminated(deal)
    entries = tuple([entry for entry in _entries(table, deal) if entry.seat not in out])  # C-O27
    return line_of_deal(table, deal, deal.kind, entries, out, _detail(table, deal))


class Detail(SharedDetail):
    """Details of a scored deal apart from its numbers."""

    bids: ListOfMany[SeatAndBid]
    """Bids, in the order spoken (C20)."""
    noted: ListOfMany[Noted]
    """Revokes shown by closed hands."""


def _detail(table: Table, deal: Outcome) -> Detail:
    bids = calls_as_shown(deal.contract.calls) if deal.contract else []
    return {"bids": bids, **shared_detail(table, deal, table.duel), "noted": noted_breaches(table.ledger)}


SCORE_RULES = {
    "missed": ScoreRule(FIVE_UP, "contract", "C39"),
    "in_vain": ScoreRule(SIX_UP, "answer", "C35"),
    "declarer_in_vain": ScoreRule(SIX_UP, "contract", "C35"),  # C-O2
    "trick": ScoreRule(-1, "trick", "C38"),
    "trick_of_missed": ScoreRule(-1, "trick", "C40"),
    "trick_of_inexact": ScoreRule(-1, "trick", "C53"),
    "late_trick": ScoreRule(-LATE, "late_trick", "C34"),
    "late_trick_of_all": ScoreRule(-LATE, "late_trick", "C-O1"),
}
"""Rules for the points of a seat (C34-C35, C38-C40, C53)."""
EARLY_RULES = {rule: rule._replace(per="early_trick") for rule in SCORE_RULES.values() if rule.per == "trick"}
"""Rules for early tricks only, by rule for all tricks (C34)."""


def _entries(table: Table, deal: Outcome) -> list[Entry]:
    """Return penalties and, except in duels and made Redbeards, plus points and tricks (C34-C42, C52-C55)."""
    down, contract = penalty_entries(table.ledger), deal.contract
    if contract is None or deal.kind == "redbeard_made":
        return down
    bids = dict(contract.calls)
    for seat in table.playing:
        missed = bids[seat] != str(deal.tricks[seat])  # C39, C52
        rules = () if deal.kind == "zero_at_once" else _plus_rules(table, deal, contract, seat, missed=missed)
        if deal.tricks[seat]:
            rules += _trick_rules(table, deal, contract, seat, missed=missed)
        if rules:
            down += entries_by_rules(rules, deal, contract, seat)
    return down


def _plus_rules(table: Table, deal: Outcome, contract: Contract, seat: int, *, missed: bool) -> tuple[ScoreRule, ...]:
    """Return the rules that add points (C35, C39, C52, C54, C-O2, C-O14, C-O16, C-O17, C-O35)."""
    options, declares = table.options, seat == contract.declarer
    if options.exact_tricks_for_all and missed:
        return (ScoreRule(options.exact_tricks_penalty, "contract", "C52"),)
    up = (SCORE_RULES["missed"],) if declares and missed else ()
    if deal.tricks[seat]:
        return up
    if not declares:
        return (SCORE_RULES["in_vain"],) if seat in seats_that_answered(deal.question.answers, "play") else ()
    in_vain = options.play_on_applies_to_declarer and counts_as_asked(table, deal)
    return (*up, SCORE_RULES["declarer_in_vain"]) if in_vain else up


def _trick_rules(
    table: Table, deal: Outcome, contract: Contract, seat: int, *, missed: bool
) -> tuple[ScoreRule, ...]:
    """Return the rules that take off points for tricks (C34, C38, C40, C53, C-O1)."""
    if not trick_value(table, deal, seat, 0):
        return ()
    declares, exact = seat == contract.declarer, table.options.exact_tricks_for_all
    each = SCORE_RULES[
        "trick_of_inexact" if missed and exact else "trick_of_missed" if missed and declares else "trick"
    ]
    if late_value(table, deal, seat) == 1:
        return (each,)
    late = "late_trick" if declares or not has_early_trick(deal, seat) else "late_trick_of_all"
    return EARLY_RULES[each], SCORE_RULES[late]


def _win_or_duel(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """Return the event ``MatchWon`` or ``DuelCalled``, if any (C41, C43-C47, C55, C-O8, C-O21, C-O23, C-O34)."""
    if deal.kind == "redbeard_made":
        return (_match_won(table, line, deal.won[-1][0], "redbeard", "C41"),)
    if deal.kind == "zero_at_once":
        return (_match_won(table, line, deal.won[-1][0], "zero_at_once", "C55"),)
    if table.duel:
        most = max(deal.tricks[seat] for seat in table.playing)
        best = tuple(seat for seat in table.playing if deal.tricks[seat] == most)
        return (
            (_match_won(table, line, best[0], "duel", "C47"),)
            if len(best) == 1
            else _new_duel(table, line, best, "C-O9")
        )
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple([seat for seat in left if line.points[seat] == 0])
    if line.declarer in at_zero and len(at_zero) > 1:
        return (_match_won(table, line, line.declarer, "zero", "C45"),)
    if len(at_zero) == 1:
        return (_match_won(table, line, at_zero[0], "zero", "C43"),)
    if at_zero:
        return _new_duel(table, line, at_zero, "C46")
    if len(left) == 1:
        return (_match_won(table, line, left[0], "last_standing", "C-O23"),)
    return () if left else (_match_won(table, line, None, "nobody_left", "C-O34"),)


_match_won = partial(won_by_house_rule, house_rule="C-O37")


def _new_duel(table: Table, line: DealScored, seats: tuple[int, ...], rule: str) -> tuple[Event, ...]:
    """Return the event of a duel. The deal passes clockwise (C46, C-O9, C-O31)."""
    return (DuelCalled(seats=tuple(sorted(seats)), dealer=next_deal(table, line).dealer, rule=rule),)


def unchanged_totals(table: Table, points: tuple[int, ...]) -> tuple[int | None, ...]:
    """Return the announced totals by seat, with ``None`` for those that differ from ``points`` (C-O24)."""
    announced = zip(table.announced, points, strict=True)
    return tuple([value if value == total else None for value, total in announced])


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt[Table]:
    """Return the state between deals. The deal passes clockwise (C9)."""
    totals = unchanged_totals(state.table, event.points)
    return Undealt(table=replace(next_deal(state.table, event), announced=totals, duel=False, lead=None))


def duel_called(state: Undealt[Table], event: DuelCalled, number: int) -> Drawing[Table] | Undealt[Table]:
    return undealt(replace(state.table, playing=event.seats, dealer=event.dealer, duel=True))


def drawing_for_lead(table: Table) -> Drawing[Table]:
    order = tuple(seat for seat in clockwise(table.dealer, table.seats) if seat in table.playing)
    return Drawing(table=table, contenders=order)


def undealt(table: Table) -> Undealt[Table] | Drawing[Table]:
    """Return the state before a deal: in a duel first the drawing for the lead, except in a tally (C48, C-O36)."""
    drawn = table.duel and table.lead is None and not table.tally
    return drawing_for_lead(table) if drawn else Undealt(table=table)


def void(state: Any, act: Void, moment: Moment) -> tuple[Event, ...]:
    """Return the event that voids the deal. Penalties of the deal go into the points (C-O23, B-O38)."""
    table = state.table
    entries = tuple(penalty_entries(table.ledger))
    if not entries:
        return (DealVoided(deal=table.deal, reason=act.reason),)
    points = tuple(points + table.ledger.penalty_points(seat) for seat, points in enumerate(table.points))
    return (DealVoided(deal=table.deal, reason=act.reason, before=table.points, points=points, entries=entries),)


def deal_voided(state: Any, event: DealVoided, number: int) -> Undealt[Table]:
    """Return the state after a voided deal. In a duel the lead is not drawn again."""
    table = state.table
    points = event.points or table.points
    totals = unchanged_totals(table, points)
    ledger = replace(table.ledger.closed(), dismissed=table.ledger.dismissed)
    return Undealt(table=replace(table, points=points, announced=totals, ledger=ledger))
