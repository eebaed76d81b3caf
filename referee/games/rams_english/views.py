"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Any, TypedDict, get_args

from referee import wire_types
from referee.acts import Act, Bid, Deal, Draw, Exchange, Score, Trick
from referee.cards import texts_of
from referee.games.rams_english import declarations, payment, tally
from referee.games.rams_english.deal import next_to_draw
from referee.games.rams_english.play import playable, possible
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND,
    Declaring,
    Drawing,
    Played,
    Playing,
    State,
    Undealt,
    Word,
)
from referee.interned_acts import plays
from referee.phases import Offer, Over, shown
from referee.ruleset import Shown
from referee.value import CardText, Seat
from referee.visibility import Viewer

_BIDS = tuple({word: Bid(seat=seat, bid=word) for word in get_args(Word)} for seat in range(6))
"""The same acts again and again, so they are made once."""


def _drawing(state: Drawing, seat: int) -> tuple[Act, ...]:
    """D11-D12: which card is turned up is the table's to say."""
    return (Draw(seat=seat),) if seat == next_to_draw(state) else ()


def _undealt(state: Undealt, seat: int) -> tuple[Act, ...]:
    return (Deal(seat=seat),) if seat == state.table.dealer else ()


def _declaring(state: Declaring, seat: int) -> tuple[Act, ...]:
    bids = _BIDS[seat]
    if seat in state.to_speak[:1]:  # none between the last word and what follows from it
        return tuple([bids[word] for word in declarations.allowed_words(state)])
    return (bids[GENERALRAMS],) if declarations.may_announce(state, seat) else ()


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    """D46-D54; with closed hands every card that has not been seen may be the right one."""
    acts: tuple[Act, ...] = ()
    if state.table.tally:
        acts = (Trick(seat=seat),) if seat in state.order else ()
    elif seat == state.turn:
        hand = possible(state, seat)
        dealing = state.dealing
        if dealing.known and state.led:
            hand = playable(hand, state.led, state.best, dealing.trumps)
        acts = plays(seat, hand)
    if not state.trick and not state.won:
        if seat == state.table.dealer and declarations.may_exchange(state):
            in_tally = state.table.tally
            acts += tuple(
                [Exchange(seat=seat, card=card) for card in ((None,) if in_tally else texts_of(state.hands[seat]))]
            )
        if declarations.may_announce(state, seat):
            acts += (_BIDS[seat][GENERALRAMS],)
    return acts


def _played(state: Played, seat: int) -> tuple[Act, ...]:
    """D-O24; but where a share is waiting to be told whose it is, first that (D-O29)."""
    if (trick := tally.trick_without_second(state)) is None:
        return (Score(seat=seat),)
    if seat != state.outcome.won[trick].seat:
        return ()
    return tuple([Trick(seat=seat, second=second) for second in tally.faultless(state)])


OFFERS: dict[type, Offer] = {
    Drawing: _drawing,
    Undealt: _undealt,
    Declaring: _declaring,
    Playing: _playing,
    Played: _played,
}


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    match state:
        case Playing():
            return state.order if state.table.tally else (state.turn,)
        case Declaring():
            return state.to_speak[:1]
        case Undealt():
            return (state.table.dealer,)
        case Drawing():
            return (next_to_draw(state),)
        case Played():
            return tuple(range(state.table.seats))
    return ()


def _cards_left(state: Declaring | Playing | Played) -> tuple[int, ...]:
    """How many cards each seat has not played."""
    left = [HAND if seat in state.dealing.order else 0 for seat in range(state.table.seats)]
    if not isinstance(state, Declaring):
        deal = state.outcome if isinstance(state, Played) else state
        for seat in deal.order:
            left[seat] -= len(deal.won)
    for seat, _ in state.trick if isinstance(state, Playing) else ():
        left[seat] -= 1
    return tuple(left)


class More(TypedDict, total=False):
    """What only this game shows of a match; what does not apply in the phase is left out."""

    pot: wire_types.Money
    """What lies in the pot, the dealer's stake with it: minor units of money where the match has stakes, else
    tricks."""
    drawn: wire_types.DrawnList
    """The cards turned up for the first deal, in order: seat and card of each."""
    single: bool
    """The pot held nothing before the dealer's stake (D16)."""
    turn_up: CardText
    """The card that was turned up; its suit is trumps (D20)."""
    joined: wire_types.ListBySeat[Seat]
    """Who has joined, in the order in which they spoke."""
    lie_down: wire_types.ListBySeat[Seat]
    """Who lay down, in the order in which they spoke; a generalrams makes them play all the same."""
    widow: Seat | None
    """Who took the widow; null: nobody."""
    announcer: Seat | None
    """Who announced generalrams; null: nobody."""
    exchanged: bool
    """The dealer has taken the turned-up card."""
    in_play: wire_types.ListBySeat[Seat]
    """Who plays, from forehand clockwise, when that is known."""
    widow_cards: wire_types.ListBySeat[CardText]
    """The cards of the widow, for the official."""


def _more(state: State, official: bool) -> More:
    """What lies on the table beside the cards, all of it open; for officials the widow too."""
    table = state.table
    if isinstance(state, Drawing):
        return {"pot": table.pot, "drawn": list(state.drawn)}
    if isinstance(state, Undealt | Over):
        return {"pot": table.pot}
    deal = state.outcome if isinstance(state, Played) else state
    said = deal.said
    more: More = {
        "pot": table.pot + table.stake,
        "single": declarations.is_single(table),
        "joined": list(said.joined),
        "lie_down": list(said.lain),
        "widow": said.widow,
        "announcer": said.announcer,
        "exchanged": bool(said.exchanged),
    }
    if state.dealing.turn_up:
        more["turn_up"] = state.dealing.turn_up
    if not isinstance(deal, Declaring) and deal.order:
        more["in_play"] = list(deal.order)
    if official and state.dealing.known:
        more["widow_cards"] = list(texts_of(state.dealing.widow))
    return more


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table, official = state.table, viewer == "official"
    own: dict[str, Any] = {"dealer": None} if isinstance(state, Drawing) else {}
    if isinstance(state, Declaring | Playing | Played):
        deal = state.outcome if isinstance(state, Played) else state
        said = deal.said
        if state.dealing.known:
            own["hands"] = tuple(map(texts_of, state.hands)) if official else None
            own["hand"] = texts_of(state.hands[viewer]) if isinstance(viewer, int) else None
        own |= {
            "cards_left": _cards_left(state),
            "bids": tuple([(seat, word) for seat, word, _ in said.calls]),
            "contract": None if said.announcer is None else GENERALRAMS,
            "declarer": said.announcer,
        }
        if not isinstance(deal, Declaring) and deal.order:
            own |= {"trick": getattr(deal, "trick", ()), "tricks": payment.tricks_of(table, deal)}
    return shown(state, viewer, to_act=to_act(state), more=_more(state, official), **own)
