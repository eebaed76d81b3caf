"""Acts offered to seats and fields shown to viewers."""

from functools import partial
from itertools import combinations, islice
from typing import Any, TypedDict

from referee import wire_types
from referee.acts import Act, Announce, Ask, Discard, KeepCards, Remind, RequestCards, Score
from referee.cards import texts_of
from referee.games._rodskagg import views
from referee.games._rodskagg.bids import bid_acts
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.question import ASKED_AFTER
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games._rodskagg.views import cards_to_play
from referee.games.rodskagg_catsatcards import auction, deal, play, scoring
from referee.games.rodskagg_catsatcards.states import Auction, Played, Playing, State, play_or_outcome
from referee.phases import Offer, match_view
from referee.ruleset import DueAct, Shown
from referee.value import Seat
from referee.visibility import Viewer

DISCARDS_MAX = 1000
"""Maximum number of discards offered."""


def _auction_acts(state: Auction, seat: int) -> tuple[Act, ...]:
    may_ask = deal.may_request(state, seat) and deal.may_leave_unnamed(state)
    if state.holder == seat:
        more: tuple[Act, ...] = (RequestCards(seat=seat),) if may_ask else ()
        if not state.cards.known:
            return (*more, Discard(seat=seat, cards=()))
        ways = combinations(texts_of(state.cards.hands[seat]), state.extra)
        return (*more, *(Discard(seat=seat, cards=cards) for cards in islice(ways, DISCARDS_MAX)))
    acts: tuple[Act, ...] = ()
    if deal.may_keep(state, seat):
        acts += (KeepCards(seat=seat),)
    if may_ask:
        acts += (RequestCards(seat=seat),)
    if seat in state.to_speak[:1] and state.holder is None:
        acts += bid_acts(seat, auction.DECLARATIONS)
    return acts


def _playing_acts(state: Playing, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if state.owed and seat in state.owed:
        acts = (Announce(seat=seat, what="near_zero"),)
    if state.trick:
        return acts + cards_to_play(state, seat) if seat == state.turn else acts
    if state.question.pending:
        return acts + views.answering_acts(state, seat)
    due = False
    if len(state.won) == ASKED_AFTER and play.question_time(state):
        due = play.question_due(state)
        if seat == play.asker(state):
            acts += (Ask(seat=seat),)
        elif due:
            acts += (Remind(seat=seat),)
    if views.may_play_next(state, seat) and not due and not state.owed:
        acts += cards_to_play(state, seat)
    return acts


def _played_acts(state: Played, seat: int) -> tuple[Act, ...]:
    acts: tuple[Act, ...] = ()
    if seat in state.owed:
        acts += (Announce(seat=seat, what="near_zero"),)
    if scoring.may_thank(state, seat):
        acts += (Announce(seat=seat, what="thanks"),)
    return (*acts, Score(seat=seat)) if state.table.penalise else acts


OFFERS: dict[type, Offer] = {
    Drawing: views.drawing_acts,
    Undealt: partial(views.undealt_acts, rules=deal.RITUAL),
    PickingUp: partial(views.picking_up_acts, rules=deal.RITUAL),
    Auction: _auction_acts,
    Playing: _playing_acts,
    Played: _played_acts,
}


def to_act(state: State) -> tuple[int, ...]:
    if isinstance(state, Playing):
        if state.question.pending:
            return state.question.pending[:1]
        if not state.trick:
            if state.owed:
                return state.owed
            if len(state.won) == ASKED_AFTER and play.question_due(state):
                return (play.asker(state),)
        return views.to_play(state)
    if isinstance(state, Auction):
        return state.to_speak[:1] if state.holder is None else (state.holder,)
    if isinstance(state, Played):
        return state.table.playing if state.table.penalise else state.owed
    return views.to_act_before_play(state)


def tricks_done(state: State) -> int:
    deal_so_far = play_or_outcome(state)
    return deal_so_far.played if deal_so_far else 0


def due_acts(state: State) -> tuple[DueAct, ...]:
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
    """The fields that only this game shows. A field that does not apply is left out."""

    duel: wire_types.ListBySeat[Seat]
    """Seats in the duel; left out if the deal is not a duel."""
    lead: Seat | None
    """Seat that leads first in the duel; null until it is drawn (C48)."""
    discarding: Seat
    """Seat that received more cards and must discard (C15)."""
    discards: wire_types.Count
    """Number of cards that this seat must discard."""
    near_zero: wire_types.ListBySeat[Seat]
    """Seats that owe the announcement of a total near zero (C49)."""
    redbeards: wire_types.ListBySeat[Seat]
    """Seats that declared Redbeard, also after a lost trick."""
    forgotten: bool
    """True if the question was put too late or never."""


def _more(state: State, deal_so_far: play.PlayOrOutcome | None) -> More:
    more: More = {}
    if state.table.duel:
        more |= {"duel": list(state.table.playing), "lead": state.table.lead}
    if isinstance(state, Auction) and state.holder is not None:
        more |= {"discarding": state.holder, "discards": state.extra}
    if isinstance(state, Playing | Played) and deal_so_far is not None:
        more |= {"near_zero": list(state.owed), "redbeards": list(deal_so_far.redbeards)}
        if deal_so_far.question.forgotten:
            more["forgotten"] = True
    return more


def carried(state: State) -> dict[str, Any]:
    """Return the seats' ``announced`` totals as ``near_zero``; empty if all are ``None`` (C-O24)."""
    totals = state.table.announced
    return {"near_zero": list(totals)} if any(total is not None for total in totals) else {}


def view(state: State, viewer: Viewer) -> Shown:
    table, deal_so_far = state.table, play_or_outcome(state)
    return match_view(
        state,
        viewer,
        to_act=to_act(state),
        tricks_done=tricks_done(state),
        dealer=None if isinstance(state, Drawing) and not table.duel else table.dealer,
        **views.card_fields(state, viewer, deal_so_far),
        **views.play_fields(state, deal_so_far),
        due=due_acts(state),
        more=_more(state, deal_so_far) or None,
    )
