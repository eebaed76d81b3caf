"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import TypedDict

from referee import wire_types
from referee.acts import Act, Ask, Deal, Score
from referee.games._rodskagg import views
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import allowed_bids
from referee.games._rodskagg.interned_acts import bids
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_alga import auction, play
from referee.games.rodskagg_alga.states import Outcome, Played, Playing, State, Table, Undealt, deal_of
from referee.phases import Offer, shown
from referee.ruleset import DueAct, Shown
from referee.value import Seat
from referee.visibility import Viewer


def _undealt(state: Undealt, seat: int) -> tuple[Act, ...]:
    return (Deal(seat=seat),) if seat == state.table.dealer else ()


def _bidding(state: Auction[Table], seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last call and what follows from it
        return ()
    return bids(seat, allowed_bids(state.highest, auction.cap(state, seat)))


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    if state.question.pending:
        return views.answering(state, seat)
    if not views.may_lead(state, seat):
        return ()
    if len(state.won) == ASKED_AFTER and play.question_time(state):
        ask = (Ask(seat=seat),) if seat == state.contract.declarer else ()
        return ask if play.question_due(state) else (*cards_to_play(state, seat), *ask)
    return cards_to_play(state, seat)


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    return (Score(seat=seat),) if state.table.penalise else ()


OFFERS: dict[type, Offer] = {
    Undealt: _undealt,
    Exchanging: views.exchanging,
    Auction: _bidding,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    match state:
        case Playing():
            if state.question.pending:
                return state.question.pending[:1]
            return (state.turn,) if play.question_due(state) else views.to_play(state)
        case Auction() | Exchanging():
            return state.to_speak[:1]
        case Undealt():
            return (state.table.dealer,)
        case Played():
            return state.table.playing
    return ()


def due(state: State) -> tuple[DueAct, ...]:
    """What the rules demand before the play goes on."""
    if not isinstance(state, Playing):
        return ()
    if state.question.pending:
        return ("answer",)
    return ("ask",) if play.question_due(state) else ()


class More(TypedDict, total=False):
    """What only this game shows of a match; what does not apply is left out."""

    duel: wire_types.ListBySeat[Seat]
    """Who plays it, in a duel."""
    forgotten: bool
    """The question was put too late, or not at all."""


def _more(state: State, deal: Playing | Outcome | None) -> More:
    """What only this game has: who is in the duel, and whether the question was forgotten."""
    told: More = {}
    if state.table.duel:
        told["duel"] = list(state.table.playing)
    if deal is not None and deal.question.forgotten:
        told["forgotten"] = True
    return told


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    deal = deal_of(state)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        **views.of_cards(state, viewer, deal),
        **views.of_play(state, deal),
        due=due(state),
        more=_more(state, deal) or None,
    )
