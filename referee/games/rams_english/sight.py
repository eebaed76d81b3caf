"""Who may do what now, and who may see what (``view`` is the only way out for a hand)."""

from typing import Any

from msgspec import to_builtins

from referee.acts import Act, Bid, Close, Deal, Exchange, Play, Score, Void
from referee.cards import CARD, Cards, texts_of
from referee.events import Viewer
from referee.games.rams_english import declarations, payment
from referee.games.rams_english.deal import next_to_draw
from referee.games.rams_english.play import playable, possible
from referee.games.rams_english.states import (
    GENERALRAMS,
    HAND,
    Declaring,
    Drawing,
    Over,
    Played,
    Playing,
    Said,
    State,
    Undealt,
    Word,
)
from referee.ruleset import Shown

SEATS = 6
_PLAYS = tuple({bit: Play(seat=seat, card=card) for bit, card in CARD.items()} for seat in range(SEATS))
"""Each seat's play of each card: the same acts again and again, so they are made once."""
_EXCHANGES = tuple({bit: Exchange(seat=seat, card=card) for bit, card in CARD.items()} for seat in range(SEATS))
_WORDS: tuple[Word, ...] = ("join", "lie_down", "widow", "generalrams", "pay")
_BIDS = tuple({word: Bid(seat=seat, bid=word) for word in _WORDS} for seat in range(SEATS))
_DEALS = tuple(Deal(seat=seat) for seat in range(SEATS))
_SCORES = tuple(Score(seat=seat) for seat in range(SEATS))


def legal(state: State, viewer: Viewer) -> tuple[Act, ...]:
    """What the viewer may do now within the rules, ready to send.

    Where the content is the table's to say it is left out: the cards of a deal at a real table, a card turned up
    for the first deal, a report. Under ``penalise`` more is accepted than is listed: what the rules punish.
    """
    if viewer == "official":
        between = isinstance(state, Undealt | Drawing)
        return () if isinstance(state, Over) else (Close(),) if between else (Void(),)
    if not isinstance(viewer, int) or viewer >= state.table.seats:
        return ()
    match state:
        case Playing():
            return _playing(state, viewer)
        case Declaring():
            if viewer in state.to_speak[:1]:  # none between the last word and what follows from it
                bids = _BIDS[viewer]
                return tuple([bids[word] for word in declarations.words(state)])
            return (_BIDS[viewer][GENERALRAMS],) if declarations.may_announce(state, viewer) else ()
        case Undealt():
            return (_DEALS[viewer],) if viewer == state.table.dealer else ()
        case Played():
            return (_SCORES[viewer],)
    return ()


def _playing(state: Playing, seat: int) -> tuple[Act, ...]:
    """D46-D54; with closed hands every card that has not been seen may be the right one."""
    acts: list[Act] = []
    if seat == state.turn:
        hand = possible(state, seat)
        dealing = state.dealing
        if dealing.known and state.led:
            hand = playable(hand, state.led, state.best, dealing.trumps)
        _add(acts, _PLAYS[seat], hand)
    if not state.trick and not state.won:
        if seat == state.table.dealer and declarations.may_exchange(state):
            _add(acts, _EXCHANGES[seat], state.hands[seat])
        if declarations.may_announce(state, seat):
            acts.append(_BIDS[seat][GENERALRAMS])
    return tuple(acts)


def _add(acts: list[Act], prepared: dict[Cards, Any], cards: Cards) -> None:
    while cards:
        bit = cards & -cards
        acts.append(prepared[bit])
        cards ^= bit


def to_act(state: State) -> tuple[int, ...]:
    """The seats that are awaited."""
    match state:
        case Playing():
            return (state.turn,)
        case Declaring():
            return state.to_speak[:1]
        case Undealt():
            return (state.table.dealer,)
        case Drawing():
            return (next_to_draw(state),)
        case Played():
            return tuple(range(state.table.seats))
    return ()


def _held(state: State) -> tuple[int, ...] | None:
    """The hands as they are held now, if the referee knows them."""
    holding = state.play if isinstance(state, Played) else state
    if not isinstance(holding, Declaring | Playing):
        return None
    return holding.hands if holding.dealing.known else None


def _cards_left(state: State) -> tuple[int, ...] | None:
    """How many cards each seat has not played."""
    if isinstance(state, Drawing | Undealt | Over):
        return None
    left = [HAND if seat in state.dealing.order else 0 for seat in range(state.table.seats)]
    play = state.play if isinstance(state, Played) else state
    if isinstance(play, Playing):
        for seat in play.order:
            left[seat] -= len(play.won)
        for seat, _ in play.trick:
            left[seat] -= 1
    return tuple(left)


def _breaches(state: State) -> tuple[dict[str, Any], ...]:
    """For officials: the faults that stand."""
    play = state.play if isinstance(state, Played) else state
    faults = play.faults if isinstance(play, Declaring | Playing) else ()
    return tuple({**to_builtins(standing.breach), "event": standing.event} for standing in faults)


def _more(state: State, official: bool) -> dict[str, Any]:
    """What lies on the table beside the cards, all of it open; for officials the widow too."""
    table = state.table
    if isinstance(state, Drawing):
        return {"pot": table.pot, "drawn": [list(drawn) for drawn in state.drawn]}
    if isinstance(state, Undealt | Over):
        return {"pot": table.pot}
    said: Said = state.said
    more: dict[str, Any] = {
        "pot": table.pot + table.stake,
        "single": declarations.is_single(table),
        "turn_up": state.dealing.turn_up,
        "joined": list(said.joined),
        "lie_down": list(said.lain),
        "widow": said.widow,
        "announcer": said.announcer,
        "exchanged": bool(said.exchanged),
    }
    play = state.play if isinstance(state, Played) else state
    if isinstance(play, Playing):
        more["in_play"] = list(play.order)
    if official and state.dealing.known:
        more["widow_cards"] = list(texts_of(state.dealing.widow))
    return more


def view(state: State, viewer: Viewer) -> Shown:
    """The match as this viewer may see it."""
    table = state.table
    official = viewer == "official"
    play = state.play if isinstance(state, Played) else state if isinstance(state, Playing) else None
    said = None if isinstance(state, Drawing | Undealt | Over) else state.said
    hands = _held(state)
    own = isinstance(viewer, int) and viewer < table.seats and hands is not None
    return Shown(
        phase=str(type(state).__struct_config__.tag),
        deal=table.deal - isinstance(state, Over),  # the last one, when no other comes
        dealer=None if isinstance(state, Drawing) else table.dealer,
        to_act=to_act(state),
        active=tuple(range(table.seats)),
        points=table.balances,
        penalties=(0,) * table.seats,
        hand=texts_of(hands[viewer]) if own and hands is not None and isinstance(viewer, int) else None,
        hands=tuple(map(texts_of, hands)) if official and hands is not None else None,
        cards_left=_cards_left(state),
        bids=tuple((seat, word) for seat, word, _ in said.calls) if said else None,
        contract=GENERALRAMS if said and said.announcer is not None else None,
        declarer=said.announcer if said else None,
        trick=play.trick if play else None,
        tricks=payment.tricks_of(table, play) if play else None,
        breaches=_breaches(state) if official else None,
        more=_more(state, official),
    )
