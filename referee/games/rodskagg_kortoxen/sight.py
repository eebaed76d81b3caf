"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Any

from msgspec import to_builtins

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
    Void,
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
    Over,
    PickingUp,
    Played,
    Playing,
    State,
    Undealt,
)
from referee.ruleset import Shown


def legal(state: State, viewer: Viewer) -> tuple[Act, ...]:
    """What the viewer may do now within the rules, ready to send.

    Where the content is the table's to say it is left out: the cards of a deal at a real table, a drawn card.
    Under ``penalise`` more is accepted than is listed: what the rules forbid and punish.
    """
    if viewer == "official":
        return () if isinstance(state, Undealt | Drawing | Over) else (Void(),)
    if viewer == "spectator" or viewer not in state.table.active:
        return ()
    phase = _LEGAL.get(type(state))
    acts: tuple[Act, ...] = phase(state, viewer) if phase is not None else ()
    return acts


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
        if seat == state.turn and not (play.exit_owed(state) or (asking and play.to_answer(state))):
            acts = _cards_to_play(state, seat)
        if asking and seat == play.asker(state):
            acts += (Ask(seat=seat),)
    # Asked for each card that is played, so the commonest answer comes first.
    if (state.table.points[seat] == state.tricks[seat] or state.ledger.penalties) and play.may_knock_out(state, seat):
        acts += (KnockOut(seat=seat),)
    return acts


def _cards_to_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """B41-B42; with closed hands every card that has not been seen may be the right one."""
    hand = state.cards.hands[seat] & ~state.gone
    return plays(seat, hand & state.led or hand if state.cards.known else hand)


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.play is not None and state.kind == "number" and play.may_knock_out(state.play, seat):
        acts += (KnockOut(seat=seat),)
    if state.table.penalise:
        acts += (Score(seat=seat),)
    return acts


_LEGAL: dict[type, Any] = {
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
            if play.question_due(state) and not play.exit_owed(state):
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
            if table.penalise or state.play is None:
                return table.active
            return () if scoring.nothing_due(state) else (state.play.won[-1][0],)
    return ()


def due(state: State) -> tuple[str, ...]:
    """What the rules demand before the play goes on."""
    playing = state.play if isinstance(state, Played) and state.kind == "number" else state
    if not isinstance(playing, Playing):
        return ()
    owed: tuple[str, ...] = ()
    if playing.question.pending:
        owed += ("answer",)
    if play.exit_owed(playing):
        owed += ("knock_out",)
    if play.question_due(playing):
        owed += ("ask",)
    return owed


def _hand(state: Any, seat: int) -> tuple[str, ...] | None:
    """The cards that a seat holds and has seen, if the referee knows them."""
    if isinstance(state, Played):
        state = state.play
    cards = getattr(state, "cards", None)
    if cards is None or not cards.known:
        return None
    if isinstance(state, PickingUp) and seat not in state.picked:
        return None
    return texts_of(state.hand(seat) if isinstance(state, Playing) else cards.hands[seat])


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    playing = state.play if isinstance(state, Played) else state if isinstance(state, Playing) else None
    contract = playing.contract if playing else None
    calls = contract.calls if contract else state.calls if isinstance(state, Auction | Played) else None
    official = viewer == "official"
    cards = getattr(state, "cards", None)
    hands = None
    if official and cards is not None and cards.known:
        hands = tuple(texts_of(playing.hand(seat) if playing else hand) for seat, hand in enumerate(cards.hands))
    counts = None
    if cards is not None:
        here = {seat for seat, _ in playing.trick} if playing else set()
        folded = set(said(playing.question.answers, "fold")) if playing else set()
        dealt = cards.counts
        if isinstance(state, PickingUp) and not official:  # a wrong number is found on picking up (B-O33)
            dealt = tuple(HAND if count else 0 for count in dealt)
        counts = cards_left(dealt, table.active, len(playing.won) if playing else 0, here, folded)
    breaches = None
    if official:
        done = playing.played if playing else 0
        breaches = tuple(
            {**to_builtins(standing.breach), "event": standing.event} for standing in state.ledger.open(done)
        )
    return Shown(
        phase=str(type(state).__struct_config__.tag),
        deal=table.deal - isinstance(state, Over),  # the last one, when no other comes
        dealer=None if isinstance(state, Drawing) else table.dealer,
        to_act=to_act(state),
        active=table.active,
        points=table.points,
        penalties=tuple(state.ledger.points(seat) for seat in range(table.seats)),
        hand=_hand(state, viewer) if isinstance(viewer, int) else None,
        hands=hands,
        cards_left=counts,
        picked_up=state.picked if isinstance(state, PickingUp) else None,
        bids=calls,
        contract=contract.bid if contract else None,
        declarer=contract.declarer if contract else None,
        trick=playing.trick if playing else None,
        tricks=playing.tricks if playing else None,
        answers=scoring.answers(table, playing) if playing and playing.question.event else None,
        due=due(state),
        breaches=breaches,
        winner=state.winner if isinstance(state, Over) else None,
    )
