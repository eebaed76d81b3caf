"""The round of declarations (C16-C22)."""

from msgspec.structs import replace

from referee.acts import Bid
from referee.games._rodskagg.bids import RODSKAGG, BidValue, Calls, Contract, spoken
from referee.games._rodskagg.facts import AuctionWon, BidMade
from referee.games._rodskagg.ritual import PickingUp
from referee.games.rodskagg_catsatcards.play import owing_at_start
from referee.games.rodskagg_catsatcards.states import CITES, Auction, Playing, Table
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.tricks import following
from referee.visibility import Event

DECLARATIONS: tuple[BidValue, ...] = (0, 1, 2, 3, 4, 5, RODSKAGG)
"""Low to high (C18-C19)."""


def highest(calls: Calls) -> tuple[int, BidValue]:
    """C21-C22: who is Declarer and with what: the highest declaration, the first of those equal."""
    return max(calls, key=lambda call: DECLARATIONS.index(call[1]))


def bid(state: Auction, act: Bid, moment: Moment) -> tuple[Event, ...]:
    """C16-C22: each declares once, in turn; there is no pass, and no order of height (C-O3, C-O4)."""
    seat, turn = act.seat, state.to_speak[0]
    if state.holder is not None:
        raise WrongPhase("must_discard", "C15", turn=state.holder)
    if seat != turn:
        said = spoken(state.calls, seat)
        rule = CITES.spoken if said else CITES.bid_turn
        raise OutOfTurn("already_spoken" if said else "out_of_turn", rule, turn=turn)
    if act.bid not in DECLARATIONS:
        raise AgainstTheRules("no_such_bid", CITES.bids, allowed=DECLARATIONS)
    value: BidValue = act.bid
    return (BidMade(seat=seat, bid=value),)


def follows(state: Auction, moment: Moment) -> tuple[Event, ...]:
    """C21-C22: the Declarer, when all have spoken."""
    if state.to_speak:
        return ()
    declarer, contract = highest(state.calls)
    return (AuctionWon(seat=declarer, contract=contract),)


def bid_before_it_opens(state: PickingUp[Table], act: Bid, moment: Moment) -> tuple[Event, ...]:
    """C-O23: no bidding before all cards are up, nor with a wrong number of cards."""
    raise WrongPhase("misdealt" if state.found else "cards_down", "C16")


def bid_made(state: Auction, event: BidMade, number: int) -> Auction:
    """The state after a declaration."""
    return replace(state, to_speak=state.to_speak[1:], calls=(*state.calls, (event.seat, event.bid)))


def auction_won(state: Auction, event: AuctionWon, number: int) -> Playing:
    """The state when the Declarer is known, who leads to the first trick (C23)."""
    table = state.table
    return Playing(
        table=table,
        cards=state.cards,
        contract=Contract(event=number, declarer=event.seat, bid=event.contract, calls=state.calls),
        order=table.playing,
        after=following(table.playing, table.seats),
        turn=event.seat,
        tricks=(0,) * table.seats,
        owed=owing_at_start(table),
        redbeards=tuple(seat for seat, bid in state.calls if bid == RODSKAGG),
    )
