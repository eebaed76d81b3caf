"""Checks of reported misdeals (wrong numbers of cards) and of repeated reports (A-O17, B-O5, B-O33, C-O23)."""

from typing import Any

from msgspec.structs import replace

from referee.acts import Report
from referee.events import Breach
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import HAND_SIZE
from referee.games._rodskagg.in_play import InPlay
from referee.games._rodskagg.question import seats_that_answered
from referee.phases import Table, phase_of
from referee.refusals import AgainstTheRules, WrongPhase


def check_misdeal(state: Any, act: Report, cites: CitedRules) -> None:
    """Raise AgainstTheRules if this seat may not report this misdeal, WrongPhase if it is too late.

    Known hands are not reported. After the first lead only the accused seat may, until its last card or fold.
    """
    too_late = WrongPhase("misdeal_too_late", cites.misdeal)
    if phase_of(state) == "played":
        raise too_late
    if state.cards.known:
        raise AgainstTheRules("hands_known", cites.six_cards)
    if act.accused not in state.table.playing:
        raise AgainstTheRules("not_in_deal", cites.not_accusable, seat=act.accused)
    if not isinstance(state, InPlay) or not (state.won or state.trick):
        return
    if act.seat != act.accused:
        raise AgainstTheRules("only_who_holds_it", cites.misdeal)
    played = len(state.won) + any(seat == act.accused for seat, _ in state.trick)
    if played == HAND_SIZE or act.accused in seats_that_answered(state.question.answers, "fold"):
        raise too_late


def new_error(table: Table, act: Report, error: Breach, deal_event: int, tricks: int, rule: str) -> Breach:
    """Return ``error`` with the number of ``tricks`` begun or entered (B-O5).

    Raises AgainstTheRules if it is known, since event ``deal_event``, for this trick; with ``act.another``, for each.
    """
    known = table.ledger.breaches_by(act.fault, act.accused, deal_event)
    same = any(one.tricks in (None, tricks) for one in known)
    if len(known) >= max(1, tricks) if act.another else same:
        raise AgainstTheRules("already_reported", rule)
    return replace(error, tricks=tricks)
