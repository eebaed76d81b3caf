"""Rödskägg after Kortoxen 1949: an auction, six tricks, a question, and errors that stand until somebody knocks.

Rulebook B1-B80. Readings of what the source leaves open are B-O1 to B-O39; the option that changes one is named
in :class:`Options`. The weightiest: knocks until the deal is scored (B-O2), a revoke is an error like any other
(B-O26), the others are free after a forgotten question (B-O16), surplus tricks bounce (B-O14).

What no referee at a distance can see, and what is therefore only reported or not refereed at all: the packets of
three at a real table (B19), cards shown, and how loud somebody knocked (B12).
"""

from typing import Any

import msgspec

from referee.acts import (
    Act,
    Answer,
    Ask,
    Bid,
    Close,
    Cut,
    Deal,
    Draw,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
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
    CardDrawn,
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    Event,
    FirstDealerDrawn,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    PlayEnded,
    PlayerEliminated,
    Reported,
    TrickTaken,
)
from referee.games._rodskagg.facts import (
    FACTS,
    AuctionWon,
    BidMade,
    CardsCut,
    HandKept,
    HandRequested,
    KnockedForCards,
    KnockedOut,
    MisdealFound,
    NewHands,
    PickedUp,
    QuestionAnswered,
    QuestionAsked,
)
from referee.games.rodskagg_kortoxen import auction, deal, play, scoring, sight
from referee.games.rodskagg_kortoxen.states import (
    Auction,
    Drawing,
    Exchanging,
    Options,
    Over,
    PickingUp,
    Played,
    Playing,
    State,
    Table,
    Undealt,
)
from referee.offences import Ledger, adjudicate, nothing_to_punish
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from referee.ruleset import Moment, Ruleset

KNOCK_RULES = {"nothing": "B-O32", "late": "B-O32", "again": "B-O5", "fine": "B-O3"}
"""What a dismissed knock, and the fine for it, rest on; nothing and late alike, or the rule would tell them apart."""
START = 12
"""Points at the start (B7)."""


def opening(opened: MatchOpened) -> None:
    """B1, B7, B-O23: refuses a match that cannot be played by these rules."""
    options, seats = _options(opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "B-O23", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "B70", points=opened.points)
    if options.overshoot == "bounce" and any(points < 0 for points in opened.points):
        raise AgainstTheRules("points_below_zero", "B72", points=opened.points)


def _options(opened: MatchOpened) -> Options:
    known = {name: opened.options[name] for name in Options.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, Options)


def start(opened: MatchOpened) -> State:
    """The state of a match just opened."""
    seats = len(opened.players)
    table = Table(
        options=_options(opened),
        seats=seats,
        penalise=opened.enforcement == "penalise",
        house=opened.dealing == "house",
        stakes=opened.stakes,
        points=opened.points,
        active=clockwise(0, seats),
        deal=1,
        dealer=opened.first_dealer or 0,
    )
    if opened.first_dealer is None:
        return Drawing(table=table, contenders=table.active)
    return Undealt(table=table)


def begin(state: State, moment: Moment) -> tuple[Event, ...]:
    """B14: in house dealing the referee draws for the first deal."""
    if isinstance(state, Drawing) and state.table.house:
        return deal.draw_by_itself(state, moment.seed)
    return ()


# What may be decided: phase and act

_DECIDE: dict[type, dict[type, Any]] = {
    Drawing: {Draw: deal.draw},
    Undealt: {Cut: deal.cut, Deal: deal.deal, Report: deal.report},
    PickingUp: {
        KnockForCards: deal.knock_for_cards,
        PickUp: deal.pick_up,
        Deal: deal.deal,
        Bid: auction.bid_before_it_opens,
        Cut: deal.cut,
        Report: deal.report,
    },
    Exchanging: {RequestCards: deal.request_cards, KeepCards: deal.keep_cards, Report: deal.report},
    Auction: {Bid: auction.bid, Report: deal.report},
    Playing: {
        Play: play.play,
        Ask: play.ask,
        Answer: play.answer,
        KnockOut: play.knock_out,
        Report: deal.report,
    },
    Played: {KnockOut: play.knock_out, Score: scoring.score, Report: deal.report},
    Over: {},
}

_SPOKEN_FOR: dict[type[Act], str] = {
    Draw: "B14",
    Cut: "B16",
    Deal: "B13",
    KnockForCards: "B20",
    PickUp: "B23",
    RequestCards: "B-O20",
    KeepCards: "B-O20",
    Bid: "B28",
    Ask: "B46",
    Answer: "B47",
    KnockOut: "B67",
    Play: "B41",
    Report: "B11",
    Score: "B-O28",
}
"""The rule that an act belongs to: cited when it comes in a phase that has no place for it."""


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or :class:`~referee.refusals.Refused`."""
    decision = _DECIDE[type(state)].get(type(act))
    if decision is None or act.seat not in state.table.active:  # type: ignore[union-attr]
        return _elsewhere(state, act)
    events: tuple[Event, ...] = decision(state, act, moment)
    last = type(events[-1])
    if last is PlayEnded or last is KnockedOut:
        return _scored_by_itself(state, events, moment)
    return events


def _scored_by_itself(state: State, events: tuple[Event, ...], moment: Moment) -> tuple[Event, ...]:
    """B-O28, B78: scored as soon as nothing is due, where nothing can be forgotten or the deal is broken off."""
    for number, event in enumerate(events, moment.version + 1):
        state = evolve(state, event, number)
    broken_off = isinstance(state, Played) and state.kind == "knocked_out"
    if isinstance(state, Played) and (broken_off or not state.table.penalise) and scoring.nothing_due(state):
        return *events, *scoring.scored(state)
    return events


def _elsewhere(state: State, act: Request) -> tuple[Event, ...]:
    """Knocks and the official's acts, which have a place in every phase; and what has no place in this one."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None, winner=state.winner)
    if isinstance(act, Void):
        return void(state, act)
    if isinstance(act, Close):
        raise WrongPhase("not_in_this_game", None)
    assert isinstance(act, SeatAct | Knock)
    if act.seat not in state.table.active:
        known = act.seat < state.table.seats
        code = "eliminated" if known else "no_such_seat"
        raise NotInPlay(code, "B12" if isinstance(act, Knock) else "B63" if known else None, seat=act.seat)
    if isinstance(act, Knock):
        return knock(state, act)
    if isinstance(state, PickingUp | Auction | Exchanging) and isinstance(act, Play):
        raise WrongPhase("play_not_begun", "B41")
    if isinstance(state, Played) and isinstance(act, Deal | Cut):
        raise scoring.must_score_first(state)
    raise WrongPhase("wrong_phase", _SPOKEN_FOR.get(type(act)), phase=type(state).__struct_config__.tag)


def knock(state: State, act: Knock) -> tuple[Event, ...]:
    """B11-B12, B-O1 to B-O5, B-O32: who points out an error of another."""
    table = state.table
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "B12")
    if act.offence == "wrong_count":  # whoever holds the cards, it is the dealer's misdeal (B25)
        act = msgspec.structs.replace(act, offence="misdeal")
    elif act.offence is not None and act.offence not in OFFENCES:
        raise AgainstTheRules("no_such_offence", "B11", allowed=OFFENCES)
    if not table.penalise:
        return (nothing_to_punish(state.ledger, act, "B-O32"),)
    playing = state.play if isinstance(state, Played) else state
    return adjudicate(
        state.ledger,
        act,
        tricks_done=playing.played if isinstance(playing, Playing) else 0,
        rules=KNOCK_RULES,
        fine=table.options.false_knock_penalty,
    )


def void(state: State, act: Void) -> tuple[Event, ...]:
    """B-O38: the official voids the deal under way."""
    if isinstance(state, Undealt | Drawing):
        raise WrongPhase("nothing_dealt", "B-O38")
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


# What follows from an event


def _ruled(state: Any, event: KnockUpheld | KnockDismissed, number: int) -> State:
    return _with_ledger(state, state.ledger.ruled(event, number))


def _imposed(state: Any, event: PenaltyImposed, number: int) -> State:
    if isinstance(state, Playing):
        return play.penalty_imposed(state, event, number)
    if isinstance(state, Played) and state.play is not None:
        after = play.penalty_imposed(state.play, event, number)
        return msgspec.structs.replace(state, ledger=after.ledger, play=after)
    return _with_ledger(state, state.ledger.imposed(event, number))


def _reported(state: Any, event: Reported, number: int) -> State:
    return _with_ledger(state, state.ledger.noted(event.breaches, number))


def _with_ledger(state: Any, ledger: Ledger) -> State:
    if isinstance(state, Played) and state.play is not None:
        state = msgspec.structs.replace(state, play=msgspec.structs.replace(state.play, ledger=ledger))
    changed: State = msgspec.structs.replace(state, ledger=ledger)
    return changed


def _knocked_out(state: Any, event: KnockedOut, number: int) -> State:
    if isinstance(state, Played):
        assert state.play is not None
        return msgspec.structs.replace(state, play=play.knocked_out(state.play, event, number))
    return play.knocked_out(state, event, number)


def _play_ended(state: Any, event: PlayEnded, number: int) -> State:
    if isinstance(state, Auction):
        return auction.passed_out(state, event, number)
    if isinstance(state, Played):  # knocked out after the last trick
        return msgspec.structs.replace(state, kind=event.kind)
    return play.play_ended(state, event, number)


def _voided(state: Any, event: DealVoided, number: int) -> State:
    return Undealt(table=state.table, ledger=state.ledger.voided())


def _told(state: State, event: Event, number: int) -> State:
    return state


_EVOLVE: dict[type[Event], Any] = {
    CardPlayed: play.card_played,
    TrickTaken: play.trick_taken,
    BidMade: auction.bid_made,
    AuctionWon: auction.auction_won,
    CardDrawn: deal.card_drawn,
    FirstDealerDrawn: deal.first_dealer_drawn,
    CardsCut: deal.cards_cut,
    Dealt: deal.dealt,
    KnockedForCards: deal.knocked_for_cards,
    PickedUp: deal.picked_up,
    MisdealFound: deal.misdeal_found,
    HandRequested: deal.hand_requested,
    HandKept: deal.hand_kept,
    NewHands: deal.hands_renewed,
    Reported: _reported,
    QuestionAsked: play.question_asked,
    QuestionAnswered: play.question_answered,
    KnockedOut: _knocked_out,
    PlayEnded: _play_ended,
    KnockUpheld: _ruled,
    KnockDismissed: _ruled,
    PenaltyImposed: _imposed,
    DealScored: scoring.deal_scored,
    DealVoided: _voided,
    PlayerEliminated: _told,
    MatchWon: scoring.match_won,
}


def evolve(state: State, event: Event, number: int) -> State:
    """The state after event ``number``; never re-judges it."""
    after: State = _EVOLVE[type(event)](state, event, number)
    return after


ACTS: tuple[type[Act], ...] = (*_SPOKEN_FOR, Void)

OFFENCES = (
    "wrong_cut",
    "early_pick_up",
    "misdeal",
    "fold_question",
    "exit_knock",
    "revoke",
    "exposed_card",
    "led_out_of_turn",
)

RULESET = Ruleset(
    key="rodskagg-kortoxen",
    edition=1,
    players_min=3,
    players_max=8,
    start_points=START,
    pack=PACK,
    options=Options,
    acts=ACTS,
    offences=OFFENCES,
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
