"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from referee import wire_types
from referee.acts import Act, Bella, Bid, Deal, Declare, Exchange, Reply, Respond, Score
from referee.cards import SUITS, texts_of
from referee.events import in_points
from referee.games.kalabrias import auction, deal, declarations, play
from referee.games.kalabrias.ranks import SequenceName
from referee.games.kalabrias.states import (
    Auction,
    Claim,
    Declaring,
    Expected,
    LaterCards,
    Naming,
    Outcome,
    Played,
    Playing,
    Proposed,
    State,
    Undealt,
)
from referee.interned_acts import plays
from referee.phases import Offer, Over, shown
from referee.ruleset import DueAct, Shown
from referee.value import CardText, Seat
from referee.visibility import Viewer

# The same acts again and again, so they are made once.
_CALLS = tuple({call: Bid(seat=seat, bid=call) for call in ("take", *SUITS, "pass", "redeal")} for seat in range(4))


def _dealing(state: Undealt | LaterCards, seat: int) -> tuple[Act, ...]:
    """With only the tally kept no deal is dealt: it is entered whole (E-O41)."""
    table = state.table
    return (Deal(seat=seat),) if seat == table.dealer and not table.tally else ()


def _calling(state: Auction, seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last word and what follows from it
        return ()
    calls = _CALLS[seat]
    return tuple([calls[call] for call in auction.allowed_calls(state)])


def _replying(state: Proposed, seat: int) -> tuple[Act, ...]:
    return (Reply(seat=seat, agree=True), Reply(seat=seat, agree=False)) if seat in state.to_reply[:1] else ()


def _naming(state: Naming, seat: int) -> tuple[Act, ...]:
    if seat != state.declarer:
        return ()
    return tuple(_CALLS[seat][call] for call in auction.other_suits(state.cards.turn_up))


def _declaring(state: Declaring, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if seat in declarations.awaited(state):
        acts = _statements(state, seat)
    elif seat == state.may_add:
        acts = (Declare(seat=seat, trumps=False),)
    if state.table.options.trump_seven_exchange and deal.may_exchange(state, seat):
        acts += (Exchange(seat=seat, card=state.contract.trumps + "7"),)
    if declarations.may_declare_bella(state, seat):
        acts += (Bella(seat=seat),)
    return acts


def _statements(state: Declaring, seat: int) -> tuple[Act, ...]:
    """E19-E23: what the seat may say, as far as its hand is known."""
    known = state.cards.known
    match state.expected:
        case "class":
            mine = declarations.best_of(state, seat) if known else None
            if not known:
                return tuple(Declare(seat=seat, sequence=name) for name in ("small", "large", "none"))
            none = Declare(seat=seat, sequence="none")
            return (none,) if mine is None else (Declare(seat=seat, sequence=mine.name), none)
        case "answer" | "answer_to_top":
            return tuple(Respond(seat=seat, answer=answer) for answer in declarations.allowed_answers(state))
        case "top":
            return tuple(Declare(seat=seat, top=top) for top in declarations.allowed_tops(state))
    mine = declarations.best_of(state, seat) if known else None
    if mine is not None:
        return (Declare(seat=seat, trumps=mine.trumps),)
    return Declare(seat=seat, trumps=True), Declare(seat=seat, trumps=False)


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    """E29-E30; with closed hands every card that has not been seen may be the right one."""
    acts: tuple[Act, ...] = ()
    if seat == state.turn:
        cards = state.cards
        hand = cards.hands[seat] & ~state.gone
        acts = plays(seat, play.playable(state, hand) if cards.known else play.possible(state, seat))
    if len(state.won) < 2 and not (state.won and state.trick):
        acts += _beside_the_play(state, seat)
    if declarations.may_declare_bella(state, seat):
        acts += (Bella(seat=seat),)
    return acts


def _beside_the_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """E23, E-O34: what may still be said of sequences."""
    if seat == state.may_add and not state.trick and not state.won:
        return (Declare(seat=seat, trumps=False),)
    return (Declare(seat=seat),) if declarations.may_show(state, seat) else ()


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    return (Score(seat=seat),) if state.table.penalise else ()


OFFERS: dict[type, Offer] = {
    Undealt: _dealing,
    Auction: _calling,
    Proposed: _replying,
    Naming: _naming,
    LaterCards: _dealing,
    Declaring: _declaring,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    match state:
        case Playing():
            return (state.turn,)
        case Declaring():
            return declarations.awaited(state)
        case Auction():
            return state.to_speak[:1]
        case Undealt() | LaterCards():
            return () if state.table.tally else (state.table.dealer,)
        case Proposed():
            return state.to_reply[:1]
        case Naming():
            return (state.declarer,)
        case Played():
            return state.table.active if state.table.penalise else ()
    return ()


def due(state: State) -> tuple[DueAct, ...]:
    """What must be said before the play goes on."""
    match state:
        case Proposed():
            return ("reply",)
        case Naming():
            return ("bid",)
        case LaterCards():
            return ("deal",)
        case Declaring():
            return ("respond",) if state.expected in ("answer", "answer_to_top") else ("declare",)
    return ()


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    deal: Playing | Outcome | None = None
    if isinstance(state, Playing):
        deal = state
    elif isinstance(state, Played) and state.outcome.contract:
        deal = state.outcome
    contract = getattr(deal or state, "contract", None)
    trick = () if deal is None or isinstance(deal, Outcome) else deal.trick
    hand = hands = counts = None
    if not isinstance(state, Undealt | Over) and not table.tally:
        cards, gone = state.cards, state.gone if isinstance(state, Playing | Played) else 0
        if cards.known:
            held = [texts_of(mask & ~gone) for mask in cards.hands]
            hands = tuple(held) if viewer == "official" else None
            hand = held[viewer] if isinstance(viewer, int) else None
        here, done = {seat for seat, _ in trick}, len(deal.won) if deal else 0
        counts = tuple([count - done - (seat in here) for seat, count in enumerate(cards.counts)])
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        points=in_points(table.points, table.unit == 2),
        hand=hand,
        hands=hands,
        cards_left=counts,
        bids=contract.calls if contract else getattr(state, "calls", None),
        contract=contract.trumps if contract else None,
        declarer=contract.declarer if contract else getattr(state, "declarer", None),
        trick=trick if deal else None,
        tricks=deal.tricks if deal else None,
        due=due(state),
        more=_more(state, deal),
    )


SeatAndCards = Annotated[
    tuple[Seat, wire_types.Cards],
    Meta(title="SeatAndCards", description="Who laid them open, and then the cards."),
]


class Claimed(TypedDict):
    """What has been said of the best sequence so far."""

    seat: Seat
    """Who said it."""
    sequence: SequenceName
    """Its class: small (three cards) or large (four or five)."""
    five: bool
    """It was said to have five cards, where that counts (E-O11)."""
    top: wire_types.Rank | None
    """The rank of its highest card; null: not said yet."""
    above: wire_types.Rank | None
    """The top that it was said to beat; null: none."""
    trumps: bool | None
    """Whether it is in trumps; null: not said yet."""


class More(TypedDict):
    """What only this game shows of a match; what does not apply in the phase is left out."""

    carry: wire_types.WholePoints
    """Points that level deals have set aside (E-O36)."""
    turn_up: NotRequired[CardText]
    """The card that lies, or lay, face up."""
    round: NotRequired[wire_types.TrickNumber]
    """The round of the auction: 1 or 2."""
    proposer: NotRequired[Seat]
    """Who proposed a new deal."""
    expected: NotRequired[Expected]
    """What is to be said next of sequences."""
    best: NotRequired[Claimed | None]
    """The best sequence so far; null: nobody has one."""
    level: NotRequired[wire_types.Seats]
    """Who is level with the best, outside trumps (E24)."""
    bella: NotRequired[wire_types.Seats]
    """Who has declared king and queen of trumps."""
    card_points: NotRequired[wire_types.PointsBySeat]
    """By seat, what the cards in the tricks won so far count (E34-E41)."""
    shown: NotRequired[wire_types.BySeat[SeatAndCards]]
    """With closed hands, the sequences laid open: seat and cards of each (E-O34)."""
    winners: NotRequired[wire_types.Seats]
    """Who has won, when the match is over: partners together."""


def _more(state: State, deal: Playing | Outcome | None) -> More:
    """What everybody at a table of Kalabrias knows beside: nothing here comes from a hand."""
    more: More = {"carry": state.table.carry}
    if not isinstance(state, Undealt | Over) and not state.table.tally:
        more["turn_up"] = state.cards.turn_up
    match state:
        case Auction():
            more["round"] = state.round
        case Proposed():
            more |= {"round": state.round, "proposer": state.proposer}
        case Declaring():
            more |= {"expected": state.expected, "best": _claimed(state.best), "level": state.level}
        case Over():
            more["winners"] = state.winners
    if isinstance(state, Declaring | Playing):
        more["bella"] = tuple([seat for seat, _ in state.bella])
    if deal is not None:
        said = deal.sequences
        more |= {"best": _claimed(said.best), "level": said.level, "card_points": deal.card_points}
        more["shown"] = tuple([(seat, texts_of(shown)) for seat, shown, _ in said.shown])
    return more


def carried(state: State) -> dict[str, Any]:
    """The points that level deals have set aside (E-O36)."""
    return {"carry": state.table.carry} if state.table.carry else {}


def _claimed(claim: Claim | None) -> Claimed | None:
    """What has been said of the best sequence so far."""
    if claim is None:
        return None
    return {
        "seat": claim.seat,
        "sequence": claim.sequence,
        "five": claim.five,
        "top": claim.top,
        "above": claim.above,
        "trumps": claim.trumps,
    }
