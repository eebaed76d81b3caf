"""The bidding (B28-B38)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.events import Event, PlayEnded
from referee.games._rodskagg import BIDS, PASS, RODSKAGG, AuctionWon, BidMade, BidValue, higher_bids
from referee.games.rodskagg_kortoxen.states import Auction, Contract, Exits, PickingUp, Played, Playing
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following


def capped(state: Auction, seat: int) -> tuple[BidValue, ...]:
    """B32, B-O19: the bids that the seat's own points allow; rödskägg is never capped."""
    table = state.table
    if not table.options.bid_cap_by_score:
        return BIDS
    points = table.points[seat] + state.ledger.points(seat)
    return tuple(bid for bid in BIDS if isinstance(bid, str) or bid <= points)


def allowed_bids(state: Auction, seat: int) -> tuple[BidValue, ...]:
    """B30, B32-B34: pass, and every higher bid."""
    higher, cap = higher_bids(state.highest), capped(state, seat)
    return (PASS, *(higher if cap is BIDS else (bid for bid in higher if bid in cap)))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B28-B38: speak once, in turn; bid higher or pass."""
    seat, turn = act.seat, state.to_speak[0]
    if seat != turn:
        spoken = any(seat == other for other, _ in state.calls)
        raise OutOfTurn("already_spoken" if spoken else "out_of_turn", "B35" if spoken else "B29", turn=turn)
    if act.bid != PASS:
        if act.bid not in BIDS:
            raise AgainstTheRules("no_such_bid", "B28", allowed=allowed_bids(state, seat))
        if act.bid not in higher_bids(state.highest):
            raise AgainstTheRules("bid_too_low", "B34", allowed=allowed_bids(state, seat))
        if act.bid not in capped(state, seat):
            raise AgainstTheRules("bid_above_points", "B32", allowed=allowed_bids(state, seat))
    made = BidMade(seat=seat, bid=act.bid)
    if act.bid == RODSKAGG:  # B36
        return made, AuctionWon(seat=seat, contract=RODSKAGG)
    if len(state.to_speak) > 1:
        return (made,)
    if act.bid != PASS:
        return made, AuctionWon(seat=seat, contract=act.bid)  # B38
    if state.highest is None:
        return made, PlayEnded(kind="passed_out")  # B37
    declarer = next(seat for seat, bid in state.calls if bid == state.highest)
    return made, AuctionWon(seat=declarer, contract=state.highest)


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
        ledger=state.ledger,
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
    return Played(table=state.table, ledger=state.ledger, cards=state.cards, kind=event.kind, calls=state.calls)
