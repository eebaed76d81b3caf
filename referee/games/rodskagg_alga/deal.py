"""Dealing and misdeals (A8-A16, A-O14, A-O17)."""

from referee.acts import Deal, Report
from referee.events import Dealt, Reported
from referee.games._rodskagg import auction, dealing, new_hands, reports
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.facts import MisdealFound
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import Undealt
from referee.games.rodskagg_alga.states import CITES, Played, Playing, Table
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def deal(state: Undealt[Table], act: Deal, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a deal (A8-A10, A25, A56). Raises OutOfTurn, AgainstTheRules or NoSuchCard."""
    table = state.table
    if act.seat != table.dealer:
        raise OutOfTurn("not_dealer", "A56" if table.duel else CITES.dealer, dealer=table.dealer)
    return dealing.deal_six_each(table, act, moment.seed, CITES, keeps_stock=table.options.honour_redeal)


def dealt(state: Undealt[Table], event: Dealt, number: int) -> Exchanging[Table] | Auction[Table]:
    table, cards = state.table, dealing.cards_dealt(event, number, state.table)
    exchange = table.options.honour_redeal and not table.tally
    return new_hands.start_of_exchange(table, cards) if exchange else auction.start_of_auction(table, cards)


def report(
    state: Exchanging[Table] | Auction[Table] | Playing | Played, act: Report, moment: Moment
) -> tuple[Event, ...]:
    """Return the events of a reported misdeal, a wrong number of cards (A-O17, B-O33).

    Raises: WrongPhase for other faults or too late, AgainstTheRules if the hands are known, the accused is not in the
    deal, or this seat may not report it.
    """
    table = state.table
    if table.house:
        raise AgainstTheRules("house_sees", None)
    if act.accused not in table.playing:
        raise AgainstTheRules("not_in_deal", CITES.not_accusable, seat=act.accused)
    if act.fault not in ("misdeal", "wrong_count"):
        raise WrongPhase("nothing_to_punish", "A-O26")
    reports.check_misdeal(state, act, CITES)
    reported = Reported(seat=act.seat, accused=act.accused, fault=act.fault)
    return reported, MisdealFound(seat=act.accused, rule=CITES.misdeal)


def misdeal_found(
    state: Exchanging[Table] | Auction[Table] | Playing, event: MisdealFound, number: int
) -> Undealt[Table]:
    return Undealt(table=state.table)
