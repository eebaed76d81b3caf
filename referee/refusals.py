"""Refusals: the exceptions that refuse a request.

``code``: key of the reason's text in :mod:`referee.sentences`. ``rule``: ``None`` if no rule covers the refusal.
``facts``: values for the text. They show no card that the caller may not see. :mod:`referee.phases` has the order of
a match's refusals.
"""

from functools import partial
from typing import Any, ClassVar


class Refused(Exception):
    status: ClassVar[str] = "rule"
    """``state``: the state does not allow the request (409). ``who``: the caller may not do it, others may (403).
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
    """The act is due from a different seat, or no longer due from this one."""


class NotYours(Refused):
    """Only a different person may do this."""

    status = "who"


class InvitationOver(Refused):
    status = "state"


class NoSuchCard(Refused):
    """The hand or the pack lacks a named card, or the card was named twice or is elsewhere."""


class AgainstTheRules(Refused):
    """A rule forbids the request, or one of its values is impossible."""


class ClubState(Refused):
    status = "state"


class NotGranted(Refused):
    status = "who"


class AgainstTheClub(Refused):
    """A rule for clubs forbids the command, or something that it names does not exist in the club."""
