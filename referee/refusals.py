"""Refusals: the exceptions that refuse a request. A refused request makes no event.

``code`` names the reason; :mod:`referee.sentences` has its text. ``rule`` is ``None`` if no rule covers the refusal.
``facts`` help to correct the request. They show no card that the caller may not see. :mod:`referee.phases` has the
order of refusals.
"""

from functools import partial
from typing import Any, ClassVar


class Refused(Exception):
    status: ClassVar[str] = "rule"
    """``state``: the state does not allow the act (409). ``who``: the caller may not do it, others may (403).
    ``rule``: a rule forbids it (422)."""

    def __init__(self, code: str, rule: str | None, **facts: Any) -> None:
        super().__init__(code)
        self.code, self.rule, self.facts = code, rule, facts

    def __reduce__(self) -> Any:
        return partial(type(self), **self.facts), (self.code, self.rule)


class MatchOver(Refused):
    status = "state"


class WrongPhase(Refused):
    status = "state"


class NotInPlay(Refused):
    """The seat is out, has folded, sits out the deal, or does not exist."""


class OutOfTurn(Refused):
    """The turn is a different seat's."""


class NotYours(Refused):
    """Only a different person may do this, for example the official who ruled."""

    status = "who"


class InvitationOver(Refused):
    status = "state"


class NoSuchCard(Refused):
    """The card is not in the hand or in the pack, or was named twice, or seen before."""


class AgainstTheRules(Refused):
    """A rule of the game forbids the act."""


class ClubState(Refused):
    status = "state"


class NotGranted(Refused):
    status = "who"


class AgainstTheClub(Refused):
    """A rule for clubs forbids the command, or the club lacks the named member, key, entry or currency."""
