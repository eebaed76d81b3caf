"""The bidding (B28-B38)."""

from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.facts import AuctionWon
from referee.games._rodskagg.ritual import PickingUp
from referee.games.rodskagg_kortoxen.states import CITES, Outcome, Played, Playing, Table
from referee.refusals import WrongPhase
from referee.ruleset import Moment
from referee.tricks import following
from referee.visibility import Event


def cap(state: Auction[Table], seat: int) -> int | None:
    """B32, B-O19: the points that cap the seat's bids, if they do."""
    table = state.table
    return table.points[seat] + table.ledger.points(seat) if table.options.bid_cap_by_score else None


def bid(state: Auction[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B28-B38: speak once, in turn; bid higher or pass."""
    return auction.bid(state, act, cap(state, act.seat), CITES)


def bid_before_it_opens(state: PickingUp[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B27, B-O33, B-O37: no bidding before all cards are up, nor with a wrong number of cards."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "B27" if state.found else "B23")


def auction_won(state: Auction[Table], event: AuctionWon, number: int) -> Playing:
    """The state when the contract is known; the declarer leads to the first trick (B41)."""
    table = state.table
    none = (0,) * table.seats
    return Playing(
        table=table,
        cards=state.cards,
        contract=Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls),
        order=table.playing,
        after=following(table.playing, table.seats),
        turn=event.seat,
        tricks=none,
    )


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    """The state when all have passed."""
    none = (0,) * state.table.seats
    outcome = Outcome(kind=event.kind, tricks=none, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
