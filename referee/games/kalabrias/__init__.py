"""Kalabrias for two, three or four: trumps are chosen, sequences compared, and tricks played for card points.

Rulebook E1-E53. Readings of what the source leaves open are E-O1 to E-O40; the option that changes one is named in
:class:`Options`. The weightiest: the winner scores all sequences of the hand (E-O10), equal ones in plain suits
cancel out (E-O12), a level deal gives the declarer nothing (E-O21), three players settle against the sum of the
opponents (E-O22), and points are compared after the deal, not during it (E-O20, E-O31).

The source knows no offences: a card or a claim that the cards forbid is refused, whatever the match does with
errors elsewhere (E-O30, E-O33). With closed hands claims stand until the cards are on the table. The source knows
no money either, so that a match is never settled in it. What no referee at a distance can see is how the packets
were dealt at a real table (E-O4).
"""

from typing import Any

import msgspec

from referee.acts import (
    Act,
    Bella,
    Bid,
    Close,
    Deal,
    Declare,
    Exchange,
    Knock,
    Play,
    Reply,
    Request,
    Respond,
    Score,
    SeatAct,
    Void,
)
from referee.cards import clockwise
from referee.events import (
    CardDrawn,
    CardPlayed,
    DealScored,
    Dealt,
    DealVoided,
    Event,
    FirstDealerDrawn,
    KnockDismissed,
    MatchOpened,
    MatchWon,
    PlayEnded,
    TrickTaken,
)
from referee.games.kalabrias import auction, deal, declarations, play, scoring, sight
from referee.games.kalabrias.facts import (
    FACTS,
    BellaDeclared,
    DeclarerBound,
    LaterCardsDealt,
    RedealAnswered,
    SequenceAnswered,
    SequenceDeclared,
    SequencesCompared,
    SequenceShown,
    SevenExchanged,
    TrumpsCalled,
    TrumpsMade,
)
from referee.games.kalabrias.ranks import PACK
from referee.games.kalabrias.states import (
    Auction,
    Declaring,
    LaterCards,
    Naming,
    Options,
    Over,
    Played,
    Playing,
    Proposed,
    State,
    Table,
    Undealt,
)
from referee.offences import nothing_to_punish
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from referee.ruleset import Moment, Ruleset

START = 0
"""Points at the start; the game counts upwards (E46)."""


def opening(opened: MatchOpened) -> None:
    """E1, E47, E49, E52: refuses a match that cannot be played by these rules."""
    table, points = _table(opened), opened.points
    if any(score < 0 for score in points):
        raise AgainstTheRules("points_not_negative", "E42", points=points)
    if len(points) == 4 and points[:2] != points[2:]:
        raise AgainstTheRules("partners_share_points", "E52", points=points)
    if scoring.leading(table, table.points) is not None:
        raise AgainstTheRules("target_reached", "E46", points=points, target=table.options.target_score)


def _options(opened: MatchOpened) -> Options:
    known = {name: opened.options[name] for name in Options.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, Options)


def _table(opened: MatchOpened) -> Table:
    seats = len(opened.players)
    table = Table(
        options=_options(opened),
        seats=seats,
        penalise=opened.enforcement == "penalise",
        house=opened.dealing == "house",
        points=opened.points,
        active=clockwise(0, seats),
        deal=1,
        dealer=opened.first_dealer or 0,
    )
    return msgspec.structs.replace(table, points=tuple(score * table.unit for score in opened.points))


def start(opened: MatchOpened) -> State:
    """The state of a match just opened."""
    return Undealt(table=_table(opened), drawn=opened.first_dealer is not None)


def begin(state: State, moment: Moment) -> tuple[Event, ...]:
    """E-O29: the referee draws for the first deal if nobody was named."""
    if isinstance(state, Undealt) and not state.drawn:
        return deal.draw_by_itself(state.table, moment.seed)
    return ()


# What may be decided: phase and act

_DECIDE: dict[type, dict[type, Any]] = {
    Undealt: {Deal: deal.deal},
    Auction: {Bid: auction.bid},
    Proposed: {Reply: auction.reply},
    Naming: {Bid: auction.name},
    LaterCards: {Deal: deal.later},
    Declaring: {
        Declare: declarations.declare,
        Respond: declarations.respond,
        Bella: declarations.bella,
        Exchange: deal.exchange,
    },
    Playing: {Play: play.play, Bella: declarations.bella, Declare: declarations.declare_in_play},
    Played: {Score: scoring.score},
    Over: {},
}

_SPOKEN_FOR: dict[type[Act], str] = {
    Deal: "E3",
    Bid: "E5",
    Reply: "E11",
    Exchange: "E-O16",
    Declare: "E19",
    Respond: "E20",
    Bella: "E18",
    Play: "E28",
    Score: "E42",
}
"""The rule that an act belongs to: cited when it comes in a phase that has no place for it."""


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or :class:`~referee.refusals.Refused`."""
    decision = _DECIDE[type(state)].get(type(act))
    if decision is None or act.seat >= state.table.seats:  # type: ignore[union-attr]
        return _elsewhere(state, act)
    events: tuple[Event, ...] = decision(state, act, moment)
    if type(events[-1]) is PlayEnded:
        return _scored_by_itself(state, events, moment)
    return events


def _scored_by_itself(state: State, events: tuple[Event, ...], moment: Moment) -> tuple[Event, ...]:
    """E42: scored at once, but a deal that was played waits for ``score`` where errors could be knocked for."""
    for number, event in enumerate(events, moment.version + 1):
        state = evolve(state, event, number)
    assert isinstance(state, Played), "the deal has ended"
    return events if state.table.penalise and state.play is not None else (*events, *scoring.scored(state))


def _elsewhere(state: State, act: Request) -> tuple[Event, ...]:
    """Knocks and the official's acts, which have a place in every phase; and what has no place in this one."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None, winner=state.winner)
    if isinstance(act, Void):
        return void(state, act)
    if isinstance(act, Close):
        raise WrongPhase("not_in_this_game", None)
    assert isinstance(act, SeatAct | Knock)
    if act.seat >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.seat)
    if isinstance(act, Knock):
        return knock(state, act)
    phase = str(type(state).__struct_config__.tag)
    raise WrongPhase("wrong_phase", _SPOKEN_FOR.get(type(act)), phase=phase)


def knock(state: State, act: Knock) -> tuple[Event, ...]:
    """E-O30: the game knows no offence, so that every knock is dismissed."""
    if act.accused >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "E-O30")
    return (nothing_to_punish(state.ledger, act, "E-O30"),)


def void(state: State, act: Void) -> tuple[Event, ...]:
    """The official voids the deal under way: the same dealer deals again."""
    if isinstance(state, Undealt):
        raise WrongPhase("nothing_dealt", None)
    return (DealVoided(deal=state.table.deal, reason=act.reason),)


# What follows from an event


def _ruled(state: Any, event: KnockDismissed, number: int) -> State:
    changed: State = msgspec.structs.replace(state, ledger=state.ledger.ruled(event, number))
    return changed


def _play_ended(state: Any, event: PlayEnded, number: int) -> State:
    if isinstance(state, Playing):
        return play.play_ended(state, event, number)
    return auction.auction_ended(state, event, number)


def _voided(state: Any, event: DealVoided, number: int) -> State:
    return Undealt(table=state.table, ledger=state.ledger.voided())


def _told(state: State, event: Event, number: int) -> State:
    return state


_EVOLVE: dict[type[Event], Any] = {
    CardPlayed: play.card_played,
    TrickTaken: play.trick_taken,
    CardDrawn: _told,
    FirstDealerDrawn: deal.first_dealer_drawn,
    Dealt: deal.dealt,
    TrumpsCalled: auction.trumps_called,
    RedealAnswered: auction.redeal_answered,
    DeclarerBound: auction.declarer_bound,
    TrumpsMade: auction.trumps_made,
    LaterCardsDealt: deal.later_cards_dealt,
    SevenExchanged: deal.seven_exchanged,
    SequenceDeclared: declarations.sequence_declared,
    SequenceAnswered: declarations.sequence_answered,
    SequencesCompared: declarations.sequences_compared,
    SequenceShown: declarations.sequence_shown,
    BellaDeclared: declarations.bella_declared,
    PlayEnded: _play_ended,
    KnockDismissed: _ruled,
    DealScored: scoring.deal_scored,
    DealVoided: _voided,
    MatchWon: scoring.match_won,
}


def evolve(state: State, event: Event, number: int) -> State:
    """The state after event ``number``; never re-judges it."""
    after: State = _EVOLVE[type(event)](state, event, number)
    return after


ACTS: tuple[type[Act], ...] = (*_SPOKEN_FOR, Void)

RULESET = Ruleset(
    key="kalabrias",
    edition=1,
    players_min=2,
    players_max=4,
    start_points=START,
    pack=PACK,
    options=Options,
    acts=ACTS,
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
    carried=sight.carried,
)
