"""What the events of a real table cannot show, and its price when an official has found it out (B11-B12, C57-C60).

The acts tell of the question, the exit knock and what is announced; with open hands the cards tell of a revoke.
"""

from collections.abc import Mapping
from typing import Any

from referee.events import PenaltyImposed
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.ritual import Customs, Undealt, wrong_cut
from referee.phases import Over
from referee.refusals import AgainstTheRules, WrongPhase
from referee.visibility import Event

OF_THE_RITUAL = ("wrong_cut", "early_pick_up", "misdeal")
"""Offences that only a match with the ritual of the deal knows."""


def unseen(state: Any, customs: Customs, fouls: tuple[str, ...] = ()) -> frozenset[str]:
    """Offences with a price that may have happened unseen; ``fouls``: those that no act of the game tells of."""
    table = state.table
    if table.house or isinstance(state, Over | Drawing):
        return frozenset()
    ritual = customs.held(table)
    if isinstance(state, Undealt):
        possible = ("wrong_cut",) if ritual else ()
    else:
        possible = (*fouls, *(("wrong_cut", "early_pick_up") if ritual else ()))
        if not state.cards.known:
            possible += ("revoke", *(("misdeal",) if ritual and not state.cards.formula else ()))
    return frozenset(offence for offence in possible if customs.price(table, offence))


def priced(
    state: Any, offence: str, accused: int, sign: int, customs: Customs, offences: Mapping[str, str]
) -> tuple[Event, ...]:
    """B11, C60: the points go up for the payer, or down again. The dealer may have to pay for a wrong cut (B17).

    Raises WrongPhase if the options of the match have turned the offence off, AgainstTheRules if the accused cannot
    have done it.
    """
    table, cites = state.table, customs.cites
    if accused not in table.active:
        raise AgainstTheRules("not_in_match", cites.accused, seat=accused)
    turned_off = offence in OF_THE_RITUAL and not customs.held(table)
    if offence not in offences or turned_off or not customs.price(table, offence):
        raise WrongPhase("nothing_to_punish", offences.get(offence, cites.accused))
    if offence == "misdeal" and accused != table.dealer:
        raise AgainstTheRules("only_dealer_misdeals", cites.misdeal, dealer=table.dealer)
    if offence == "wrong_cut" and accused == table.dealer and table.options.wrong_cut_penalty_to == "cutter":
        raise AgainstTheRules("dealer_may_cut", cites.cut)
    if offence == "wrong_cut":
        breach = wrong_cut(table, accused, customs)
    else:
        breach = customs.breach(table, offence, accused, 1)
    return (PenaltyImposed(seat=breach.payer, points=sign * breach.points, rule=breach.rule),)
