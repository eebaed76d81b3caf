"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from referee.acts import Act, Ask, KnockOut, Score
from referee.games._rodskagg import ritual, views
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import allowed_bids
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.interned_acts import bids
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_kortoxen import auction, deal, play, scoring
from referee.games.rodskagg_kortoxen.states import Played, Playing, State, Table, deal_of
from referee.phases import Offer, shown
from referee.ruleset import DueAct, Shown
from referee.visibility import Viewer


def _undealt(state: Undealt[Table], seat: int) -> tuple[Act, ...]:
    return views.undealt(state, seat, ritual.told(state.table, deal.CUSTOMS))


def _picking_up(state: PickingUp[Table], seat: int) -> tuple[Act, ...]:
    return views.picking_up(state, seat, ritual.told(state.table, deal.CUSTOMS))


def _bidding(state: Auction[Table], seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last call and what follows from it
        return ()
    return bids(seat, allowed_bids(state.highest, auction.cap(state, seat)))


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.trick:
        if seat == state.turn and len(state.trick) < len(state.order):
            acts = cards_to_play(state, seat)
    elif state.question.pending:
        acts = views.answering(state, seat)
    else:
        asking = len(state.won) == ASKED_AFTER and play.question_time(state)
        if views.may_lead(state, seat) and not (
            play.exit_owed(state.table, state) or (asking and play.to_answer(state))
        ):
            acts = cards_to_play(state, seat)
        if asking and seat == play.asker(state):
            acts += (Ask(seat=seat),)
    # Asked for each card that is played, so the commonest answer comes first.
    table = state.table
    if (table.points[seat] == state.tricks[seat] or table.ledger.penalties) and play.may_knock_out(
        table, state, seat
    ):
        acts += (KnockOut(seat=seat),)
    return acts


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    table, hand = state.table, state.outcome
    out = (KnockOut(seat=seat),) if hand.kind == "number" and play.may_knock_out(table, hand, seat) else ()
    return (*out, Score(seat=seat)) if table.penalise else out


OFFERS: dict[type, Offer] = {
    Drawing: views.drawing,
    Undealt: _undealt,
    PickingUp: _picking_up,
    Exchanging: views.exchanging,
    Auction: _bidding,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    table = state.table
    match state:
        case Playing():
            if state.trick:
                return (state.turn,) if len(state.trick) < len(state.order) else ()
            if state.question.pending:
                return state.question.pending[:1]
            if len(state.won) == ASKED_AFTER and play.question_due(state) and not play.exit_owed(table, state):
                return (play.asker(state),)
            return views.to_play(state)
        case Auction() | Exchanging():
            return state.to_speak[:1]
        case Undealt():
            return (table.dealer,)
        case Drawing():
            return views.to_draw(state)
        case PickingUp():
            return views.to_pick_up(state)
        case Played():
            if table.penalise:
                return table.active
            return () if scoring.nothing_due(table, state.outcome) else (state.outcome.won[-1][0],)
    return ()


def due(state: State) -> tuple[DueAct, ...]:
    """What the rules demand before the play goes on."""
    if isinstance(state, Played):
        return () if scoring.nothing_due(state.table, state.outcome) else ("knock_out",)
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
    """The match as this viewer may see it."""
    hand = deal_of(state)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=hand.played if hand else 0,
        **({"dealer": None} if isinstance(state, Drawing) else {}),
        **views.of_cards(state, viewer, hand),
        **views.of_play(state, hand),
        due=due(state),
    )
