"""Kalabrias for two, three or four: trumps are chosen, sequences compared, and tricks played for card points.

Rulebook E1-E53, E-O1 to E-O42; :class:`Options` change single rules. The game has no offences: a card or claim known
to be wrong is refused (E-O30, E-O33). Packets at a real table are not checked (E-O4).
"""

from msgspec.structs import replace

from referee import acts, events, phases
from referee.games.kalabrias import auction, deal, declarations, facts, play, scoring, tally, views
from referee.games.kalabrias.ranks import PACK
from referee.games.kalabrias.states import (
    Auction,
    Declaring,
    LaterCards,
    Naming,
    Options,
    Played,
    Playing,
    Proposed,
    State,
    Table,
    Undealt,
)
from referee.offences import nothing_to_punish
from referee.phases import evolution_by_phase, options_of, table_of
from referee.refusals import AgainstTheRules, NotInPlay
from referee.ruleset import Moment
from referee.visibility import Event


def opening(opened: events.MatchOpened) -> None:
    """Raise AgainstTheRules for points or stakes with which no match can begin (E42, E46, E52, E-O42)."""
    table, points = _table(opened), opened.points
    if any(score < 0 for score in points):
        raise AgainstTheRules("points_not_negative", "E42", points=points)
    if len(points) == 4 and points[:2] != points[2:]:
        raise AgainstTheRules("partners_share_points", "E52", points=points)
    if scoring.leaders_at_target(table, table.points) is not None:
        raise AgainstTheRules("target_reached", "E46", points=points, target=table.options.target_score)
    stakes = opened.stakes if table.options.money != "none" else None
    if stakes is not None and stakes.unit % table.unit:
        raise AgainstTheRules("odd_unit", "E-O42", unit=stakes.unit)


def _table(opened: events.MatchOpened) -> Table:
    """Return the table, with points in units of the protocol."""
    table = table_of(Table, opened, options=options_of(Options, opened))
    return replace(table, points=tuple([score * table.unit for score in opened.points]))


def start(opened: events.MatchOpened) -> State:
    return Undealt(table=_table(opened), drawn=opened.first_dealer is not None)


def knock(state: State, act: acts.Knock, moment: Moment) -> tuple[Event, ...]:
    """Return the dismissal of a knock (E-O30).

    Raises: NotInPlay if the accused does not exist, AgainstTheRules if the seat knocks on itself.
    """
    if act.accused >= state.table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "E-O30")
    return (nothing_to_punish(state.table.ledger, act, "E-O30"),)


DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Undealt: {acts.Deal: deal.deal, tally.Count: tally.count_deal},
    Auction: {acts.Bid: auction.bid},
    Proposed: {acts.Reply: auction.reply},
    Naming: {acts.Bid: auction.name_trumps},
    LaterCards: {acts.Deal: deal.deal_later},
    Declaring: {
        acts.Declare: declarations.declare,
        acts.Respond: declarations.respond,
        acts.Bella: declarations.bella,
        acts.Exchange: deal.exchange,
    },
    Playing: {
        acts.Play: play.play,
        acts.Bella: declarations.bella,
        acts.Declare: declarations.declare_in_play,
    },
    Played: {acts.Score: scoring.score},
}

RULE_OF: dict[type[acts.Act], str] = {
    acts.Deal: "E3",
    acts.Bid: "E5",
    acts.Reply: "E11",
    acts.Exchange: "E-O16",
    acts.Declare: "E19",
    acts.Respond: "E20",
    acts.Bella: "E18",
    acts.Play: "E28",
    acts.Score: "E42",
}

EVOLVE: dict[type[Event], phases.Evolution] = {
    events.CardPlayed: play.card_played,
    events.TrickTaken: play.trick_taken,
    events.CardDrawn: phases.nothing_changes,
    events.Dealt: deal.dealt,
    facts.TrumpsCalled: auction.trumps_called,
    facts.RedealAnswered: auction.redeal_answered,
    facts.DeclarerBound: auction.declarer_bound,
    facts.TrumpsMade: auction.trumps_made,
    facts.LaterCardsDealt: deal.later_cards_dealt,
    facts.SevenExchanged: deal.seven_exchanged,
    facts.SequenceDeclared: declarations.sequence_declared,
    facts.SequenceAnswered: declarations.sequence_answered,
    facts.SequencesCompared: declarations.sequences_compared,
    facts.SequenceShown: declarations.sequence_shown,
    facts.BellaDeclared: declarations.bella_declared,
    events.PlayEnded: evolution_by_phase(
        {Auction: auction.auction_ended, Proposed: auction.auction_ended, Playing: play.play_ended}
    ),
    facts.DealCounted: tally.deal_counted,
    events.DealScored: scoring.deal_scored,
}

RULESET = phases.make_ruleset(
    phases.Tables(
        decide=DECIDE,
        rule_of=RULE_OF,
        evolve=EVOLVE,
        follows={
            Undealt: deal.first_dealer,
            Auction: auction.automatic_events,
            Proposed: auction.events_after_replies,
            Naming: auction.events_after_naming,
            LaterCards: deal.deal_later_from_stock,
            Declaring: declarations.automatic_events,
            Playing: play.automatic_events,
            Played: scoring.automatic_events,
        },
        offers=views.OFFERS,
        undealt=lambda table: Undealt(table=table),
        between_deals=(Undealt,),
        cites=phases.Cites(knocks="E-O30"),
        knock=knock,
        carries=("carry",),
        result=tally.Result,
        script=tally.script,
    ),
    key="kalabrias",
    edition=1,
    players_min=2,
    players_max=4,
    start_points=0,
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
    to_act=views.seats_to_act,
    view=views.view,
    carried=views.carried,
)
