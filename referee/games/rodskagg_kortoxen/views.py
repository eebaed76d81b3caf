"""Acts offered to seats and fields shown to viewers."""

from functools import partial

from referee.acts import Act, Ask, KnockOut, Score
from referee.games._rodskagg import views
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_kortoxen import auction, deal, play, scoring
from referee.games.rodskagg_kortoxen.states import Played, Playing, State, play_or_outcome
from referee.phases import Offer, match_view
from referee.ruleset import DueAct, Shown
from referee.visibility import Viewer


def _playing_acts(state: Playing, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.trick:
        if seat == state.turn and len(state.trick) < len(state.order):
            acts = cards_to_play(state, seat)
    elif state.question.pending:
        acts = views.answering_acts(state, seat)
    else:
        asking = len(state.won) == ASKED_AFTER and play.question_time(state)
        if views.may_play_next(state, seat) and not (
            play.exit_owed(state.table, state) or (asking and play.to_answer(state))
        ):
            acts = cards_to_play(state, seat)
        if asking and seat == play.asker(state):
            acts += (Ask(seat=seat),)
    # The cheapest condition comes first, because this runs for each card played.
    table = state.table
    if (table.points[seat] == state.tricks[seat] or table.ledger.penalties) and play.may_knock_out(
        table, state, seat
    ):
        acts += (KnockOut(seat=seat),)
    return acts


def _played_acts(state: Played, seat: int) -> tuple[Act, ...]:
    table, outcome = state.table, state.outcome
    out = (KnockOut(seat=seat),) if outcome.kind == "number" and play.may_knock_out(table, outcome, seat) else ()
    return (*out, Score(seat=seat)) if table.penalise else out


OFFERS: dict[type, Offer] = {
    Drawing: views.drawing_acts,
    Undealt: partial(views.undealt_acts, rules=deal.RITUAL),
    PickingUp: partial(views.picking_up_acts, rules=deal.RITUAL),
    Exchanging: views.exchanging_acts,
    Auction: views.bidding_offer(auction.highest_bid_allowed),
    Playing: _playing_acts,
    Played: _played_acts,
}


def to_act(state: State) -> tuple[int, ...]:
    table = state.table
    if isinstance(state, Playing):
        if state.trick:
            return (state.turn,) if len(state.trick) < len(state.order) else ()
        if state.question.pending:
            return state.question.pending[:1]
        if len(state.won) == ASKED_AFTER and play.question_due(state) and not play.exit_owed(table, state):
            return (play.asker(state),)
        return views.to_play(state)
    if isinstance(state, Played):
        if table.penalise:
            return table.active
        return () if scoring.no_exit_owed(table, state.outcome) else (state.outcome.won[-1][0],)
    return views.to_act_before_play(state)


def due_acts(state: State) -> tuple[DueAct, ...]:
    if isinstance(state, Played):
        return () if scoring.no_exit_owed(state.table, state.outcome) else ("knock_out",)
    if not isinstance(state, Playing):
        return ()
    owed: tuple[DueAct, ...] = ()
    if state.question.pending:
        owed += ("answer",)
    if play.exit_owed(state.table, state):
        owed += ("knock_out",)
    if play.question_due(state):
        owed += ("ask",)
    return owed


def view(state: State, viewer: Viewer) -> Shown:
    deal_so_far = play_or_outcome(state)
    return match_view(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=deal_so_far.played if deal_so_far else 0,
        **({"dealer": None} if isinstance(state, Drawing) else {}),
        **views.card_fields(state, viewer, deal_so_far),
        **views.play_fields(state, deal_so_far),
        due=due_acts(state),
    )
