"""The auction (A17-A28)."""

from referee.events import PlayEnded
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games.rodskagg_alga.states import CITES, Outcome, Played, Playing, Table


def highest_bid_allowed(state: Auction[Table], seat: int) -> int | None:
    """Return the highest number that the seat may bid; ``None``: no limit (A-O20, A-O25)."""
    table = state.table
    return table.points[seat] if table.options.bid_cap_by_score and not table.duel else None


bid = auction.bid_decision(highest_bid_allowed, CITES)
auction_won = auction.auction_won_evolution(Playing)


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
