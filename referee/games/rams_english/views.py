"""The acts that a seat may do, and the match as a viewer may see it."""

from functools import lru_cache
from typing import Any, TypedDict

from referee import wire_types
from referee.acts import Act, Bid, Deal, Draw, Exchange, Score, Trick
from referee.cards import texts_of
from referee.games.rams_english import declarations, payment, tally
from referee.games.rams_english.deal import next_to_draw
from referee.games.rams_english.play import playable_cards, possible_cards
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND_SIZE,
    Declaring,
    Drawing,
    Played,
    Playing,
    State,
    Undealt,
    Word,
)
from referee.interned_acts import play_acts
from referee.phases import Offer, Over, match_view
from referee.ruleset import Shown
from referee.tricks import seats_and_cards
from referee.value import CardText, Seat
from referee.visibility import Viewer


@lru_cache(maxsize=1024)
def _bids(seat: int, words: tuple[Word, ...]) -> tuple[Act, ...]:
    return tuple([Bid(seat=seat, bid=word) for word in words])


def _drawing_acts(state: Drawing, seat: int) -> tuple[Act, ...]:
    """Return a draw, without a card, for the seat that draws next (D11-D12)."""
    return (Draw(seat=seat),) if seat == next_to_draw(state) else ()


def _undealt_acts(state: Undealt, seat: int) -> tuple[Act, ...]:
    return (Deal(seat=seat),) if seat == state.table.dealer else ()


def _declaring_acts(state: Declaring, seat: int) -> tuple[Act, ...]:
    if seat in state.to_speak[:1]:  # ``to_speak`` is empty after the last word
        return _bids(seat, declarations.allowed_words(state))
    return _bids(seat, (GENERALRAMS,)) if declarations.may_announce(state, seat) else ()


def _playing_acts(state: Playing, seat: int) -> tuple[Act, ...]:
    """Return the acts of a seat during the play (D46-D54)."""
    acts: tuple[Act, ...] = ()
    if state.table.tally:
        acts = (Trick(seat=seat),) if seat in state.order else ()
    elif seat == state.turn:
        dealing = state.dealing
        if dealing.known:
            acts = play_acts(seat, playable_cards(state.hands[seat], state.led, state.best, dealing.trumps))
        else:
            acts = play_acts(seat, possible_cards(state, seat))
    if not state.trick and not state.won:
        if seat == state.table.dealer and declarations.may_exchange(state):
            in_tally = state.table.tally
            acts += tuple(
                [Exchange(seat=seat, card=card) for card in ((None,) if in_tally else texts_of(state.hands[seat]))]
            )
        if declarations.may_announce(state, seat):
            acts += _bids(seat, (GENERALRAMS,))
    return acts


def _played_acts(state: Played, seat: int) -> tuple[Act, ...]:
    """Return ``score`` or, if a trick needs it, its winner's entries of the second-best card (D-O24, D-O29)."""
    if (trick := tally.trick_without_second(state)) is None:
        return (Score(seat=seat),)
    if seat != state.outcome.won[trick].seat:
        return ()
    return tuple([Trick(seat=seat, second=second) for second in tally.faultless_seats(state)])


OFFERS: dict[type, Offer] = {
    Drawing: _drawing_acts,
    Undealt: _undealt_acts,
    Declaring: _declaring_acts,
    Playing: _playing_acts,
    Played: _played_acts,
}


def seats_to_act(state: State) -> tuple[int, ...]:
    if isinstance(state, Playing):
        return state.order if state.table.tally else (state.turn,)
    if isinstance(state, Declaring):
        return state.to_speak[:1]
    if isinstance(state, Undealt):
        return (state.table.dealer,)
    if isinstance(state, Drawing):
        return (next_to_draw(state),)
    return tuple(range(state.table.seats)) if isinstance(state, Played) else ()


def _cards_left(state: Declaring | Playing | Played) -> tuple[int, ...]:
    left = [HAND_SIZE if seat in state.dealing.order else 0 for seat in range(state.table.seats)]
    if not isinstance(state, Declaring):
        deal = state.outcome if isinstance(state, Played) else state
        for seat in deal.order:
            left[seat] -= len(deal.won)
    for seat, _ in state.trick if isinstance(state, Playing) else ():
        left[seat] -= 1
    return tuple(left)


class More(TypedDict, total=False):
    """The fields of a match of Rams. Fields that do not apply in the phase are left out."""

    pot: wire_types.Money
    """Pot in minor units of money or, without stakes, in tricks. During a deal it includes the dealer's stake."""
    drawn: wire_types.DrawnList
    """Pairs of seat and card, turned up for the first deal."""
    single: bool
    """True if the pot was empty before the dealer's stake (D16)."""
    turn_up: CardText
    """Turned-up card; its suit is trumps (D20)."""
    joined: wire_types.ListBySeat[Seat]
    """Seats that have joined, in the order spoken."""
    lie_down: wire_types.ListBySeat[Seat]
    """Seats that lay down, in the order spoken. After a generalrams they play nevertheless."""
    widow: Seat | None
    """Seat that took the widow; null: no seat."""
    announcer: Seat | None
    """Seat that announced generalrams; null: no seat."""
    exchanged: bool
    """True if the dealer has taken the turned-up card."""
    in_play: wire_types.ListBySeat[Seat]
    """Seats that play, clockwise from forehand, once they are known."""
    widow_cards: wire_types.ListBySeat[CardText]
    """Cards of the widow, for the official."""


def _more(state: State, official: bool) -> More:
    table = state.table
    if isinstance(state, Drawing):
        return {"pot": table.pot, "drawn": seats_and_cards(state.drawn)}
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
            "bids": [{"seat": seat, "bid": word} for seat, word, _ in said.calls],
            "contract": None if said.announcer is None else GENERALRAMS,
            "declarer": said.announcer,
        }
        if not isinstance(deal, Declaring) and deal.order:
            own |= {
                "trick": seats_and_cards(getattr(deal, "trick", ())),
                "tricks": payment.tricks_by_seat(table, deal),
            }
    return match_view(state, viewer, to_act=seats_to_act(state), more=_more(state, official), **own)
