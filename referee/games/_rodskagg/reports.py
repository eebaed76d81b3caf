"""Reports of what only the table sees: misdeals (A-O17, B27, B-O33), and which reports are of one error (B-O5)."""

from msgspec.structs import replace

from referee.acts import Report
from referee.events import Breach
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.dealing import HAND, DealtCards
from referee.games._rodskagg.in_play import InPlay
from referee.games._rodskagg.question import seats_that_answered
from referee.phases import Table
from referee.refusals import AgainstTheRules, WrongPhase


def check_misdeal(table: Table, cards: DealtCards, play: InPlay | None, act: Report, cites: Cites) -> None:
    """Refuses what the referee can see by itself, and what comes too late: before the first lead anybody may report a
    wrong number, after it only who holds it, until he has played his last card or folded and the number is settled.

    Otherwise anybody could undo a deal that goes against him; an official may void it.
    """
    if cards.known:
        raise AgainstTheRules("hands_known", cites.six_cards)
    if act.accused not in table.playing:
        raise AgainstTheRules("not_in_deal", cites.accused, seat=act.accused)
    if play is None or not (play.won or play.trick):
        return
    if act.seat != act.accused:
        raise AgainstTheRules("only_who_holds_it", cites.misdeal)
    played = len(play.won) + any(seat == act.accused for seat, _ in play.trick)
    if played == HAND or act.accused in seats_that_answered(play.question.answers, "fold"):
        raise too_late(cites)


def new_error(table: Table, act: Report, error: Breach, dealt: int, tricks: int, rule: str) -> Breach:
    """Return the reported error, with the number of tricks that had been led to.

    Reports of one error of a player within one trick are of the same incident (B-O5), unless the report says
    ``another``. A player has at most one error of a kind for each trick. ``dealt`` is the event of the cards, 0
    before them. Raises ``AgainstTheRules`` if the incident is on record.
    """
    known = table.ledger.of(act.fault, act.accused, dealt)
    same = any(one.tricks in (None, tricks) for one in known)
    if len(known) >= max(1, tricks) if act.another else same:
        raise AgainstTheRules("already_reported", rule)
    return replace(error, tricks=tricks)


def too_late(cites: Cites) -> WrongPhase:
    """What to say when nobody can report a misdeal any more."""
    return WrongPhase("misdeal_too_late", cites.misdeal)
