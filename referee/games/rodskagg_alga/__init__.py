"""Rödskägg after Brio and Alga: an auction, six tricks led by the declarer, a question, and nobody knocks.

Rulebook A1-A60. Readings of what the source leaves open are A-O1 to A-O30; the option that changes one is named in
:class:`Options`. The weightiest: nobody subtracts in rödskägg (A-O1), a forgotten question is a flat two off for
the trickless (A-O9), a duel changes no points and goes to most tricks (A-O3, A-O4), and nothing is punished by a
knock, so a revoke is refused in both enforcements (A-O26, A-O27).

What no referee at a distance can see, and is therefore not refereed: the packets of three at a real table (A10),
and that closed hands hold no honour when new cards are asked for (A11).
"""

from typing import Any

import msgspec

from referee.acts import (
    Act,
    Answer,
    Ask,
    Bid,
    Deal,
    KeepCards,
    Knock,
    Play,
    Report,
    Request,
    RequestCards,
    Score,
    SeatAct,
    Void,
)
from referee.cards import PACK, clockwise
from referee.events import (
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    Event,
    MatchOpened,
    MatchWon,
    PlayEnded,
    PlayerEliminated,
    Reported,
    TrickTaken,
)
from referee.games._rodskagg.facts import (
    FACTS,
    AuctionWon,
    BidMade,
    DuelCalled,
    HandKept,
    HandRequested,
    MisdealFound,
    NewHands,
    QuestionAnswered,
    QuestionAsked,
)
from referee.games.rodskagg_alga import auction, deal, play, scoring, sight
from referee.games.rodskagg_alga.states import (
    Auction,
    Exchanging,
    Options,
    Over,
    Played,
    Playing,
    State,
    Table,
    Undealt,
)
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from referee.ruleset import Moment, Ruleset

START = 12
"""Points at the start (A6)."""


def opening(opened: MatchOpened) -> None:
    """A1, A-O15, A-O29: refuses a match that cannot be played by these rules."""
    options, seats = _options(opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "A-O15", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "A-O29", points=opened.points)


def _options(opened: MatchOpened) -> Options:
    known = {name: opened.options[name] for name in Options.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, Options)


def start(opened: MatchOpened) -> State:
    """The state of a match just opened; the first dealer is given, or the first seat (A-O16)."""
    seats = len(opened.players)
    everybody = clockwise(0, seats)
    return Undealt(
        table=Table(
            options=_options(opened),
            seats=seats,
            penalise=opened.enforcement == "penalise",
            house=opened.dealing == "house",
            points=opened.points,
            active=everybody,
            playing=everybody,
            deal=1,
            dealer=opened.first_dealer or 0,
        )
    )


def begin(state: State, moment: Moment) -> tuple[Event, ...]:
    """Nothing happens by itself when a match is opened."""
    return ()


# What may be decided: phase and act

_DECIDE: dict[type, dict[type, Any]] = {
    Undealt: {Deal: deal.deal},
    Exchanging: {RequestCards: deal.request_cards, KeepCards: deal.keep_cards, Report: deal.report},
    Auction: {Bid: auction.bid, Report: deal.report},
    Playing: {Play: play.play, Ask: play.ask, Answer: play.answer, Report: deal.report},
    Played: {Score: scoring.score, Report: deal.report},
    Over: {},
}

_SPOKEN_FOR: dict[type[Act], str] = {
    Deal: "A9",
    RequestCards: "A11",
    KeepCards: "A-O24",
    Bid: "A17",
    Ask: "A33",
    Answer: "A34",
    Play: "A29",
    Report: "A-O17",
    Score: "A-O28",
}
"""The rule that an act belongs to: cited when it comes in a phase that has no place for it."""


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or :class:`~referee.refusals.Refused`."""
    decision = _DECIDE[type(state)].get(type(act))
    if decision is None or act.seat not in state.table.playing:  # type: ignore[union-attr]
        return _elsewhere(state, act)
    events: tuple[Event, ...] = decision(state, act, moment)
    if type(events[-1]) is PlayEnded and not state.table.penalise:
        return _scored_by_itself(state, events, moment)
    return events


def _scored_by_itself(state: State, events: tuple[Event, ...], moment: Moment) -> tuple[Event, ...]:
    """A-O23 (B-O28): scored as soon as nothing is due, where nothing can be forgotten."""
    for number, event in enumerate(events, moment.version + 1):
        state = evolve(state, event, number)
    assert isinstance(state, Played), "the play has ended"
    return (*events, *scoring.scored(state))


def _elsewhere(state: State, act: Request) -> tuple[Event, ...]:
    """The official's void, which has a place in every phase; and what has no place in this one."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None, winner=state.winner)
    if isinstance(act, Void):
        return void(state, act)
    if isinstance(act, Knock):
        raise WrongPhase("no_knocking", "A-O27")
    if not isinstance(act, SeatAct) or type(act) not in _SPOKEN_FOR:
        raise WrongPhase("not_in_this_game", None)
    if act.seat >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.seat)
    if act.seat not in state.table.active:
        raise NotInPlay("eliminated", "A49", seat=act.seat)
    if act.seat not in state.table.playing:
        raise NotInPlay("not_in_duel", "A55", seat=act.seat)
    if isinstance(state, Played):
        raise WrongPhase("deal_not_scored", "A-O28")
    raise WrongPhase("wrong_phase", _SPOKEN_FOR[type(act)], phase=type(state).__struct_config__.tag)


def void(state: State, act: Void) -> tuple[Event, ...]:
    """A-O23 (B-O38): the official voids the deal under way."""
    if isinstance(state, Undealt):
        raise WrongPhase("nothing_dealt", "A-O23")
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


# What follows from an event


def _play_ended(state: Any, event: PlayEnded, number: int) -> State:
    return (
        auction.passed_out(state, event, number) if isinstance(state, Auction) else play.play_ended(state, event, 0)
    )


def _voided(state: Any, event: DealVoided, number: int) -> State:
    return Undealt(table=state.table)


def _told(state: State, event: Event, number: int) -> State:
    return state


_EVOLVE: dict[type[Event], Any] = {
    CardPlayed: play.card_played,
    TrickTaken: play.trick_taken,
    BidMade: auction.bid_made,
    AuctionWon: auction.auction_won,
    Dealt: deal.dealt,
    HandRequested: deal.hand_requested,
    HandKept: deal.hand_kept,
    NewHands: deal.hands_renewed,
    Reported: _told,
    MisdealFound: deal.misdeal_found,
    QuestionAsked: play.question_asked,
    QuestionAnswered: play.question_answered,
    PlayEnded: _play_ended,
    DealScored: scoring.deal_scored,
    DealVoided: _voided,
    DuelCalled: scoring.duel_called,
    PlayerEliminated: _told,
    MatchWon: scoring.match_won,
}


def evolve(state: State, event: Event, number: int) -> State:
    """The state after event ``number``; never re-judges it."""
    after: State = _EVOLVE[type(event)](state, event, number)
    return after


RULESET = Ruleset(
    key="rodskagg-alga",
    edition=1,
    players_min=2,
    players_max=8,
    start_points=START,
    pack=PACK,
    options=Options,
    acts=(*_SPOKEN_FOR, Void),
    offences=(),
    events=FACTS,
    state=State,
    opening=opening,
    start=start,
    decide=decide,
    begin=begin,
    evolve=evolve,
    to_act=sight.to_act,
    legal=sight.legal,
    view=sight.view,
)
