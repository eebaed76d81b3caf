"""Bids that must rise, spoken once each (A17-A26, B28-B38)."""

from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from referee import phases
from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import bids
from referee.games._rodskagg.bids import PASS, RODSKAGG, BidValue, Calls
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.dealing import DealtCards, forehand_first
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.refusals import OutOfTurn
from referee.ruleset import Moment
from referee.value import Value
from referee.visibility import Event

T = TypeVar("T", bound=phases.Table)


class Auction(Value, Generic[T], tag="auction"):
    """The bidding."""

    table: T
    cards: DealtCards
    to_speak: tuple[int, ...]
    calls: Calls = ()
    highest: BidValue | None = None
    """The bid to beat."""


def opened(table: T, cards: DealtCards) -> Auction[T]:
    """A18, B29: forehand speaks first."""
    return Auction(table=table, cards=cards, to_speak=forehand_first(table.dealer, table.playing, table.seats))


def bid(state: Auction[Any], act: Bid, cap: int | None, cites: Cites) -> tuple[Event, ...]:
    """Once, in turn; higher or pass. ``cap``: the points that cap the seat's bids, if they do."""
    seat, turn = act.seat, state.to_speak[0]
    if seat != turn:
        spoken = bids.spoken(state.calls, seat)
        rule = cites.spoken if spoken else cites.bid_turn
        raise OutOfTurn("already_spoken" if spoken else "out_of_turn", rule, turn=turn)
    return (BidMade(seat=seat, bid=bids.check_bid(act.bid, state.highest, cap, cites)),)


def follows(state: Auction[Any], moment: Moment) -> tuple[Event, ...]:
    """Rödskägg ends the auction at once, else it ends when all have spoken; the last bidder is declarer."""
    if state.to_speak and state.highest != RODSKAGG:
        return ()
    if state.highest is None:  # A24-A25, B37
        return (PlayEnded(kind="passed_out"),)
    return (AuctionWon(seat=bids.won_by(state.calls, state.highest), contract=state.highest),)


def bid_made(state: Auction[T], event: BidMade, number: int) -> Auction[T]:
    """The state after a call."""
    calls = (*state.calls, (event.seat, event.bid))
    highest = state.highest if event.bid == PASS else event.bid
    return replace(state, to_speak=state.to_speak[1:], calls=calls, highest=highest)
