"""The acts that a seat may do, and the match as a viewer may see it."""

from typing import Any, NotRequired, TypedDict

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
from referee.interned_acts import play_acts
from referee.phases import Offer, Over, match_view
from referee.ruleset import DueAct, Shown
from referee.tricks import seats_and_cards
from referee.value import CardText, Seat
from referee.visibility import Viewer

# They are made once, because they are offered often.
_CALLS = tuple({call: Bid(seat=seat, bid=call) for call in ("take", *SUITS, "pass", "redeal")} for seat in range(4))


def _dealing_acts(state: Undealt | LaterCards, seat: int) -> tuple[Act, ...]:
    """Return the act ``deal`` for the dealer, except in a tally (E-O41)."""
    table = state.table
    return (Deal(seat=seat),) if seat == table.dealer and not table.tally else ()


def _calling_acts(state: Auction, seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # no seat has to speak after the last call
        return ()
    calls = _CALLS[seat]
    return tuple([calls[call] for call in auction.allowed_calls(state)])


def _replying_acts(state: Proposed, seat: int) -> tuple[Act, ...]:
    return (Reply(seat=seat, agree=True), Reply(seat=seat, agree=False)) if seat in state.to_reply[:1] else ()


def _naming_acts(state: Naming, seat: int) -> tuple[Act, ...]:
    if seat != state.declarer:
        return ()
    return tuple(_CALLS[seat][call] for call in auction.other_suits(state.cards.turn_up))


def _declaring_acts(state: Declaring, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if seat in declarations.seats_to_speak(state):
        acts = _statements(state, seat)
    elif seat == state.may_add:
        acts = (Declare(seat=seat, trumps=False),)
    if state.table.options.trump_seven_exchange and deal.may_exchange(state, seat):
        acts += (Exchange(seat=seat, card=state.contract.trumps + "7"),)
    if declarations.may_declare_bella(state, seat):
        acts += (Bella(seat=seat),)
    return acts


def _statements(state: Declaring, seat: int) -> tuple[Act, ...]:
    """Return the statements that a seat may make; with closed hands all that can be true (E19-E23)."""
    known = state.cards.known
    match state.expected:
        case "class":
            mine = declarations.best_sequence(state, seat) if known else None
            if not known:
                return tuple(Declare(seat=seat, sequence=name) for name in ("small", "large", "none"))
            none = Declare(seat=seat, sequence="none")
            return (none,) if mine is None else (Declare(seat=seat, sequence=mine.name), none)
        case "answer" | "answer_to_top":
            return tuple(Respond(seat=seat, answer=answer) for answer in declarations.allowed_answers(state))
        case "top":
            return tuple(Declare(seat=seat, top=top) for top in declarations.allowed_tops(state))
    mine = declarations.best_sequence(state, seat) if known else None
    if mine is not None:
        return (Declare(seat=seat, trumps=mine.trumps),)
    return Declare(seat=seat, trumps=True), Declare(seat=seat, trumps=False)


def _playing_acts(state: Playing, seat: int) -> tuple[Act, ...]:
    """Return the acts of a seat during the play (E29-E30)."""
    acts: tuple[Act, ...] = ()
    if seat == state.turn:
        cards = state.cards
        hand = cards.hands[seat] & ~state.gone
        acts = play_acts(seat, play.playable_cards(state, hand) if cards.known else play.possible_cards(state, seat))
    if len(state.won) < 2 and not (state.won and state.trick):
        acts += _late_statements(state, seat)
    if declarations.may_declare_bella(state, seat):
        acts += (Bella(seat=seat),)
    return acts


def _late_statements(state: Playing, seat: int) -> tuple[Act, ...]:
    """Return the statements about sequences that a seat may still make (E23, E-O34)."""
    if seat == state.may_add and not state.trick and not state.won:
        return (Declare(seat=seat, trumps=False),)
    return (Declare(seat=seat),) if declarations.may_show(state, seat) else ()


def _played_acts(state: Played, seat: int) -> tuple[Act, ...]:
    return (Score(seat=seat),) if state.table.penalise else ()


OFFERS: dict[type, Offer] = {
    Undealt: _dealing_acts,
    Auction: _calling_acts,
    Proposed: _replying_acts,
    Naming: _naming_acts,
    LaterCards: _dealing_acts,
    Declaring: _declaring_acts,
    Playing: _playing_acts,
    Played: _played_acts,
}


def seats_to_act(state: State) -> tuple[int, ...]:
    if isinstance(state, Playing):
        return (state.turn,)
    if isinstance(state, Declaring):
        return declarations.seats_to_speak(state)
    if isinstance(state, Auction):
        return state.to_speak[:1]
    if isinstance(state, Undealt | LaterCards):
        return () if state.table.tally else (state.table.dealer,)
    if isinstance(state, Proposed):
        return state.to_reply[:1]
    if isinstance(state, Naming):
        return (state.declarer,)
    return state.table.active if isinstance(state, Played) and state.table.penalise else ()


def due_acts(state: State) -> tuple[DueAct, ...]:
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
    """Return the fields that the viewer may see. Only an official sees all hands."""
    table = state.table
    played_deal: Playing | Outcome | None = None
    if isinstance(state, Playing):
        played_deal = state
    elif isinstance(state, Played) and state.outcome.contract:
        played_deal = state.outcome
    contract = getattr(played_deal or state, "contract", None)
    calls = contract.calls if contract else getattr(state, "calls", None)
    trick = () if played_deal is None or isinstance(played_deal, Outcome) else played_deal.trick
    hand = hands = counts = None
    if not isinstance(state, Undealt | Over) and not table.tally:
        cards, gone = state.cards, state.gone if isinstance(state, Playing | Played) else 0
        if cards.known:
            known = [texts_of(mask & ~gone) for mask in cards.hands]
            hands = tuple(known) if viewer == "official" else None
            hand = known[viewer] if isinstance(viewer, int) else None
        in_trick, done = {seat for seat, _ in trick}, len(played_deal.won) if played_deal else 0
        counts = tuple([count - done - (seat in in_trick) for seat, count in enumerate(cards.counts)])
    return match_view(
        state,
        viewer,
        to_act=seats_to_act(state),
        points=in_points(table.points, table.unit == 2),
        hand=hand,
        hands=hands,
        cards_left=counts,
        bids=None if calls is None else [{"seat": seat, "bid": call} for seat, call in calls],
        contract=contract.trumps if contract else None,
        declarer=contract.declarer if contract else getattr(state, "declarer", None),
        trick=seats_and_cards(trick) if played_deal else None,
        tricks=played_deal.tricks if played_deal else None,
        due=due_acts(state),
        more=_more(state, played_deal),
    )


class SeatAndCards(TypedDict):
    """A sequence that a seat showed."""

    seat: Seat
    cards: wire_types.Cards


class Claimed(TypedDict):
    """The statements about the best sequence so far."""

    seat: Seat
    """Seat that claims the sequence."""
    sequence: SequenceName
    """Small (three cards) or large (four or five)."""
    five: bool
    """True if five cards are claimed, and beat four (E-O11)."""
    top: wire_types.Rank | None
    """Rank of the highest card; null: not stated yet."""
    above: wire_types.Rank | None
    """Stated top that this sequence beats; null: no top was named."""
    trumps: bool | None
    """True if the sequence is in trumps; null: not stated yet."""


class More(TypedDict):
    """The fields that only Kalabrias has, if they apply in the phase."""

    carry: wire_types.WholePoints
    """Points carried over from tied deals (E-O36)."""
    turn_up: NotRequired[CardText]
    """Turned-up card, or the seven for which it was exchanged."""
    round: NotRequired[wire_types.TrickNumber]
    """Round of the auction: 1 or 2."""
    proposer: NotRequired[Seat]
    """Seat that proposed a new deal."""
    expected: NotRequired[Expected]
    """Next statement about sequences."""
    best: NotRequired[Claimed | None]
    """Best sequence so far; null: no seat has declared one."""
    level: NotRequired[wire_types.Seats]
    """Seats with sequences equal to the best, outside trumps (E24)."""
    bella: NotRequired[wire_types.Seats]
    """Seats that have declared king and queen of trumps."""
    card_points: NotRequired[wire_types.PointsBySeat]
    """Points by seat for the cards in the tricks won so far (E34-E41)."""
    shown: NotRequired[wire_types.ListBySeat[SeatAndCards]]
    """Sequences shown with closed hands (E-O34)."""
    winners: NotRequired[wire_types.Seats]
    """Winners of a match that is over: one seat, or two partners; empty if it was abandoned."""


def _more(state: State, played_deal: Playing | Outcome | None) -> More:
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
    if played_deal is not None:
        sequences = played_deal.sequences
        more |= {"best": _claimed(sequences.best), "level": sequences.level, "card_points": played_deal.card_points}
        more["shown"] = [{"seat": seat, "cards": texts_of(cards)} for seat, cards, _ in sequences.shown]
    return more


def carried(state: State) -> dict[str, Any]:
    """Return ``carry``; empty if no points are carried over (E-O36)."""
    return {"carry": state.table.carry} if state.table.carry else {}


def _claimed(claim: Claim | None) -> Claimed | None:
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
