"""Acts offered and fields shown in all Rödskägg games."""

from collections.abc import Callable
from typing import Any

from referee.acts import Act, Answer, Cut, Deal, Draw, KeepCards, KnockForCards, PickUp, RequestCards, Trick
from referee.cards import texts_of
from referee.games._rodskagg.asking import answers_by_seat
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import allowed_bids, bid_acts, calls_as_shown
from referee.games._rodskagg.closed_hands import cards_left
from referee.games._rodskagg.dealing import HAND_SIZE, DealtCards, Drawing
from referee.games._rodskagg.in_play import DealSoFar, InPlay
from referee.games._rodskagg.new_hands import Exchanging, may_leave_unnamed, may_request
from referee.games._rodskagg.question import seats_that_answered
from referee.games._rodskagg.ritual import PickingUp, RitualRules, Undealt, has_ritual_acts
from referee.interned_acts import play_acts
from referee.phases import Offer
from referee.tricks import seats_and_cards
from referee.visibility import Viewer


def drawing_acts(state: Drawing[Any], seat: int) -> tuple[Act, ...]:
    return (Draw(seat=seat),) if seat in to_draw(state) else ()


def undealt_acts(state: Undealt[Any], seat: int, rules: RitualRules) -> tuple[Act, ...]:
    if seat != state.table.dealer:
        return ()
    to_cut = has_ritual_acts(state.table, rules) and not state.cut
    return (Cut(seat=seat), Deal(seat=seat)) if to_cut else (Deal(seat=seat),)


def picking_up_acts(state: PickingUp[Any], seat: int, rules: RitualRules) -> tuple[Act, ...]:
    """Return the acts allowed: the formula, picking up and, if a misdeal is found, cutting and dealing."""
    acts: tuple[Act, ...] = ()
    dealer, ritual = state.table.dealer, has_ritual_acts(state.table, rules)
    down = ritual and seat not in state.picked
    if seat == dealer and down and not state.cards.formula:
        acts += (KnockForCards(seat=seat),)
    # because a dealer who picked up cannot say the formula (B-O7)
    if down and (state.cards.formula or dealer in state.picked):
        acts += (PickUp(seat=seat),)
    if seat == dealer and state.found:
        acts += (Deal(seat=seat),) if state.cut or not ritual else (Cut(seat=seat), Deal(seat=seat))
    return acts


def exchanging_acts(state: Exchanging[Any], seat: int) -> tuple[Act, ...]:
    """Return keeping the hand and, unless it has a known honour or cards must be named, a request."""
    if seat not in state.to_speak[:1]:
        return ()
    keep = KeepCards(seat=seat)
    ready = may_request(state.cards, seat) and may_leave_unnamed(state.cards, seat, state.asked, state.table.house)
    return (keep, RequestCards(seat=seat)) if ready else (keep,)


def bidding_offer(cap: Callable[[Any, int], int | None]) -> Offer:
    """Return the function that offers pass, ``rodskagg`` and higher numbers, up to the result of ``cap`` if any."""

    def bidding_acts(state: Auction[Any], seat: int) -> tuple[Act, ...]:
        if seat not in state.to_speak[:1]:
            return ()
        return bid_acts(seat, allowed_bids(state.highest, cap(state, seat)))

    return bidding_acts


def answering_acts(state: InPlay[Any], seat: int) -> tuple[Act, ...]:
    if seat != state.question.pending[0]:
        return ()
    return Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold")


def cards_to_play(state: InPlay[Any], seat: int) -> tuple[Act, ...]:
    """Return plays of the cards that follow suit, else (or with closed hands) of all left; in a tally a trick."""
    if state.table.tally:
        return (Trick(seat=seat),)
    cards = state.cards
    hand = cards.hands[seat] & ~state.gone
    return play_acts(seat, hand & state.led or hand if cards.known else hand)


def may_play_next(state: InPlay[Any], seat: int) -> bool:
    return seat == state.turn or (state.table.tally and seat in state.order)


def to_play(state: InPlay[Any]) -> tuple[int, ...]:
    """Return the seat to play next; in a tally all seats that may take the trick."""
    return state.order if state.table.tally else (state.turn,)


def to_act_before_play(state: Any) -> tuple[int, ...]:
    """Return the seats that act next before the play; empty later."""
    if isinstance(state, Auction | Exchanging):
        return state.to_speak[:1]
    if isinstance(state, Undealt):
        return (state.table.dealer,)
    if isinstance(state, PickingUp):
        return to_pick_up(state)
    return to_draw(state) if isinstance(state, Drawing) else ()


def to_draw(state: Drawing[Any]) -> tuple[int, ...]:
    return state.contenders[len(state.drawn) :][:1]


def to_pick_up(state: PickingUp[Any]) -> tuple[int, ...]:
    """Return the dealer while the formula or a new deal is due, then the seats whose cards lie face down."""
    table = state.table
    if state.found or (not state.cards.formula and table.dealer not in state.picked):
        return (table.dealer,)
    return tuple(seat for seat in table.playing if seat not in state.picked)


def card_fields(state: Any, viewer: Viewer, deal: DealSoFar | None) -> dict[str, Any]:
    """Return the fields of cards; empty before the deal. A seat sees a known hand once picked up, officials all."""
    cards: DealtCards | None = getattr(state, "cards", None)
    if cards is None:
        return {}
    table, official, down = state.table, viewer == "official", isinstance(state, PickingUp)
    fields: dict[str, Any] = {}
    if cards.known:
        gone = getattr(state, "gone", 0)
        if official:
            fields["hands"] = tuple([texts_of(hand & ~gone) for hand in cards.hands])
        elif isinstance(viewer, int) and not (down and viewer not in state.picked):
            fields["hand"] = texts_of(cards.hands[viewer] & ~gone)
    dealt = cards.counts
    if down and not official:  # because a wrong number is seen only on picking up (B-O33)
        dealt = tuple([HAND_SIZE if count else 0 for count in dealt])
    in_trick = {seat for seat, _ in getattr(state, "trick", ())}
    folded = set(seats_that_answered(deal.question.answers, "fold")) if deal else set()
    left = cards_left(dealt, table.playing, len(deal.won) if deal else 0, in_trick, folded)
    return {**fields, "cards_left": left, "picked_up": state.picked if down else None}


def play_fields(state: Any, deal: DealSoFar | None) -> dict[str, Any]:
    contract = deal.contract if deal else None
    calls = contract.calls if contract else getattr(deal or state, "calls", None)
    played = None if getattr(deal, "kind", "") == "passed_out" else deal
    return {
        "bids": None if calls is None else calls_as_shown(calls),
        "contract": contract.bid if contract else None,
        "declarer": contract.declarer if contract else None,
        "trick": seats_and_cards(getattr(state, "trick", ())) if played else None,
        "tricks": played.tricks if played else None,
        "answers": answers_by_seat(state.table, deal) if deal and deal.question.event else None,
    }
