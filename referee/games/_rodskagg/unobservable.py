"""Offences that events cannot show, and the penalty if an official finds one (B11-B12, C57-C60)."""

from collections.abc import Mapping
from typing import Any

from referee.events import PenaltyImposed
from referee.games._rodskagg.dealing import Drawing
from referee.games._rodskagg.ritual import RitualRules, Undealt, wrong_cut
from referee.phases import Over
from referee.refusals import AgainstTheRules, WrongPhase
from referee.visibility import Event

RITUAL_OFFENCES = ("wrong_cut", "early_pick_up", "misdeal")


def unseen_offences(state: Any, rules: RitualRules, fouls: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the offences that cost points and may have happened unseen; no act ever shows ``fouls``.

    Empty in a house deal, in the draw for dealer and after the match.
    """
    table = state.table
    if table.house or isinstance(state, Over | Drawing):
        return frozenset()
    ritual = rules.applies(table)
    if isinstance(state, Undealt):
        possible = ("wrong_cut",) if ritual else ()
    else:
        possible = (*fouls, *(("wrong_cut", "early_pick_up") if ritual else ()))
        if not state.cards.known:
            possible += ("revoke", *(("misdeal",) if ritual and not state.cards.formula else ()))
    return frozenset(offence for offence in possible if rules.price(table, offence))


def official_penalty(
    state: Any, offence: str, accused: int, sign: int, rules: RitualRules, offences: Mapping[str, str]
) -> tuple[Event, ...]:
    """Return the penalty that an official imposes; with ``sign`` -1 its removal (B11, C60).

    Raises: WrongPhase if the offence costs nothing, AgainstTheRules if the accused cannot have committed it.
    """
    table, cites = state.table, rules.cites
    if accused not in table.active:
        raise AgainstTheRules("not_in_match", cites.not_accusable, seat=accused)
    turned_off = offence in RITUAL_OFFENCES and not rules.applies(table)
    if offence not in offences or turned_off or not rules.price(table, offence):
        raise WrongPhase("nothing_to_punish", offences.get(offence, cites.not_accusable))
    if offence == "misdeal" and accused != table.dealer:
        raise AgainstTheRules("only_dealer_misdeals", cites.misdeal, dealer=table.dealer)
    if offence == "wrong_cut" and accused == table.dealer and table.options.wrong_cut_penalty_to == "cutter":
        raise AgainstTheRules("dealer_may_cut", cites.dealer_cuts)
    breach = wrong_cut(table, accused, rules) if offence == "wrong_cut" else rules.breach(table, offence, accused, 1)
    return (PenaltyImposed(seat=breach.payer, points=sign * breach.points, rule=breach.rule),)
