"""The ids of the rules that shared code cites: each Rödskägg game sets its own."""

from referee.value import Value


class Cites(Value):
    """Rule ids of a game by subject; ``None`` if it has no such rule."""

    pack: str
    dealer: str
    six_cards: str
    misdeal: str
    accused: str
    """The rule that a report cannot accuse some seats."""
    bids: str
    bid_turn: str
    spoken: str
    """The rule that each seat speaks once."""
    first_lead: str
    lead: str
    turn: str
    follow_suit: str
    question: str
    question_late: str
    answers: str
    answer_turn: str
    in_already: str
    folded: str
    lead_in_duel: str | None = None
    declarer_in: str | None = None
    """The rule that the declarer need not answer."""
    higher: str | None = None
    capped: str | None = None
    new_hands: str | None = None
    new_hands_turn: str | None = None
    cut: str | None = None
    wrong_cut: str | None = None
    formula: str | None = None
    formula_late: str | None = None
    picking_up: str | None = None
    early_pick_up: str | None = None
    own_pick_up: str | None = None
    """The rule that a dealer who misdealt also pays for picking up early."""
