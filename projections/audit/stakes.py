"""Lists answers to stakes that a person gave for others, or for which a person invited the member."""

from collections import deque
from collections.abc import Callable
from typing import Any, Literal
from uuid import UUID

from projections.audit.history import LISTED_MAX, Person
from referee import wire_types
from referee.actors import Actor, seat_of
from referee.officials.events.seating import Invited, StakesAgreed, StakesDeclined
from referee.value import EventNumber, Time, Value
from referee.visibility import Recorded


class StakesAnswered(Value):
    """The answer to a match's stakes by a person for others, or by a member whom a person invited."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    """Evening on which the match was opened; null: no evening."""
    event: EventNumber
    at: Time
    how: Literal["secretary", "invitation", "declined"]
    """Act of `by`. `secretary`: confirmed for the members; `invitation`: invited the member; `declined`: declined
    for all."""
    by: Person
    """Person who confirmed, invited or declined."""
    members: wire_types.BySeat[wire_types.MemberNumber]
    """Members who agreed; empty if the stakes were declined."""


class Agreements:
    """Lists the last :class:`StakesAnswered` of matches."""

    def __init__(self, person: Callable[[Actor], Person]) -> None:
        self.listed: deque[StakesAnswered] = deque(maxlen=LISTED_MAX)
        self._person = person
        self._invited: dict[tuple[UUID, int], Actor] = {}
        """Inviting actors, by match and invitation number."""

    def add_event(self, recorded: Recorded, evening: int | None, members: tuple[int, ...]) -> None:
        """Apply an event of a match for money. ``members``: by seat."""
        match, event = recorded.originator_id, recorded.event
        place: dict[str, Any] = {"match": str(match), "evening": evening, "at": recorded.at}
        place["event"] = recorded.originator_version
        match event:
            case Invited(invitation=number, by=by):
                self._invited[match, number] = by
            case StakesAgreed(seats=seats, how="secretary"):
                person, agreed = self._person(recorded.actor), tuple(members[seat] for seat in seats)
                self.listed.append(StakesAnswered(**place, how="secretary", by=person, members=agreed))
            case StakesAgreed(seats=(seat,), how="invitation", invitation=int(number)):
                by = self._invited.get((match, number), recorded.actor)
                if seat_of(by) is None:  # because a seat invites only to itself
                    inviter, agreed = self._person(by), (members[seat],)
                    self.listed.append(StakesAnswered(**place, how="invitation", by=inviter, members=agreed))
            case StakesDeclined(seat=None):
                person = self._person(recorded.actor)
                self.listed.append(StakesAnswered(**place, how="declined", by=person, members=()))
