"""The events of a club's proposals: acts that wait until another member confirms them."""

from typing import ClassVar

from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import ProposedAct
from referee.clubs.facts import MoneyDraft
from referee.visibility import Event


class ProposalMade(Event):
    """An act waits for another member to confirm it."""

    TOPIC: ClassVar[str] = "proposal/made"
    proposal: wire_types.ProposalNumber
    """Number among the proposals of the club, from 1."""
    act: ProposedAct
    """The act in the form that the client sent."""
    by: Actor
    draft: MoneyDraft | None = None
    """The entry that the act makes in the books, if it makes one."""


class ProposalConfirmed(Event):
    """A proposal was confirmed. The next events are those of its act, decided at this moment."""

    TOPIC: ClassVar[str] = "proposal/confirmed"
    proposal: wire_types.ProposalNumber
    by: Actor


class ProposalDeclined(Event):
    """A proposal was declined, or withdrawn by its proposer."""

    TOPIC: ClassVar[str] = "proposal/declined"
    proposal: wire_types.ProposalNumber
    act: ProposedAct
    by: Actor
