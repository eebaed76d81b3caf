"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from itertools import combinations, islice
from typing import Any

from referee.acts import (
    Act,
    Announce,
    Answer,
    Ask,
    Cut,
    Deal,
    Discard,
    Draw,
    KeepCards,
    KnockForCards,
    PickUp,
    Remind,
    RequestCards,
    Score,
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
    PickingUp,
    Played,
    Playing,
    State,
    Undealt,
)
from referee.phases import Offer, Over, shown
from referee.ruleset import Shown

DISCARDS_MAX = 1000
"""Who has been given many cards may throw them in thousands of ways; no more than this many are listed."""


def _drawing(state: Drawing, seat: int) -> tuple[Act, ...]:
    """At a real table the card is the table's to say."""
    return (Draw(seat=seat),) if seat in to_act(state) else ()


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
        elif due:
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
    if seat in state.owed:
        acts += (Announce(seat=seat, what="near_zero"),)
    if scoring.may_thank(state, seat):
        acts += (Announce(seat=seat, what="thanks"),)
    return (*acts, Score(seat=seat)) if state.table.penalise else acts


OFFERS: dict[type, Offer] = {
    Drawing: _drawing,
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
            return table.playing if table.penalise else state.owed
    return ()


def tricks_done(state: State) -> int:
    """C61: the tricks that were played in the deal; windows are counted in them."""
    return state.played if isinstance(state, Playing) else state.tricks_played if isinstance(state, Played) else 0


def due(state: State) -> tuple[str, ...]:
    """What the rules demand before the play goes on."""
    match state:
        case Auction():
            return ("discard",) if state.holder is not None else ()
        case Playing():
            answer = ("answer",) if state.question.pending else ()
            announce = ("announce",) if state.owed else ()
            return *answer, *announce, *(("ask",) if state.contract and play.question_due(state) else ())
        case Played():
            return ("announce",) if state.owed else ()
    return ()


def _more(state: State, hand: play.Taken | None) -> dict[str, Any]:
    """What only this game has: the duel and its lead, who must throw cards, who owes the announcement."""
    more: dict[str, Any] = {}
    if state.table.duel:
        more |= {"duel": list(state.table.playing), "lead": state.table.lead}
    if isinstance(state, Auction) and state.holder is not None:
        more |= {"discarding": state.holder, "discards": state.extra}
    if isinstance(state, Playing | Played) and hand is not None:
        more |= {"near_zero": list(state.owed), "redbeards": list(hand.redbeards)}
        if hand.question.forgotten:
            more["forgotten"] = True
    return more


def carried(state: State) -> dict[str, Any]:
    """By seat, the value near zero that was announced or passed over and still stands (C-O24)."""
    told = state.table.told
    return {"near_zero": list(told)} if any(value is not None for value in told) else {}


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    hand = state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None
    contract = hand.contract if hand else None
    cards = None if isinstance(state, Drawing | Undealt | Over) else state.cards
    own = hands = counts = None
    if cards is not None:
        gone = state.gone if isinstance(state, Playing | Played) else 0
        if cards.known:
            held = tuple(texts_of(dealt & ~gone) for dealt in cards.hands)
            hands = held if viewer == "official" else None
            seen = not isinstance(state, PickingUp) or viewer in state.picked
            own = held[viewer] if isinstance(viewer, int) and viewer < table.seats and seen else None
        here = {seat for seat, _ in state.trick} if isinstance(state, Playing) else set()
        folded = set(said(hand.question.answers, "fold")) if hand else set()
        dealt = cards.counts
        if isinstance(state, PickingUp) and viewer != "official":  # found on picking up (C-O23, B-O33)
            dealt = tuple(HAND if count else 0 for count in dealt)
        counts = cards_left(dealt, table.playing, len(hand.won) if hand else 0, here, folded)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=tricks_done(state),
        dealer=None if isinstance(state, Drawing) and not table.duel else table.dealer,
        hand=own,
        hands=hands,
        cards_left=counts,
        picked_up=state.picked if isinstance(state, PickingUp) else None,
        bids=contract.calls if contract else state.calls if isinstance(state, Auction) else None,
        contract=contract.bid if contract else None,
        declarer=contract.declarer if contract else None,
        trick=None if hand is None else state.trick if isinstance(state, Playing) else (),
        tricks=hand.tricks if hand else None,
        answers=scoring.answers(table, hand) if hand and hand.question.event else None,
        due=due(state),
        more=_more(state, hand) or None,
    )
