"""Rödskägg after Kortoxen 1949: an auction, six tricks, a question, and errors that stand until somebody knocks.

Rulebook B1-B80. Readings of what the source leaves open are B-O1 to B-O41; the option that changes one is named
in :class:`Options`. The weightiest: knocks until the deal is scored (B-O2), a revoke is an error like any other
(B-O26), the others are free after a forgotten question (B-O16), surplus tricks bounce (B-O14).

What no referee at a distance can see, and what is therefore only reported or not refereed at all: the packets of
three at a real table (B19), cards shown, and how loud somebody knocked (B12).
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
from referee.games.rodskagg_kortoxen.states import CITES, Options, Played, Playing, State, Table, deal_of
from referee.phases import Cites, by_phase, refuse, table_of
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

START = 12
"""Points at the start (B7)."""


def opening(opened: events.MatchOpened) -> None:
    """B1, B7, B-O23: refuses a match that cannot be played by these rules."""
    options, seats = phases.options_of(Options, opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "B-O23", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "B70", points=opened.points)
    if options.overshoot == "bounce" and any(points < 0 for points in opened.points):
        raise AgainstTheRules("points_below_zero", "B72", points=opened.points)


def start(opened: events.MatchOpened) -> State:
    """The state of a match just opened; cards are drawn for the first deal, unless its dealer is given (B14)."""
    table = table_of(Table, opened, options=phases.options_of(Options, opened))
    return Drawing(table=table, contenders=table.active) if opened.first_dealer is None else Undealt(table=table)


# Knocks

OFFENCES = tuple(deal.RULE)
KNOCK_RULES = {"nothing": "B-O32", "late": "B-O32", "again": "B-O5", "fine": "B-O3"}
"""What a dismissed knock, and the fine for it, rest on; nothing and late alike, or the rule would tell them apart."""


def knock(state: State, act: acts.Knock, moment: Moment) -> tuple[Event, ...]:
    """B11-B12, B-O1 to B-O5, B-O32: who points out an error of another."""
    table, done = state.table, deal_of(state)
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "B12")
    if act.offence == "wrong_count":  # whoever holds the cards, it is the dealer's misdeal (B25)
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


_of_ritual = partial(partial, customs=deal.CUSTOMS)
_NOT_BEGUN = refuse(WrongPhase, "play_not_begun", "B41")

DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Drawing: {acts.Draw: deal.draw},
    Undealt: {acts.Cut: _of_ritual(ritual.cut), acts.Deal: _of_ritual(ritual.deal), acts.Report: deal.report},
    PickingUp: {
        acts.KnockForCards: _of_ritual(ritual.knock_for_cards),
        acts.PickUp: _of_ritual(ritual.pick_up),
        acts.Deal: _of_ritual(ritual.deal),
        acts.Cut: _of_ritual(ritual.cut),
        acts.Report: deal.report,
        acts.Bid: auction.bid_before_it_opens,
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
    events.Dealt: _of_ritual(ritual.dealt),
    facts.KnockedForCards: ritual.knocked_for_cards,
    facts.PickedUp: _of_ritual(ritual.picked_up),
    facts.MisdealFound: ritual.misdeal_found,
    facts.HandRequested: new_hands.hand_requested,
    facts.HandKept: new_hands.hand_kept,
    facts.NewHands: new_hands.hands_renewed,
    facts.QuestionAsked: asking.question_asked,
    facts.QuestionAnswered: asking.question_answered,
    facts.KnockedOut: play.knocked_out,
    events.PlayEnded: by_phase(
        {Auction: auction.passed_out, Playing: play.play_ended, Played: play.broken_off},
    ),
}

RULESET = phases.game(
    key="rodskagg-kortoxen",
    edition=1,
    players_min=3,
    players_max=8,
    start_points=START,
    pack=PACK,
    options=Options,
    offences=OFFENCES,
    events=facts.FACTS,
    state=State,
    opening=opening,
    start=start,
    decide=DECIDE,
    rule_of=RULE_OF,
    evolve=EVOLVE,
    follows={
        Drawing: deal.drawn,
        PickingUp: _of_ritual(ritual.misdeal_seen),
        Exchanging: new_hands.dealt_anew,
        Auction: bidding.follows,
        Playing: play.follows,
        Played: scoring.follows,
    },
    offers=views.OFFERS,
    undealt=lambda table: Undealt(table=table),
    between_deals=(Drawing, Undealt),
    cites=Cites(eliminated="B63", knocks="B12", void="B-O38"),
    knock=knock,
    basis=phases.by_its_source,
    unseen=partial(unobservable.unseen, customs=deal.CUSTOMS, fouls=("exposed_card", "led_out_of_turn")),
    priced=partial(unobservable.priced, customs=deal.CUSTOMS, offences=deal.RULE),
    scored=scoring.scored_anew,
    to_act=views.to_act,
    view=views.view,
    result=sheet.Result,
    script=sheet.script,
)
