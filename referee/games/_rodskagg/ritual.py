"""The ritual of the deal: the formula, picking up, and a misdeal found (B16-B27, B-O7, B-O8, C60)."""

from referee.games._rodskagg.dealing import HAND, Cards
from referee.refusals import AgainstTheRules, WrongPhase


def check_formula(
    seat: int, dealer: int, cards: Cards, picked: tuple[int, ...], *, rule: str, late_rule: str
) -> None:
    """B20-B22: the dealer says it, once, and before he takes up his own cards."""
    if seat != dealer:
        raise AgainstTheRules("only_dealer_says_it", rule, dealer=dealer)
    if cards.formula:
        raise WrongPhase("already_said", rule)
    if dealer in picked:
        raise AgainstTheRules("formula_too_late", late_rule)


def pick_up_offences(seat: int, dealer: int, cards: Cards, misdealt: bool) -> tuple[str, ...]:
    """B23-B26: what a seat does wrong by taking up its cards now; the dealer also owns up to a misdeal."""
    if cards.formula:
        return ()
    return ("misdeal", "early_pick_up") if misdealt and seat == dealer else ("early_pick_up",)


def finds_misdeal(seat: int, cards: Cards, misdealt: bool, found: bool) -> bool:
    """B27: the seat sees that it has a wrong number of cards, and is the first to see one."""
    return misdealt and not found and cards.counts[seat] != HAND


def formula_forgotten(dealer: int, cards: Cards, picked: tuple[int, ...]) -> bool:
    """B25: a new deal after a misdeal, and the dealer neither spoke nor took up his cards."""
    return not cards.formula and dealer not in picked


def incident_began(dealt: int, won: tuple[tuple[int, int], ...], under_way: bool) -> int:
    """The event after which a report tells of what goes on now: the trick under way, else the last one.

    What is reported twice of one trick is one offence (B-O5). ``dealt``: the event of the cards.
    """
    before = won if under_way else won[:-1]
    return before[-1][1] if before else dealt
