"""The round of declarations (C16-C22)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.games._rodskagg import in_play
from referee.games._rodskagg.bids import RODSKAGG, Calls, Contract, has_called
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games._rodskagg.ritual import PickingUp
from referee.games.rodskagg_catsatcards.play import owing_announcements
from referee.games.rodskagg_catsatcards.states import CITES, Auction, Playing, Table
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.value import BidValue
from referee.visibility import Event

DECLARATIONS: tuple[BidValue, ...] = ("0", "1", "2", "3", "4", "5", RODSKAGG)
"""Declarations from low to high; the highest is Redbeard, all six tricks (C18-C19)."""


def highest_call(calls: Calls) -> tuple[int, BidValue]:
    """Return seat and bid of the Declarer, the first seat with the highest bid (C21-C22)."""
    return max(calls, key=lambda call: DECLARATIONS.index(call[1]))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a declaration (C16-C22, C-O3, C-O4).

    Raises: WrongPhase while a discard is due, OutOfTurn, AgainstTheRules for an unknown bid.
    """
    seat, turn = act.seat, state.to_speak[0]
    if state.holder is not None:
        raise WrongPhase("must_discard", "C15", turn=state.holder)
    if seat != turn:
        has_spoken = has_called(state.calls, seat)
        rule = CITES.one_bid_each if has_spoken else CITES.bid_turn
        raise OutOfTurn("already_spoken" if has_spoken else "out_of_turn", rule, turn=turn)
    if act.bid not in DECLARATIONS:
        raise AgainstTheRules("no_such_bid", CITES.bids, allowed=DECLARATIONS)
    return (BidMade(seat=seat, bid=act.bid),)


def automatic_events(state: Auction, moment: Moment) -> tuple[Event, ...]:
    """Return the event that names the Declarer, if all have spoken (C21-C22)."""
    if state.to_speak:
        return ()
    declarer, contract = highest_call(state.calls)
    return (AuctionWon(seat=declarer, contract=contract),)


def refuse_early_bid(state: PickingUp[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """Raise WrongPhase, because not all have picked up, or all know of a misdeal (C16, C-O23)."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "C16")


def bid_made(state: Auction, event: BidMade, number: int) -> Auction:
    return replace(state, to_speak=state.to_speak[1:], calls=(*state.calls, (event.seat, event.bid)))


def auction_won(state: Auction, event: AuctionWon, number: int) -> Playing:
    """Return the start of the play. The Declarer leads (C23)."""
    table, calls = state.table, state.calls
    contract = Contract(event=number, declarer=event.seat, bid=event.contract, calls=calls)
    owed, redbeards = owing_announcements(table), tuple(seat for seat, bid in calls if bid == RODSKAGG)
    return in_play.start_of_play(
        Playing, table, state.cards, event.seat, contract=contract, owed=owed, redbeards=redbeards
    )
