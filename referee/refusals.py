"""Refusals: why an act was not accepted. Nothing of it is recorded.

A refusal has a stable ``code``, the ``rule`` it rests on (or ``None`` where no rule speaks), and ``facts`` that
help the caller to do better and never hold a card that the caller may not see. Sentences are made from the code
when they are read (:mod:`referee.sentences`).

Order of precedence, when several apply: match over (``MatchOver``), the seat is out of the match or of the deal
(``NotInPlay``), the match is in no state for the act (``WrongPhase``), out of turn (``OutOfTurn``), a card that
cannot be (``NoSuchCard``), and last the rules of the game (``AgainstTheRules``).
"""

from functools import partial
from typing import Any, ClassVar


class Refused(Exception):
    """An act that was not accepted."""

    status: ClassVar[str] = "rule"
    """``state``: the match is in no state for it. ``who``: somebody else may do it. ``rule``: against the rules."""

    def __init__(self, code: str, rule: str | None, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.rule, self.facts = code, rule, facts

    def __reduce__(self) -> Any:
        """Return how a copy is made in a different process."""
        return partial(type(self), **self.facts), (self.code, self.rule)


class MatchOver(Refused):
    """The match is finished."""

    status = "state"


class WrongPhase(Refused):
    """The match is in no state for this act."""

    status = "state"


class NotInPlay(Refused):
    """The seat is eliminated, or has folded, or is not one of this match."""


class OutOfTurn(Refused):
    """Somebody else is to act."""


class NotYours(Refused):
    """It is for somebody else to do."""

    status = "who"


class InvitationOver(Refused):
    """The invitation cannot be redeemed any more."""

    status = "state"


class NoSuchCard(Refused):
    """The card is not held, was seen before, or does not exist in the pack."""


class AgainstTheRules(Refused):
    """A rule of the game forbids it."""


class ClubState(Refused):
    """The club is in no state for it."""

    status = "state"


class NotGranted(Refused):
    """It is for somebody with other keys."""

    status = "who"


class AgainstTheClub(Refused):
    """It names what the club has not, or what no club may have."""
