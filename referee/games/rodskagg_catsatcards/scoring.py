"""Writing a hand into the score sheet, duels, and the end of the match (C38-C55)."""

from typing import Any

from msgspec.structs import replace

from referee.acts import Announce, Score
from referee.cards import clockwise
from referee.events import DealScored, Entry, Event, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import BidValue
from referee.games._rodskagg.dealing import forehand_first
from referee.games._rodskagg.facts import Announced, DuelCalled
from referee.games._rodskagg.question import ASKED_AFTER, by_seat, said
from referee.games.rodskagg_catsatcards.deal import draw_by_itself
from referee.games.rodskagg_catsatcards.play import counts_as_asked, had_early, late_value, trick_value
from referee.games.rodskagg_catsatcards.states import Drawing, Over, Played, Playing, Table, Undealt
from referee.offences import Ledger
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment

FIVE_UP = 5
"""C39: what the Declarer's missed bid costs."""
SIX_UP = 6
"""C35: what playing on in vain costs."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """C-O23 (B-O28): where something can be passed over, any seat in the deal writes it into the score sheet."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "C-O23")
    return scored(state, moment.seed)


def nothing_due(state: Played) -> bool:
    """C-O23, C-O24: no announcement is due before the deal is scored."""
    return not state.play.owed


def announce(state: Played, act: Announce, moment: Moment) -> tuple[Event, ...]:
    """C44, C49, C-O24, C-O25: near zero while it is due; thanks from whoever will stand at zero, once."""
    seat, play = act.seat, state.play
    points = _line(state).points[seat]
    if act.what == "thanks":
        if points or seat in state.thanked or seat not in state.table.playing:
            raise AgainstTheRules("not_at_zero", "C44", total=points)
        return (Announced(seat=seat, what="thanks", total=0),)
    if seat not in play.owed:
        raise AgainstTheRules("nothing_to_announce", "C49")
    total = state.table.points[seat] + state.ledger.points(seat) - _off(play, seat)
    return (Announced(seat=seat, what="near_zero", total=total),)


def may_thank(state: Played, seat: int) -> bool:
    """C-O25: the seat will stand at zero and has not said it."""
    return seat not in state.thanked and seat in state.table.playing and _line(state).points[seat] == 0


def _off(play: Playing, seat: int) -> int:
    return sum(trick_value(play, seat, trick) for trick, (who, _) in enumerate(play.won) if who == seat)


def scored(state: Played, seed: str) -> tuple[Event, ...]:
    """The line of the deal, who is out, and what comes of it: a win, a duel, or the next deal."""
    line = _line(state)
    out = _eliminated(state)
    return line, *(PlayerEliminated(seat=seat, rule="C42") for seat in out), *_outcome(state, line, seed)


def _eliminated(state: Played) -> tuple[int, ...]:
    """C42, C-O5: all who announced Redbeard and lost a trick."""
    return state.play.redbeards if state.kind == "redbeard_failed" else ()


def _line(state: Played) -> DealScored:
    table, play = state.table, state.play
    out = _eliminated(state)
    entries = tuple(entry for entry in _entries(state) if entry.seat not in out)  # C-O27
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    return DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=state.kind,
        declarer=play.contract.declarer if play.contract else None,
        contract=play.contract.bid if play.contract else None,
        tricks=play.tricks,
        answers=answers(table, play),
        penalties=tuple(state.ledger.points(seat) for seat in range(table.seats)),
        before=table.points,
        points=tuple(points),
        entries=entries,
        eliminated=tuple(seat for seat in range(table.seats) if seat not in table.active or seat in out),
        detail=_detail(state),
    )


def _detail(state: Played) -> dict[str, Any]:
    """What is told of the deal beside its numbers; the bids as they were written down (C20)."""
    table, play = state.table, state.play
    return {
        "bids": [list(call) for call in play.contract.calls] if play.contract else [],
        "duel": list(table.playing) if table.duel else None,
        "forgotten": bool(play.question.forgotten),
        "joined": list(said(play.question.answers, "play")),
        "folded": list(said(play.question.answers, "fold")),
        "noted": [
            {
                "offence": noted.breach.offence,
                "seat": noted.breach.seat,
                "events": [*noted.breach.shown_by, noted.event],
            }
            for noted in state.ledger.standings
            if not noted.breach.points
        ],
    }


def answers(table: Table, play: Playing) -> tuple[str | None, ...]:
    """By seat what was answered, if the question was put (C30-C32)."""
    if not play.question.event or play.contract is None:
        return (None,) * table.seats
    return by_seat(play.question.answers, table.seats, table.playing, play.contract.declarer)


# The line of a deal


def penalty_entries(ledger: Ledger) -> tuple[Entry, ...]:
    """C57-C59: what has been knocked for."""
    return tuple(
        Entry(seat=penalty.seat, points=penalty.points, rule=penalty.rule, events=penalty.events)
        for penalty in ledger.penalties
    )


def _entries(state: Played) -> list[Entry]:
    """C34-C42, C52-C55: penalties that were knocked for, then seat by seat plus points and tricks."""
    play = state.play
    entries = [*penalty_entries(state.ledger)]
    if play.contract is None or state.kind == "redbeard_made":
        return entries
    bids = dict(play.contract.calls)
    for seat in state.table.playing:
        if state.kind != "zero_at_once":
            entries += _plus_points(play, seat, bids[seat])
        entries += _tricks_off(play, seat, failed=_missed(play, seat, bids[seat]))
    return entries


def _missed(play: Playing, seat: int, bid: BidValue) -> bool:
    """C39, C52: not exactly the number bid."""
    return bid != play.tricks[seat]


def _plus_points(play: Playing, seat: int, bid: BidValue) -> list[Entry]:
    """C35, C39, C52, C54, C-O16, C-O17, C-O35."""
    options, contract = play.table.options, play.contract
    assert contract is not None, "points are for hands with bids"
    bid_event = (contract.event,)
    taken = tuple(event for who, event in play.won if who == seat)
    if options.exact_tricks_for_all and _missed(play, seat, bid):
        shown = (*bid_event, *taken)
        return [Entry(seat=seat, points=options.exact_tricks_penalty, rule="C52", events=shown)]
    entries = []
    if seat == contract.declarer and _missed(play, seat, bid):
        entries.append(Entry(seat=seat, points=FIVE_UP, rule="C39", events=(*bid_event, *taken)))
    if _in_vain(play, seat):
        shown = tuple(event for who, _, event in play.question.answers if who == seat)
        entries.append(Entry(seat=seat, points=SIX_UP, rule="C35", events=shown or bid_event))
    return entries


def _in_vain(play: Playing, seat: int) -> bool:
    """C35, C-O2, C-O14: played on and took no trick in the whole hand."""
    if play.tricks[seat]:
        return False
    if play.contract is not None and seat == play.contract.declarer:
        return play.table.options.play_on_applies_to_declarer and counts_as_asked(play)
    return seat in said(play.question.answers, "play")


def _tricks_off(play: Playing, seat: int, *, failed: bool) -> list[Entry]:
    """C34, C38, C40, C53: the tricks at one each, and apart from them the late ones at two."""
    early = tuple(event for who, event in play.won[:ASKED_AFTER] if who == seat)
    late = tuple(event for who, event in play.won[ASKED_AFTER:] if who == seat)
    if not trick_value(play, seat, 0):
        return []
    value = late_value(play, seat)
    if value == 1:
        early, late = early + late, ()
    declarer = play.contract is not None and seat == play.contract.declarer
    rule = "C53" if failed and play.table.options.exact_tricks_for_all else "C40" if failed and declarer else "C38"
    entries = []
    if early:
        entries.append(Entry(seat=seat, points=-len(early), rule=rule, events=early))
    if late:
        rule = "C34" if declarer or not had_early(play, seat) else "C-O1"
        entries.append(Entry(seat=seat, points=-value * len(late), rule=rule, events=late))
    return entries


# What comes of it


def _outcome(state: Played, line: DealScored, seed: str) -> tuple[Event, ...]:
    """C41, C43-C47, C55, C-O8, C-O21, C-O23, C-O34: who has won, or a duel; nothing while the match goes on."""
    table, play = state.table, state.play
    if state.kind == "redbeard_made":
        return (_won(line, play.won[-1][0], "redbeard", "C41"),)
    if state.kind == "zero_at_once":
        return (_won(line, play.won[-1][0], "zero_at_once", "C55"),)
    if table.duel:
        most = max(play.tricks[seat] for seat in table.playing)
        best = tuple(seat for seat in table.playing if play.tricks[seat] == most)
        return (_won(line, best[0], "duel", "C47"),) if len(best) == 1 else _duel(state, line, best, "C-O9", seed)
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if line.declarer in at_zero and len(at_zero) > 1:
        return (_won(line, line.declarer, "zero", "C45"),)
    if len(at_zero) == 1:
        return (_won(line, at_zero[0], "zero", "C43"),)
    if at_zero:
        return _duel(state, line, at_zero, "C46", seed)
    if len(left) == 1:
        return (_won(line, left[0], "last_standing", "C-O23"),)
    return () if left else (_won(line, None, "nobody_left", "C-O34"),)


def _won(line: DealScored, seat: int | None, by: str, rule: str) -> MatchWon:
    return MatchWon(seat=seat, by=by, rule=rule, points=line.points)


def _duel(state: Played, line: DealScored, seats: tuple[int, ...], rule: str, seed: str) -> tuple[Event, ...]:
    """C46-C48, C-O9, C-O31: the deal moves on as usual; in house dealing the referee draws for the lead."""
    dealer, table = deal_scored(state, line, 0).table.dealer, state.table
    order = tuple(seat for seat in clockwise(dealer, table.seats) if seat in seats)
    called = DuelCalled(seats=tuple(sorted(seats)), dealer=dealer, rule=rule)
    return (called, *draw_by_itself(order, True, seed)) if table.house else (called,)


# What follows


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """The state between deals: the deal moves on clockwise among those left (C9)."""
    table = state.table
    active = tuple(seat for seat in table.active if seat not in event.eliminated)
    told = tuple(
        value if value == points else None for value, points in zip(state.play.told, event.points, strict=True)
    )
    seating = forehand_first(event.dealer, active, table.seats)
    table = replace(
        table,
        points=event.points,
        active=active,
        playing=active,
        deal=table.deal + 1,
        dealer=seating[0] if seating else event.dealer,
        told=told,
        duel=False,
        lead=None,
    )
    return Undealt(table=table, ledger=state.ledger.closed())


def duel_called(state: Undealt, event: DuelCalled, number: int) -> Drawing:
    """The state before a duel: cards are drawn for the lead, the dealer first or who comes after (C48)."""
    order = tuple(seat for seat in clockwise(event.dealer, state.table.seats) if seat in event.seats)
    table = replace(state.table, playing=event.seats, dealer=event.dealer, duel=True)
    return Drawing(table=table, contenders=order, ledger=state.ledger)


def match_won(state: Undealt, event: MatchWon, number: int) -> Over:
    """The state when the match is over."""
    return Over(table=state.table, ledger=state.ledger, winner=event.seat, by=event.by)
