"""Asking for six new cards in rounds (A11-A16, A-O24; the option ``honour_redeal`` of B-O20)."""

from referee.cards import BIT, HONOURS, cards_of, shuffled
from referee.games._rodskagg.dealing import HAND, Cards, packets_of_three
from referee.games._rodskagg.facts import NewHands
from referee.refusals import AgainstTheRules, NoSuchCard

Asked = tuple[tuple[int, tuple[str, ...]], ...]
"""Who asked in this round, and the cards received if they were said."""


def may_ask(cards: Cards, seat: int) -> bool:
    """A11-A12: no ace or court card, as far as the referee knows."""
    return not (cards.known and cards.hands[seat] & HONOURS)


def need_not_say(cards: Cards, seat: int, asked: Asked, house: bool) -> bool:
    """Whether one who asks now may leave it to the referee to deal: the stock was told and covers all who ask.

    Otherwise the cards that come lie on the table, and only the table can say them (A-O24); with closed hands nobody
    does.
    """
    return house or not cards.known or _covered(cards, (*asked, (seat, ())))


def _covered(cards: Cards, asked: Asked) -> bool:
    """Whether the stock that was told has six cards for each who did not say which came."""
    free = set(cards.stock).difference(*(got for _, got in asked))
    return len(free) >= HAND * sum(not got for _, got in asked)


def check_request(
    cards: Cards,
    seat: int,
    said: tuple[str, ...] | None,
    *,
    house: bool,
    asked: Asked,
    thrown: int,
    stock_left: int,
    rule: str,
    pack_rule: str,
) -> None:
    """Refuses a request that may not be made, or cards that cannot have come."""
    if not may_ask(cards, seat):
        raise AgainstTheRules("has_honour", rule)
    if said is None:
        if not need_not_say(cards, seat, asked, house):
            raise AgainstTheRules("cards_needed", rule)
        return
    if house or not cards.known:
        raise AgainstTheRules("cards_not_wanted", None)
    if len(set(said)) != HAND:
        raise AgainstTheRules("cards_needed", rule)
    came_to_others = not _covered(cards, (*asked, (seat, said)))
    if came_to_others or cards_of(said) & _elsewhere(cards, seat, asked, thrown, stock_left):
        raise NoSuchCard("card_elsewhere", pack_rule)  # which of them, and where, the seat may not know


def _elsewhere(cards: Cards, seat: int, asked: Asked, thrown: int, stock_left: int) -> int:
    """Cards that cannot come to ``seat``: held by others, received this round, or thrown in (but see A15)."""
    asking = {seat, *(other for other, _ in asked)}
    held = sum(hand for other, hand in enumerate(cards.hands) if other not in asking)
    received = sum(cards_of(got) for _, got in asked)
    if stock_left < HAND * (len(asked) + 1):
        return held | received
    return held | received | thrown | sum(cards.hands[other] for other in asking)


def run_out(asked: Asked, stock_left: int) -> bool:
    """A15: those who asked in this round need more than the stock holds."""
    return stock_left < HAND * len(asked)


def dealt_anew(cards: Cards, seats: int, asked: Asked, thrown: int, stock_left: int, seed: str) -> NewHands:
    """The new hands, when everybody has spoken: in packets of three, clockwise, to those who asked (A13, A15)."""
    to = tuple(seat for seat, _ in asked)
    last = run_out(asked, stock_left)
    if not cards.known:
        return NewHands(seats=to, last=last)
    given = {seat: got for seat, got in asked if got}
    said = {card for got in given.values() for card in got}
    stock = tuple(card for card in cards.stock if card not in said)
    waiting = tuple(seat for seat in to if seat not in given)
    shuffle = None
    if len(stock) < HAND * len(waiting):
        all_thrown = thrown | sum(cards.hands[seat] for seat in to)
        shuffle = seed
        stock += tuple(card for card in shuffled(seed) if BIT[card] & all_thrown and card not in said)
    given |= dict(zip(waiting, packets_of_three(stock, waiting), strict=True))
    hands = tuple(given.get(seat, ()) for seat in range(seats))
    return NewHands(seats=to, hands=hands, stock=stock[HAND * len(waiting) :], last=last, seed=shuffle)


def received(cards: Cards, event: NewHands) -> tuple[tuple[int, ...], int]:
    """The hands after new ones were dealt, and the cards thrown in for them."""
    if event.hands is None:
        return cards.hands, 0
    thrown = sum(cards.hands[seat] for seat in event.seats)
    return tuple(cards_of(new) if new else old for new, old in zip(event.hands, cards.hands, strict=True)), thrown
