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
    """Its number among the proposals of the club, from 1."""
    act: ProposedAct
    """The act as it was sent."""
    by: Actor
    """The sender of the act."""
    draft: MoneyDraft | None = None
    """The entry that the act makes in the books; left out: none."""


class ProposalConfirmed(Event):
    """A proposal was confirmed. The next events are those of its act, decided at this moment."""

    TOPIC: ClassVar[str] = "proposal/confirmed"
    proposal: wire_types.ProposalNumber
    by: Actor
    """The sender of the act. The actor of this event confirmed it."""


class ProposalDeclined(Event):
    """A proposal was declined, or withdrawn by its proposer: its act is not done."""

    TOPIC: ClassVar[str] = "proposal/declined"
    proposal: wire_types.ProposalNumber
    act: ProposedAct
    """The act that is not done."""
    by: Actor
    """The sender of the act. The actor of this event declined it."""
