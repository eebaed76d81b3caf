"""Deals in a tally: the points of each seat are entered, but no cards (E18-E53, E-O41)."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import wire_types
from referee.acts import TRICKS_MAX, Score, SequenceEntered
from referee.cards import SUIT
from referee.games.kalabrias.declarations import seats_on_side
from referee.games.kalabrias.facts import DealCounted
from referee.games.kalabrias.play import tricks_in_deal
from referee.games.kalabrias.ranks import CARD_POINTS, LAST_TRICK, RANKS
from referee.games.kalabrias.scoring import TEN_EACH, points_that_count, run_worth, sequence_worth
from referee.games.kalabrias.states import Counted, DealtCards, Outcome, Played, Table, TrumpContract, Undealt
from referee.refusals import AgainstTheRules, NotInPlay
from referee.ruleset import Moment, Script
from referee.value import Seat, Value
from referee.visibility import Event

NumbersBySeat = Annotated[
    tuple[Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 999})], ...],
    Meta(max_length=wire_types.SEATS_MAX),
]


class Result(Value, forbid_unknown_fields=True):
    """The result of a deal; only ``kind`` for a deal that was not played (E10-E11)."""

    kind: Literal["passed_out", "redeal"] | None = None
    """Reason why the deal was not played: all passed, or agreed to a new deal (E10-E11)."""
    declarer: Seat | None = None
    """Seat that made trumps (E5-E13)."""
    trumps: Literal["S", "H", "D", "C"] | None = None
    """Trump suit."""
    card_points: NumbersBySeat | None = None
    """Points by seat for the cards in the tricks won, with ten for the last trick (E34-E41)."""
    taken: NumbersBySeat | None = None
    """Number of tricks, by seat."""
    sequences: Annotated[tuple[SequenceEntered, ...], wire_types.at_most(TRICKS_MAX)] = ()
    """Sequences that score, the best first."""
    bella: Seat | None = None
    """Seat that declared king and queen of trumps (E18)."""


class RequiredFields(Value):
    declarer: int
    trumps: str
    card_points: tuple[int, ...]
    taken: tuple[int, ...]


class Count(Score, tag="count"):
    """The act that :func:`script` makes. Clients cannot send it."""

    counted: DealCounted


def script(state: Undealt, result: Result) -> Script:
    """Yield the act that scores a result. Raises AgainstTheRules or NotInPlay for an impossible value."""
    yield "", Count(seat=state.table.dealer, counted=_counted_deal(state.table, result))


def count_deal(state: Undealt, act: Count, moment: Moment) -> tuple[Event, ...]:
    return (act.counted,)


def deal_counted(state: Undealt, event: DealCounted, number: int) -> Played:
    table = state.table
    outcome = Outcome(kind=event.kind, tricks=event.tricks)
    if event.declarer is not None and event.trumps is not None:
        outcome = Outcome(
            kind=event.kind,
            tricks=event.tricks,
            contract=TrumpContract(
                event=number, declarer=event.declarer, trumps=event.trumps, suit=SUIT[event.trumps], calls=()
            ),
            card_points=event.card_points,
            counted=Counted(
                event=number,
                scoring=event.scoring,
                sequences=event.sequence_points,
                bella=event.bella_points,
            ),
        )
    none = (0,) * table.seats
    return Played(table=table, cards=DealtCards(hands=none, counts=none, known=False, turn_up=""), outcome=outcome)


def _counted_deal(table: Table, result: Result) -> DealCounted:
    none = (0,) * table.seats
    if result.kind is not None:
        _check_not_played(table, result)
        return DealCounted(kind=result.kind, tricks=none)
    contract = _required_fields(table, result)
    _check_sums(table, contract)
    scoring, sequences = _sequence_scores(table, contract, result.sequences)
    return DealCounted(
        kind="scored",
        tricks=contract.taken,
        declarer=contract.declarer,
        trumps=contract.trumps,
        card_points=contract.card_points,
        sequence_points=tuple(sequences),
        bella_points=_bella_points(table, result),
        scoring=scoring,
    )


def _check_not_played(table: Table, result: Result) -> None:
    """Raise AgainstTheRules if there are other fields, or the dealer must choose trumps (E10-E11, E-O40)."""
    passed = result.kind == "passed_out"
    if passed and table.options.all_pass == "dealer_must_choose":
        raise AgainstTheRules("dealer_must_choose", "E-O40", at="/kind")
    for name in ("declarer", "trumps", "card_points", "taken", "sequences", "bella"):
        if getattr(result, name) not in (None, ()):
            raise AgainstTheRules("nothing_was_played", "E10" if passed else "E11", at=f"/{name}")


_REQUIRED = {"declarer": "E5", "trumps": "E5", "card_points": "E33", "taken": "E32"}


def _required_fields(table: Table, result: Result) -> RequiredFields:
    """Return the fields that a played deal needs (E5, E32, E33).

    Raises: AgainstTheRules if a field is missing or not for every seat, NotInPlay if the declarer does not exist.
    """
    given = {name: getattr(result, name) for name in _REQUIRED}
    for name, value in given.items():
        if value is None:
            raise AgainstTheRules("missing_in_the_result", _REQUIRED[name], at=f"/{name}")
    for name in ("card_points", "taken"):
        if len(given[name]) != table.seats:
            raise AgainstTheRules("one_count_a_seat", _REQUIRED[name], seats=table.seats, at=f"/{name}")
    _check_seat_exists(table, given["declarer"], "/declarer")
    return RequiredFields(**given)


def _check_seat_exists(table: Table, seat: int, pointer: str) -> None:
    if seat >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=seat, at=pointer)


def _possible_sums(cards: int) -> frozenset[int]:
    """Return the possible sums of points for this number of cards and the last trick (E34-E41)."""
    by_count = [{0}, *(set[int]() for _ in range(cards))]
    for worth_of_card in (*CARD_POINTS["trumps"].values(), *(3 * (*CARD_POINTS["plain"].values(),))):
        for many in range(cards, 0, -1):
            by_count[many] |= {points + worth_of_card for points in by_count[many - 1]}
    return frozenset([points + LAST_TRICK for points in by_count[cards]])


POSSIBLE_SUMS = {seats: _possible_sums(seats * tricks_in_deal(seats)) for seats in (2, 3, 4)}
"""Possible sums by the number of players; with four always 162 (E-O3)."""


def _check_sums(table: Table, contract: RequiredFields) -> None:
    """Raise AgainstTheRules for a wrong number of tricks, a wrong sum, or points without a trick (E32-E41)."""
    needed, tricks = tricks_in_deal(table.seats), sum(contract.taken)
    if tricks != needed:
        raise AgainstTheRules("not_all_tricks", "E32", needed=needed, total=tricks, at="/taken")
    sums, total = POSSIBLE_SUMS[table.seats], sum(contract.card_points)
    if total not in sums:
        raise AgainstTheRules(
            "card_points_do_not_add_up", "E33", least=min(sums), most=max(sums), total=total, at="/card_points"
        )
    for seat, (points, taken) in enumerate(zip(contract.card_points, contract.taken, strict=True)):
        if points and not taken:
            raise AgainstTheRules("points_without_a_trick", "E33", seat=seat, at=f"/card_points/{seat}")


def _sequence_scores(
    table: Table, contract: RequiredFields, sequences: tuple[SequenceEntered, ...]
) -> tuple[tuple[int, ...], list[int]]:
    """Return the seats that score sequences, the best first, and the points by seat (E24, E53, E-O10, E-O14, E-O25).

    No seats score if equal sequences of both sides bring ten each (E-O12).
    Raises: NotInPlay if a seat does not exist, AgainstTheRules for sequences that do not score or are impossible.
    """
    _check_one_pack(table, sequences)
    options, points = table.options, [0] * table.seats
    seats = tuple(dict.fromkeys([one.seat for one in sequences]))
    side = seats_on_side(table, contract.declarer, seats[0]) if seats else ()
    beside = next((place for place, one in enumerate(sequences) if one.seat not in side), None)
    if beside is not None:
        if options.equal_sequences != "ten_each" or not _are_equal(table, sequences):
            rule = {2: "E24", 3: "E-O25", 4: "E53"}[table.seats]
            raise AgainstTheRules("one_side_has_sequences", rule, at=f"/sequences/{beside}")
        for seat in seats:
            points[seat] = TEN_EACH
        return (), points_that_count(table, contract.taken, points)
    for place, one in enumerate(sequences):
        if options.winner_scores_all_sequences:
            points[one.seat] += run_worth(options, one.cards)
            continue
        if one.seat in [before.seat for before in sequences[:place]]:
            raise AgainstTheRules("only_the_best_sequence", "E-O10", seat=one.seat, at=f"/sequences/{place}")
        points[one.seat] = sequence_worth(options, one.cards)
    return seats, points_that_count(table, contract.taken, points)


def _are_equal(table: Table, sequences: tuple[SequenceEntered, ...]) -> bool:
    """Return whether the sequences are equal, and each of a different seat (E24, E-O11, E-O12)."""
    longest = 5 if table.options.longer_sequence_wins else 4
    kinds = {(min(one.cards, longest), one.top, one.trumps) for one in sequences}
    return len(kinds) == 1 and len({one.seat for one in sequences}) == len(sequences)


def _check_one_pack(table: Table, sequences: tuple[SequenceEntered, ...]) -> None:
    """Raise AgainstTheRules if sequences are impossible or do not fit into a hand or pack (E2, E15-E17, E-O10).

    Raises: NotInPlay if a seat does not exist.
    """
    cards_of_seat = [0] * table.seats
    plain, trumps = [0] * len(RANKS), [0] * len(RANKS)
    for place, one in enumerate(sequences):
        at = f"/sequences/{place}"
        _check_seat_exists(table, one.seat, f"{at}/seat")
        if (lowest := RANKS.find(one.top) - one.cards + 1) < 0:
            raise AgainstTheRules("no_sequence", "E15" if one.cards == 3 else "E16", at=f"{at}/top")
        suits = trumps if one.trumps else plain
        for rank in range(lowest, lowest + one.cards):
            suits[rank] += 1
        cards_of_seat[one.seat] += one.cards
        if max(trumps) > 1 or max(plain) > 3 or max(cards_of_seat) > tricks_in_deal(table.seats):
            raise AgainstTheRules("sequences_overlap", "E-O10", at=at)


def _bella_points(table: Table, result: Result) -> tuple[int, ...]:
    """Return the points for bella, by seat (E18).

    Raises: NotInPlay if the seat does not exist, AgainstTheRules if a different seat's sequence has the trump queen.
    """
    points, seat = [0] * table.seats, result.bella
    if seat is None:
        return tuple(points)
    _check_seat_exists(table, seat, "/bella")
    for one in result.sequences:
        # because a sequence with the king also has the queen
        top, queen = RANKS.index(one.top), RANKS.index("Q")
        if one.trumps and one.seat != seat and top - one.cards < queen <= top:
            raise AgainstTheRules("no_bella", "E18", at="/bella")
    points[seat] = table.options.bella_points
    return tuple(points)
