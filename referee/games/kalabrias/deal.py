"""The deal, the later cards, and the exchange of the seven of trumps for the turn-up (E3-E4, E14, E50-E51).

The turn-up is the card that lies face up. The stock is the undealt rest, if known.
"""

from itertools import chain

from msgspec.structs import replace

from referee.acts import Deal, Exchange
from referee.cards import BIT, cards_of, clockwise, shuffled
from referee.events import CardDrawn, Dealt, FirstDealerDrawn
from referee.games.kalabrias.facts import LaterCardsDealt, SevenExchanged
from referee.games.kalabrias.ranks import ALL, PACK, RANKS
from referee.games.kalabrias.states import Auction, DealtCards, Declaring, LaterCards, Table, Undealt
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

HAND_SIZE = 6
"""Number of cards of each seat before the auction (E3, E50)."""
PACKET_SIZE = 3
"""Number of cards that the house deals at a time (E-O4)."""


def first_dealer(state: Undealt, moment: Moment) -> tuple[Event, ...]:
    """Return the draws and, by the lowest card, the first dealer; no event if the dealer is known (E-O29)."""
    if state.drawn:
        return ()
    events: list[Event] = []
    contenders, pack = state.table.active, shuffled(moment.seed, ALL)
    while len(contenders) > 1:
        drawn = tuple(zip(contenders, pack, strict=False))
        pack = pack[len(drawn) :]
        events += (CardDrawn(seat=seat, card=card) for seat, card in drawn)
        lowest = min(RANKS.index(card[1]) for _, card in drawn)
        contenders = tuple(seat for seat, card in drawn if RANKS.index(card[1]) == lowest)
    return *events, FirstDealerDrawn(seat=contenders[0], rule="E-O29")


def deal(state: Undealt, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """Return the deal of six cards each and one face up (E3-E4, E50).

    Raises: WrongPhase in a tally, OutOfTurn unless the dealer deals, NoSuchCard or AgainstTheRules for an impossible
    deal.
    """
    table = state.table
    if table.tally:
        raise WrongPhase("entered_whole", "E-O41")
    _check_dealer(table, act)
    if table.house:
        return (_house_deal(table, moment.seed),)
    counts = _counts(act, table)
    if act.turn_up is None:
        raise AgainstTheRules("turn_up_needed", "E4")
    if act.stock is not None and act.hands is None:
        raise AgainstTheRules("stock_needs_hands", None)
    _check_pack(act, 0)
    if counts != (HAND_SIZE,) * table.seats:
        raise AgainstTheRules("six_cards_to_each", "E3", counts=(HAND_SIZE,) * table.seats)
    if act.stock is not None and len(act.stock) < (needed := sum(later_counts(table, None))):
        raise AgainstTheRules("stock_too_small", "E-O32", needed=needed)
    return (
        Dealt(
            deal=table.deal,
            dealer=table.dealer,
            hands=act.hands,
            counts=counts,
            stock=act.stock or (),
            turn_up=act.turn_up,
            face_up=True,
        ),
    )


def _check_dealer(table: Table, act: Deal) -> None:
    """Raise OutOfTurn unless the dealer deals, AgainstTheRules for a widow, or in a house deal for cards (E-O29)."""
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "E-O29", dealer=table.dealer)
    if table.house and (act.hands, act.counts, act.stock, act.turn_up) != (None,) * 4:
        raise AgainstTheRules("house_deals", None)
    if act.widow is not None:
        raise AgainstTheRules("no_widow", None)


def _counts(act: Deal, table: Table) -> tuple[int, ...]:
    """Return the number of cards by seat.

    Raises: AgainstTheRules unless either hands or counts are given, for every seat.
    """
    if (act.hands is None) == (act.counts is None):
        raise AgainstTheRules("hands_or_counts", None, seats=table.seats)
    counts = tuple(map(len, act.hands)) if act.hands is not None else act.counts or ()
    if len(counts) != table.seats:
        raise AgainstTheRules("one_hand_a_seat", "E3", seats=table.seats)
    return counts


_CARDS = frozenset(PACK)


def _check_pack(act: Deal, dealt: int) -> None:
    """Raise NoSuchCard if a card is not in the pack, is named twice or is in ``dealt`` (E2)."""
    turned_up = () if act.turn_up is None else (act.turn_up,)
    texts = (*chain.from_iterable(act.hands or ()), *(act.stock or ()), *turned_up)
    cards = set(texts)
    if strange := sorted(cards - _CARDS):
        raise NoSuchCard("not_in_pack", "E2", cards=strange)
    if len(texts) != len(cards):
        raise NoSuchCard("card_twice", "E2", cards=sorted({card for card in texts if texts.count(card) > 1}))
    if cards_of(texts) & dealt:  # the error names no card, so that it shows nothing of another hand
        raise NoSuchCard("card_elsewhere", "E2")


def _house_deal(table: Table, seed: str) -> Dealt:
    """Return a house deal: packets of three, forehand first (E-O4)."""
    pack, order = shuffled(seed, ALL), clockwise(table.forehand, table.seats)
    given: dict[int, tuple[str, ...]] = {
        seat: pack[place * PACKET_SIZE :][:PACKET_SIZE] + pack[(len(order) + place) * PACKET_SIZE :][:PACKET_SIZE]
        for place, seat in enumerate(order)
    }
    rest = pack[HAND_SIZE * table.seats :]
    return Dealt(
        deal=table.deal,
        dealer=table.dealer,
        hands=tuple(given[seat] for seat in range(table.seats)),
        counts=(HAND_SIZE,) * table.seats,
        stock=rest[1:],
        turn_up=rest[0],
        seed=seed,
        face_up=True,
    )


def dealt(state: Undealt, event: Dealt, number: int) -> Auction:
    """Return the auction, in which forehand speaks first (E5)."""
    table = state.table
    known = event.hands is not None
    assert event.turn_up is not None, "one card lies face up"
    unseen = ALL ^ BIT[event.turn_up]
    hands = tuple(map(cards_of, event.hands)) if event.hands is not None else (unseen,) * table.seats
    cards = DealtCards(
        hands=hands,
        counts=event.counts,
        known=known,
        turn_up=event.turn_up,
        stock=event.stock,
    )
    to_speak = clockwise(table.forehand, table.seats)
    return Auction(table=table, cards=cards, round=1, to_speak=to_speak)


def later_counts(table: Table, declarer: int | None) -> tuple[int, ...]:
    """Return the number of later cards by seat. Without a declarer only the sum is right (E14, E50-E51, E-O27)."""
    if table.seats < 4:
        return (3,) * table.seats
    if declarer is None:
        return (1, 2, 2, 2)
    return tuple(1 if seat == declarer else 2 for seat in range(4))


def deal_later(state: LaterCards, act: Deal, moment: Moment) -> tuple[Event, ...]:
    """Return the deal of the later cards at a real table (E14, E50, E-O32).

    Raises: OutOfTurn unless the dealer deals, NoSuchCard or AgainstTheRules for impossible cards, AgainstTheRules if
    only one of the two deals has cards.
    """
    table, cards = state.table, state.cards
    _check_dealer(table, act)
    if act.turn_up is not None or act.stock is not None:
        raise AgainstTheRules("only_later_cards", "E-O32")
    counts = _counts(act, table)
    if (act.hands is not None) != cards.known:
        raise AgainstTheRules("dealt_as_before", "E-O32")
    _check_pack(act, sum(cards.hands) | BIT[cards.turn_up] if cards.known else 0)
    right = later_counts(table, state.contract.declarer)
    if counts != right:
        raise AgainstTheRules("wrong_later_cards", "E14" if table.seats < 4 else "E50", counts=right)
    return (LaterCardsDealt(hands=act.hands, counts=counts, turn_up_to=_turn_up_taker(state)),)


def _turn_up_taker(state: LaterCards) -> int | None:
    """Return the seat that takes up the turn-up, or None (E51)."""
    return state.contract.declarer if state.table.seats == 4 else None


def deal_later_from_stock(state: LaterCards, moment: Moment) -> tuple[Event, ...]:
    """Return the deal of the later cards if the stock is known; else no event (E-O32)."""
    table, stock = state.table, state.cards.stock
    if not stock:
        return ()
    counts = later_counts(table, state.contract.declarer)
    hands: list[tuple[str, ...]] = [()] * table.seats
    for seat in clockwise(table.forehand, table.seats):
        hands[seat], stock = stock[: counts[seat]], stock[counts[seat] :]
    return (LaterCardsDealt(hands=tuple(hands), counts=counts, turn_up_to=_turn_up_taker(state)),)


def later_cards_dealt(state: LaterCards, event: LaterCardsDealt, number: int) -> Declaring:
    """Return the state in which forehand declares first (E19)."""
    table, cards = state.table, state.cards
    hands = list(cards.hands)
    if event.hands is not None:
        hands = [hand | cards_of(more) for hand, more in zip(hands, event.hands, strict=True)]
    counts = [count + more for count, more in zip(cards.counts, event.counts, strict=True)]
    if event.turn_up_to is not None:
        hands[event.turn_up_to] |= BIT[cards.turn_up]
        counts[event.turn_up_to] += 1
        cards = replace(cards, taken_by=event.turn_up_to, taken=BIT[cards.turn_up])
    return Declaring(
        table=table,
        cards=replace(cards, hands=tuple(hands), counts=tuple(counts), stock=()),
        contract=state.contract,
        to_speak=clockwise(table.forehand, table.seats),
    )


def may_exchange(state: Declaring, seat: int) -> bool:
    """Return whether a seat may exchange the seven of trumps for the turn-up (E51, E-O16)."""
    table, cards, contract = state.table, state.cards, state.contract
    seven = BIT[contract.trumps + "7"]
    return (
        table.options.trump_seven_exchange
        and table.seats < 4
        and BIT[cards.turn_up] & contract.suit != 0
        and BIT[cards.turn_up] != seven
        and cards.hands[seat] & seven != 0
        and seat in state.to_speak
        and (state.expected in ("class", "answer") or seat != state.to_speak[0])
    )


def exchange(state: Declaring, act: Exchange, moment: Moment) -> tuple[Event, ...]:
    """Return the exchange of the seven of trumps. Raises AgainstTheRules unless allowed (E-O16)."""
    if not state.table.options.trump_seven_exchange or state.table.seats == 4:
        raise AgainstTheRules("no_exchange", "E-O16")
    if act.card != state.contract.trumps + "7" or not may_exchange(state, act.seat):
        raise AgainstTheRules("seven_only", "E-O16")
    return (SevenExchanged(seat=act.seat, card=act.card, turn_up=state.cards.turn_up),)


def seven_exchanged(state: Declaring, event: SevenExchanged, number: int) -> Declaring:
    seven, taken = BIT[event.card], BIT[event.turn_up]
    hands = [hand & ~seven for hand in state.cards.hands]
    hands[event.seat] |= taken
    cards = replace(state.cards, hands=tuple(hands), turn_up=event.card, taken_by=event.seat, taken=taken)
    return replace(state, cards=cards)
