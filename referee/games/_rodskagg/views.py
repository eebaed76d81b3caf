"""What the sisters offer and show alike."""

from typing import Any

from referee.acts import Act, Answer, Cut, Deal, Draw, KeepCards, KnockForCards, PickUp, RequestCards, Trick
from referee.cards import texts_of
from referee.games._rodskagg.asking import answers
from referee.games._rodskagg.closed_hands import cards_left
from referee.games._rodskagg.dealing import HAND, DealtCards, Drawing
from referee.games._rodskagg.in_play import InPlay, Taken
from referee.games._rodskagg.new_hands import Exchanging, may_ask, need_not_say
from referee.games._rodskagg.question import said
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.interned_acts import plays
from referee.visibility import Viewer


def drawing(state: Drawing[Any], seat: int) -> tuple[Act, ...]:
    """At a real table the card is the table's to say."""
    return (Draw(seat=seat),) if seat in to_draw(state) else ()


def undealt(state: Undealt[Any], seat: int, held: bool) -> tuple[Act, ...]:
    """The dealer deals, and may cut where the ritual is ``held``."""
    if seat != state.table.dealer:
        return ()
    return (Cut(seat=seat), Deal(seat=seat)) if held and not state.cut else (Deal(seat=seat),)


def picking_up(state: PickingUp[Any], seat: int, held: bool) -> tuple[Act, ...]:
    """The formula, taking up one's cards, and dealing again after a misdeal."""
    acts: tuple[Act, ...] = ()
    dealer, down = state.table.dealer, held and seat not in state.picked
    if seat == dealer and down and not state.cards.formula:
        acts += (KnockForCards(seat=seat),)
    if down and (state.cards.formula or dealer in state.picked):  # B-O7: nobody can say the formula any more
        acts += (PickUp(seat=seat),)
    if seat == dealer and state.found:
        acts += (Deal(seat=seat),) if state.cut or not held else (Cut(seat=seat), Deal(seat=seat))
    return acts


def exchanging(state: Exchanging[Any], seat: int) -> tuple[Act, ...]:
    """Keeping one's hand, and a new one where the referee knows what comes."""
    if seat not in state.to_speak[:1]:  # none between the last word and what follows from it
        return ()
    keep = KeepCards(seat=seat)
    ready = may_ask(state.cards, seat) and need_not_say(state.cards, seat, state.asked, state.table.house)
    return (keep, RequestCards(seat=seat)) if ready else (keep,)


def answering(state: InPlay, seat: int) -> tuple[Act, ...]:
    """The answers to the question, while they are awaited."""
    if seat != state.question.pending[0]:
        return ()
    return Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold")


def cards_to_play(state: InPlay, seat: int) -> tuple[Act, ...]:
    """Following suit; with closed hands every card that has not been seen may be the right one."""
    if state.table.tally:
        return (Trick(seat=seat),)
    hand = state.cards.hands[seat] & ~state.gone
    return plays(seat, hand & state.led or hand if state.cards.known else hand)


def may_lead(state: InPlay, seat: int) -> bool:
    """Whether it is the seat's to play; where only the tally is kept, whether it may have taken the trick."""
    return seat == state.turn or (state.table.tally and seat in state.order)


# Who is awaited


def to_play(state: InPlay) -> tuple[int, ...]:
    """Whose card is awaited, or whose trick."""
    return state.order if state.table.tally else (state.turn,)


def to_draw(state: Drawing[Any]) -> tuple[int, ...]:
    """Who draws next."""
    return state.contenders[len(state.drawn) :][:1]


def to_pick_up(state: PickingUp[Any]) -> tuple[int, ...]:
    """The dealer, for the formula or for a new deal; then all whose cards lie."""
    table = state.table
    if state.found or (not state.cards.formula and table.dealer not in state.picked):
        return (table.dealer,)
    return tuple(seat for seat in table.playing if seat not in state.picked)


# What is shown


def of_cards(state: Any, viewer: Viewer, deal: Taken | None) -> dict[str, Any]:
    """The viewer's hand, all hands for officials, and how many cards each holds."""
    cards: DealtCards | None = getattr(state, "cards", None)
    if cards is None:
        return {}
    table, official, down = state.table, viewer == "official", isinstance(state, PickingUp)
    told: dict[str, Any] = {}
    if cards.known:
        gone = getattr(state, "gone", 0)
        if official:
            told["hands"] = tuple([texts_of(hand & ~gone) for hand in cards.hands])
        elif isinstance(viewer, int) and not (down and viewer not in state.picked):
            told["hand"] = texts_of(cards.hands[viewer] & ~gone)
    dealt = cards.counts
    if down and not official:  # a wrong number is found on picking up (B-O33)
        dealt = tuple([HAND if count else 0 for count in dealt])
    here = {seat for seat, _ in getattr(state, "trick", ())}
    folded = set(said(deal.question.answers, "fold")) if deal else set()
    left = cards_left(dealt, table.playing, len(deal.won) if deal else 0, here, folded)
    return {**told, "cards_left": left, "picked_up": state.picked if down else None}


def of_play(state: Any, deal: Taken | None) -> dict[str, Any]:
    """What lies open of the play."""
    contract = deal.contract if deal else None
    played = None if getattr(deal, "kind", "") == "passed_out" else deal
    return {
        "bids": contract.calls if contract else getattr(deal or state, "calls", None),
        "contract": contract.bid if contract else None,
        "declarer": contract.declarer if contract else None,
        "trick": getattr(state, "trick", ()) if played else None,
        "tricks": played.tricks if played else None,
        "answers": answers(state.table, deal) if deal and deal.question.event else None,
    }
