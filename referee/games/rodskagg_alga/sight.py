"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Any

from msgspec import to_builtins

from referee.acts import Act, Answer, Ask, Deal, KeepCards, RequestCards, Score, Void
from referee.cards import texts_of
from referee.events import Viewer
from referee.games._rodskagg.closed import cards_left
from referee.games._rodskagg.new_hands import may_ask, need_not_say
from referee.games._rodskagg.prepared import bids, plays
from referee.games._rodskagg.question import said
from referee.games.rodskagg_alga import auction, play, scoring
from referee.games.rodskagg_alga.states import Auction, Exchanging, Over, Played, Playing, State, Undealt
from referee.ruleset import Shown


def legal(state: State, viewer: Viewer) -> tuple[Act, ...]:
    """What the viewer may do now within the rules, ready to send.

    Where the content is the table's to say it is left out: the cards of a deal or a new hand at a real table.
    Under ``penalise`` more is accepted than is listed: the declarer may forget the question.
    """
    if viewer == "official":
        return () if isinstance(state, Undealt | Over) else (Void(),)
    if viewer == "spectator" or viewer not in state.table.playing:
        return ()
    phase = _LEGAL.get(type(state))
    acts: tuple[Act, ...] = phase(state, viewer) if phase is not None else ()
    return acts


def _undealt(state: Undealt, seat: int) -> tuple[Act, ...]:
    return (Deal(seat=seat),) if seat == state.table.dealer else ()


def _exchanging(state: Exchanging, seat: int) -> tuple[Act, ...]:
    if seat not in state.to_speak[:1]:  # none between the last word and what follows from it
        return ()
    keep = KeepCards(seat=seat)
    ready = may_ask(state.cards, seat) and need_not_say(state.cards, seat, state.asked, state.table.house)
    return (keep, RequestCards(seat=seat)) if ready else (keep,)


def _bidding(state: Auction, seat: int) -> tuple[Act, ...]:
    return bids(seat, auction.allowed_bids(state, seat)) if seat in state.to_speak[:1] else ()


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    if state.question.pending:
        if seat != state.question.pending[0]:
            return ()
        return Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold")
    if seat != state.turn:
        return ()
    if not state.trick and play.question_time(state):
        ask = Ask(seat=seat)
        return (ask,) if play.question_due(state) else (*_cards_to_play(state, seat), ask)
    return _cards_to_play(state, seat)


def _cards_to_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """A31; with closed hands every card that has not been seen may be the right one."""
    hand = state.cards.hands[seat] & ~state.gone
    return plays(seat, hand & state.led or hand if state.cards.known else hand)


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    return (Score(seat=seat),) if state.table.penalise else ()


_LEGAL: dict[type, Any] = {
    Undealt: _undealt,
    Exchanging: _exchanging,
    Auction: _bidding,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    match state:
        case Playing():
            return state.question.pending[:1] or (state.turn,)
        case Auction() | Exchanging():
            return state.to_speak[:1]
        case Undealt():
            return (state.table.dealer,)
        case Played():
            return state.table.playing
    return ()


def due(state: State) -> tuple[str, ...]:
    """What the rules demand before the play goes on."""
    if not isinstance(state, Playing):
        return ()
    if state.question.pending:
        return ("answer",)
    return ("ask",) if play.question_due(state) else ()


def _hand(state: State, seat: int) -> tuple[str, ...] | None:
    """The cards that a seat holds, if the referee knows them."""
    playing = state.play if isinstance(state, Played) else state
    if isinstance(playing, Playing) and playing.cards.known:
        return texts_of(playing.hand(seat))
    if isinstance(playing, Auction | Exchanging) and playing.cards.known:
        return texts_of(playing.cards.hands[seat])
    return None


def _told(playing: Playing | None, state: State) -> dict[str, Any]:
    """What only this game has: who is in the duel, and whether the question was forgotten."""
    told: dict[str, Any] = {}
    if state.table.duel:
        told["duel"] = list(state.table.playing)
    if playing is not None and playing.question.forgotten:
        told["forgotten"] = True
    return told


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    playing = state.play if isinstance(state, Played) else state if isinstance(state, Playing) else None
    contract = playing.contract if playing else None
    official = viewer == "official"
    cards = None if isinstance(state, Undealt | Over) else state.cards
    hands = counts = None
    if cards is not None:
        if official and cards.known:
            hands = tuple(texts_of(playing.hand(seat) if playing else hand) for seat, hand in enumerate(cards.hands))
        here = {seat for seat, _ in playing.trick} if playing else set()
        folded = set(said(playing.question.answers, "fold")) if playing else set()
        counts = cards_left(cards.counts, table.playing, len(playing.won) if playing else 0, here, folded)
    breaches = None
    if official:
        noted = playing.noted if playing else ()
        breaches = tuple({**to_builtins(standing.breach), "event": standing.event} for standing in noted)
    return Shown(
        phase=str(type(state).__struct_config__.tag),
        deal=table.deal - isinstance(state, Over),  # the last one, when no other comes
        dealer=table.dealer,
        to_act=to_act(state),
        active=table.active,
        points=table.points,
        penalties=(0,) * table.seats,
        hand=_hand(state, viewer) if isinstance(viewer, int) else None,
        hands=hands,
        cards_left=counts,
        bids=contract.calls if contract else state.calls if isinstance(state, Auction | Played) else None,
        contract=contract.bid if contract else None,
        declarer=contract.declarer if contract else None,
        trick=playing.trick if playing else None,
        tricks=playing.tricks if playing else None,
        answers=scoring.answers(table, playing) if playing and playing.question.event else None,
        due=due(state),
        breaches=breaches,
        winner=state.winner if isinstance(state, Over) else None,
        more=_told(playing, state) or None,
    )
