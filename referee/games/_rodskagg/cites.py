"""Ids of the rules that the shared code of the Rödskägg games cites."""

from referee.value import Value


class CitedRules(Value):
    """``None``: the game has no such rule."""

    pack: str
    dealer: str
    six_cards: str
    misdeal: str
    not_accusable: str
    bids: str
    bid_turn: str
    one_bid_each: str
    first_lead: str
    lead: str
    turn: str
    follow_suit: str
    question: str
    question_late: str
    answers: str
    answer_turn: str
    answered_by_trick: str
    folded: str
    lead_in_duel: str | None = None
    declarer_in: str | None = None
    """Rule that the declarer need not answer."""
    bid_must_rise: str | None = None
    bid_cap: str | None = None
    new_hands: str | None = None
    new_hands_turn: str | None = None
    dealer_cuts: str | None = None
    wrong_cut: str | None = None
    formula: str | None = None
    formula_late: str | None = None
    picking_up: str | None = None
    early_pick_up: str | None = None
    own_pick_up: str | None = None
    """Rule that a dealer who misdealt also pays for picking up early."""
