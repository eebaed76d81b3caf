"""Rödskägg after CatsAtCards: everybody declares exactly, six tricks, a question, with Fem Opp and Exact Tricks.

Rulebook C1-C62. Readings of what the source leaves open are C-O1 to C-O35; the option that changes one is named in
:class:`Options`. The weightiest: only who had no trick and played on counts late tricks double (C-O1), nothing of it
touches the Declarer (C-O2), a Redbeard hand is played out and scored for the others (C-O7), the Declarer among
several at zero wins (C-O8), and the table of Fem Opp, lost in the source, is data (C60).

What no referee at a distance can see, and is therefore not refereed: how well the pack was shuffled (C10), the
packets of three at a real table (C12), that tricks lie face down (C28), and how loud somebody knocked (C59).
"""

from typing import Any

import msgspec

from referee.acts import (
    Act,
    Announce,
    Answer,
    Ask,
    Bid,
    Cut,
    Deal,
    Discard,
    Draw,
    KeepCards,
    Knock,
    KnockForCards,
    PickUp,
    Play,
    Remind,
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
    Announced,
    AuctionWon,
    BidMade,
    CardGiven,
    CardsCut,
    CardsThrown,
    DuelCalled,
    HandKept,
    KnockedForCards,
    LeadDrawn,
    MisdealFound,
    PickedUp,
    QuestionAnswered,
    QuestionAsked,
    Reminded,
)
from referee.games.rodskagg_catsatcards import auction, deal, play, scoring, sight
from referee.games.rodskagg_catsatcards.states import (
    Auction,
    Drawing,
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

KNOCK_RULES = {"nothing": "C59", "late": "C59", "again": "C-O23", "fine": "C-O23"}
"""What a dismissed knock, and the fine for it, rest on; nothing and late alike, or the rule would tell them apart."""
START = 12
"""Points at the start (C5)."""


def opening(opened: MatchOpened) -> None:
    """C4-C5, C43: refuses a match that cannot be played by these rules."""
    options, seats = _options(opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "C4", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "C43", points=opened.points)


def _options(opened: MatchOpened) -> Options:
    known = {name: opened.options[name] for name in Options.__struct_fields__ if name in opened.options}
    return msgspec.convert(known, Options)


def start(opened: MatchOpened) -> State:
    """The state of a match just opened."""
    seats = len(opened.players)
    everybody = clockwise(0, seats)
    table = Table(
        options=_options(opened),
        seats=seats,
        penalise=opened.enforcement == "penalise",
        house=opened.dealing == "house",
        points=opened.points,
        active=everybody,
        playing=everybody,
        deal=1,
        dealer=opened.first_dealer or 0,
        told=(None,) * seats,
    )
    if opened.first_dealer is None:
        return Drawing(table=table, contenders=everybody)
    return Undealt(table=table)


def begin(state: State, moment: Moment) -> tuple[Event, ...]:
    """C7-C8: in house dealing the referee draws for the first deal."""
    if isinstance(state, Drawing) and state.table.house:
        return deal.draw_by_itself(state.contenders, False, moment.seed)
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
    Auction: {
        RequestCards: deal.request_cards,
        KeepCards: deal.keep_cards,
        Discard: deal.discard,
        Bid: auction.bid,
        Report: deal.report,
    },
    Playing: {
        Play: play.play,
        Ask: play.ask,
        Remind: play.remind,
        Answer: play.answer,
        Announce: play.announce,
        Report: deal.report,
    },
    Played: {Announce: scoring.announce, Score: scoring.score, Report: deal.report},
    Over: {},
}

_SPOKEN_FOR: dict[type[Act], str] = {
    Draw: "C48",
    Cut: "C10",
    Deal: "C9",
    KnockForCards: "C60",
    PickUp: "C60",
    RequestCards: "C13",
    KeepCards: "C13",
    Discard: "C15",
    Bid: "C16",
    Ask: "C30",
    Remind: "C37",
    Answer: "C30",
    Play: "C23",
    Announce: "C49",
    Report: "C60",
    Score: "C-O23",
}
"""The rule that an act belongs to: cited when it comes in a phase that has no place for it."""


def decide(state: State, act: Request, moment: Moment) -> tuple[Event, ...]:
    """The events that an act makes, or :class:`~referee.refusals.Refused`."""
    decision = _DECIDE[type(state)].get(type(act))
    if decision is None or not _takes_part(state, act):
        return _elsewhere(state, act)
    events: tuple[Event, ...] = decision(state, act, moment)
    last = type(events[-1])
    if last is PlayEnded or last is Announced:
        return _scored_by_itself(state, events, moment)
    return events


def _takes_part(state: State, act: Any) -> bool:
    """C46, C-O9: in a duel only its players, but for the dealer, who may be somebody else."""
    table = state.table
    return act.seat in table.playing or (act.seat in table.active and isinstance(act, Deal | Report | Cut))


def _scored_by_itself(state: State, events: tuple[Event, ...], moment: Moment) -> tuple[Event, ...]:
    """C-O23, C55: scored as soon as nothing is due, where nothing can be passed over or zero has won at once."""
    for number, event in enumerate(events, moment.version + 1):
        state = evolve(state, event, number)
    won = isinstance(state, Played) and state.kind == "zero_at_once"
    if isinstance(state, Played) and (won or not state.table.penalise) and scoring.nothing_due(state):
        return *events, *scoring.scored(state, moment.seed)
    return events


def _elsewhere(state: State, act: Request) -> tuple[Event, ...]:
    """Knocks and the official's acts, which have a place in every phase; and what has no place in this one."""
    if isinstance(state, Over):
        raise MatchOver("match_over", None, winner=state.winner)
    if isinstance(act, Void):
        return void(state, act)
    if not isinstance(act, SeatAct | Knock) or (isinstance(act, SeatAct) and type(act) not in _SPOKEN_FOR):
        raise WrongPhase("not_in_this_game", None)
    if act.seat >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.seat)
    if act.seat not in state.table.active:
        raise NotInPlay("eliminated", "C42", seat=act.seat)
    if isinstance(act, Knock):
        return knock(state, act)
    if act.seat not in state.table.playing and not isinstance(act, Deal):
        raise NotInPlay("not_in_duel", "C46", seat=act.seat)
    if isinstance(state, Played) and isinstance(act, Deal | Cut):
        raise _must_score_first(state)
    rule = "C44" if isinstance(act, Announce) and act.what == "thanks" else _SPOKEN_FOR[type(act)]
    raise WrongPhase("wrong_phase", rule, phase=type(state).__struct_config__.tag)


def _must_score_first(state: Played) -> AgainstTheRules | WrongPhase:
    if state.table.penalise:
        return WrongPhase("deal_not_scored", "C-O23")
    return AgainstTheRules("announcement_owed", "C49", pending=state.play.owed)


def knock(state: State, act: Knock) -> tuple[Event, ...]:
    """C57-C61, C-O23 (B-O32): in Fem Opp, who points out a neglected ritual of another."""
    table = state.table
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "C59")
    if not table.penalise:
        return (nothing_to_punish(state.ledger, act, "C-O23"),)
    playing = state.play if isinstance(state, Played) else state
    return adjudicate(
        state.ledger,
        act,
        tricks_done=playing.played if isinstance(playing, Playing) else 0,
        rules=KNOCK_RULES,
        fine=table.options.false_knock_penalty if table.options.fem_opp else 0,
    )


def void(state: State, act: Void) -> tuple[Event, ...]:
    """C-O23 (B-O38): the official voids the deal under way; penalties knocked in it enter the score sheet."""
    if isinstance(state, Undealt | Drawing):
        raise WrongPhase("nothing_dealt", "C-O23")
    table = state.table
    entries = scoring.penalty_entries(state.ledger)
    if not entries:
        return (DealVoided(deal=table.deal, reason=act.reason),)
    points = tuple(points + state.ledger.points(seat) for seat, points in enumerate(table.points))
    return (DealVoided(deal=table.deal, reason=act.reason, before=table.points, points=points, entries=entries),)


# What follows from an event


def _ruled(state: Any, event: KnockUpheld | KnockDismissed, number: int) -> State:
    return _with_ledger(state, state.ledger.ruled(event, number))


def _imposed(state: Any, event: PenaltyImposed, number: int) -> State:
    if isinstance(state, Playing):
        return play.penalty_imposed(state, event, number)
    if isinstance(state, Played):
        after = play.penalty_imposed(state.play, event, number)
        if state.kind == "redbeard_made":  # C-O24
            after = msgspec.structs.replace(after, owed=())
        return msgspec.structs.replace(state, ledger=after.ledger, play=after)
    return _with_ledger(state, state.ledger.imposed(event, number))


def _reported(state: Any, event: Reported, number: int) -> State:
    return _with_ledger(state, state.ledger.noted(event.breaches, number))


def _with_ledger(state: Any, ledger: Ledger) -> State:
    if isinstance(state, Played):
        state = msgspec.structs.replace(state, play=msgspec.structs.replace(state.play, ledger=ledger))
    changed: State = msgspec.structs.replace(state, ledger=ledger)
    return changed


def _announced(state: Any, event: Announced, number: int) -> State:
    if isinstance(state, Playing):
        return play.announced(state, event, number)
    if event.what == "thanks":
        thanked: State = msgspec.structs.replace(state, thanked=(*state.thanked, event.seat))
        return thanked
    told: State = msgspec.structs.replace(state, play=play.announced(state.play, event, number))
    return told


def _voided(state: Any, event: DealVoided, number: int) -> State:
    """Nothing of the deal counts but the penalties knocked in it; in a duel the lead stays drawn."""
    table = state.table
    said = state.play.told if isinstance(state, Played) else state.told if isinstance(state, Playing) else table.told
    points = event.points or table.points
    told = tuple(value if value == total else None for value, total in zip(said, points, strict=True))
    return Undealt(table=msgspec.structs.replace(table, points=points, told=told), ledger=state.ledger.closed())


def _told(state: State, event: Event, number: int) -> State:
    return state


_EVOLVE: dict[type[Event], Any] = {
    CardPlayed: play.card_played,
    TrickTaken: play.trick_taken,
    BidMade: auction.bid_made,
    AuctionWon: auction.auction_won,
    CardDrawn: deal.card_drawn,
    FirstDealerDrawn: deal.first_dealer_drawn,
    LeadDrawn: deal.lead_drawn,
    CardsCut: deal.cards_cut,
    Dealt: deal.dealt,
    KnockedForCards: deal.knocked_for_cards,
    PickedUp: deal.picked_up,
    MisdealFound: deal.misdeal_found,
    CardGiven: deal.card_given,
    HandKept: deal.hand_kept,
    CardsThrown: deal.cards_thrown,
    Reported: _reported,
    QuestionAsked: play.question_asked,
    QuestionAnswered: play.question_answered,
    Reminded: _told,
    Announced: _announced,
    PlayEnded: play.play_ended,
    KnockUpheld: _ruled,
    KnockDismissed: _ruled,
    PenaltyImposed: _imposed,
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
    key="rodskagg-catsatcards",
    edition=1,
    players_min=3,
    players_max=7,
    start_points=START,
    pack=PACK,
    options=Options,
    acts=(*_SPOKEN_FOR, Void),
    offences=tuple(deal.RULE),
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
