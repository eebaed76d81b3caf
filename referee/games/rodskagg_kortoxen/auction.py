"""The bidding (B28-B38)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.events import Event, PlayEnded
from referee.games._rodskagg import bids
from referee.games._rodskagg.bids import PASS, RODSKAGG, BidValue, Contract
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games.rodskagg_kortoxen.states import Auction, Exits, Outcome, PickingUp, Played, Playing
from referee.refusals import OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following


def cap(state: Auction, seat: int) -> int | None:
    """B32, B-O19: the points that cap the seat's bids, if they do."""
    table = state.table
    return table.points[seat] + table.ledger.points(seat) if table.options.bid_cap_by_score else None


def allowed_bids(state: Auction, seat: int) -> tuple[BidValue, ...]:
    """B30, B32-B34: pass, and every higher bid."""
    return bids.allowed_bids(state.highest, cap(state, seat))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B28-B38: speak once, in turn; bid higher or pass."""
    seat, turn = act.seat, state.to_speak[0]
    if seat != turn:
        spoken = bids.spoken(state.calls, seat)
        raise OutOfTurn("already_spoken" if spoken else "out_of_turn", "B35" if spoken else "B29", turn=turn)
    bid = bids.check_bid(act.bid, state.highest, cap(state, seat), rule="B28", low_rule="B34", cap_rule="B32")
    return (BidMade(seat=seat, bid=bid),)


def follows(state: Auction, moment: Moment) -> tuple[Event, ...]:
    """B35-B38: rödskägg ends the auction at once, else it ends when all have spoken; the last bidder is declarer."""
    if state.to_speak and state.highest != RODSKAGG:
        return ()
    if state.highest is None:  # B37
        return (PlayEnded(kind="passed_out"),)
    return (AuctionWon(seat=bids.won_by(state.calls, state.highest), contract=state.highest),)


def bid_before_it_opens(state: PickingUp, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B27, B-O33, B-O37: no bidding before all cards are up, nor with a wrong number of cards."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "B27" if state.found else "B23")


def bid_made(state: Auction, event: BidMade, number: int) -> Auction:
    """The state after a call."""
    calls = (*state.calls, (event.seat, event.bid))
    highest = state.highest if event.bid == PASS else event.bid
    return replace(state, to_speak=state.to_speak[1:], calls=calls, highest=highest)


def auction_won(state: Auction, event: AuctionWon, number: int) -> Playing:
    """The state when the contract is known; the declarer leads to the first trick (B41)."""
    table = state.table
    none = (0,) * table.seats
    return Playing(
        table=table,
        cards=state.cards,
        contract=Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls),
        order=table.active,
        after=following(table.active, table.seats),
        turn=event.seat,
        tricks=none,
        exits=Exits(zero=none, knocked=none),
    )


def passed_out(state: Auction, event: PlayEnded, number: int) -> Played:
    """The state when all have passed."""
    none = (0,) * state.table.seats
    outcome = Outcome(kind=event.kind, tricks=none, exits=Exits(zero=none, knocked=none), calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
