"""The auction (B28-B38)."""

from referee.acts import Bid
from referee.events import PlayEnded
from referee.games._rodskagg import auction, in_play
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.facts import AuctionWon
from referee.games._rodskagg.ritual import PickingUp
from referee.games.rodskagg_kortoxen.states import CITES, Outcome, Played, Playing, Table
from referee.refusals import WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def cap(state: Auction[Table], seat: int) -> int | None:
    """B32, B-O19: Return the highest number that the seat may bid; ``None``: no limit."""
    table = state.table
    return table.points[seat] + table.ledger.points(seat) if table.options.bid_cap_by_score else None


def bid(state: Auction[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B28-B38: Record a bid or a pass. Raises OutOfTurn or AgainstTheRules."""
    return auction.bid(state, act, cap(state, act.seat), CITES)


def bid_before_it_opens(state: PickingUp[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """B27, B-O33, B-O37: Refuse a bid before all have picked up, or after a misdeal."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "B27" if state.found else "B23")


def auction_won(state: Auction[Table], event: AuctionWon, number: int) -> Playing:
    """B41: Return the start of the play. The declarer leads."""
    contract = Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls)
    return in_play.opened(Playing, state.table, state.cards, event.seat, contract=contract)


def passed_out(state: Auction[Table], event: PlayEnded, number: int) -> Played:
    no_tricks = (0,) * state.table.seats
    outcome = Outcome(kind=event.kind, tricks=no_tricks, calls=state.calls)
    return Played(table=state.table, cards=state.cards, outcome=outcome)
