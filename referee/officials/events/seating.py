"""The facts of who is admitted to a match, and who has agreed to its stakes."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from referee import wire_types
from referee.actors import Actor
from referee.admission import Role
from referee.value import Seat, Time
from referee.visibility import Event, Hidden

HowAgreed = Annotated[
    Literal["seat", "invitation", "secretary"],
    Meta(
        title="HowAgreed",
        description="How a seat agreed to the stakes. `seat`: by its own token or its member's key. `invitation`: by "
        "redeeming an invitation, which shows them. `secretary`: a member with `officiate` confirmed for it.",
    ),
]


class Invited(Event):
    """An invitation to a seat or a role was made. It replaces an earlier one that was not redeemed."""

    TOPIC: ClassVar[str] = "match/invited"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    invitation: wire_types.InvitationNumber
    """Its number in the match, from 1."""
    role: Role
    """What it admits to."""
    hash: wire_types.HiddenHash
    """SHA-256 of the code. It is shown to nobody."""
    by: Actor
    """Who made it."""
    expires_at: Time
    """It can be redeemed until then."""
    seat: Seat | None = None
    """The seat; left out: the role has none."""
    official: wire_types.OfficialPlace | None = None
    """Which of the officials, from 1; left out: another role."""


class InvitationRedeemed(Event):
    """The holder of an invitation's code took the seat or the role."""

    TOPIC: ClassVar[str] = "match/invitation-redeemed"
    invitation: wire_types.InvitationNumber
    """Its number in the match."""


class StakesAgreed(Event):
    """Seats agreed to the stakes. When all seats have, a club's books count the match."""

    TOPIC: ClassVar[str] = "stakes/agreed"
    seats: wire_types.Seats
    """The seats that agreed by this."""
    how: HowAgreed
    """How they agreed."""
    invitation: wire_types.InvitationNumber | None = None
    """The invitation that was redeemed; left out: they agreed in another way."""


class StakesDeclined(Event):
    """The stakes were declined: the match never counts in a club's books."""

    TOPIC: ClassVar[str] = "stakes/declined"
    seat: Seat | None = None
    """The seat that declined; left out: an official ended the waiting."""
