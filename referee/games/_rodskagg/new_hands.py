"""Asking for six new cards in rounds (A11-A16, A-O24; the option ``honour_redeal`` of B-O20)."""

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee import phases
from referee.acts import KeepCards, RequestCards
from referee.cards import BIT, HONOURS, cards_of, shuffled
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.dealing import HAND, DealtCards, forehand_first, packets_of_three
from referee.games._rodskagg.facts import HandKept, HandRequested, NewHands
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event

Asked = tuple[tuple[int, tuple[str, ...]], ...]
"""Who asked in this round, and the cards received if they were said."""

T = TypeVar("T", bound=phases.Table)


class Exchanging(Value, Generic[T], tag="exchanging"):
    """Hands without an honour may be exchanged."""

    table: T
    cards: DealtCards
    to_speak: tuple[int, ...]
    stock_left: int
    asked: Asked = ()
    thrown: int = 0
    """The cards thrown in, as a mask."""


def opened(table: T, cards: DealtCards) -> Exchanging[T]:
    """A-O14, A-O24: asked in turn, clockwise from the dealer's left."""
    to_speak = forehand_first(table.dealer, table.playing, table.seats)
    return Exchanging(table=table, cards=cards, to_speak=to_speak, stock_left=len(BIT) - HAND * len(table.playing))


def may_ask(cards: DealtCards, seat: int) -> bool:
    """A11-A12: no ace or court card, as far as the referee knows."""
    return not (cards.known and cards.hands[seat] & HONOURS)


def need_not_say(cards: DealtCards, seat: int, asked: Asked, house: bool) -> bool:
    """Whether one who asks now may leave it to the referee to deal: the stock was told and covers all who ask.

    Otherwise the cards that come lie on the table, and only the table can say them (A-O24); with closed hands nobody
    does.
    """
    return house or not cards.known or _covered(cards, (*asked, (seat, ())))


def _covered(cards: DealtCards, asked: Asked) -> bool:
    """Whether the stock that was told has six cards for each who did not say which came."""
    free = set(cards.stock).difference(*(got for _, got in asked))
    return len(free) >= HAND * sum(not got for _, got in asked)


def request_cards(state: Exchanging[Any], act: RequestCards, moment: Moment, cites: Cites) -> tuple[Event, ...]:
    """A11-A12: a hand without ace or court card may be exchanged, in turn."""
    _in_turn(state, act.seat, cites)
    _check_request(state, act.seat, act.cards, cites)
    return (HandRequested(seat=act.seat, cards=act.cards),)


def keep_cards(state: Exchanging[Any], act: KeepCards, moment: Moment, cites: Cites) -> tuple[Event, ...]:
    """A-O24: content with the hand; to ask is a right, not a duty."""
    _in_turn(state, act.seat, cites)
    return (HandKept(seat=act.seat),)


def _in_turn(state: Exchanging[Any], seat: int, cites: Cites) -> None:
    if seat != state.to_speak[0]:
        raise OutOfTurn("out_of_turn", cites.new_hands_turn, turn=state.to_speak[0])


def _check_request(state: Exchanging[Any], seat: int, said: tuple[str, ...] | None, cites: Cites) -> None:
    """Refuses a request that may not be made, or cards that cannot have come."""
    cards, asked, house = state.cards, state.asked, state.table.house
    if not may_ask(cards, seat):
        raise AgainstTheRules("has_honour", cites.new_hands)
    if said is None:
        if not need_not_say(cards, seat, asked, house):
            raise AgainstTheRules("cards_needed", cites.new_hands)
        return
    if house or not cards.known:
        raise AgainstTheRules("cards_not_wanted", None)
    if len(set(said)) != HAND:
        raise AgainstTheRules("cards_needed", cites.new_hands)
    came_to_others = not _covered(cards, (*asked, (seat, said)))
    if came_to_others or cards_of(said) & _elsewhere(state, seat):
        raise NoSuchCard("card_elsewhere", cites.pack)  # which of them, and where, the seat may not know


def _elsewhere(state: Exchanging[Any], seat: int) -> int:
    """DealtCards that cannot come to ``seat``: held by others, received this round, or thrown in (but see A15)."""
    cards, asked = state.cards, state.asked
    asking = {seat, *(other for other, _ in asked)}
    held = sum(hand for other, hand in enumerate(cards.hands) if other not in asking)
    received = sum(cards_of(got) for _, got in asked)
    if state.stock_left < HAND * (len(asked) + 1):
        return held | received
    return held | received | state.thrown | sum(cards.hands[other] for other in asking)


def hand_requested(state: Exchanging[T], event: HandRequested, number: int) -> Exchanging[T]:
    """The state after a seat asked for a new hand."""
    return replace(state, to_speak=state.to_speak[1:], asked=(*state.asked, (event.seat, event.cards or ())))


def hand_kept(state: Exchanging[T], event: HandKept, number: int) -> Exchanging[T] | Auction[T]:
    """The state after a seat kept its hand; when nobody asks any more the bidding opens."""
    left = state.to_speak[1:]
    if left or state.asked:
        return replace(state, to_speak=left)
    return auction.opened(state.table, state.cards)


def dealt_anew(state: Exchanging[Any], moment: Moment) -> tuple[Event, ...]:
    """The new hands, when everybody has spoken: in packets of three, clockwise, to those who asked (A13, A15)."""
    if state.to_speak:
        return ()
    cards, asked = state.cards, state.asked
    to = tuple(seat for seat, _ in asked)
    last = state.stock_left < HAND * len(asked)  # A15
    if not cards.known:
        return (NewHands(seats=to, last=last),)
    given = {seat: got for seat, got in asked if got}
    said = {card for got in given.values() for card in got}
    stock = tuple(card for card in cards.stock if card not in said)
    waiting = tuple(seat for seat in to if seat not in given)
    shuffle = None
    if len(stock) < HAND * len(waiting):
        all_thrown = state.thrown | sum(cards.hands[seat] for seat in to)
        shuffle = moment.seed
        stock += tuple(card for card in shuffled(moment.seed) if BIT[card] & all_thrown and card not in said)
    given |= dict(zip(waiting, packets_of_three(stock, waiting), strict=True))
    hands = tuple(given.get(seat, ()) for seat in range(state.table.seats))
    return (NewHands(seats=to, hands=hands, stock=stock[HAND * len(waiting) :], last=last, seed=shuffle),)


def hands_renewed(state: Exchanging[T], event: NewHands, number: int) -> Exchanging[T] | Auction[T]:
    """A14, A16: those who asked may ask again, unless the stock has run out."""
    cards, thrown = state.cards, state.thrown
    if event.hands is not None:
        thrown |= sum(cards.hands[seat] for seat in event.seats)
        hands = [cards_of(new) if new else old for new, old in zip(event.hands, cards.hands, strict=True)]
        cards = replace(cards, hands=tuple(hands), stock=event.stock)
    if event.last:
        return auction.opened(state.table, cards)
    left = state.stock_left - HAND * len(event.seats)
    return replace(state, cards=cards, thrown=thrown, asked=(), to_speak=event.seats, stock_left=left)
