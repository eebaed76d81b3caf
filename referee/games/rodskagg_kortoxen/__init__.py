"""Rödskägg after Kortoxen 1949 (B1-B80, B-O1 to B-O41).

Packets at a real table (B19) and how loud a knock was (B12) are not checked. Players report exposed cards.
"""

from functools import partial

from msgspec.structs import replace

from referee import acts, events, offences, phases
from referee.cards import PACK
from referee.games._rodskagg import asking, dealing, facts, new_hands, ritual, unobservable
from referee.games._rodskagg import auction as bidding
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games.rodskagg_kortoxen import auction, deal, play, scoring, sheet, views
from referee.games.rodskagg_kortoxen.states import CITES, Options, Played, Playing, State, Table, play_or_outcome
from referee.phases import Cites, evolution_by_phase, refusal_decision, table_of
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

START_POINTS = 12


def opening(opened: events.MatchOpened) -> None:
    """Raise AgainstTheRules for too many players, zero points, or points below zero with ``overshoot`` ``bounce``
    (B1, B7, B70, B72, B-O23)."""
    options, seats = phases.options_of(Options, opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "B-O23", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "B70", points=opened.points)
    if options.overshoot == "bounce" and any(points < 0 for points in opened.points):
        raise AgainstTheRules("points_below_zero", "B72", points=opened.points)


def start(opened: events.MatchOpened) -> State:
    """Return the drawing for the deal or, if the opening names the dealer, the undealt deal (B14)."""
    table = table_of(Table, opened, options=phases.options_of(Options, opened))
    return Drawing(table=table, contenders=table.active) if opened.first_dealer is None else Undealt(table=table)


OFFENCES = tuple(deal.RULE_BY_OFFENCE)
KNOCK_RULES = {"nothing": "B-O32", "late": "B-O32", "again": "B-O5", "fine": "B-O3"}
"""Rules that dismissals and fines cite. ``nothing`` and ``late`` share one to hide the reason."""


def knock(state: State, act: acts.Knock, moment: Moment) -> tuple[Event, ...]:
    """Return the ruling on a knock, and its penalty or fine, if any (B11-B12, B-O1 to B-O5, B-O32).

    Raises: NotInPlay if the accused seat does not exist, AgainstTheRules for an unknown offence or a knock on
    oneself.
    """
    table, done = state.table, play_or_outcome(state)
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "B12")
    if act.offence == "wrong_count":  # because it is a misdeal in any hand (B25)
        act = replace(act, offence="misdeal")
    elif act.offence is not None and act.offence not in OFFENCES:
        raise AgainstTheRules("no_such_offence", "B11", allowed=OFFENCES)
    if not table.penalise:
        return (offences.nothing_to_punish(table.ledger, act, "B-O32"),)
    return offences.adjudicate(
        table.ledger,
        act,
        tricks_done=done.played if done else 0,
        rules=KNOCK_RULES,
        fine=table.options.false_knock_penalty,
    )


_with_ritual = partial(partial, rules=deal.RITUAL)
_NOT_BEGUN = refusal_decision(WrongPhase, "play_not_begun", "B41")

DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Drawing: {acts.Draw: deal.draw},
    Undealt: {acts.Cut: _with_ritual(ritual.cut), acts.Deal: _with_ritual(ritual.deal), acts.Report: deal.report},
    PickingUp: {
        acts.KnockForCards: _with_ritual(ritual.knock_for_cards),
        acts.PickUp: _with_ritual(ritual.pick_up),
        acts.Deal: _with_ritual(ritual.deal),
        acts.Cut: _with_ritual(ritual.cut),
        acts.Report: deal.report,
        acts.Bid: auction.refuse_early_bid,
        acts.Play: _NOT_BEGUN,
        acts.Trick: _NOT_BEGUN,
    },
    Exchanging: {
        acts.RequestCards: partial(new_hands.request_cards, cites=CITES),
        acts.KeepCards: partial(new_hands.keep_cards, cites=CITES),
        acts.Report: deal.report,
        acts.Play: _NOT_BEGUN,
    },
    Auction: {
        acts.Bid: auction.bid,
        acts.Report: deal.report,
        acts.Play: _NOT_BEGUN,
        acts.Trick: _NOT_BEGUN,
    },
    Playing: {
        acts.Play: play.play,
        acts.Trick: play.trick,
        acts.Ask: play.ask,
        acts.Answer: partial(asking.answer, cites=CITES),
        acts.KnockOut: play.knock_out,
        acts.Report: deal.report,
    },
    Played: {
        acts.KnockOut: play.knock_out,
        acts.Score: scoring.score,
        acts.Report: deal.report,
        acts.Deal: scoring.must_score_first,
        acts.Cut: scoring.must_score_first,
    },
}

RULE_OF: dict[type[acts.Act], str] = {
    acts.Draw: "B14",
    acts.Cut: "B16",
    acts.Deal: "B13",
    acts.KnockForCards: "B20",
    acts.PickUp: "B23",
    acts.RequestCards: "B-O20",
    acts.KeepCards: "B-O20",
    acts.Bid: "B28",
    acts.Ask: "B46",
    acts.Answer: "B47",
    acts.KnockOut: "B67",
    acts.Play: "B41",
    acts.Trick: "B44",
    acts.Report: "B11",
    acts.Score: "B-O28",
}

EVOLVE: dict[type[Event], phases.Evolution] = {
    events.CardPlayed: play.card_played,
    events.TrickTaken: play.trick_taken,
    facts.BidMade: bidding.bid_made,
    facts.AuctionWon: auction.auction_won,
    events.CardDrawn: dealing.card_drawn,
    facts.CardsCut: ritual.cards_cut,
    events.Dealt: _with_ritual(ritual.dealt),
    facts.KnockedForCards: ritual.knocked_for_cards,
    facts.PickedUp: _with_ritual(ritual.picked_up),
    facts.MisdealFound: ritual.misdeal_found,
    facts.HandRequested: new_hands.hand_requested,
    facts.HandKept: new_hands.hand_kept,
    facts.NewHands: new_hands.hands_renewed,
    facts.QuestionAsked: asking.question_asked,
    facts.QuestionAnswered: asking.question_answered,
    facts.KnockedOut: play.knocked_out,
    events.PlayEnded: evolution_by_phase(
        {Auction: auction.passed_out, Playing: play.play_ended, Played: play.broken_off},
    ),
}

RULESET = phases.make_ruleset(
    phases.Tables(
        decide=DECIDE,
        rule_of=RULE_OF,
        evolve=EVOLVE,
        follows={
            Drawing: deal.drawing_result,
            PickingUp: _with_ritual(ritual.find_misdeal),
            Exchanging: new_hands.deal_new_hands,
            Auction: bidding.automatic_events,
            Playing: play.automatic_events,
            Played: scoring.automatic_events,
        },
        offers=views.OFFERS,
        undealt=lambda table: Undealt(table=table),
        between_deals=(Drawing, Undealt),
        cites=Cites(eliminated="B63", knocks="B12", void="B-O38"),
        knock=knock,
        result=sheet.Result,
        script=sheet.script,
    ),
    key="rodskagg-kortoxen",
    edition=1,
    players_min=3,
    players_max=8,
    start_points=START_POINTS,
    pack=PACK,
    options=Options,
    offences=OFFENCES,
    events=facts.FACTS,
    state=State,
    opening=opening,
    start=start,
    basis=phases.source_basis,
    unseen=partial(unobservable.unseen_offences, rules=deal.RITUAL, fouls=("exposed_card", "led_out_of_turn")),
    priced=partial(unobservable.official_penalty, rules=deal.RITUAL, offences=deal.RULE_BY_OFFENCE),
    scored=scoring.rescoring_events,
    to_act=views.to_act,
    view=views.view,
)
