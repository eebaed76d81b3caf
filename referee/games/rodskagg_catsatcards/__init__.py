"""Rödskägg after CatsAtCards: each player declares an exact number of tricks. Options: Fem Opp, Exact Tricks.

The rulebook is C1-C62; :class:`Options` change some of the readings C-O1 to C-O38. Not checked are the shuffle (C10),
packets at a real table (C12), tricks lying face down (C28), and how loud a knock was (C59).
"""

from functools import partial
from typing import Any

from msgspec.structs import replace

from referee import acts, events, offences, phases
from referee.cards import PACK
from referee.games._rodskagg import asking, dealing, facts, ritual, unobservable
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.games.rodskagg_catsatcards import auction, deal, play, scoring, sheet, views
from referee.games.rodskagg_catsatcards.states import CITES, Auction, Options, Played, Playing, State, Table
from referee.phases import Cites, evolution_by_phase, options_of, table_of
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event

KNOCK_RULES = {"nothing": "C59", "late": "C59", "again": "C-O23", "fine": "C-O23"}
"""Rules that dismissals (by reason) and fines cite. ``nothing`` and ``late`` share one to hide the reason."""
START_POINTS = 12


def opening(opened: events.MatchOpened) -> None:
    """Raise AgainstTheRules for too many players, or a player already at zero (C4-C5, C43)."""
    options, seats = options_of(Options, opened), len(opened.players)
    if seats > options.max_players:
        raise AgainstTheRules("too_many_players", "C4", players_max=options.max_players)
    if any(points == 0 for points in opened.points):
        raise AgainstTheRules("match_is_over_already", "C43", points=opened.points)


def start(opened: events.MatchOpened) -> State:
    """Return the first state: drawing for the deal, unless the opening names the dealer (C7)."""
    no_totals = (None,) * len(opened.players)
    table = table_of(Table, opened, options=options_of(Options, opened), announced=no_totals)
    return Drawing(table=table, contenders=table.active) if opened.first_dealer is None else Undealt(table=table)


def knock(state: Any, act: acts.Knock, moment: Moment) -> tuple[Event, ...]:
    """Return the ruling on a knock (C57-C61, C-O23, B-O32).

    Raises: WrongPhase without Fem Opp, NotInPlay if the accused seat does not exist, AgainstTheRules for a knock on
    oneself.
    """
    table = state.table
    if not table.options.fem_opp:
        raise WrongPhase("no_knocking", "C-O26")
    if act.accused >= table.seats:
        raise NotInPlay("no_such_seat", None, seat=act.accused)
    if act.accused == act.seat:
        raise AgainstTheRules("knocks_on_oneself", "C59")
    if not table.penalise:
        return (offences.nothing_to_punish(table.ledger, act, "C-O23"),)
    return offences.adjudicate(
        table.ledger,
        act,
        tricks_done=views.tricks_done(state),
        rules=KNOCK_RULES,
        fine=table.options.false_knock_penalty,
    )


def penalty_imposed(state: Played, event: events.PenaltyImposed, number: int) -> Played:
    """Return the state after a penalty, which may change the duty to announce (C-O24).

    After a made Redbeard or duel no announcement is due.
    """
    state = offences.imposed(state, event, number)
    if state.outcome.contract is None:
        return state
    state = play.with_updated_duty(state, state.outcome, event.seat)
    return replace(state, owed=()) if state.outcome.kind == "redbeard_made" else state


_with_ritual = partial(partial, rules=deal.RITUAL)

DECIDE: dict[type, dict[type[acts.Act], phases.Decision]] = {
    Drawing: {acts.Draw: deal.draw},
    Undealt: {acts.Cut: _with_ritual(ritual.cut), acts.Deal: _with_ritual(ritual.deal), acts.Report: deal.report},
    PickingUp: {
        acts.KnockForCards: _with_ritual(ritual.knock_for_cards),
        acts.PickUp: _with_ritual(ritual.pick_up),
        acts.Deal: _with_ritual(ritual.deal),
        acts.Bid: auction.refuse_early_bid,
        acts.Cut: _with_ritual(ritual.cut),
        acts.Report: deal.report,
    },
    Auction: {
        acts.RequestCards: deal.request_cards,
        acts.KeepCards: deal.keep_cards,
        acts.Discard: deal.discard,
        acts.Bid: auction.bid,
        acts.Report: deal.report,
    },
    Playing: {
        acts.Play: play.play,
        acts.Trick: play.trick,
        acts.Ask: play.ask,
        acts.Remind: play.remind,
        acts.Answer: partial(asking.answer, cites=CITES),
        acts.Announce: play.announce,
        acts.Report: deal.report,
    },
    Played: {
        acts.Announce: scoring.announce,
        acts.Score: scoring.score,
        acts.Report: deal.report,
        acts.Deal: scoring.must_score_first,
        acts.Cut: scoring.must_score_first,
    },
}

RULE_OF: dict[type[acts.Act], Any] = {
    acts.Draw: "C48",
    acts.Cut: "C10",
    acts.Deal: "C9",
    acts.KnockForCards: "C60",
    acts.PickUp: "C60",
    acts.RequestCards: "C13",
    acts.KeepCards: "C13",
    acts.Discard: "C15",
    acts.Bid: "C16",
    acts.Ask: "C30",
    acts.Remind: "C37",
    acts.Answer: "C30",
    acts.Play: "C23",
    acts.Trick: "C27",
    acts.Announce: lambda act: "C44" if act.what == "thanks" else "C49",
    acts.Report: "C60",
    acts.Score: "C-O23",
}

EVOLVE: dict[type[Event], phases.Evolution] = {
    events.CardPlayed: play.card_played,
    events.TrickTaken: play.trick_taken,
    facts.BidMade: auction.bid_made,
    facts.AuctionWon: auction.auction_won,
    events.CardDrawn: dealing.card_drawn,
    facts.LeadDrawn: deal.lead_drawn,
    facts.CardsCut: ritual.cards_cut,
    events.Dealt: _with_ritual(ritual.dealt),
    facts.KnockedForCards: ritual.knocked_for_cards,
    facts.PickedUp: _with_ritual(ritual.picked_up),
    facts.MisdealFound: ritual.misdeal_found,
    facts.CardGiven: deal.card_given,
    facts.HandKept: deal.hand_kept,
    facts.CardsThrown: deal.cards_thrown,
    facts.QuestionAsked: asking.question_asked,
    facts.QuestionAnswered: asking.question_answered,
    facts.Reminded: phases.nothing_changes,
    facts.Announced: evolution_by_phase({Playing: play.announced, Played: scoring.announced}),
    events.PlayEnded: play.play_ended,
    events.PenaltyImposed: evolution_by_phase(
        {
            **dict.fromkeys((Drawing, Undealt, PickingUp, Auction), offences.imposed),
            Playing: play.penalty_imposed,
            Played: penalty_imposed,
        }
    ),
    events.DealScored: scoring.deal_scored,
    events.DealVoided: scoring.deal_voided,
    facts.DuelCalled: scoring.duel_called,
}

RULESET = phases.make_ruleset(
    phases.Tables(
        decide=DECIDE,
        rule_of=RULE_OF,
        evolve=EVOLVE,
        follows={
            Drawing: deal.drawing_result,
            PickingUp: _with_ritual(ritual.find_misdeal),
            Auction: auction.automatic_events,
            Playing: play.automatic_events,
            Played: scoring.automatic_events,
        },
        offers=views.OFFERS,
        undealt=scoring.undealt,
        between_deals=(Undealt, Drawing),
        knock=knock,
        void=scoring.void,
        beside_the_duel=frozenset((acts.Deal, acts.Report, acts.Cut)),  # The dealer may sit out (C46, C-O9).
        cites=Cites(eliminated="C42", not_in_duel="C46", void="C-O23"),
        carries=("announced", "duel", "lead"),
        result=sheet.Result,
        script=sheet.script,
    ),
    key="rodskagg-catsatcards",
    edition=1,
    players_min=3,
    players_max=7,
    start_points=START_POINTS,
    pack=PACK,
    options=Options,
    more=views.More,
    detail=scoring.Detail,
    basis=phases.house_basis,
    offences=tuple(deal.RULE_BY_OFFENCE),
    events=facts.FACTS,
    state=State,
    opening=opening,
    start=start,
    unseen=partial(unobservable.unseen_offences, rules=deal.RITUAL),
    priced=partial(unobservable.official_penalty, rules=deal.RITUAL, offences=deal.RULE_BY_OFFENCE),
    scored=scoring.rescoring_events,
    points_end_play=play.points_end_play,
    to_act=views.to_act,
    view=views.view,
    carried=views.carried,
)
