"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from itertools import combinations, islice
from typing import Any

from msgspec import to_builtins

from referee.acts import (
    Act,
    Announce,
    Answer,
    Ask,
    Cut,
    Deal,
    Discard,
    KeepCards,
    KnockForCards,
    PickUp,
    Remind,
    RequestCards,
    Score,
    Void,
)
from referee.cards import texts_of
from referee.events import Viewer
from referee.games._rodskagg.closed import cards_left
from referee.games._rodskagg.dealing import HAND
from referee.games._rodskagg.prepared import bids, plays
from referee.games._rodskagg.question import ASKED_AFTER, said
from referee.games.rodskagg_catsatcards import auction, deal, play, scoring
from referee.games.rodskagg_catsatcards.states import (
    Auction,
    Drawing,
    Over,
    PickingUp,
    Played,
    Playing,
    State,
    Undealt,
)
from referee.ruleset import Shown

DISCARDS_MAX = 1000
"""Who has been given many cards may throw them in thousands of ways; no more than this many are listed."""


def legal(state: State, viewer: Viewer) -> tuple[Act, ...]:
    """What the viewer may do now within the rules, ready to send.

    Where the content is the table's to say it is left out: the cards of a deal at a real table, a card drawn or
    received. Under ``penalise`` more is accepted than is listed: what the rules forbid and punish.
    """
    if viewer == "official":
        return () if isinstance(state, Undealt | Drawing | Over) else (Void(),)
    if viewer == "spectator" or viewer not in state.table.active:
        return ()
    phase = _LEGAL.get(type(state))
    acts: tuple[Act, ...] = phase(state, viewer) if phase is not None else ()
    return acts


def _undealt(state: Undealt, seat: int) -> tuple[Act, ...]:
    if seat != state.table.dealer:
        return ()
    may_cut = deal.has_ritual(state.table) and not state.cut
    return (Cut(seat=seat), Deal(seat=seat)) if may_cut else (Deal(seat=seat),)


def _picking_up(state: PickingUp, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    dealer = state.table.dealer
    down = seat not in state.picked and deal.has_ritual(state.table)
    if seat == dealer and down and not state.cards.formula:
        acts += (KnockForCards(seat=seat),)
    if down and (state.cards.formula or dealer in state.picked):  # nobody can say the formula any more
        acts += (PickUp(seat=seat),)
    if seat == dealer and state.found:
        may_cut = deal.has_ritual(state.table) and not state.cut
        acts += (Cut(seat=seat), Deal(seat=seat)) if may_cut else (Deal(seat=seat),)
    return acts


def _auction(state: Auction, seat: int) -> tuple[Act, ...]:
    ready = deal.may_request(state, seat) and deal.need_not_say(state)
    if state.holder == seat:
        more: tuple[Act, ...] = (RequestCards(seat=seat),) if ready else ()
        if not state.cards.known:
            return (*more, Discard(seat=seat, cards=()))
        ways = combinations(texts_of(state.cards.hands[seat]), state.extra)
        return (*more, *(Discard(seat=seat, cards=cards) for cards in islice(ways, DISCARDS_MAX)))
    acts: tuple[Act, ...] = ()
    if deal.may_keep(state, seat):
        acts += (KeepCards(seat=seat),)
    if ready:
        acts += (RequestCards(seat=seat),)
    if seat in state.to_speak[:1] and state.holder is None:
        acts += bids(seat, auction.DECLARATIONS)
    return acts


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.owed and seat in state.owed:
        acts = (Announce(seat=seat, what="near_zero"),)
    if state.trick:
        return acts + _cards_to_play(state, seat) if seat == state.turn else acts
    if state.question.pending:
        if seat == state.question.pending[0]:
            acts += (Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold"))
        return acts
    due = False
    if len(state.won) == ASKED_AFTER and play.question_time(state):
        due = play.question_due(state)
        if seat == play.asker(state):
            acts += (Ask(seat=seat),)
        elif due and seat in state.table.playing:
            acts += (Remind(seat=seat),)
    if seat == state.turn and not due and not state.owed:
        acts += _cards_to_play(state, seat)
    return acts


def _cards_to_play(state: Playing, seat: int) -> tuple[Act, ...]:
    """C26; with closed hands every card that has not been seen may be the right one."""
    hand = state.cards.hands[seat] & ~state.gone
    return plays(seat, hand & state.led or hand if state.cards.known else hand)


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if seat in state.play.owed:
        acts += (Announce(seat=seat, what="near_zero"),)
    if scoring.may_thank(state, seat):
        acts += (Announce(seat=seat, what="thanks"),)
    if state.table.penalise and seat in state.table.playing:
        acts += (Score(seat=seat),)
    return acts


_LEGAL: dict[type, Any] = {
    Undealt: _undealt,
    PickingUp: _picking_up,
    Auction: _auction,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    table = state.table
    match state:
        case Playing():
            if state.question.pending:
                return state.question.pending[:1]
            if not state.trick:
                if state.owed:
                    return state.owed
                if len(state.won) == ASKED_AFTER and play.question_due(state):
                    return (play.asker(state),)
            return (state.turn,)
        case Auction():
            return state.to_speak[:1] if state.holder is None else (state.holder,)
        case Undealt():
            return (table.dealer,)
        case Drawing():
            return state.contenders[len(state.drawn) :][:1]
        case PickingUp():
            if state.found or (not state.cards.formula and table.dealer not in state.picked):
                return (table.dealer,)
            return tuple(seat for seat in table.playing if seat not in state.picked)
        case Played():
            return table.playing if table.penalise else state.play.owed
    return ()


def due(state: State) -> tuple[str, ...]:
    """What the rules demand before the play goes on."""
    playing = state.play if isinstance(state, Played) else state
    if isinstance(playing, Auction):
        return ("discard",) if playing.holder is not None else ()
    if not isinstance(playing, Playing):
        return ()
    owed: tuple[str, ...] = ()
    if playing.question.pending and not isinstance(state, Played):
        owed += ("answer",)
    if playing.owed:
        owed += ("announce",)
    if not isinstance(state, Played) and playing.contract and play.question_due(playing):
        owed += ("ask",)
    return owed


def _hand(state: State, seat: int) -> tuple[str, ...] | None:
    """The cards that a seat holds and has seen, if the referee knows them."""
    if isinstance(state, Played):
        state = state.play
    if not isinstance(state, PickingUp | Auction | Playing) or not state.cards.known:
        return None
    if isinstance(state, PickingUp) and seat not in state.picked:
        return None
    return texts_of(state.hand(seat) if isinstance(state, Playing) else state.cards.hands[seat])


def _told(playing: Playing | None, state: State) -> dict[str, Any]:
    """What only this game has: the duel and its lead, who must throw cards, who owes the announcement."""
    told: dict[str, Any] = {}
    if state.table.duel:
        told |= {"duel": list(state.table.playing), "lead": state.table.lead}
    if isinstance(state, Auction) and state.holder is not None:
        told |= {"discarding": state.holder, "discards": state.extra}
    if playing is not None:
        told |= {"near_zero": list(playing.owed), "redbeards": list(playing.redbeards)}
        if playing.question.forgotten:
            told["forgotten"] = True
    return told


def carried(state: State) -> dict[str, Any]:
    """By seat, the value near zero that was announced or passed over and still stands (C-O24)."""
    told = state.table.told
    return {"near_zero": list(told)} if any(value is not None for value in told) else {}


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    playing = state.play if isinstance(state, Played) else state if isinstance(state, Playing) else None
    contract = playing.contract if playing else None
    official = viewer == "official"
    cards = None if isinstance(state, Drawing | Undealt | Over) else state.cards
    hands = counts = None
    if cards is not None:
        if official and cards.known:
            hands = tuple(texts_of(playing.hand(seat) if playing else hand) for seat, hand in enumerate(cards.hands))
        here = {seat for seat, _ in playing.trick} if playing else set()
        folded = set(said(playing.question.answers, "fold")) if playing else set()
        dealt = cards.counts
        if isinstance(state, PickingUp) and viewer != "official":  # found on picking up (C-O23, B-O33)
            dealt = tuple(HAND if count else 0 for count in dealt)
        counts = cards_left(dealt, table.playing, len(playing.won) if playing else 0, here, folded)
    breaches = None
    if official:
        done = playing.played if playing else 0
        breaches = tuple(
            {**to_builtins(standing.breach), "event": standing.event} for standing in state.ledger.open(done)
        )
    return Shown(
        phase=str(type(state).__struct_config__.tag),
        deal=table.deal - isinstance(state, Over),  # the last one, when no other comes
        dealer=None if isinstance(state, Drawing) and not table.duel else table.dealer,
        to_act=to_act(state),
        active=table.active,
        points=table.points,
        penalties=tuple(state.ledger.points(seat) for seat in range(table.seats)),
        hand=_hand(state, viewer) if isinstance(viewer, int) else None,
        hands=hands,
        cards_left=counts,
        picked_up=state.picked if isinstance(state, PickingUp) else None,
        bids=contract.calls if contract else state.calls if isinstance(state, Auction) else None,
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
