"""Dealing and drawing cards (A8-A10, B13-B19, C7-C12, C48)."""

from functools import lru_cache
from itertools import chain
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee.acts import Deal, Draw
from referee.cards import ALL, PACK, RANKS, cards_of, clockwise, shuffled
from referee.events import Breach, CardDrawn, Dealt
from referee.games._rodskagg.cites import CitedRules
from referee.phases import Table
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.value import Value
from referee.visibility import Event

T = TypeVar("T", bound=Table)

HAND_SIZE = 6
"""Cards for each seat (A9, B18, C12)."""


class DealtCards(Value):
    """Hands are bit masks, by seat. A closed hand contains all cards, a hand in a tally none."""

    event: int
    """Event number of the deal."""
    hands: tuple[int, ...]
    counts: tuple[int, ...]
    known: bool
    """False for closed hands and in a tally."""
    stock: tuple[str, ...] = ()
    formula: int = 0
    """Event number of the dealer's formula, or 0."""


def packets_of_three(stock: tuple[str, ...], seats: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """Return six cards for each of ``seats``, in packets of three (A10, A13, B18-B19, C12)."""
    many = len(seats)
    return tuple(
        stock[3 * place : 3 * place + 3] + stock[3 * (many + place) : 3 * (many + place) + 3] for place in range(many)
    )


@lru_cache(maxsize=4096)
def forehand_first(dealer: int, active: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """Return the active seats clockwise from the dealer's left."""
    return tuple([seat for seat in clockwise((dealer + 1) % seats, seats) if seat in active])


def _checked_counts(act: Deal, seats: int, cites: CitedRules) -> tuple[int, ...]:
    """Return the entered counts, which may be wrong.

    Raises: AgainstTheRules for missing or surplus data, NoSuchCard for cards that the pack does not have.
    """
    if (act.hands is None) == (act.counts is None):
        raise AgainstTheRules("hands_or_counts", None, seats=seats)
    counts = tuple(map(len, act.hands)) if act.hands is not None else act.counts or ()
    if len(counts) != seats:
        raise AgainstTheRules("one_hand_a_seat", cites.six_cards, seats=seats)
    if sum(counts) > len(PACK):
        raise NoSuchCard("more_than_the_pack", cites.pack, pack=len(PACK))
    if act.stock is not None and act.hands is None:
        raise AgainstTheRules("stock_needs_hands", None)
    texts = (*chain.from_iterable(act.hands or ()), *(act.stock or ()))
    if len(texts) != len(set(texts)):
        raise NoSuchCard("card_twice", cites.pack, cards=sorted({card for card in texts if texts.count(card) > 1}))
    return counts


def six_each(table: Table) -> tuple[int, ...]:
    """Return six for each seat in the deal, 0 for others."""
    return _six_each(table.playing, table.seats)


@lru_cache(maxsize=4096)
def _six_each(playing: tuple[int, ...], seats: int) -> tuple[int, ...]:
    return tuple([HAND_SIZE if seat in playing else 0 for seat in range(seats)])


def deal_six_each(
    table: Table,
    act: Deal,
    seed: str,
    cites: CitedRules,
    *,
    keeps_stock: bool,
    face_up: bool = True,
    may_be_wrong: bool = False,
    breaches: tuple[Breach, ...] = (),
) -> tuple[Event, ...]:
    """Return the event of a deal: in house dealing shuffled with ``seed``, otherwise as entered.

    ``keeps_stock``: the house records the rest of the pack. ``may_be_wrong``: seats in the deal may get wrong
    counts, except in a tally (B-O36). ``face_up``: no pick-up follows.
    Raises: AgainstTheRules for other wrong counts, missing or surplus data, NoSuchCard as :func:`_checked_counts`.
    """
    if table.tally:
        return (_tally_deal(table, act, cites),)
    if table.house:
        if act.hands is not None or act.counts is not None or act.stock is not None:
            raise AgainstTheRules("house_deals", None)
        order, pack = forehand_first(table.dealer, table.playing, table.seats), shuffled(seed)
        given = dict(zip(order, packets_of_three(pack, order), strict=True))
        return (
            Dealt(
                deal=table.deal,
                dealer=table.dealer,
                hands=tuple(given.get(seat, ()) for seat in range(table.seats)),
                counts=six_each(table),
                stock=pack[HAND_SIZE * len(order) :] if keeps_stock else (),
                seed=seed,
                face_up=face_up,
                breaches=breaches,
            ),
        )
    counts, right = _checked_counts(act, table.seats, cites), six_each(table)
    if counts != right and not (may_be_wrong and _only_to_players(counts, right)):
        raise AgainstTheRules("six_cards_each", cites.six_cards, counts=right)
    return (
        Dealt(
            deal=table.deal,
            dealer=table.dealer,
            hands=act.hands,
            counts=counts,
            each=HAND_SIZE if counts != right else 0,
            stock=act.stock or (),
            face_up=face_up,
            breaches=breaches,
        ),
    )


def _tally_deal(table: Table, act: Deal, cites: CitedRules) -> Dealt:
    """Return the event of a deal. Raises AgainstTheRules if cards or wrong counts are entered."""
    if act.hands is not None or act.stock is not None:
        raise AgainstTheRules("cards_not_entered", None)
    right = six_each(table)
    if act.counts not in (None, right):
        raise AgainstTheRules("six_cards_each", cites.six_cards, counts=right)
    return Dealt(deal=table.deal, dealer=table.dealer, counts=right)


def _only_to_players(counts: tuple[int, ...], right: tuple[int, ...]) -> bool:
    return all(due or not count for count, due in zip(counts, right, strict=True))


def cards_dealt(event: Dealt, number: int, table: Table) -> DealtCards:
    closed = 0 if table.tally else ALL
    hands = (closed,) * table.seats if event.hands is None else tuple(map(cards_of, event.hands))
    known = event.hands is not None
    return DealtCards(event=number, hands=hands, counts=event.counts, known=known, stock=event.stock)


def seats_with_highest_card(drawn: tuple[tuple[int, str], ...]) -> tuple[int, ...]:
    """Return the seats with a card of highest rank (B5, C3)."""
    top = max(RANKS.index(card[1]) for _, card in drawn)
    return tuple(seat for seat, card in drawn if RANKS.index(card[1]) == top)


class Drawing(Value, Generic[T], tag="drawing"):
    """Seats draw cards for the first deal or the lead in a duel."""

    table: T
    contenders: tuple[int, ...]
    drawn: tuple[tuple[int, str], ...] = ()


def draw(state: Drawing[Any], act: Draw, cites: CitedRules, rule: str | None) -> tuple[CardDrawn, ...]:
    """Return the event of a draw (B14-B15, C7-C8, C48).

    Raises: OutOfTurn, AgainstTheRules without a card, NoSuchCard for a card drawn since the last tie.
    """
    if act.seat != (turn := state.contenders[len(state.drawn)]):
        raise OutOfTurn("out_of_turn", rule, turn=turn)
    if act.card is None:
        raise AgainstTheRules("card_needed", rule)
    if act.card in (card for _, card in state.drawn):
        raise NoSuchCard("card_seen", cites.pack, card=act.card)
    return (CardDrawn(seat=act.seat, card=act.card),)


def card_drawn(state: Drawing[T], event: CardDrawn, number: int) -> Drawing[T]:
    """Return the state after a draw. Seats that tie for the highest card draw again (B-O24, C-O9)."""
    drawn = (*state.drawn, (event.seat, event.card))
    if len(drawn) == len(state.contenders) and len(seats_with_highest_card(drawn)) > 1:
        return replace(state, contenders=seats_with_highest_card(drawn), drawn=())
    return replace(state, drawn=drawn)


def drawing_result(state: Drawing[Any], seed: str) -> tuple[tuple[CardDrawn, ...], int | None]:
    """Return the house's draws and the seat that drew highest (B-O24, C-O9).

    At a real table there are no draws, and the seat is ``None`` until all have drawn.
    """
    contenders = state.contenders
    if not state.table.house:
        return (), seats_with_highest_card(state.drawn)[0] if len(state.drawn) == len(contenders) else None
    drawn: tuple[tuple[int, str], ...] = ()
    pack = shuffled(seed)
    while len(contenders) > 1:
        now = tuple(zip(contenders, pack, strict=False))
        pack = pack[len(now) :]
        drawn += now
        contenders = seats_with_highest_card(now)
    return tuple(CardDrawn(seat=seat, card=card) for seat, card in drawn), contenders[0]
