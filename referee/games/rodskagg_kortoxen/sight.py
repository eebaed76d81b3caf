"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from referee.acts import (
    Act,
    Answer,
    Ask,
    Cut,
    Deal,
    KeepCards,
    KnockForCards,
    KnockOut,
    PickUp,
    RequestCards,
    Score,
)
from referee.cards import texts_of
from referee.events import Viewer
from referee.games._rodskagg.closed import cards_left
from referee.games._rodskagg.dealing import HAND
from referee.games._rodskagg.new_hands import may_ask, need_not_say
from referee.games._rodskagg.prepared import bids, plays
from referee.games._rodskagg.question import said
from referee.games.rodskagg_kortoxen import auction, play, scoring
from referee.games.rodskagg_kortoxen.states import (
    Auction,
    Drawing,
    Exchanging,
    PickingUp,
    Played,
    Playing,
    State,
    Undealt,
    deal_of,
)
from referee.phases import Offer, shown
from referee.ruleset import Shown


def _bidding(state: Auction, seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last call and what follows from it
        return ()
    return bids(seat, auction.allowed_bids(state, seat))


def _exchanging(state: Exchanging, seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last call and what follows from it
        return ()
    keep = KeepCards(seat=seat)
    ready = may_ask(state.cards, seat) and need_not_say(state.cards, seat, state.asked, state.table.house)
    return (keep, RequestCards(seat=seat)) if ready else (keep,)


def _undealt(state: Undealt, seat: int) -> tuple[Act, ...]:
    if seat != state.table.dealer:
        return ()
    may_cut = state.table.options.deal_ritual and not state.cut
    return (Cut(seat=seat), Deal(seat=seat)) if may_cut else (Deal(seat=seat),)


def _picking_up(state: PickingUp, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    dealer, ritual = state.table.dealer, state.table.options.deal_ritual
    down = seat not in state.picked and ritual
    if seat == dealer and down and not state.cards.formula:
        acts += (KnockForCards(seat=seat),)
    if down and (state.cards.formula or dealer in state.picked):  # B-O7: nobody can say the formula any more
        acts += (PickUp(seat=seat),)
    if seat == dealer and state.found:
        acts += (Deal(seat=seat),) if state.cut or not ritual else (Cut(seat=seat), Deal(seat=seat))
    return acts


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.trick:
        if seat == state.turn and len(state.trick) < len(state.order):
            acts = _cards_to_play(state, seat)
    elif state.question.pending:
        if seat == state.question.pending[0]:
            acts = (Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold"))
    else:
        asking = play.question_time(state)
        if seat == state.turn and not (play.exit_owed(state.table, state) or (asking and play.to_answer(state))):
            acts = _cards_to_play(state, seat)
        if asking and seat == play.asker(state):
            acts += (Ask(seat=seat),)
    # Asked for each card that is played, so the commonest answer comes first.
    table = state.table
    if (table.points[seat] == state.tricks[seat] or table.ledger.penalties) and play.may_knock_out(
        table, state, seat
    ):
        acts += (KnockOut(seat=seat),)
    return acts


def _cards_to_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """B41-B42; with closed hands every card that has not been seen may be the right one."""
    hand = state.cards.hands[seat] & ~state.gone
    return plays(seat, hand & state.led or hand if state.cards.known else hand)


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    table, deal = state.table, state.outcome
    out = (KnockOut(seat=seat),) if deal.kind == "number" and play.may_knock_out(table, deal, seat) else ()
    return (*out, Score(seat=seat)) if table.penalise else out


OFFERS: dict[type, Offer] = {
    Undealt: _undealt,
    PickingUp: _picking_up,
    Exchanging: _exchanging,
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
            if play.question_due(state) and not play.exit_owed(table, state):
                return (play.asker(state),)
            return (state.turn,)
        case Auction() | Exchanging():
            return state.to_speak[:1]
        case Undealt():
            return (table.dealer,)
        case Drawing():
            return state.contenders[len(state.drawn) :][:1]
        case PickingUp():
            if state.found or (not state.cards.formula and table.dealer not in state.picked):
                return (table.dealer,)
            return tuple(seat for seat in table.active if seat not in state.picked)
        case Played():
            if table.penalise or scoring.nothing_due(table, state.outcome):
                return table.active if table.penalise or state.outcome.contract is None else ()
            return (state.outcome.won[-1][0],)
    return ()


def due(state: State) -> tuple[str, ...]:
    """What the rules demand before the play goes on."""
    if isinstance(state, Played):
        return () if scoring.nothing_due(state.table, state.outcome) else ("knock_out",)
    if not isinstance(state, Playing):
        return ()
    owed: tuple[str, ...] = ()
    if state.question.pending:
        owed += ("answer",)
    if play.exit_owed(state.table, state):
        owed += ("knock_out",)
    if play.question_due(state):
        owed += ("ask",)
    return owed


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table, deal = state.table, deal_of(state)
    contract = deal.contract if deal else None
    calls = contract.calls if contract else None
    if isinstance(state, Auction | Played) and not contract:
        calls = state.calls if isinstance(state, Auction) else state.outcome.calls
    official = viewer == "official"
    trick = state.trick if isinstance(state, Playing) else ()
    hand = hands = counts = None
    if isinstance(state, PickingUp | Exchanging | Auction | Playing | Played):
        cards, gone = state.cards, state.gone if isinstance(state, Playing | Played) else 0
        if cards.known:
            held = tuple(texts_of(dealt & ~gone) for dealt in cards.hands)
            hands = held if official else None
            down = isinstance(state, PickingUp) and viewer not in state.picked
            hand = held[viewer] if isinstance(viewer, int) and viewer < table.seats and not down else None
        dealt = cards.counts
        if isinstance(state, PickingUp) and not official:  # a wrong number is found on picking up (B-O33)
            dealt = tuple(HAND if count else 0 for count in dealt)
        folded = set(said(deal.question.answers, "fold")) if deal else set()
        here = {seat for seat, _ in trick}
        counts = cards_left(dealt, table.active, len(deal.won) if deal else 0, here, folded)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=deal.played if deal else 0,
        **({"dealer": None} if isinstance(state, Drawing) else {}),
        hand=hand,
        hands=hands,
        cards_left=counts,
        picked_up=state.picked if isinstance(state, PickingUp) else None,
        bids=calls,
        contract=contract.bid if contract else None,
        declarer=contract.declarer if contract else None,
        trick=trick if contract else None,
        tricks=deal.tricks if deal and contract else None,
        answers=scoring.answers(table, deal) if deal and deal.question.event else None,
        due=due(state),
    )
