"""Dealing six cards each, three and three, by the house or at a real table (A8-A10, B13-B19, C10-C12)."""

from referee.acts import Deal
from referee.cards import PACK, RANKS, cards_of, clockwise, shuffled
from referee.refusals import AgainstTheRules, NoSuchCard
from referee.value import Value

HAND = 6
"""Cards to each (A9, B18, C12)."""


class Cards(Value):
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
    return tuple(seat for seat in clockwise((dealer + 1) % seats, seats) if seat in active)


def house_hands(order: tuple[int, ...], seats: int, seed: str) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The hands by seat from the shuffled pack, dealt in this order, and the stock."""
    pack = shuffled(seed)
    given = dict(zip(order, packets_of_three(pack, order), strict=True))
    return tuple(given.get(seat, ()) for seat in range(seats)), pack[HAND * len(order) :]


def laid_out(act: Deal, seats: int, *, deal_rule: str, pack_rule: str) -> tuple[int, ...]:
    """How many cards each seat got at a real table; refuses a deal that says too much, too little or a card twice."""
    if (act.hands is None) == (act.counts is None):
        raise AgainstTheRules("hands_or_counts", None, seats=seats)
    counts = tuple(map(len, act.hands)) if act.hands is not None else act.counts or ()
    if len(counts) != seats:
        raise AgainstTheRules("one_hand_a_seat", deal_rule, seats=seats)
    if sum(counts) > len(PACK):
        raise NoSuchCard("more_than_the_pack", pack_rule, pack=len(PACK))
    if act.stock is not None and act.hands is None:
        raise AgainstTheRules("stock_needs_hands", None)
    texts = [card for hand in (*(act.hands or ()), act.stock or ()) for card in hand]
    if len(texts) != len(set(texts)):
        raise NoSuchCard("card_twice", pack_rule, cards=sorted({card for card in texts if texts.count(card) > 1}))
    return counts


def six_each(active: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """The right counts by seat."""
    return tuple(HAND if seat in active else 0 for seat in range(seats))


def masks(hands: tuple[tuple[str, ...], ...] | None, seats: int, unseen: int) -> tuple[int, ...]:
    """Hands as masks; closed ones may hold every unseen card."""
    return tuple(map(cards_of, hands)) if hands is not None else (unseen,) * seats


# Drawing cards


def highest(drawn: tuple[tuple[int, str], ...]) -> tuple[int, ...]:
    """The seats whose card has the highest rank (B5, C3)."""
    top = max(RANKS.index(card[1]) for _, card in drawn)
    return tuple(seat for seat, card in drawn if RANKS.index(card[1]) == top)


def draws(contenders: tuple[int, ...], seed: str) -> tuple[tuple[tuple[int, str], ...], int]:
    """Everybody's draws by the house, again among those level, and who drew highest (B-O24, C-O9)."""
    drawn: tuple[tuple[int, str], ...] = ()
    pack = shuffled(seed)
    while len(contenders) > 1:
        now = tuple(zip(contenders, pack, strict=False))
        pack = pack[len(now) :] or pack
        drawn += now
        contenders = highest(now)
    return drawn, contenders[0]
