"""An auction of rising bids in which a seat speaks at most once (A17-A26, B28-B38).

Rödskägg is the highest bid: its bidder wins the match with all six tricks, and is out otherwise.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee import phases
from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import bids, in_play
from referee.games._rodskagg.bids import PASS, RODSKAGG, Calls, Contract
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import DealtCards, forehand_first
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games._rodskagg.in_play import P
from referee.refusals import OutOfTurn
from referee.ruleset import Moment
from referee.value import BidValue, Value
from referee.visibility import Event

T = TypeVar("T", bound=phases.Table)


class Auction(Value, Generic[T], tag="auction"):
    table: T
    cards: DealtCards
    to_speak: tuple[int, ...]
    calls: Calls = ()
    highest: BidValue | None = None


def start_of_auction(table: T, cards: DealtCards) -> Auction[T]:
    return Auction(table=table, cards=cards, to_speak=forehand_first(table.dealer, table.playing, table.seats))


def bid_decision(cap: Callable[[Any, int], int | None], cites: CitedRules) -> phases.Decision:
    """Return the function that decides on a bid or pass (A17-A26, A57, B28-B38).

    It raises OutOfTurn, or AgainstTheRules for a forbidden bid. ``cap`` returns the highest number that the seat may
    bid; ``None``: any number.
    """

    def bid(state: Auction[Any], act: Bid, moment: Moment) -> tuple[Event, ...]:
        seat, turn = act.seat, state.to_speak[0]
        if seat != turn:
            has_spoken = bids.has_called(state.calls, seat)
            rule = cites.one_bid_each if has_spoken else cites.bid_turn
            raise OutOfTurn("already_spoken" if has_spoken else "out_of_turn", rule, turn=turn)
        return (BidMade(seat=seat, bid=bids.check_bid(act.bid, state.highest, cap(state, seat), cites)),)

    return bid


def automatic_events(state: Auction[Any], moment: Moment) -> tuple[Event, ...]:
    """After rödskägg or when all have spoken, return AuctionWon, or PlayEnded if all passed; else no event (A23-A26,
    B36-B38)."""
    if state.to_speak and state.highest != RODSKAGG:
        return ()
    if state.highest is None:
        return (PlayEnded(kind="passed_out"),)
    return (AuctionWon(seat=bids.bidder_of(state.calls, state.highest), contract=state.highest),)


def bid_made(state: Auction[T], event: BidMade, number: int) -> Auction[T]:
    calls = (*state.calls, (event.seat, event.bid))
    highest = state.highest if event.bid == PASS else event.bid
    return replace(state, to_speak=state.to_speak[1:], calls=calls, highest=highest)


def auction_won_evolution(playing: type[P]) -> Callable[[Auction[Any], AuctionWon, int], P]:
    """Return the function that begins the phase ``playing``, in which the declarer leads (A29, B41)."""

    def auction_won(state: Auction[Any], event: AuctionWon, number: int) -> P:
        contract = Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls)
        return in_play.start_of_play(playing, state.table, state.cards, event.seat, contract=contract)

    return auction_won
