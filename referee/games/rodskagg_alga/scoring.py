"""Writing a deal into the protocol, duels, and the end of the match (A40-A60)."""

from typing import Any

from msgspec.structs import replace

from referee.acts import Score
from referee.events import DealScored, Entry, Event, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.dealing import forehand_first
from referee.games._rodskagg.facts import DuelCalled
from referee.games._rodskagg.line import answered_by, contracted, noted, taken_by, told, written
from referee.games._rodskagg.question import ASKED_AFTER, said
from referee.games.rodskagg_alga.states import Outcome, Played, Table, Undealt
from referee.phases import next_deal
from referee.ruleset import Moment

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


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """The line of the deal, who is out, and what comes of it: a win, a duel, or the next deal."""
    contract = deal.contract
    entries = () if contract is None or table.duel else tuple(_entries(table, deal, contract))  # A-O4
    out = (contract.declarer,) if contract is not None and deal.kind == "rodskagg_failed" else ()
    line = written(table, deal, deal.kind, entries, out, _detail(table, deal))
    return line, *(PlayerEliminated(seat=seat, rule="A49") for seat in out), *_outcome(table, deal, line)


def _detail(table: Table, deal: Outcome) -> dict[str, Any]:
    """What is told of the deal beside its numbers; ``noted``: revokes that closed hands showed (A-O26)."""
    shown = noted(table.ledger)
    return told(table, deal, table.duel) | ({"noted": shown} if shown else {})


# The line of a deal


def _entries(table: Table, deal: Outcome, contract: Contract) -> list[Entry]:
    """A40-A50: seat by seat, plus points first."""
    declarer = contract.declarer
    taken = {seat: taken_by(deal, seat) for seat in table.playing}
    if deal.kind != "number":
        return _in_rodskagg(table, deal, declarer, taken)
    entries = _of_declarer(table, deal, contract, taken[declarer])
    early = {seat for seat, _ in deal.won[:ASKED_AFTER]}
    for seat in table.playing:
        if seat == declarer:
            continue
        if seat in early:
            entries.append(Entry(seat=seat, points=-deal.tricks[seat], rule="A40", events=taken[seat]))
        elif deal.question.forgotten:
            entries += _after_forgotten(table, deal, seat, taken[seat])
        elif seat in said(deal.question.answers, "play"):
            entries += _joined_late(deal, seat, taken[seat])
    return entries


def _in_rodskagg(table: Table, deal: Outcome, declarer: int, taken: dict[int, tuple[int, ...]]) -> list[Entry]:
    """A50, A-O1: nobody goes up, and nobody subtracts unless the others do, one a trick."""
    if table.options.rodskagg_defenders_score == "none":
        return []
    return [
        Entry(seat=seat, points=-deal.tricks[seat], rule="A-O1", events=taken[seat])
        for seat in table.playing
        if seat != declarer and deal.tricks[seat]
    ]


def _of_declarer(table: Table, deal: Outcome, contract: Contract, taken: tuple[int, ...]) -> list[Entry]:
    """A40, A42-A43, A-O8, A-O10: one a trick in any case; six up if the contract failed."""
    declarer, entries = contract.declarer, []
    failed = deal.tricks[declarer] < contracted(contract)
    if failed:
        entries.append(Entry(seat=declarer, points=SIX_UP, rule="A42", events=(contract.event, *taken)))
    forgot, fine = deal.question.forgotten, table.options.forgotten_question_penalty
    if forgot and fine:
        entries.append(Entry(seat=declarer, points=fine, rule="A-O10", events=(forgot,)))
    if taken:
        rule = "A43" if failed else "A40"
        entries.append(Entry(seat=declarer, points=-len(taken), rule=rule, events=taken))
    return entries


def _after_forgotten(table: Table, deal: Outcome, seat: int, taken: tuple[int, ...]) -> list[Entry]:
    """A45-A47, A-O9: as if one late trick had been taken, whatever was; or its normal value without risk."""
    if table.options.forgotten_question_effect == "deemed_one_late_trick":
        return [Entry(seat=seat, points=-LATE, rule="A46", events=(deal.question.forgotten,))]
    return [Entry(seat=seat, points=-len(taken), rule="A-O9", events=taken)] if taken else []


def _joined_late(deal: Outcome, seat: int, taken: tuple[int, ...]) -> list[Entry]:
    """A41, A44: two a trick, or six up for none."""
    if taken:
        return [Entry(seat=seat, points=-LATE * len(taken), rule="A41", events=taken)]
    return [Entry(seat=seat, points=SIX_UP, rule="A44", events=answered_by(deal, seat))]


# What comes of it


def _outcome(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """A48, A52, A55-A60, A-O18: who has won, or a duel; nothing while the match goes on."""
    if deal.contract is not None and deal.kind == "rodskagg_made":
        return (_won(line, deal.contract.declarer, "rodskagg", "A48"),)
    if table.duel:
        return _of_duel(table, deal, line)
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if len(at_zero) == 1:
        return (_won(line, at_zero[0], "zero", "A52"),)
    if at_zero:
        return (_duel(table, at_zero, "A55"),)
    if len(left) == 1:
        return (_won(line, left[0], "last_standing", "A-O18"),)
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
    return (_won(line, best[0], "duel", "A58" if failed else "A59"),)


def _won(line: DealScored, seat: int, by: str, rule: str) -> MatchWon:
    return MatchWon(seat=seat, by=by, rule=rule, points=line.points)


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
