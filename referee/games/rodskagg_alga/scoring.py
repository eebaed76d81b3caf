"""Writing a deal into the protocol, duels, and the end of the match (A40-A60)."""

from typing import Any

from msgspec.structs import replace

from referee.acts import Score
from referee.events import DealScored, Entry, Event, MatchWon, PlayerEliminated
from referee.games._rodskagg.dealing import forehand_first
from referee.games._rodskagg.facts import DuelCalled
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, by_seat, said
from referee.games.rodskagg_alga.states import Over, Played, Playing, Table, Undealt
from referee.ruleset import Moment

SIX_UP = 6
"""A42, A44: what a failed contract costs, and going along for nothing."""
LATE = 2
"""A41, A46: what a late trick takes off."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """A-O28: under ``penalise`` any seat in the deal writes it into the protocol."""
    return scored(state)


def scored(state: Played) -> tuple[Event, ...]:
    """The line of the deal, who is out, and what comes of it: a win, a duel, or the next deal."""
    table, play = state.table, state.play
    entries = () if play is None or table.duel else tuple(_entries(state, play))  # A-O4
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    loser = play.contract.declarer if play is not None and state.kind == "rodskagg_failed" else None
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=state.kind,
        declarer=play.contract.declarer if play else None,
        contract=play.contract.bid if play else None,
        tricks=play.tricks if play else (0,) * table.seats,
        answers=answers(table, play),
        penalties=(0,) * table.seats,
        before=table.points,
        points=tuple(points),
        entries=entries,
        eliminated=tuple(seat for seat in range(table.seats) if seat not in table.active or seat == loser),
        detail=_detail(state),
    )
    outcome = _outcome(state, line)
    if loser is None:
        return line, *outcome
    return line, PlayerEliminated(seat=loser, rule="A49"), *outcome


def _detail(state: Played) -> dict[str, Any]:
    """What is told of the deal beside its numbers; ``noted``: revokes that closed hands showed (A-O26)."""
    table, play = state.table, state.play
    question = play.question if play else None
    told: dict[str, Any] = {
        "duel": list(table.playing) if table.duel else None,
        "forgotten": bool(question and question.forgotten),
        "joined": list(said(question.answers, "play")) if question else [],
        "folded": list(said(question.answers, "fold")) if question else [],
    }
    if play and play.noted:
        told["noted"] = [
            {
                "offence": noted.breach.offence,
                "seat": noted.breach.seat,
                "events": [*noted.breach.shown_by, noted.event],
            }
            for noted in play.noted
        ]
    return told


def answers(table: Table, play: Playing | None) -> tuple[str | None, ...]:
    """By seat what was answered, if the question was put (A34-A37)."""
    if play is None or not play.question.event:
        return (None,) * table.seats
    return by_seat(play.question.answers, table.seats, table.playing, play.contract.declarer)


# The line of a deal


def _entries(state: Played, play: Playing) -> list[Entry]:
    """A40-A50: seat by seat, plus points first."""
    declarer = play.contract.declarer
    taken = {seat: tuple(event for who, event in play.won if who == seat) for seat in state.table.playing}
    if state.kind != "number":
        return _in_rodskagg(state, play, taken)
    entries = _of_declarer(play, taken[declarer])
    early = {seat for seat, _ in play.won[:ASKED_AFTER]}
    for seat in state.table.playing:
        if seat == declarer:
            continue
        if seat in early:
            entries.append(Entry(seat=seat, points=-play.tricks[seat], rule="A40", events=taken[seat]))
        elif play.question.forgotten:
            entries += _after_forgotten(play, seat, taken[seat])
        elif seat in said(play.question.answers, "play"):
            entries += _joined_late(play, seat, taken[seat])
    return entries


def _in_rodskagg(state: Played, play: Playing, taken: dict[int, tuple[int, ...]]) -> list[Entry]:
    """A50, A-O1: nobody goes up, and nobody subtracts unless the others do, one a trick."""
    if state.table.options.rodskagg_defenders_score == "none":
        return []
    return [
        Entry(seat=seat, points=-play.tricks[seat], rule="A-O1", events=taken[seat])
        for seat in state.table.playing
        if seat != play.contract.declarer and play.tricks[seat]
    ]


def contracted(play: Playing) -> int:
    """A27-A28: the tricks that the contract promises."""
    return play.contract.bid if isinstance(play.contract.bid, int) else TRICKS


def _of_declarer(play: Playing, taken: tuple[int, ...]) -> list[Entry]:
    """A40, A42-A43, A-O8, A-O10: one a trick in any case; six up if the contract failed."""
    declarer, entries = play.contract.declarer, []
    failed = play.tricks[declarer] < contracted(play)
    if failed:
        entries.append(Entry(seat=declarer, points=SIX_UP, rule="A42", events=(play.contract.event, *taken)))
    forgot, fine = play.question.forgotten, play.table.options.forgotten_question_penalty
    if forgot and fine:
        entries.append(Entry(seat=declarer, points=fine, rule="A-O10", events=(forgot,)))
    if taken:
        rule = "A43" if failed else "A40"
        entries.append(Entry(seat=declarer, points=-len(taken), rule=rule, events=taken))
    return entries


def _after_forgotten(play: Playing, seat: int, taken: tuple[int, ...]) -> list[Entry]:
    """A45-A47, A-O9: as if one late trick had been taken, whatever was; or its normal value without risk."""
    if play.table.options.forgotten_question_effect == "deemed_one_late_trick":
        return [Entry(seat=seat, points=-LATE, rule="A46", events=(play.question.forgotten,))]
    return [Entry(seat=seat, points=-len(taken), rule="A-O9", events=taken)] if taken else []


def _joined_late(play: Playing, seat: int, taken: tuple[int, ...]) -> list[Entry]:
    """A41, A44: two a trick, or six up for none."""
    if taken:
        return [Entry(seat=seat, points=-LATE * len(taken), rule="A41", events=taken)]
    shown = tuple(event for who, _, event in play.question.answers if who == seat)
    return [Entry(seat=seat, points=SIX_UP, rule="A44", events=shown)]


# What comes of it


def _outcome(state: Played, line: DealScored) -> tuple[Event, ...]:
    """A48, A52, A55-A60, A-O18: who has won, or a duel; nothing while the match goes on."""
    table, play = state.table, state.play
    if play is not None and state.kind == "rodskagg_made":
        return (_won(line, play.contract.declarer, "rodskagg", "A48"),)
    if table.duel:
        return _of_duel(state, line)
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if len(at_zero) == 1:
        return (_won(line, at_zero[0], "zero", "A52"),)
    if at_zero:
        return (_duel(table, at_zero, "A55"),)
    if len(left) == 1:
        return (_won(line, left[0], "last_standing", "A-O18"),)
    return ()


def _of_duel(state: Played, line: DealScored) -> tuple[Event, ...]:
    """A58-A60, A-O3 to A-O6: most tricks, without a declarer who failed; among those level a new duel."""
    table, play = state.table, state.play
    if play is None:
        return (_duel(table, table.playing, "A-O5"),)
    declarer = play.contract.declarer
    failed = play.tricks[declarer] < contracted(play)
    rivals = [seat for seat in table.playing if seat != declarer or not failed]
    most = max(play.tricks[seat] for seat in rivals)
    best = tuple(seat for seat in rivals if play.tricks[seat] == most)
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
    table = state.table
    active = tuple(seat for seat in table.active if seat not in event.eliminated)
    table = replace(
        table,
        points=event.points,
        active=active,
        playing=active,
        deal=table.deal + 1,
        dealer=forehand_first(event.dealer, active, table.seats)[0],
        duel=False,
    )
    return Undealt(table=table)


def duel_called(state: Undealt, event: DuelCalled, number: int) -> Undealt:
    """The state before a duel."""
    return Undealt(table=replace(state.table, playing=event.seats, dealer=event.dealer, duel=True))


def match_won(state: Undealt, event: MatchWon, number: int) -> Over:
    """The state when the match is over."""
    assert event.seat is not None, "somebody has won"
    return Over(table=state.table, winner=event.seat, by=event.by)
