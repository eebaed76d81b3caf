"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from itertools import combinations, islice
from typing import Any, TypedDict

from referee import wire_types
from referee.acts import Act, Announce, Ask, Discard, KeepCards, Remind, RequestCards, Score
from referee.cards import texts_of
from referee.games._rodskagg import ritual, views
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.interned_acts import bids
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_catsatcards import auction, deal, play, scoring
from referee.games.rodskagg_catsatcards.states import Auction, Played, Playing, State, Table, deal_of
from referee.phases import Offer, shown
from referee.ruleset import DueAct, Shown
from referee.value import Seat
from referee.visibility import Viewer

DISCARDS_MAX = 1000
"""Who has been given many cards may throw them in thousands of ways; no more than this many are listed."""


def _undealt(state: Undealt[Table], seat: int) -> tuple[Act, ...]:
    return views.undealt(state, seat, ritual.told(state.table, deal.CUSTOMS))


def _picking_up(state: PickingUp[Table], seat: int) -> tuple[Act, ...]:
    return views.picking_up(state, seat, ritual.told(state.table, deal.CUSTOMS))


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
        return acts + cards_to_play(state, seat) if seat == state.turn else acts
    if state.question.pending:
        return acts + views.answering(state, seat)
    due = False
    if len(state.won) == ASKED_AFTER and play.question_time(state):
        due = play.question_due(state)
        if seat == play.asker(state):
            acts += (Ask(seat=seat),)
        elif due:
            acts += (Remind(seat=seat),)
    if views.may_lead(state, seat) and not due and not state.owed:
        acts += cards_to_play(state, seat)
    return acts


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if seat in state.owed:
        acts += (Announce(seat=seat, what="near_zero"),)
    if scoring.may_thank(state, seat):
        acts += (Announce(seat=seat, what="thanks"),)
    return (*acts, Score(seat=seat)) if state.table.penalise else acts


OFFERS: dict[type, Offer] = {
    Drawing: views.drawing,
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
            return views.to_play(state)
        case Auction():
            return state.to_speak[:1] if state.holder is None else (state.holder,)
        case Undealt():
            return (table.dealer,)
        case Drawing():
            return views.to_draw(state)
        case PickingUp():
            return views.to_pick_up(state)
        case Played():
            return table.playing if table.penalise else state.owed
    return ()


def tricks_done(state: State) -> int:
    """C61: the tricks that were played in the deal; windows are counted in them."""
    return state.played if isinstance(state, Playing) else state.tricks_played if isinstance(state, Played) else 0


def due(state: State) -> tuple[DueAct, ...]:
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


class More(TypedDict, total=False):
    """What only this game shows of a match; what does not apply is left out."""

    duel: wire_types.ListBySeat[Seat]
    """Who plays it, in a duel."""
    lead: Seat | None
    """Who leads to the first trick of the duel; null: not drawn yet (C48)."""
    discarding: Seat
    """Who has been given more cards and must throw some (C15)."""
    discards: wire_types.Count
    """How many cards that seat must throw."""
    near_zero: wire_types.ListBySeat[Seat]
    """Who owes the announcement of being near zero (C49)."""
    redbeards: wire_types.ListBySeat[Seat]
    """Who announced Redbeard and can still make it."""
    forgotten: bool
    """The question was put too late, or not at all."""


def _more(state: State, hand: play.Taken | None) -> More:
    """What only this game has: the duel and its lead, who must throw cards, who owes the announcement."""
    more: More = {}
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
    table, hand = state.table, deal_of(state)
    return shown(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=tricks_done(state),
        dealer=None if isinstance(state, Drawing) and not table.duel else table.dealer,
        **views.of_cards(state, viewer, hand),
        **views.of_play(state, hand),
        due=due(state),
        more=_more(state, hand) or None,
    )
