"""Which rule each sister cites for what they have alike."""

from referee.value import Value


class Cites(Value):
    """Rules of one game, by what they are about; ``None``: it has none, or cites none."""

    pack: str
    """Which cards there are."""
    dealer: str
    six_cards: str
    misdeal: str
    accused: str
    """Who may be reported."""
    bids: str
    bid_turn: str
    spoken: str
    """Each speaks once."""
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
    """The declarer is in, too, and need not be asked."""
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
    """By the dealer who has dealt wrongly, besides."""
