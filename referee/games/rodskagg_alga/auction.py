"""The bidding (A17-A28)."""

from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.facts import AuctionWon
from referee.games.rodskagg_alga.states import CITES, Outcome, Played, Playing, Table
from referee.ruleset import Moment
from referee.tricks import following
from referee.visibility import Event


def cap(state: Auction[Table], seat: int) -> int | None:
    """A-O20, A-O25: the points that cap the seat's bids, if they do; in a duel all stand at zero."""
    table = state.table
    return table.points[seat] if table.options.bid_cap_by_score and not table.duel else None


def bid(state: Auction[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """A17-A26, A57: speak once, in turn; bid higher or pass."""
    return auction.bid(state, act, cap(state, act.seat), CITES)


def auction_won(state: Auction[Table], event: AuctionWon, number: int) -> Playing:
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


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    """The state when all have passed."""
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
