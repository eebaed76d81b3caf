"""The score of a deal, and the end of the match (E33-E53)."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, NotRequired, TypedDict

from msgspec.structs import replace

from referee import wire_types
from referee.acts import Score
from referee.cards import SUITS
from referee.events import DealScored, Entry, MatchWon, Payment
from referee.games.kalabrias.declarations import sequence_scorers
from referee.games.kalabrias.ranks import BELLA, RANKS, best_split, cards_of_run, runs, strongest_sequence
from referee.games.kalabrias.states import Claim, Options, Outcome, Played, Table, TrumpContract, Undealt
from referee.phases import next_deal, with_settlement
from referee.ruleset import Moment
from referee.value import RuleId
from referee.visibility import Event

TEN_EACH = 10
"""Points for each equal sequence if ``equal_sequences`` is ``ten_each`` (E-O12)."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    return scored(state.table, state.outcome)


def automatic_events(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored`; none under ``penalise`` if a deal with cards waits for ``score`` (E42)."""
    table, deal = state.table, state.outcome
    waits = table.penalise and deal.contract is not None and deal.counted is None
    return () if waits else scored(table, deal)


def sequence_points(table: Table, deal: Outcome, contract: TrumpContract, scoring: tuple[int, ...]) -> list[int]:
    """Return the points for sequences, by seat (E24, E53, E-O10, E-O12, E-O14). ``scoring``: the seats that score."""
    options, sequences = table.options, deal.sequences
    points = [0] * table.seats
    for seat in scoring:
        hand = deal.hands[seat] if deal.known else _proven_cards(options, deal, contract, seat)
        points[seat] = _hand_points(options, hand, contract.trumps)
    if not scoring and sequences.best is not None and options.equal_sequences == "ten_each":
        for seat in (sequences.best.seat, *sequences.level):
            points[seat] = TEN_EACH if deal.known or _has_equal_sequence(options, deal, contract, seat) else 0
    return points_that_count(table, deal.tricks, points)


def points_that_count(table: Table, tricks: Sequence[int], points: list[int]) -> list[int]:
    """Return ``points``, but 0 for a side without a trick if ``declaration_needs_trick`` (E-O14)."""
    if not table.options.declaration_needs_trick:
        return points
    sides = [{seat, (seat + 2) % 4 if table.seats == 4 else seat} for seat in range(table.seats)]
    return [each if any(tricks[who] for who in side) else 0 for each, side in zip(points, sides, strict=True)]


def sequence_worth(options: Options, length: int) -> int:
    """Return the points for a sequence of three, four or five cards (E-O1)."""
    values = options.sequence_points
    five = values.large if values.five is None else values.five
    return {3: values.small, 4: values.large}.get(length, five)


def run_worth(options: Options, length: int) -> int:
    """Return the points for a run of cards, best split (E-O10, E-O34)."""
    small, large, five = (sequence_worth(options, cards) for cards in (3, 4, 5))
    return best_split(length, small, large, five)


def _all_sequence_points(options: Options, hand: int) -> int:
    """Return the points for all sequences of a hand (E-O10)."""
    return sum(run_worth(options, length) for suit in SUITS for length, _ in runs(hand, suit))


def _hand_points(options: Options, hand: int, trumps: str) -> int:
    """Return the points for all sequences of a hand, or only for the best by ``winner_scores_all_sequences``."""
    if options.winner_scores_all_sequences:
        return _all_sequence_points(options, hand)
    best = strongest_sequence(hand, trumps, options.longer_sequence_wins)
    if best is None:
        return 0
    lengths = (
        length
        for suit in SUITS
        for length, top in runs(hand, suit)
        if (top, suit == trumps) == (best.top, best.trumps) and (length > 3) == (best.cards > 3)
    )
    return max(sequence_worth(options, min(length, 5)) for length in lengths)


def _proven_cards(options: Options, deal: Outcome, contract: TrumpContract, seat: int) -> int:
    """Return the cards of a closed hand's proven claim and sequences shown; 0 if unproven (E-O33, E-O34).

    If only the best sequence counts, the claim is the winner's only one.
    """
    hand, best = deal.hands[seat], deal.sequences.best
    proven = 0
    if best is not None and best.seat == seat:
        proven = _evidence(best, hand, contract.trumps, options.longer_sequence_wins)
        if not proven or not options.winner_scores_all_sequences:
            return proven
    for who, cards, _ in deal.sequences.shown:
        if who == seat and not cards & ~hand:
            proven |= cards
    return proven


def _evidence(claim: Claim, hand: int, trumps: str, longer_wins: bool) -> int:
    """Return the cards of the longest sequence in a hand that proves a claim, or 0."""
    found = 0
    for suit in SUITS:
        if claim.trumps is not None and claim.trumps is not (suit == trumps):
            continue
        for length, top in runs(hand, suit):
            found = max(found, _claimed_part(claim, suit, length, top, longer_wins), key=int.bit_count)
    return found


def _claimed_part(claim: Claim, suit: str, length: int, top: int, longer_wins: bool) -> int:
    """Return the cards of the highest part of a run that proves a claim, or 0."""
    least = {"small": 3, "large": 5 if claim.five and longer_wins else 4}[claim.sequence]
    most = 3 if claim.sequence == "small" else 5
    for place in range(top, top - length + least - 1, -1):
        rank = RANKS[place]
        if claim.top not in (None, rank) or (claim.above is not None and place <= RANKS.index(claim.above)):
            continue
        return cards_of_run(suit, place, min(most, length - (top - place)))
    return 0


def _has_equal_sequence(options: Options, deal: Outcome, contract: TrumpContract, seat: int) -> bool:
    """Return whether the cards that a closed hand played contain a sequence equal to the best, outside trumps."""
    best = deal.sequences.best
    assert best is not None, "there is a best sequence"
    claim = replace(best, seat=seat, trumps=False)
    return bool(_evidence(claim, deal.hands[seat], contract.trumps, options.longer_sequence_wins))


def bella_points(table: Table, deal: Outcome, contract: TrumpContract) -> list[int]:
    """Return the points for bella, by seat. A closed hand must have played both cards (E18, E-O33)."""
    pair = BELLA[contract.trumps]
    points = [0] * table.seats
    for seat, _ in deal.bella:
        if deal.hands[seat] & pair == pair:
            points[seat] = table.options.bella_points
    return points


Scorers = Literal["everybody", "declarer's side", "the opponents", "nobody", "the next deal"]


class Division(NamedTuple):
    """The outcome of a deal, and which seats score each side's points and those carried over (E-O36)."""

    outcome: Literal["made", "tie", "bete"]
    rule: str
    rule_with_three: str
    own_points_to: Scorers
    declarers_points_to: Scorers
    carried_points_to: Scorers


# fmt: off
DIVISIONS = {
    "declarer has more":    Division("made", "E43",   "E43",   "everybody",     "nobody",        "declarer's side"),
    "tied: opponent_only":  Division("tie",  "E44",   "E-O24", "the opponents", "nobody",        "the next deal"),
    "tied: carry":          Division("tie",  "E44",   "E-O24", "the opponents", "the next deal", "the next deal"),
    "tied: bete":           Division("bete", "E-O21", "E-O21", "the opponents", "the opponents", "the opponents"),
    "opponents have more":  Division("bete", "E45",   "E45",   "the opponents", "the opponents", "the opponents"),
}
"""Divisions by result (E43-E45, E-O21, E-O24, E-O36)."""
BETE_SPLIT = {
    "half":                      (1, 1),
    "higher_opponent_takes_all": (2, 0),
    "full_to_both":              (2, 2),
    "none":                      (0, 0),
}
"""Halves for the opponent with more points, and for the other (E48, E-O23, E-O38)."""
# fmt: on


def division_of_points(table: Table, declarer: int, own: list[int]) -> tuple[Division, int]:
    """Return the division of a deal, and the points of the declarer's side (E43-E45, E47-E49, E-O22)."""
    opponents = table.opponents(declarer)
    ours = sum([own[seat] for seat in range(table.seats) if seat not in opponents])
    each = [own[seat] for seat in opponents]
    theirs = max(each) if table.seats == 3 and table.options.three_player_compare == "each" else sum(each)
    if ours == theirs:
        return DIVISIONS[f"tied: {table.options.tie_rule}"], ours
    return DIVISIONS["declarer has more" if ours > theirs else "opponents have more"], ours


def opponents_shares(
    table: Table, opponents: tuple[int, ...], own: list[int], gained: int, bete_split: str
) -> tuple[int, ...]:
    """Return, by seat, the opponents' shares of gained points, in protocol units (E45, E48, E52, E-O23, E-O38)."""
    given = [0] * table.seats
    # if equal, the first, because ``opponents`` is clockwise from the declarer
    higher = max(opponents, key=lambda seat: own[seat])
    for seat in opponents:
        halves = BETE_SPLIT[bete_split][seat != higher] if table.seats == 3 else 2
        given[seat] = gained * table.unit * halves // 2
    if table.seats == 3 and bete_split == "half" and table.options.bete_odd_point == "higher_opponent":
        given[higher] += gained % 2
    return tuple(given)


def rescoring_events(state: Played, seed: str) -> tuple[Event, ...]:
    return scored(state.table, state.outcome)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """Return the line of the deal and, if it ends the match, the win (E42-E46)."""
    contract = deal.contract
    entries, detail = _entries_and_detail(table, deal, contract) if contract else ([], Detail(carry=table.carry))
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    line = DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=deal.kind,
        declarer=contract.declarer if contract else None,
        contract=contract.trumps if contract else None,
        tricks=deal.tricks,
        answers=(None,) * table.seats,
        penalties=(0,) * table.seats,
        before=table.points,
        points=tuple(points),
        entries=tuple(entries),
        halves=table.unit == 2,
        detail=detail,
    )
    return (line, *_win(table, line))


class Detail(TypedDict):
    """The details of a deal of Kalabrias; only ``carry`` if the deal was not played. Lists are by seat."""

    carry: wire_types.WholePoints
    """Points that tied deals carry over to the next deal (E-O36)."""
    card_points: NotRequired[wire_types.ListBySeat[wire_types.WholePoints]]
    """Points for the cards in the tricks won, and for the last trick (E34-E41)."""
    sequence_points: NotRequired[wire_types.ListBySeat[wire_types.WholePoints]]
    """Points for sequences (E20, E24)."""
    bella_points: NotRequired[wire_types.ListBySeat[wire_types.WholePoints]]
    """Points for king and queen of trumps (E18)."""
    own: NotRequired[wire_types.ListBySeat[wire_types.WholePoints]]
    """Sum of points for cards, sequences and bella."""
    outcome: NotRequired[Literal["made", "tie", "bete"]]
    """``made`` if the declarer has more points than the opponents, ``bete`` if fewer. Equal points are a ``tie``, or
    ``bete`` if ``tie_rule`` says so (E-O21)."""
    rule: NotRequired[RuleId]
    """Rule of the outcome."""


def _entries_and_detail(table: Table, deal: Outcome, contract: TrumpContract) -> tuple[list[Entry], Detail]:
    """Return the entries and the detail of a deal that was played (E42)."""
    sequences: Sequence[int]
    bella: Sequence[int]
    if deal.counted is not None:
        scoring, sequences, bella = deal.counted.scoring, deal.counted.sequences, deal.counted.bella
    else:
        scoring = sequence_scorers(table, contract.declarer, deal.sequences)
        sequences, bella = sequence_points(table, deal, contract, scoring), bella_points(table, deal, contract)
    card_points = deal.card_points
    declarer, options = contract.declarer, table.options
    own = [sum(three) for three in zip(card_points, sequences, bella, strict=True)]
    division, ours = division_of_points(table, declarer, own)
    opponents, all_seats = table.opponents(declarer), range(table.seats)
    carry = table.carry if division.carried_points_to == "the next deal" else 0
    detail: Detail = {
        "card_points": list(card_points),
        "sequence_points": list(sequences),
        "bella_points": list(bella),
        "own": own,
        "outcome": division.outcome,
        "rule": division.rule_with_three if table.seats == 3 else division.rule,
        "carry": carry + ours if division.declarers_points_to == "the next deal" else carry,
    }
    entries = []
    by_side = points_by_side(card_points), points_by_side(sequences), points_by_side(bella)
    for seat in all_seats if division.own_points_to == "everybody" else opponents:
        entries += _own_entries(table, deal, seat, by_side, scoring)
    shown = (contract.event, *(event for seat, event in deal.won if seat == declarer))

    def enter(given: tuple[int, ...], rule: str) -> None:
        entries.extend(
            [Entry(seat=seat, points=points, rule=rule, events=shown) for seat, points in enumerate(given) if points]
        )

    if division.declarers_points_to == "the opponents":
        enter(opponents_shares(table, opponents, own, ours, options.bete_split), "E48" if table.seats == 3 else "E45")
    if division.carried_points_to == "the opponents" and table.carry:
        # even if ``bete_split`` is "none", because the opponents won them (E-O36)
        split = "half" if options.bete_split == "none" else options.bete_split
        enter(opponents_shares(table, opponents, own, table.carry, split), "E-O36")
    elif division.carried_points_to == "declarer's side" and table.carry:
        enter(tuple([table.carry * table.unit * (seat not in opponents) for seat in all_seats]), "E-O36")
    return entries, detail


def points_by_side(points: Sequence[int]) -> Sequence[int]:
    """Return, by seat, the points of its side (E52)."""
    return points if len(points) < 4 else [points[0] + points[2], points[1] + points[3]] * 2


def _own_entries(
    table: Table,
    deal: Outcome,
    seat: int,
    by_side: tuple[Sequence[int], Sequence[int], Sequence[int]],
    scoring: tuple[int, ...],
) -> list[Entry]:
    """Return a seat's entries for cards, sequences and bella (E52).

    ``by_side``: points for each, partners together.
    """
    side, unit, entries = (seat, (seat + 2) % 4) if table.seats == 4 else (seat,), table.unit, []
    cards, sequences, bella = by_side

    def enter(points: int, rule: str, shown: tuple[int, ...]) -> None:
        events = shown if deal.counted is None else (deal.counted.event,)
        entries.append(Entry(seat=seat, points=points * unit, rule=rule, events=events))

    if points := cards[seat]:
        enter(points, "E33", tuple([event for who, event in deal.won if who in side]))
    if points := sequences[seat]:
        best, shown = deal.sequences.best, [event for who, _, event in deal.sequences.shown if who in side]
        events = tuple(shown) if best is None else (best.event, *shown)
        enter(points, _sequence_rule(table, scoring, seat), events)
    if points := bella[seat]:
        enter(points, "E18", tuple([event for who, event in deal.bella if who in side]))
    return entries


def _sequence_rule(table: Table, scoring: tuple[int, ...], seat: int) -> str:
    if not scoring:
        return "E-O12"
    if scoring[0] == seat:
        return "E20"
    return "E53" if table.seats == 4 else "E-O25"


def _win(table: Table, line: DealScored) -> tuple[Event, ...]:
    """Return the win if one side leads and has reached the target; else no event (E46, E-O20, E-O31)."""
    if (winners := leaders_at_target(table, line.points)) is None:
        return ()
    reached = sum(points >= table.options.target_score * table.unit for points in line.points)
    won = MatchWon(
        seat=winners[0],
        by="target",
        rule="E46" if reached == len(winners) else "E-O20",
        points=line.points,
        halves=line.halves,
        seats=winners if len(winners) > 1 else (),
    )
    if table.options.money == "none":
        return (won,)
    return (with_settlement(table, won, payments_of_difference(line.points, winners)),)


def payments_of_difference(points: Sequence[int], winners: tuple[int, ...]) -> tuple[Payment, ...]:
    """Return each loser's payment of the difference to the winner, or to the partner on the loser's left (E-O42)."""
    seats = len(points)
    payments = []
    for seat in range(seats):
        if seat not in winners:
            payee = winners[0] if len(winners) == 1 else (seat + 1) % seats
            paid = Payment(payer=seat, payee=payee, points=points[payee] - points[seat], rule="E-O42", between=True)
            payments.append(paid)
    return tuple(payments)


def leaders_at_target(table: Table, points: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the seat, or partners, that reached the target with more points than all others, or None (E52)."""
    top = max(points)
    if top < table.options.target_score * table.unit:
        return None
    leaders = tuple([seat for seat, score in enumerate(points) if score == top])
    partners = table.seats == 4 and leaders in ((0, 2), (1, 3))
    return leaders if partners or len(leaders) == 1 else None


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt:
    """Return the state between deals. After an agreed new deal ``redeal_dealer`` decides the dealer (E-O6, E-O29)."""
    table = replace(next_deal(state.table, event), carry=event.detail["carry"])
    same = event.kind == "redeal" and table.options.redeal_dealer == "same"
    return Undealt(table=replace(table, dealer=event.dealer) if same else table)
