"""Rödskägg after Brio and Alga: an auction, six tricks led by the declarer, and no knocks.

The rulebook is A1-A60; :class:`Options` change some of the readings A-O1 to A-O32. If the hands are known, a revoke
is refused in both enforcements (A-O26). Packets at a real table (A10) and honours in closed hands (A11) are not
checked.
"""

from functools import partial

from referee import acts, events, phases
from referee.cards import PACK
from referee.games._rodskagg import asking, facts, new_hands
from referee.games._rodskagg import auction as bidding
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import Undealt
from referee.games.rodskagg_alga import auction, deal, play, scoring, sheet, views
from referee.games.rodskagg_alga.states import CITES, Options, Played, Playing, State, Table
from referee.phases import Cites, evolution_by_phase, refusal_decision, table_of
from referee.refusals import AgainstTheRules, WrongPhase
from referee.visibility import Event

START_POINTS = 12


def opening(opened: events.MatchOpened) -> None:
    """Raise AgainstTheRules for too many players, or a player already at zero (A1, A-O15, A-O29)."""
    options, seats = phases.options_of(Options, opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "A-O15", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "A-O29", points=opened.points)


def start(opened: events.MatchOpened) -> State:
    """Return the first state (A-O16). Seat 0 deals unless the opening names the dealer."""
    return Undealt(table=table_of(Table, opened, options=phases.options_of(Options, opened)))


_NOT_SCORED = refusal_decision(WrongPhase, "deal_not_scored", "A-O28")

DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Undealt: {acts.Deal: deal.deal},
    Exchanging: {
        acts.RequestCards: partial(new_hands.request_cards, cites=CITES),
        acts.KeepCards: partial(new_hands.keep_cards, cites=CITES),
        acts.Report: deal.report,
    },
    Auction: {acts.Bid: auction.bid, acts.Report: deal.report},
    Playing: {
        acts.Play: play.play,
        acts.Trick: play.trick,
        acts.Ask: play.ask,
        acts.Answer: partial(asking.answer, cites=CITES),
        acts.Report: deal.report,
    },
    Played: {
        **dict.fromkeys((acts.Deal, acts.RequestCards, acts.KeepCards, acts.Bid, acts.Ask), _NOT_SCORED),
        **dict.fromkeys((acts.Answer, acts.Play, acts.Trick), _NOT_SCORED),
        acts.Score: scoring.score,
        acts.Report: deal.report,
    },
}

RULE_OF: dict[type[acts.Act], str] = {
    acts.Deal: "A9",
    acts.RequestCards: "A11",
    acts.KeepCards: "A-O24",
    acts.Bid: "A17",
    acts.Ask: "A33",
    acts.Answer: "A34",
    acts.Play: "A29",
    acts.Trick: "A32",
    acts.Report: "A-O17",
    acts.Score: "A-O28",
}

EVOLVE: dict[type[Event], phases.Evolution] = {
    events.CardPlayed: play.card_played,
    events.TrickTaken: play.trick_taken,
    facts.BidMade: bidding.bid_made,
    facts.AuctionWon: auction.auction_won,
    events.Dealt: deal.dealt,
    facts.HandRequested: new_hands.hand_requested,
    facts.HandKept: new_hands.hand_kept,
    facts.NewHands: new_hands.hands_renewed,
    facts.MisdealFound: deal.misdeal_found,
    facts.QuestionAsked: asking.question_asked,
    facts.QuestionAnswered: asking.question_answered,
    events.PlayEnded: evolution_by_phase({Auction: auction.passed_out, Playing: play.play_ended}),
    events.DealScored: scoring.deal_scored,
    facts.DuelCalled: scoring.duel_called,
}

RULESET = phases.make_ruleset(
    phases.Tables(
        decide=DECIDE,
        rule_of=RULE_OF,
        evolve=EVOLVE,
        follows={
            Exchanging: new_hands.deal_new_hands,
            Auction: bidding.automatic_events,
            Playing: play.automatic_events,
            Played: scoring.automatic_events,
        },
        offers=views.OFFERS,
        undealt=lambda table: Undealt(table=table),
        between_deals=(Undealt,),
        cites=Cites(eliminated="A49", not_in_duel="A55", knocks="A-O27", void="A-O23"),
        carries=("duel",),
        result=sheet.Result,
        script=sheet.script,
    ),
    key="rodskagg-alga",
    edition=1,
    players_min=2,
    players_max=8,
    start_points=START_POINTS,
    pack=PACK,
    options=Options,
    more=views.More,
    detail=scoring.Detail,
    basis=phases.house_basis,
    offences=(),
    events=facts.FACTS,
    state=State,
    opening=opening,
    start=start,
    scored=scoring.rescoring_events,
    to_act=views.to_act,
    view=views.view,
)
