"""Acts offered to seats and fields shown to viewers."""

from typing import TypedDict

from referee import wire_types
from referee.acts import Act, Ask, Deal, Score
from referee.games._rodskagg import views
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.ritual import Undealt
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_alga import auction, play
from referee.games.rodskagg_alga.states import Outcome, Played, Playing, State, Table, play_or_outcome
from referee.phases import Offer, match_view
from referee.ruleset import DueAct, Shown
from referee.value import Seat
from referee.visibility import Viewer


def _undealt_acts(state: Undealt[Table], seat: int) -> tuple[Act, ...]:
    return (Deal(seat=seat),) if seat == state.table.dealer else ()


def _playing_acts(state: Playing, seat: int) -> tuple[Act, ...]:
    if state.question.pending:
        return views.answering_acts(state, seat)
    if not views.may_play_next(state, seat):
        return ()
    if len(state.won) == ASKED_AFTER and play.question_time(state):
        ask = (Ask(seat=seat),) if seat == state.contract.declarer else ()
        return ask if play.question_due(state) else (*cards_to_play(state, seat), *ask)
    return cards_to_play(state, seat)


def _played_acts(state: Played, seat: int) -> tuple[Act, ...]:
    return (Score(seat=seat),) if state.table.penalise else ()


OFFERS: dict[type, Offer] = {
    Undealt: _undealt_acts,
    Exchanging: views.exchanging_acts,
    Auction: views.bidding_offer(auction.highest_bid_allowed),
    Playing: _playing_acts,
    Played: _played_acts,
}


def to_act(state: State) -> tuple[int, ...]:
    if isinstance(state, Playing):
        if state.question.pending:
            return state.question.pending[:1]
        return state.order if state.table.tally and not play.question_due(state) else (state.turn,)
    return state.table.playing if isinstance(state, Played) else views.to_act_before_play(state)


def due_acts(state: State) -> tuple[DueAct, ...]:
    if not isinstance(state, Playing):
        return ()
    if state.question.pending:
        return ("answer",)
    return ("ask",) if play.question_due(state) else ()


class More(TypedDict, total=False):
    """The fields that only this game shows. A field that does not apply is left out."""

    duel: wire_types.ListBySeat[Seat]
    """Seats in the duel; left out if the deal is not a duel."""
    forgotten: bool
    """True if the question was put too late or never."""


def _more(state: State, deal: Playing | Outcome | None) -> More:
    more: More = {}
    if state.table.duel:
        more["duel"] = list(state.table.playing)
    if deal is not None and deal.question.forgotten:
        more["forgotten"] = True
    return more


def view(state: State, viewer: Viewer) -> Shown:
    deal = play_or_outcome(state)
    return match_view(
        state,
        viewer,
        to_act=to_act(state),
        **views.card_fields(state, viewer, deal),
        **views.play_fields(state, deal),
        due=due_acts(state),
        more=_more(state, deal) or None,
    )
