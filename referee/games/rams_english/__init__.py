"""Rams, the English form: five cards each, a widow, and a pot that keeps what no player won.

Rulebook D1-D71; :class:`Options` change some of the readings D-O1 to D-O29. Points are minor units of money or,
without stakes, units of one trick (D-O17). Their sum, with the pot, never changes.

The service does not check packets at a real table (D18-D19), nor closed hands laid away for the widow (D26). Exposed
cards, wrong numbers of cards and leads out of turn must be reported (D68).
"""

from referee import acts, events, phases
from referee.games.rams_english import deal, declarations, payment, play, states, tally, views
from referee.games.rams_english.states import (
    FACTS,
    HAND_SIZE,
    PACK,
    Declaring,
    Drawing,
    Options,
    Played,
    Playing,
    State,
    Table,
    Undealt,
)
from referee.phases import Cites, options_of, refusal_decision, table_of
from referee.refusals import AgainstTheRules, WrongPhase
from referee.visibility import Event


def opening(opened: events.MatchOpened) -> None:
    """Raise AgainstTheRules for a sixth player without ``six_players``, or a pot below zero (D1-D2, D-O9, D-O23)."""
    if len(opened.players) == 6 and not options_of(Options, opened).six_players:
        raise AgainstTheRules("too_many_players", "D-O9", players_max=5)
    if opened.pot < 0:
        raise AgainstTheRules("pot_below_zero", "D-O23", pot=opened.pot)


def start(opened: events.MatchOpened) -> State:
    stake = HAND_SIZE * (opened.stakes.unit if opened.stakes else 1)  # D10, D15, D-O17
    table = table_of(Table, opened, options=options_of(Options, opened), stake=stake)
    return Drawing(table=table) if opened.first_dealer is None else Undealt(table=table)


DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Drawing: {acts.Draw: deal.draw},
    Undealt: {acts.Deal: deal.deal, acts.Report: refusal_decision(WrongPhase, "nothing_dealt", "D67")},
    Declaring: {
        acts.Bid: declarations.declare,
        acts.Play: refusal_decision(WrongPhase, "play_not_begun", "D48"),
        acts.Report: deal.report,
    },
    Playing: {
        acts.Play: play.play,
        acts.Trick: tally.trick,
        acts.Exchange: declarations.exchange,
        acts.Bid: declarations.announce_late,
        acts.Report: deal.report,
    },
    Played: {
        acts.Deal: refusal_decision(WrongPhase, "deal_not_scored", "D-O24"),
        acts.Score: tally.score,
        acts.Trick: tally.name_second,
        acts.Report: deal.report,
    },
}

RULE_OF: dict[type[acts.Act], str] = {
    acts.Draw: "D11",
    acts.Deal: "D14",
    acts.Bid: "D28",
    acts.Exchange: "D46",
    acts.Play: "D48",
    acts.Trick: "D-O29",
    acts.Report: "D-O26",
    acts.Score: "D-O24",
}

EVOLVE: dict[type[Event], phases.Evolution] = {
    events.CardPlayed: play.card_played,
    events.TrickTaken: play.trick_taken,
    states.SecondEntered: tally.second_named,
    states.Declared: declarations.declared,
    states.DeclarationsClosed: declarations.declarations_closed,
    states.TurnUpTaken: declarations.turn_up_taken,
    states.FaultLifted: deal.fault_lifted,
    events.CardDrawn: deal.card_drawn,
    states.Staked: deal.staked,
    events.Dealt: deal.dealt,
    events.PlayEnded: declarations.play_ended,
}

RULESET = phases.make_ruleset(
    phases.Tables(
        decide=DECIDE,
        rule_of=RULE_OF,
        evolve=EVOLVE,
        follows={
            Drawing: deal.next_draw,
            Declaring: declarations.automatic_events,
            Playing: play.automatic_events,
            Played: payment.automatic_events,
        },
        offers=views.OFFERS,
        undealt=lambda table: Undealt(table=table),
        between_deals=(Drawing, Undealt),
        cites=Cites(knocks="D-O24"),
        close=payment.close,
        abandon=payment.abandon,
        result=tally.Result,
        script=tally.script,
    ),
    key="rams-english",
    edition=1,
    players_min=3,
    players_max=6,
    start_points=0,
    pack=PACK,
    options=Options,
    more=views.More,
    detail=payment.Detail,
    basis=phases.source_basis,
    offences=("revoke", "not_heading", "misdeal", "exposed_card", "wrong_count", "led_out_of_turn"),
    events=FACTS,
    state=State,
    opening=opening,
    start=start,
    scored=payment.rescoring_events,
    to_act=views.seats_to_act,
    view=views.view,
    has_pot=True,
    unseen=deal.unseen_faults,
    priced=deal.fault_by_official,
)
