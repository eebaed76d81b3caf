"""Refusals: the reasons why an act was not accepted. Nothing is recorded of such an act.

A refusal has a stable ``code``, the ``rule`` it rests on (``None`` if no rule covers it), and ``facts`` that help the
caller to correct the act. Facts never hold a card that the caller may not see. Sentences are made from the code when
they are read (:mod:`referee.sentences`).

If several apply, the first in this order is raised: the match is over (``MatchOver``), the seat is out of the match
or of the deal (``NotInPlay``), the state does not allow the act (``WrongPhase``), it is not the seat's turn
(``OutOfTurn``), the card is impossible (``NoSuchCard``), a rule of the game forbids the act (``AgainstTheRules``).
"""

from functools import partial
from typing import Any, ClassVar


class Refused(Exception):
    """An act was not accepted."""

    status: ClassVar[str] = "rule"
    """``state``: the state does not allow the act (409). ``who``: the caller may not do it, others may (403).
    ``rule``: a rule forbids it (422)."""

    def __init__(self, code: str, rule: str | None, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.rule, self.facts = code, rule, facts

    def __reduce__(self) -> Any:
        """Return how a copy is made in a different process."""
        return partial(type(self), **self.facts), (self.code, self.rule)


class MatchOver(Refused):
    status = "state"


class WrongPhase(Refused):
    """The state of the match does not allow this act."""

    status = "state"


class NotInPlay(Refused):
    """The seat is eliminated, or has folded, or is not one of this match."""


class OutOfTurn(Refused):
    """The turn belongs to a different seat, by the rules of the game."""


class NotYours(Refused):
    """The act belongs to a different person in the case or match, for example the official who ruled."""

    status = "who"


class InvitationOver(Refused):
    """The invitation cannot be redeemed any longer."""

    status = "state"


class NoSuchCard(Refused):
    """The card is not held, was named twice or seen before, or does not exist in the pack."""


class AgainstTheRules(Refused):
    """A rule of the game forbids the act."""


class ClubState(Refused):
    """The state of the club does not allow the command."""

    status = "state"


class NotGranted(Refused):
    """The caller's keys do not grant the scope for it."""

    status = "who"


class AgainstTheClub(Refused):
    """A rule for clubs forbids the command, or it names a member, key, entry or currency that the club does not
    have."""
