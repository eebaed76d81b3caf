"""The auction (B28-B38)."""

from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import auction
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.ritual import PickingUp
from referee.games.rodskagg_kortoxen.states import CITES, Outcome, Played, Playing, Table
from referee.refusals import WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def highest_bid_allowed(state: Auction[Table], seat: int) -> int | None:
    """Return the highest number that the seat may bid; ``None``: no limit (B32, B-O19)."""
    table = state.table
    return table.points[seat] + table.ledger.penalty_points(seat) if table.options.bid_cap_by_score else None


bid = auction.bid_decision(highest_bid_allowed, CITES)
auction_won = auction.auction_won_evolution(Playing)


def refuse_early_bid(state: PickingUp[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Raise WrongPhase, because not all have picked up or there was a misdeal (B27, B-O33, B-O37)."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "B27" if state.found else "B23")


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    outcome = Outcome(kind=event.kind, tricks=(0,) * state.table.seats, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
