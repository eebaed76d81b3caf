"""Dealing six cards each, three and three, by the house or at a real table (A8-A10, B13-B19, C10-C12)."""

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee.acts import Deal, Draw
from referee.cards import ALL, PACK, RANKS, cards_of, clockwise, shuffled
from referee.events import Breach, CardDrawn, Dealt
from referee.games._rodskagg.cites import Cites
from referee.phases import Table
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.value import Value
from referee.visibility import Event

T = TypeVar("T", bound=Table)

HAND = 6
"""DealtCards to each (A9, B18, C12)."""


class DealtCards(Value):
    """The cards of a deal as they were dealt, and the number of the event that says so."""

    event: int
    hands: tuple[int, ...]
    counts: tuple[int, ...]
    known: bool
    stock: tuple[str, ...] = ()
    formula: int = 0
    """The event in which the dealer said "knack för kort och felgiv", or 0; where that is a rule."""


def packets_of_three(stock: tuple[str, ...], seats: tuple[int, ...]) -> tuple[tuple[str, ...], ...]:
    """Six cards each in two packets of three, in the order of ``seats`` (A10, A13, B18-B19, C12)."""
    many = len(seats)
    return tuple(
        stock[3 * place : 3 * place + 3] + stock[3 * (many + place) : 3 * (many + place) + 3] for place in range(many)
    )


def forehand_first(dealer: int, active: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """The seats that play, clockwise, beginning on the dealer's left; the dealer last."""
    return tuple([seat for seat in clockwise((dealer + 1) % seats, seats) if seat in active])


def _laid_out(act: Deal, seats: int, cites: Cites) -> tuple[int, ...]:
    """How many cards each seat got at a real table; refuses a deal that says too much, too little or a card twice."""
    if (act.hands is None) == (act.counts is None):
        raise AgainstTheRules("hands_or_counts", None, seats=seats)
    counts = tuple(map(len, act.hands)) if act.hands is not None else act.counts or ()
    if len(counts) != seats:
        raise AgainstTheRules("one_hand_a_seat", cites.six_cards, seats=seats)
    if sum(counts) > len(PACK):
        raise NoSuchCard("more_than_the_pack", cites.pack, pack=len(PACK))
    if act.stock is not None and act.hands is None:
        raise AgainstTheRules("stock_needs_hands", None)
    texts = [card for hand in (*(act.hands or ()), act.stock or ()) for card in hand]
    if len(texts) != len(set(texts)):
        raise NoSuchCard("card_twice", cites.pack, cards=sorted({card for card in texts if texts.count(card) > 1}))
    return counts


def six_each(table: Table) -> tuple[int, ...]:
    """The right counts by seat."""
    return tuple([HAND if seat in table.playing else 0 for seat in range(table.seats)])


def dealt(
    table: Table,
    act: Deal,
    seed: str,
    cites: Cites,
    *,
    keeps_stock: bool,
    face_up: bool = True,
    may_be_wrong: bool = False,
    breaches: tuple[Breach, ...] = (),
) -> tuple[Event, ...]:
    """Six cards each: the house's from the shuffled pack, in packets of three, or those of the table.

    ``keeps_stock``: what is left is needed. ``may_be_wrong``: a wrong number stands, and is found on picking up.
    """
    if table.tally:
        return (_tallied(table, act, cites),)
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
                stock=pack[HAND * len(order) :] if keeps_stock else (),
                seed=seed,
                face_up=face_up,
                breaches=breaches,
            ),
        )
    counts, right = _laid_out(act, table.seats, cites), six_each(table)
    if counts != right and not (may_be_wrong and _to_nobody_else(counts, right)):
        raise AgainstTheRules("six_cards_each", cites.six_cards, counts=right)
    return (
        Dealt(
            deal=table.deal,
            dealer=table.dealer,
            hands=act.hands,
            counts=counts,
            each=HAND if counts != right else 0,
            stock=act.stock or (),
            face_up=face_up,
            breaches=breaches,
        ),
    )


def _tallied(table: Table, act: Deal, cites: Cites) -> Dealt:
    """Where only the tally is kept, all hands are closed, and nobody need say that they have six cards each."""
    if act.hands is not None or act.stock is not None:
        raise AgainstTheRules("cards_not_told", None)
    right = six_each(table)
    if act.counts not in (None, right):
        raise AgainstTheRules("six_cards_each", cites.six_cards, counts=right)
    return Dealt(deal=table.deal, dealer=table.dealer, counts=right)


def _to_nobody_else(counts: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """B-O36: nobody else gets any."""
    return all(due or not count for count, due in zip(counts, right, strict=True))


def cards_dealt(event: Dealt, number: int, table: Table) -> DealtCards:
    """The cards of a deal, hands as masks; closed ones may hold every card, and are never played from a tally."""
    closed = 0 if table.tally else ALL
    hands = (closed,) * table.seats if event.hands is None else tuple(map(cards_of, event.hands))
    known = event.hands is not None
    return DealtCards(event=number, hands=hands, counts=event.counts, known=known, stock=event.stock)


# Drawing cards


def highest(drawn: tuple[tuple[int, str], ...]) -> tuple[int, ...]:
    """The seats whose card has the highest rank (B5, C3)."""
    top = max(RANKS.index(card[1]) for _, card in drawn)
    return tuple(seat for seat, card in drawn if RANKS.index(card[1]) == top)


class Drawing(Value, Generic[T], tag="drawing"):
    """DealtCards are drawn, for the first deal or for a lead; ``contenders`` still draw."""

    table: T
    contenders: tuple[int, ...]
    drawn: tuple[tuple[int, str], ...] = ()


def draw(state: Drawing[Any], act: Draw, cites: Cites, rule: str | None) -> tuple[CardDrawn, ...]:
    """The contenders draw clockwise; among those level for the highest card again (B14-B15, C7-C8, C48)."""
    if act.seat != (turn := state.contenders[len(state.drawn)]):
        raise OutOfTurn("out_of_turn", rule, turn=turn)
    if act.card is None:
        raise AgainstTheRules("card_needed", rule)
    if act.card in (card for _, card in state.drawn):
        raise NoSuchCard("card_seen", cites.pack, card=act.card)
    return (CardDrawn(seat=act.seat, card=act.card),)


def card_drawn(state: Drawing[T], event: CardDrawn, number: int) -> Drawing[T]:
    """The state after a card was drawn."""
    drawn = (*state.drawn, (event.seat, event.card))
    if len(drawn) == len(state.contenders) and len(highest(drawn)) > 1:
        return replace(state, contenders=highest(drawn), drawn=())
    return replace(state, drawn=drawn)


def drawn_highest(state: Drawing[Any], seed: str) -> tuple[tuple[CardDrawn, ...], int | None]:
    """What the house draws for everybody, if it deals, and who has drawn highest when all have (B-O24, C-O9)."""
    contenders = state.contenders
    if not state.table.house:
        return (), highest(state.drawn)[0] if len(state.drawn) == len(contenders) else None
    drawn: tuple[tuple[int, str], ...] = ()
    pack = shuffled(seed)
    while len(contenders) > 1:
        now = tuple(zip(contenders, pack, strict=False))
        pack = pack[len(now) :]
        drawn += now
        contenders = highest(now)
    return tuple(CardDrawn(seat=seat, card=card) for seat, card in drawn), contenders[0]
