"""Requests for six new cards, in rounds before the auction (A11-A16, A-O24, B-O20; option ``honour_redeal``).

An honour is an ace or court card.
"""

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee import phases
from referee.acts import KeepCards, RequestCards
from referee.cards import BIT, HONOURS, cards_of, shuffled
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import HAND_SIZE, DealtCards, forehand_first, packets_of_three
from referee.games._rodskagg.facts import HandKept, HandRequested, NewHands
from referee.refusals import AgainstTheRules, NoSuchCard, OutOfTurn
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event

Requests = tuple[tuple[int, tuple[str, ...]], ...]
"""Pairs of seat and the cards named as received, if any."""

T = TypeVar("T", bound=phases.Table)


class Exchanging(Value, Generic[T], tag="exchanging"):
    """A round of requests."""

    table: T
    cards: DealtCards
    to_speak: tuple[int, ...]
    stock_left: int
    asked: Requests = ()
    thrown: int = 0
    """Mask of the cards thrown in."""


def start_of_exchange(table: T, cards: DealtCards) -> Exchanging[T]:
    """Return the first round (A-O14, A-O24)."""
    to_speak = forehand_first(table.dealer, table.playing, table.seats)
    stock_left = len(BIT) - HAND_SIZE * len(table.playing)
    return Exchanging(table=table, cards=cards, to_speak=to_speak, stock_left=stock_left)


def may_request(cards: DealtCards, seat: int) -> bool:
    """Return whether the hand has no honour, or is not known (A11-A12)."""
    return not (cards.known and cards.hands[seat] & HONOURS)


def may_leave_unnamed(cards: DealtCards, seat: int, asked: Requests, house: bool) -> bool:
    """Return whether ``seat`` need not name cards: in ``house`` dealing, with closed hands, or while the known stock
    suffices (A-O24)."""
    return house or not cards.known or _stock_suffices(cards, (*asked, (seat, ())))


def _stock_suffices(cards: DealtCards, asked: Requests) -> bool:
    """Return whether the known stock suffices for the requests that name no cards."""
    free = set(cards.stock).difference(*(received for _, received in asked))
    return len(free) >= HAND_SIZE * sum(not received for _, received in asked)


def request_cards(state: Exchanging[Any], act: RequestCards, moment: Moment, cites: CitedRules) -> tuple[Event, ...]:
    """Return the event of a request (A11-A12).

    Raises: OutOfTurn, NoSuchCard if a named card is elsewhere, AgainstTheRules for an honour in the hand or for cards
    that are missing, not wanted or not six.
    """
    _check_turn(state, act.seat, cites)
    _check_request(state, act.seat, act.cards, cites)
    return (HandRequested(seat=act.seat, cards=act.cards),)


def keep_cards(state: Exchanging[Any], act: KeepCards, moment: Moment, cites: CitedRules) -> tuple[Event, ...]:
    """Return the event of a kept hand (A-O24). Raises OutOfTurn."""
    _check_turn(state, act.seat, cites)
    return (HandKept(seat=act.seat),)


def _check_turn(state: Exchanging[Any], seat: int, cites: CitedRules) -> None:
    if seat != state.to_speak[0]:
        raise OutOfTurn("out_of_turn", cites.new_hands_turn, turn=state.to_speak[0])


def _check_request(state: Exchanging[Any], seat: int, named: tuple[str, ...] | None, cites: CitedRules) -> None:
    """Raise as :func:`request_cards`, except OutOfTurn."""
    cards, asked, house = state.cards, state.asked, state.table.house
    if not may_request(cards, seat):
        raise AgainstTheRules("has_honour", cites.new_hands)
    if named is None:
        if not may_leave_unnamed(cards, seat, asked, house):
            raise AgainstTheRules("cards_needed", cites.new_hands)
        return
    if house or not cards.known:
        raise AgainstTheRules("cards_not_wanted", None)
    if len(set(named)) != HAND_SIZE:
        raise AgainstTheRules("cards_needed", cites.new_hands)
    came_to_others = not _stock_suffices(cards, (*asked, (seat, named)))
    if came_to_others or cards_of(named) & _unavailable(state, seat):
        # The card is not named, because its place is secret.
        raise NoSuchCard("card_elsewhere", cites.pack)


def _unavailable(state: Exchanging[Any], seat: int) -> int:
    """Return the mask of cards that ``seat`` cannot receive; thrown-in cards only while the stock suffices (A15)."""
    cards, asked = state.cards, state.asked
    asking = {seat, *(other for other, _ in asked)}
    held = sum(hand for other, hand in enumerate(cards.hands) if other not in asking)
    all_received = sum(cards_of(received) for _, received in asked)
    if state.stock_left < HAND_SIZE * (len(asked) + 1):
        return held | all_received
    return held | all_received | state.thrown | sum(cards.hands[other] for other in asking)


def hand_requested(state: Exchanging[T], event: HandRequested, number: int) -> Exchanging[T]:
    return replace(state, to_speak=state.to_speak[1:], asked=(*state.asked, (event.seat, event.cards or ())))


def hand_kept(state: Exchanging[T], event: HandKept, number: int) -> Exchanging[T] | Auction[T]:
    left = state.to_speak[1:]
    if left or state.asked:
        return replace(state, to_speak=left)
    return auction.start_of_auction(state.table, state.cards)


def deal_new_hands(state: Exchanging[Any], moment: Moment) -> tuple[Event, ...]:
    """Return the event of new hands if all have spoken (A13, A15, A-O24)."""
    if state.to_speak:
        return ()
    cards, asked = state.cards, state.asked
    requesters = tuple(seat for seat, _ in asked)
    last = state.stock_left < HAND_SIZE * len(asked)
    if not cards.known:
        return (NewHands(seats=requesters, last=last),)
    given = {seat: received for seat, received in asked if received}
    named = {card for received in given.values() for card in received}
    stock = tuple(card for card in cards.stock if card not in named)
    waiting = tuple(seat for seat in requesters if seat not in given)
    shuffle = None
    if len(stock) < HAND_SIZE * len(waiting):
        all_thrown = state.thrown | sum(cards.hands[seat] for seat in requesters)
        shuffle = moment.seed
        stock += tuple(card for card in shuffled(moment.seed) if BIT[card] & all_thrown and card not in named)
    given |= dict(zip(waiting, packets_of_three(stock, waiting), strict=True))
    hands = tuple(given.get(seat, ()) for seat in range(state.table.seats))
    left = stock[HAND_SIZE * len(waiting) :]
    return (NewHands(seats=requesters, hands=hands, stock=left, last=last, seed=shuffle),)


def hands_renewed(state: Exchanging[T], event: NewHands, number: int) -> Exchanging[T] | Auction[T]:
    """Return the next round with the new hands or, after the last round, the auction (A14, A16)."""
    cards, thrown = state.cards, state.thrown
    if event.hands is not None:
        thrown |= sum(cards.hands[seat] for seat in event.seats)
        hands = [cards_of(new) if new else old for new, old in zip(event.hands, cards.hands, strict=True)]
        cards = replace(cards, hands=tuple(hands), stock=event.stock)
    if event.last:
        return auction.start_of_auction(state.table, cards)
    left = state.stock_left - HAND_SIZE * len(event.seats)
    return replace(state, cards=cards, thrown=thrown, asked=(), to_speak=event.seats, stock_left=left)
