"""Writing a deal into the protocol, duels, and the end of the match (A40-A60)."""

from typing import NotRequired

from msgspec.structs import replace

from referee.acts import Score
from referee.events import DealScored, Entry, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.dealing import forehand_first
from referee.games._rodskagg.facts import DuelCalled
from referee.games._rodskagg.money import points_left
from referee.games._rodskagg.question import ASKED_AFTER, said
from referee.games._rodskagg.score_line import Noted, Told, Writes, contracted, entries, noted, told, written
from referee.games.rodskagg_alga.states import Outcome, Played, Table, Undealt
from referee.phases import ended_by, next_deal
from referee.ruleset import Moment
from referee.visibility import Event
from referee.wire_types import ListOfMany

SIX_UP = 6
"""A42, A44: what a failed contract costs, and going along for nothing."""
LATE = 2
"""A41, A46: what a late trick takes off."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """A-O28: under ``penalise`` any seat in the deal writes it into the protocol."""
    return scored(state.table, state.outcome)


def follows(state: Played, moment: Moment) -> tuple[Event, ...]:
    """A-O23 (B-O28): scored as soon as nothing is due, where nothing can be forgotten."""
    return () if state.table.penalise else scored(state.table, state.outcome)


def scored_anew(state: Played, seed: str) -> tuple[Event, ...]:
    """The line of the deal, and what comes of it."""
    return scored(state.table, state.outcome)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """The line of the deal, who is out, and what comes of it: a win, a duel, or the next deal."""
    contract = deal.contract
    written_down = () if contract is None or table.duel else tuple(_entries(table, deal, contract))  # A-O4
    out = (contract.declarer,) if contract is not None and deal.kind == "rodskagg_failed" else ()
    line = written(table, deal, deal.kind, written_down, out, _detail(table, deal))
    return line, *(PlayerEliminated(seat=seat, rule="A49") for seat in out), *_outcome(table, deal, line)


class Detail(Told):
    """What is told of the deal beside its numbers."""

    noted: NotRequired[ListOfMany[Noted]]
    """Revokes that closed hands showed (A-O26); left out where there are none."""


def _detail(table: Table, deal: Outcome) -> Detail:
    """What is told of the deal beside its numbers."""
    shown, about = noted(table.ledger), told(table, deal, table.duel)
    return {**about, "noted": shown} if shown else {**about}  # type: ignore[typeddict-item]  # mypy wants it there


# The line of a deal

WRITES: dict[str, tuple[Writes, ...]] = {
    "made": (Writes(-1, "trick", "A40"),),
    "failed": (Writes(SIX_UP, "contract", "A42"), Writes(-1, "trick", "A43")),
    "early": (Writes(-1, "trick", "A40"),),
    "late": (Writes(-LATE, "trick", "A41"),),
    "in_vain": (Writes(SIX_UP, "answer", "A44"),),
    "folded": (),
    # where the question was forgotten, whoever had no trick then: as if one late trick had been taken, whatever was
    "deemed_one_late_trick": (Writes(-LATE, "late_lead", "A46"),),
    "normal_value": (Writes(-1, "trick", "A-O9"),),
    # in rödskägg nobody goes up, and its declarer writes nothing
    "rodskagg": (),
    "none": (),
    "one_per_trick": (Writes(-1, "trick", "A-O1"),),
}
"""What each kind of seat writes, plus points first (A40-A50)."""


def kind_of(table: Table, deal: Outcome, contract: Contract, seat: int, early: set[int]) -> str:
    """Which kind of seat it is (A36, A40-A47, A50, A-O1, A-O8, A-O9)."""
    if deal.kind != "number":
        return "rodskagg" if seat == contract.declarer else table.options.rodskagg_defenders_score
    if seat == contract.declarer:
        return "failed" if deal.tricks[seat] < contracted(contract) else "made"
    if seat in early:
        return "early"
    if deal.question.forgotten:
        return table.options.forgotten_question_effect
    if seat not in said(deal.question.answers, "play"):
        return "folded"
    return "late" if deal.tricks[seat] else "in_vain"


def _entries(table: Table, deal: Outcome, contract: Contract) -> list[Entry]:
    """A40-A50, A-O10: the declarer, then seat by seat."""
    declarer, fine = contract.declarer, table.options.forgotten_question_penalty
    early = {seat for seat, _ in deal.won[:ASKED_AFTER]}
    rows = WRITES[kind_of(table, deal, contract, declarer, early)]
    if fine and deal.question.forgotten:
        rows = (*rows[:-1], Writes(fine, "late_lead", "A-O10"), rows[-1])
    written_down = entries(rows, deal, contract, declarer)
    for seat in table.playing:
        if seat != declarer:
            written_down += entries(WRITES[kind_of(table, deal, contract, seat, early)], deal, contract, seat)
    return written_down


# What comes of it


def _outcome(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """A48, A52, A55-A60, A-O18: who has won, or a duel; nothing while the match goes on."""
    if deal.contract is not None and deal.kind == "rodskagg_made":
        return (_won(table, line, deal.contract.declarer, "rodskagg", "A48"),)
    if table.duel:
        return _of_duel(table, deal, line)
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if len(at_zero) == 1:
        return (_won(table, line, at_zero[0], "zero", "A52"),)
    if at_zero:
        return (_duel(table, at_zero, "A55"),)
    if len(left) == 1:
        return (_won(table, line, left[0], "last_standing", "A-O18"),)
    return ()


def _of_duel(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """A58-A60, A-O3 to A-O6: most tricks, without a declarer who failed; among those level a new duel."""
    if deal.contract is None:
        return (_duel(table, table.playing, "A-O5"),)
    declarer = deal.contract.declarer
    failed = deal.tricks[declarer] < contracted(deal.contract)
    rivals = [seat for seat in table.playing if seat != declarer or not failed]
    most = max(deal.tricks[seat] for seat in rivals)
    best = tuple(seat for seat in rivals if deal.tricks[seat] == most)
    if len(best) > 1:
        return (_duel(table, best, "A60"),)
    return (_won(table, line, best[0], "duel", "A58" if failed else "A59"),)


def _won(table: Table, line: DealScored, seat: int, by: str, rule: str) -> MatchWon:
    won = MatchWon(seat=seat, by=by, rule=rule, points=line.points)
    if table.options.money == "none":
        return won
    return ended_by(table, won, points_left(line.points, seat, rule="A-O32", below_zero="A-O32"))


def _duel(table: Table, seats: tuple[int, ...], rule: str) -> DuelCalled:
    """A56, A-O5, A-O21: the duellist nearest to the left of the latest dealer deals."""
    return DuelCalled(seats=seats, dealer=forehand_first(table.dealer, seats, table.seats)[0], rule=rule)


# What follows


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """The state between deals: the deal moves on clockwise among those left (A25, A-O19)."""
    return Undealt(table=replace(next_deal(state.table, event), duel=False))


def duel_called(state: Undealt, event: DuelCalled, number: int) -> Undealt:
    """The state before a duel."""
    return Undealt(table=replace(state.table, playing=event.seats, dealer=event.dealer, duel=True))
