"""The events of a club's proposals, which are acts that wait for another member."""

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
    """Number of the proposal in the club, from 1."""
    act: ProposedAct
    """Act in the form that the client sent."""
    by: Actor
    draft: MoneyDraft | None = None
    """Entry that the act will post; left out: none."""


class ProposalConfirmed(Event):
    """A proposal was confirmed. The next events are those of its act."""

    TOPIC: ClassVar[str] = "proposal/confirmed"
    proposal: wire_types.ProposalNumber
    by: Actor


class ProposalDeclined(Event):
    """A proposal was declined, or withdrawn by its proposer."""

    TOPIC: ClassVar[str] = "proposal/declined"
    proposal: wire_types.ProposalNumber
    act: ProposedAct
    by: Actor
