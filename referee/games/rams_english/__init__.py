"""Rams, the English form: five cards each, a widow, and a pot that holds what nobody took.

Rulebook D1-D71. Readings of what the source leaves open are D-O1 to D-O29; the option that changes one is named in
:class:`Options`. The weightiest: the stake stays after a misdeal (D-O10), the second-best card gets what a player
at fault forfeits (D-O11), faults are punished when the deal is scored, without a knock (D-O24), and the session
ends by ``close`` (D-O28).

The books are kept in minor units of money, or where no money is set in units of one trick (D-O17). What the seats
win or lose in a deal, the pot loses or wins: the sum is always nought.

What no referee at a distance can see, and what is therefore only reported or not refereed at all: the packets of a
deal at a real table (D18-D19), cards shown, too many or too few of them (D68), and what was laid away for the widow
when hands are closed (D26).
"""

from referee import acts, events, phases
from referee.games.rams_english import deal, declarations, payment, play, states, tally, views
from referee.games.rams_english.states import (
    FACTS,
    HAND,
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
from referee.phases import Cites, options_of, refuse, table_of
from referee.refusals import AgainstTheRules, WrongPhase
from referee.visibility import Event


def opening(opened: events.MatchOpened) -> None:
    """D1-D2, D-O23: refuses a match that cannot be played by these rules."""
    if len(opened.players) == 6 and not options_of(Options, opened).six_players:
        raise AgainstTheRules("too_many_players", "D-O9", players_max=5)
    if opened.pot < 0:
        raise AgainstTheRules("pot_below_zero", "D-O23", pot=opened.pot)


def start(opened: events.MatchOpened) -> State:
    """The state of a match just opened."""
    stake = HAND * (opened.stakes.unit if opened.stakes else 1)  # D10, D15, D-O17
    table = table_of(Table, opened, options=options_of(Options, opened), stake=stake)
    return Drawing(table=table) if opened.first_dealer is None else Undealt(table=table)


DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Drawing: {acts.Draw: deal.draw},
    Undealt: {acts.Deal: deal.deal, acts.Report: refuse(WrongPhase, "nothing_dealt", "D67")},
    Declaring: {
        acts.Bid: declarations.declare,
        acts.Play: refuse(WrongPhase, "play_not_begun", "D48"),
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
        acts.Deal: refuse(WrongPhase, "deal_not_scored", "D-O24"),
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
    states.SecondTold: tally.second_named,
    states.Declared: declarations.declared,
    states.DeclarationsClosed: declarations.declarations_closed,
    states.TurnUpTaken: declarations.turn_up_taken,
    states.FaultLifted: deal.fault_lifted,
    events.CardDrawn: deal.card_drawn,
    states.Staked: deal.staked,
    events.Dealt: deal.dealt,
    events.PlayEnded: declarations.play_ended,
}

RULESET = phases.game(
    key="rams-english",
    edition=1,
    players_min=3,
    players_max=6,
    start_points=0,
    pack=PACK,
    options=Options,
    more=views.More,
    detail=payment.Detail,
    basis=phases.by_its_source,
    offences=("revoke", "not_heading", "misdeal", "exposed_card", "wrong_count", "led_out_of_turn"),
    events=FACTS,
    state=State,
    opening=opening,
    start=start,
    decide=DECIDE,
    rule_of=RULE_OF,
    evolve=EVOLVE,
    follows={
        Drawing: deal.next_draw,
        Declaring: declarations.follows,
        Playing: play.follows,
        Played: payment.follows,
    },
    offers=views.OFFERS,
    undealt=lambda table: Undealt(table=table),
    between_deals=(Drawing, Undealt),
    cites=Cites(knocks="D-O24"),
    close=payment.close,
    abandon=payment.abandon,
    scored=payment.scored_again,
    to_act=views.to_act,
    view=views.view,
    has_pot=True,
    result=tally.Result,
    script=tally.script,
    unseen=deal.unseen,
    priced=deal.priced,
)
