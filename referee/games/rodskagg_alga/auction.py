"""The auction (A17-A28)."""

from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import auction, in_play
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.facts import AuctionWon
from referee.games.rodskagg_alga.states import CITES, Outcome, Played, Playing, Table
from referee.ruleset import Moment
from referee.visibility import Event


def cap(state: Auction[Table], seat: int) -> int | None:
    """A-O20, A-O25: Return the highest number that the seat may bid; ``None``: no limit, as in a duel."""
    table = state.table
    return table.points[seat] if table.options.bid_cap_by_score and not table.duel else None


def bid(state: Auction[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """A17-A26, A57: Record a bid or a pass. Raises OutOfTurn or AgainstTheRules."""
    return auction.bid(state, act, cap(state, act.seat), CITES)


def auction_won(state: Auction[Table], event: AuctionWon, number: int) -> Playing:
    """A29: Return the start of the play. The declarer leads."""
    contract = Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls)
    return in_play.opened(Playing, state.table, state.cards, event.seat, contract=contract)


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
