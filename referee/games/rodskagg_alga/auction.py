"""The bidding (A17-A28)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.events import Event, PlayEnded
from referee.games._rodskagg import bids
from referee.games._rodskagg.bids import PASS, RODSKAGG, BidValue, Contract
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games.rodskagg_alga.states import Auction, Outcome, Played, Playing
from referee.refusals import OutOfTurn
from referee.ruleset import Moment
from referee.tricks import following


def cap(state: Auction, seat: int) -> int | None:
    """A-O20, A-O25: the points that cap the seat's bids, if they do; in a duel all stand at zero."""
    table = state.table
    return table.points[seat] if table.options.bid_cap_by_score and not table.duel else None


def allowed_bids(state: Auction, seat: int) -> tuple[BidValue, ...]:
    """A19-A21: pass, and every higher bid."""
    return bids.allowed_bids(state.highest, cap(state, seat))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """A17-A26, A57: speak once, in turn; bid higher or pass."""
    seat, turn = act.seat, state.to_speak[0]
    if seat != turn:
        spoken = bids.spoken(state.calls, seat)
        raise OutOfTurn("already_spoken" if spoken else "out_of_turn", "A22" if spoken else "A18", turn=turn)
    bid = bids.check_bid(act.bid, state.highest, cap(state, seat), rule="A17", low_rule="A21", cap_rule="A-O20")
    return (BidMade(seat=seat, bid=bid),)


def follows(state: Auction, moment: Moment) -> tuple[Event, ...]:
    """A23-A26: rödskägg ends the auction at once, else it ends when all have spoken; the last bidder is declarer."""
    if state.to_speak and state.highest != RODSKAGG:
        return ()
    if state.highest is None:  # A24-A25
        return (PlayEnded(kind="passed_out"),)
    return (AuctionWon(seat=bids.won_by(state.calls, state.highest), contract=state.highest),)


def bid_made(state: Auction, event: BidMade, number: int) -> Auction:
    """The state after a call."""
    calls = (*state.calls, (event.seat, event.bid))
    highest = state.highest if event.bid == PASS else event.bid
    return replace(state, to_speak=state.to_speak[1:], calls=calls, highest=highest)


def auction_won(state: Auction, event: AuctionWon, number: int) -> Playing:
    """The state when the contract is known; the declarer leads (A29)."""
    table = state.table
    return Playing(
        table=table,
        cards=state.cards,
        contract=Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls),
        order=table.playing,
        after=following(table.playing, table.seats),
        turn=event.seat,
        tricks=(0,) * table.seats,
    )


def passed_out(state: Auction, event: PlayEnded, number: int) -> Played:
    """The state when all have passed."""
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
