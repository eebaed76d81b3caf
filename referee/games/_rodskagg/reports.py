"""Reports of misdeals that only the table sees (A-O17, B27, B-O33), and repeated reports of one error (B-O5)."""

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
    """Raise AgainstTheRules or WrongPhase if a wrong number of cards may not be reported now.

    After the first lead only the seat with the wrong number may report it, while it has cards."""
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


def new_error(table: Table, act: Report, error: Breach, dealt: int, tricks: int, rule: str) -> Breach:
    """B-O5: Return the reported error with the number of tricks led to.

    ``dealt``: event number of the deal, or 0. Raises: AgainstTheRules if this kind of error in this trick is recorded
    already or, with ``another``, if there is one for each trick.
    """
    known = table.ledger.breaches_by(act.fault, act.accused, dealt)
    same = any(one.tricks in (None, tricks) for one in known)
    if len(known) >= max(1, tricks) if act.another else same:
        raise AgainstTheRules("already_reported", rule)
    return replace(error, tricks=tricks)
