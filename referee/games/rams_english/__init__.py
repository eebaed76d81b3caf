"""Rams, the English form: five cards each, a widow, and a pot that holds what nobody took.

Rulebook D1-D71. Readings of what the source leaves open are D-O1 to D-O28; the option that changes one is named in
:class:`Options`. The weightiest: the stake stays after a misdeal (D-O10), the second-best card gets what a player
at fault forfeits (D-O11), faults are punished when the deal is scored, without a knock (D-O24), and the session
ends by ``close`` (D-O28).

The books are kept in minor units of money, or where no money is set in units of one trick (D-O17). What the seats
win or lose in a deal, the pot loses or wins: the sum is always nought.

What no referee at a distance can see, and what is therefore only reported or not refereed at all: the packets of a
deal at a real table (D18-D19), cards shown, too many or too few of them (D68), and what was laid away for the widow
when hands are closed (D26).
"""

from typing import Any

import msgspec

from referee.acts import Act, Bid, Close, Deal, Draw, Exchange, Knock, Play, Report, Request, Score, SeatAct, Void
from referee.events import (
    CardDrawn,
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    Event,
    FirstDealerDrawn,
    MatchClosed,
    MatchOpened,
    PlayEnded,
    Reported,
    TrickTaken,
)
from referee.games.rams_english import deal, declarations, payment, play, sight
from referee.games.rams_english.states import (
    FACTS,
    HAND,
    PACK,
    DeclarationsClosed,
    Declared,
    Declaring,
    Drawing,
    Options,
    Over,
    Played,
    Playing,
    Staked,
    State,
    Table,
    TurnUpTaken,
    Undealt,
)
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from referee.ruleset import Moment, Ruleset


def opening(opened: MatchOpened) -> None:
    """D1-D2, D-O23: refuses a match that cannot be played by these rules."""
    if len(opened.players) == 6 and not _options(opened).six_players:
        raise AgainstTheRules("too_many_players", "D-O9", players_max=5)
    if opened.pot < 0:
        raise AgainstTheRules("pot_below_zero", "D-O23", pot=opened.pot)


def _options(opened: MatchOpened) -> Options:
    known = {name: opened.options[name] for name in Options.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, Options)


def start(opened: MatchOpened) -> State:
    """The state of a match just opened."""
    table = Table(
        options=_options(opened),
        seats=len(opened.players),
        penalise=opened.enforcement == "penalise",
        house=opened.dealing == "house",
        stakes=opened.stakes,
        stake=HAND * (opened.stakes.unit if opened.stakes else 1),  # D10, D15, D-O17
        balances=opened.points,
        pot=opened.pot,
        deal=1,
        dealer=opened.first_dealer or 0,
    )
    return Drawing(table=table) if opened.first_dealer is None else Undealt(table=table)


def begin(state: State, moment: Moment) -> tuple[Event, ...]:
    """D11-D13: in house dealing the referee turns cards up for the first deal."""
    if isinstance(state, Drawing) and state.table.house:
        return deal.draw_by_itself(state, moment.seed)
    return ()


# What may be decided: phase and act

_DECIDE: dict[type, dict[type, Any]] = {
    Drawing: {Draw: deal.draw},
    Undealt: {Deal: deal.deal, Report: deal.report},
    Declaring: {Bid: declarations.declare, Report: deal.report},
    Playing: {
        Play: play.play,
        Exchange: declarations.exchange,
        Bid: declarations.announce_late,
        Report: deal.report,
    },
    Played: {Score: payment.score, Report: deal.report},
    Over: {},
}

_SPOKEN_FOR: dict[type[Act], str] = {
    Draw: "D11",
    Deal: "D14",
    Bid: "D28",
    Exchange: "D46",
    Play: "D48",
    Report: "D-O26",
    Score: "D-O24",
}
"""The rule that an act belongs to: cited when it comes in a phase that has no place for it."""


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or :class:`~referee.refusals.Refused`."""
    decision = _DECIDE[type(state)].get(type(act))
    if decision is None or act.seat >= state.table.seats:  # type: ignore[union-attr]
        return _elsewhere(state, act, moment)
    events: tuple[Event, ...] = decision(state, act, moment)
    last = events[-1]
    if isinstance(last, PlayEnded) and (not state.table.penalise or last.kind in ("paid", "misdeal")):
        return _scored_by_itself(state, events, moment)
    return events


def _scored_by_itself(state: State, events: tuple[Event, ...], moment: Moment) -> tuple[Event, ...]:
    """D32, D67, D-O24: scored at once, where no fault can stand or the cards were never played."""
    for number, event in enumerate(events, moment.version + 1):
        state = evolve(state, event, number)
    assert isinstance(state, Played), "the play has ended"
    return (*events, *payment.scored(state))


def _elsewhere(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The official's acts, and what has no place in this phase, or in this game."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None)
    if isinstance(act, Void):
        return void(state, act)
    if isinstance(act, Close):
        if isinstance(state, Undealt | Drawing):
            return payment.close(state, act, moment)
        raise WrongPhase("deal_under_way", "D-O28")
    assert isinstance(act, SeatAct | Knock)
    if act.seat >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.seat)
    if isinstance(act, Knock):
        raise WrongPhase("no_knocking", "D-O24")
    if type(act) not in _SPOKEN_FOR:
        raise WrongPhase("not_in_this_game", None)
    if isinstance(state, Played) and isinstance(act, Deal):
        raise WrongPhase("deal_not_scored", "D-O24")
    if isinstance(state, Declaring) and isinstance(act, Play):
        raise WrongPhase("play_not_begun", "D48")
    raise WrongPhase("wrong_phase", _SPOKEN_FOR[type(act)], phase=type(state).__struct_config__.tag)


def void(state: State, act: Void) -> tuple[Event, ...]:
    """The official voids the deal under way: the stake goes back and the same dealer deals again."""
    if isinstance(state, Undealt | Drawing):
        raise WrongPhase("nothing_dealt", None)
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


# What follows from an event


def _voided(state: State, event: DealVoided, number: int) -> State:
    return Undealt(table=state.table)


_EVOLVE: dict[type[Event], Any] = {
    CardPlayed: play.card_played,
    TrickTaken: play.trick_taken,
    Declared: declarations.declared,
    DeclarationsClosed: declarations.declarations_closed,
    TurnUpTaken: declarations.turn_up_taken,
    CardDrawn: deal.card_drawn,
    FirstDealerDrawn: deal.first_dealer_drawn,
    Staked: deal.staked,
    Dealt: deal.dealt,
    Reported: deal.reported,
    PlayEnded: declarations.play_ended,
    DealScored: payment.deal_scored,
    DealVoided: _voided,
    MatchClosed: payment.match_closed,
}


def evolve(state: State, event: Event, number: int) -> State:
    """The state after event ``number``; never re-judges it."""
    after: State = _EVOLVE[type(event)](state, event, number)
    return after


ACTS: tuple[type[Act], ...] = (*_SPOKEN_FOR, Close, Void)

RULESET = Ruleset(
    key="rams-english",
    edition=1,
    players_min=3,
    players_max=6,
    start_points=0,
    pack=PACK,
    options=Options,
    acts=ACTS,
    offences=("revoke", "not_heading", "misdeal", "exposed_card", "wrong_count", "led_out_of_turn"),
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
    has_pot=True,
)
