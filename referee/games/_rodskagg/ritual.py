"""The ritual of the deal: the formula, picking up, and a misdeal found (B16-B27, B-O7, B-O8, C60).

What is done wrong is told by a code: the refusal's, or the offence's where it stands until somebody knocks.
"""

from referee.games._rodskagg.dealing import HAND, Cards

OUT_OF_PLACE = frozenset(("already_said", "already_picked_up"))
"""Codes for what is not against the rules, but has no place any more."""


def formula_fault(seat: int, dealer: int, cards: Cards, picked: tuple[int, ...]) -> str | None:
    """B20-B22: the dealer says it, once, and before he takes up his own cards."""
    if seat != dealer:
        return "only_dealer_says_it"
    if cards.formula:
        return "already_said"
    return "formula_too_late" if dealer in picked else None


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
