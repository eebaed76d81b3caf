"""Writing a deal into the protocol, and the end of the match (E33-E53)."""

from typing import Any, Literal

from msgspec.structs import replace

from referee.acts import Score
from referee.cards import SUITS
from referee.events import DealScored, Entry, Event, MatchWon
from referee.games.kalabrias.declarations import scorers
from referee.games.kalabrias.ranks import BELLA, RANKS, cut, runs, stretch, strongest
from referee.games.kalabrias.states import Claim, Options, Over, Played, Playing, Table, Undealt
from referee.ruleset import Moment
from referee.value import Value

TEN_EACH = 10
"""What level sequences bring by ``equal_sequences: ten_each`` (E-O12)."""
Outcome = Literal["made", "tie", "bete"]


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Where the match waits for it, any seat writes the deal into the protocol."""
    assert state.table.penalise, "elsewhere the referee does it by itself"
    return scored(state)


# What each has won


def hand_dealt(play: Playing, seat: int) -> int:
    """All cards that a seat has had to play with: known, or seen by now (E32)."""
    return play.cards.hands[seat] if play.cards.known else play.played[seat]


def sequence_points(play: Playing) -> list[int]:
    """By seat, for sequences (E24, E53, E-O10, E-O12, E-O14)."""
    table, options, said = play.table, play.table.options, play.sequences
    points = [0] * table.seats
    scoring = scorers(play)
    for seat in scoring:
        points[seat] = _claimed(play, seat) if not play.cards.known else _held(play, seat)
    if not scoring and said.best is not None and options.equal_sequences == "ten_each":
        for seat in (said.best.seat, *said.level):
            points[seat] = TEN_EACH if play.cards.known or _borne_out(play, seat) else 0
    if options.declaration_needs_trick:
        for seat in range(table.seats):
            partner = (seat + 2) % 4 if table.seats == 4 else seat
            if not play.tricks[seat] and not play.tricks[partner]:
                points[seat] = 0
    return points


def _worth(options: Options, length: int) -> int:
    """E-O1: one sequence of three, four or five cards."""
    values = options.sequence_points
    five = values.large if values.five is None else values.five
    return {3: values.small, 4: values.large}.get(length, five)


def _all_of(options: Options, hand: int) -> int:
    """E-O10, E-O34: all sequences of a hand, cut in the best way."""
    small, large, five = (_worth(options, length) for length in (3, 4, 5))
    return sum(cut(length, small, large, five) for suit in SUITS for length, _ in runs(hand, suit))


def _held(play: Playing, seat: int) -> int:
    """What the sequences of a known hand bring."""
    options, trumps = play.table.options, play.contract.trumps
    hand = hand_dealt(play, seat)
    if options.winner_scores_all_sequences:
        return _all_of(options, hand)
    best = strongest(hand, trumps, options.longer_sequence_wins)
    if best is None:
        return 0
    lengths = (
        length
        for suit in SUITS
        for length, top in runs(hand, suit)
        if (top, suit == trumps) == (best.top, best.trumps) and (length > 3) == (best.cards > 3)
    )
    return max(_worth(options, min(length, 5)) for length in lengths)


def _claimed(play: Playing, seat: int) -> int:
    """With closed hands: the claim that won, if the cards bear it out, and what was shown (E-O33, E-O34)."""
    options, best = play.table.options, play.sequences.best
    hand = hand_dealt(play, seat)
    evidence = 0
    if best is not None and best.seat == seat:
        evidence = _evidence(best, hand, play.contract.trumps, options.longer_sequence_wins)
        if not evidence:
            return 0
        if not options.winner_scores_all_sequences:
            return _worth(options, evidence.bit_count())
    for who, cards, _ in play.sequences.shown:
        if who == seat and not cards & ~hand:
            evidence |= cards
    return _all_of(options, evidence)


def _evidence(claim: Claim, hand: int, trumps: str, longer_wins: bool) -> int:
    """The cards in a hand that bear a claim out, the longest and highest; none if it is false."""
    found = 0
    for suit in SUITS:
        if claim.trumps is not None and claim.trumps is not (suit == trumps):
            continue
        for length, top in runs(hand, suit):
            found = max(found, _stretch_claimed(claim, suit, length, top, longer_wins), key=int.bit_count)
    return found


def _stretch_claimed(claim: Claim, suit: str, length: int, top: int, longer_wins: bool) -> int:
    """Where a run bears the claim out, by the highest top that it can have been said of."""
    least = {"small": 3, "large": 5 if claim.five and longer_wins else 4}[claim.sequence]
    most = 3 if claim.sequence == "small" else 5
    for place in range(top, top - length + least - 1, -1):
        rank = RANKS[place]
        if claim.top not in (None, rank) or (claim.above is not None and place <= RANKS.index(claim.above)):
            continue
        return stretch(suit, place, min(most, length - (top - place)))
    return 0


def _borne_out(play: Playing, seat: int) -> bool:
    """With closed hands: whether a seat that said its sequence was level had such a one."""
    best = play.sequences.best
    assert best is not None, "level with something"
    claim = replace(best, seat=seat, trumps=False)
    longer_wins = play.table.options.longer_sequence_wins
    return bool(_evidence(claim, hand_dealt(play, seat), play.contract.trumps, longer_wins))


def bella_points(play: Playing) -> list[int]:
    """By seat, for bella declared; with closed hands only if its two cards came from that seat (E18, E-O33)."""
    pair = BELLA[play.contract.trumps]
    points = [0] * play.table.seats
    for seat, _ in play.bella:
        if hand_dealt(play, seat) & pair == pair:
            points[seat] = play.table.options.bella_points
    return points


# Settling


class Settled(Value):
    """How a deal was settled: who scores what beside the own points, by which rule."""

    outcome: Outcome
    rule: str
    scoring: tuple[int, ...]
    """Those who score their own points."""
    won: tuple[int, ...]
    """By seat, in the units of the protocol: the points of a declarer who is bête."""
    carried: tuple[int, ...]
    """By seat, in the units of the protocol: what had been set aside."""
    carry: int


def settle(table: Table, declarer: int, own: list[int]) -> Settled:
    """E43-E45, E47-E49: who has more, and what follows from it."""
    opponents = table.opponents(declarer)
    ours = sum(own[seat] for seat in range(table.seats) if seat not in opponents)
    each = [own[seat] for seat in opponents]
    theirs = max(each) if table.seats == 3 and table.options.three_player_compare == "each" else sum(each)
    nothing = (0,) * table.seats
    everybody = tuple(range(table.seats))
    if ours > theirs:
        ours_too = tuple(table.carry * table.unit if seat not in opponents else 0 for seat in everybody)
        return Settled(outcome="made", rule="E43", scoring=everybody, won=nothing, carried=ours_too, carry=0)
    if ours == theirs and table.options.tie_rule != "bete":
        carry = table.carry + (ours if table.options.tie_rule == "carry" else 0)
        rule = {2: "E44", 3: "E-O24", 4: "E44"}[table.seats]
        return Settled(outcome="tie", rule=rule, scoring=opponents, won=nothing, carried=nothing, carry=carry)
    return Settled(
        outcome="bete",
        rule="E45" if ours < theirs else "E-O21",
        scoring=opponents,
        won=divided(table, opponents, own, ours),
        carried=divided(table, opponents, own, table.carry, set_aside=True),
        carry=0,
    )


def divided(
    table: Table, opponents: tuple[int, ...], own: list[int], prize: int, *, set_aside: bool = False
) -> tuple[int, ...]:
    """E45, E48, E52, E-O23, E-O38: what each opponent gets of a prize, in the units of the protocol.

    Points ``set_aside`` by a level deal are won even where nobody gets those of the declarer (E-O36).
    """
    given = [0] * table.seats
    split, odd = table.options.bete_split, table.options.bete_odd_point
    if set_aside and split == "none":
        split = "half"
    if table.seats != 3 or split == "full_to_both":
        for seat in opponents:
            given[seat] = prize
        return tuple(given)
    higher = max(opponents, key=lambda seat: own[seat])  # the first of level ones: nearest left of the declarer
    if split == "higher_opponent_takes_all":
        given[higher] = prize
    elif split == "half":
        for seat in opponents:
            given[seat] = prize * table.unit // 2
        if table.unit == 1 and prize % 2 and odd == "higher_opponent":
            given[higher] += 1
    return tuple(given)


# The line in the protocol


def scored(state: Played) -> tuple[Event, ...]:
    """The line of the deal, and who has won (E42-E46)."""
    table, play = state.table, state.play
    nothing = (0,) * table.seats
    points = list(table.points)
    entries: list[Entry] = []
    detail: dict[str, Any] = {"carry": table.carry}
    if play is not None:
        entries, detail = _settled_entries(play)
        for entry in entries:
            points[entry.seat] += entry.points
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=state.kind,
        declarer=play.contract.declarer if play else None,
        contract=play.contract.trumps if play else None,
        tricks=play.tricks if play else nothing,
        answers=(None,) * table.seats,
        penalties=nothing,
        before=table.points,
        points=tuple(points),
        entries=tuple(entries),
        halves=table.unit == 2,
        detail=detail,
    )
    return (line, *_won(table, line))


def _settled_entries(play: Playing) -> tuple[list[Entry], dict[str, Any]]:
    """E42: the numbers on the line, and how they came about."""
    table, declarer = play.table, play.contract.declarer
    sequences, bella = sequence_points(play), bella_points(play)
    own = [sum(three) for three in zip(play.card_points, sequences, bella, strict=True)]
    settled = settle(table, declarer, own)
    detail = {
        "card_points": list(play.card_points),
        "sequence_points": sequences,
        "bella_points": bella,
        "own": own,
        "outcome": settled.outcome,
        "rule": settled.rule,
        "carry": settled.carry,
    }
    entries = []
    for seat in settled.scoring:
        side = (seat, (seat + 2) % 4) if table.seats == 4 else (seat,)  # E52
        entries += _own_entries(play, seat, side, sequences, bella)
    taken = tuple(event for seat, event in play.won if seat == declarer)
    shown = (play.contract.event, *taken)
    for seat, points in enumerate(settled.won):
        if points:
            rule = "E48" if table.seats == 3 else "E45"
            entries.append(Entry(seat=seat, points=points, rule=rule, events=shown))
    for seat, points in enumerate(settled.carried):
        if points:
            entries.append(Entry(seat=seat, points=points, rule="E-O36", events=shown))
    return entries, detail


def _own_entries(
    play: Playing, seat: int, side: tuple[int, ...], sequences: list[int], bella: list[int]
) -> list[Entry]:
    """What a seat and its partner won: with tricks, sequences and bella."""
    unit, said, entries = play.table.unit, play.sequences, []
    if points := sum([play.card_points[who] for who in side]):
        tricks = tuple([event for who, event in play.won if who in side])
        entries.append(Entry(seat=seat, points=points * unit, rule="E33", events=tricks))
    if points := sum([sequences[who] for who in side]):
        best = () if said.best is None else (said.best.event,)
        shown = tuple([event for who, _, event in said.shown if who in side])
        rule = _sequence_rule(play, seat)
        entries.append(Entry(seat=seat, points=points * unit, rule=rule, events=(*best, *shown)))
    if points := sum([bella[who] for who in side]):
        declared = tuple([event for who, event in play.bella if who in side])
        entries.append(Entry(seat=seat, points=points * unit, rule="E18", events=declared))
    return entries


def _sequence_rule(play: Playing, seat: int) -> str:
    """Why a seat scores sequences: it has the best, is on the side of the best, or is level with it."""
    scoring = scorers(play)
    if not scoring:
        return "E-O12"
    if scoring[0] == seat:
        return "E20"
    return "E53" if play.table.seats == 4 else "E-O25"


def _won(table: Table, line: DealScored) -> tuple[Event, ...]:
    """E46, E-O20, E-O31: after the deal, the highest with the target reached; level at the top: another deal."""
    if (winners := leading(table, line.points)) is None:
        return ()
    reached = sum(points >= table.options.target_score * table.unit for points in line.points)
    return (
        MatchWon(
            seat=winners[0],
            by="target",
            rule="E46" if reached == len(winners) else "E-O20",
            points=line.points,
            halves=line.halves,
            seats=winners if len(winners) > 1 else (),
        ),
    )


def leading(table: Table, points: tuple[int, ...]) -> tuple[int, ...] | None:
    """The seat, or the partners (E52), alone at the top with the target reached."""
    top = max(points)
    leaders = tuple(seat for seat, score in enumerate(points) if score == top)
    partners = table.seats == 4 and leaders in ((0, 2), (1, 3))
    if top < table.options.target_score * table.unit or not (partners or len(leaders) == 1):
        return None
    return leaders


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """The state between deals: the deal moves on clockwise (E-O29), but see ``redeal_dealer`` (E-O6)."""
    table = state.table
    same = event.kind == "redeal" and table.options.redeal_dealer == "same"
    table = replace(
        table,
        points=event.points,
        deal=table.deal + 1,
        dealer=event.dealer if same else (event.dealer + 1) % table.seats,
        carry=event.detail["carry"],
    )
    return Undealt(table=table, ledger=state.ledger.closed())


def match_won(state: Undealt, event: MatchWon, number: int) -> Over:
    """The state when the match is over."""
    assert event.seat is not None, "somebody has reached the target"
    winners = event.seats or (event.seat,)
    return Over(table=state.table, ledger=state.ledger, winner=event.seat, winners=winners, by=event.by)
