"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Any

from referee.acts import Act, Answer, Ask, Deal, KeepCards, RequestCards, Score
from referee.cards import texts_of
from referee.events import Viewer
from referee.games._rodskagg.closed import cards_left
from referee.games._rodskagg.new_hands import may_ask, need_not_say
from referee.games._rodskagg.prepared import bids, plays
from referee.games._rodskagg.question import said
from referee.games.rodskagg_alga import auction, play, scoring
from referee.games.rodskagg_alga.states import Auction, Exchanging, Outcome, Played, Playing, State, Undealt
from referee.phases import Offer, Over, shown
from referee.ruleset import Shown


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


OFFERS: dict[type, Offer] = {
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


def _more(state: State, deal: Playing | Outcome | None) -> dict[str, Any]:
    """What only this game has: who is in the duel, and whether the question was forgotten."""
    told: dict[str, Any] = {}
    if state.table.duel:
        told["duel"] = list(state.table.playing)
    if deal is not None and deal.question.forgotten:
        told["forgotten"] = True
    return told


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    deal = state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None
    contract = deal.contract if deal else None
    cards = None if isinstance(state, Undealt | Over) else state.cards
    calls = state.calls if isinstance(state, Auction) else deal.calls if isinstance(deal, Outcome) else None
    if contract is not None:
        calls = contract.calls
    hand = hands = counts = None
    if cards is not None:
        gone = state.gone if isinstance(state, Playing | Played) else 0
        if cards.known:
            held = tuple(texts_of(dealt & ~gone) for dealt in cards.hands)
            hands = held if viewer == "official" else None
            hand = held[viewer] if isinstance(viewer, int) and viewer < table.seats else None
        here = {seat for seat, _ in state.trick} if isinstance(state, Playing) else set()
        folded = set(said(deal.question.answers, "fold")) if deal else set()
        counts = cards_left(cards.counts, table.playing, len(deal.won) if deal else 0, here, folded)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        hand=hand,
        hands=hands,
        cards_left=counts,
        bids=calls,
        contract=contract.bid if contract else None,
        declarer=contract.declarer if contract else None,
        trick=() if isinstance(state, Played) and contract else state.trick if isinstance(state, Playing) else None,
        tricks=deal.tricks if deal and contract else None,
        answers=scoring.answers(table, deal) if deal and deal.question.event else None,
        due=due(state),
        more=_more(state, deal) or None,
    )
