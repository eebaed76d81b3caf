"""The bidding (B28-B38)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.events import Event, PlayEnded
from referee.games._rodskagg import bids
from referee.games._rodskagg.bids import RODSKAGG, BidValue, Contract
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games.rodskagg_kortoxen.states import Auction, Exits, PickingUp, Played, Playing
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment

RULE = {"no_such_bid": "B28", "bid_too_low": "B34", "bid_above_points": "B32"}


def cap(state: Auction, seat: int) -> int | None:
    """B32, B-O19: the points that cap the seat's bids, if they do."""
    table = state.table
    return table.points[seat] + state.ledger.points(seat) if table.options.bid_cap_by_score else None


def allowed_bids(state: Auction, seat: int) -> tuple[BidValue, ...]:
    """B30, B32-B34: pass, and every higher bid."""
    return bids.allowed_bids(state.calls, cap(state, seat))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B28-B38: speak once, in turn; bid higher or pass."""
    seat, turn = act.seat, state.to_speak[0]
    if seat != turn:
        spoken = any(seat == other for other, _ in state.calls)
        raise OutOfTurn("already_spoken" if spoken else "out_of_turn", "B35" if spoken else "B29", turn=turn)
    if fault := bids.fault_of(act.bid, state.calls, cap(state, seat)):
        raise AgainstTheRules(fault, RULE[fault], allowed=allowed_bids(state, seat))
    value: BidValue = act.bid  # type: ignore[assignment]  # one of the bids, as just checked
    made = BidMade(seat=seat, bid=value)
    if value == RODSKAGG:  # B36
        return made, AuctionWon(seat=seat, contract=RODSKAGG)
    if len(state.to_speak) > 1:
        return (made,)
    won = bids.last_bid((*state.calls, (seat, value)))
    if won is None:  # B37
        return made, PlayEnded(kind="passed_out")
    return made, AuctionWon(seat=won[0], contract=won[1])  # B38


def bid_before_it_opens(state: PickingUp, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B27, B-O33, B-O37: no bidding before all cards are up, nor with a wrong number of cards."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "B27" if state.found else "B23")


def bid_made(state: Auction, event: BidMade, number: int) -> Auction:
    """The state after a call."""
    return replace(state, to_speak=state.to_speak[1:], calls=(*state.calls, (event.seat, event.bid)))


def auction_won(state: Auction, event: AuctionWon, number: int) -> Playing:
    """The state when the contract is known; the declarer leads to the first trick (B41)."""
    table = state.table
    none = (0,) * table.seats
    return Playing(
        table=table,
        ledger=state.ledger,
        cards=state.cards,
        contract=Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls),
        hands=state.cards.hands,
        order=table.active,
        turn=event.seat,
        tricks=none,
        exits=Exits(zero=none, knocked=none),
    )


def passed_out(state: Auction, event: PlayEnded, number: int) -> Played:
    """The state when all have passed."""
    return Played(table=state.table, ledger=state.ledger, cards=state.cards, kind=event.kind, calls=state.calls)
