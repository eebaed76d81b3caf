"""A misdeal that only the table sees: who may report it, and until when (A-O17, B27, B-O33, C-O23)."""

from referee.acts import Report
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.dealing import HAND, DealtCards
from referee.games._rodskagg.in_play import InPlay
from referee.games._rodskagg.question import said
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
    if played == HAND or act.accused in said(play.question.answers, "fold"):
        raise too_late(cites)


def too_late(cites: Cites) -> WrongPhase:
    """What to say when nobody can report a misdeal any more."""
    return WrongPhase("misdeal_too_late", cites.misdeal)
