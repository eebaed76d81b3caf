"""Events of admission to a match and of agreement to its stakes."""

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
        description="The way in which a seat agreed to the stakes. `seat`: by its token or its member's key. "
        "`invitation`: by redeeming an invitation, which shows them. `secretary`: a member with `officiate` "
        "confirmed it.",
    ),
]


class Invited(Event):
    """An invitation to a seat or role was made. It ends earlier invitations to that seat or role."""

    TOPIC: ClassVar[str] = "match/invited"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody", "given_by": "nobody"}
    invitation: wire_types.InvitationNumber
    """Number of the invitation in the match, from 1."""
    role: Role
    hash: wire_types.HiddenHash
    """SHA-256 of the code."""
    by: Actor
    expires_at: Time
    """Time until which the invitation can be redeemed."""
    seat: Seat | None = None
    """Seat of the guest, if the role has one."""
    official: wire_types.OfficialPlace | None = None
    """Number of the official, from 1, if the role is official."""
    given_by: wire_types.Givers = ()
    """Members who hold or gave the key with which an official was invited."""


class InvitationRedeemed(Event):
    """The holder of an invitation's code took the seat or the role."""

    TOPIC: ClassVar[str] = "match/invitation-redeemed"
    invitation: wire_types.InvitationNumber
    """Number of the invitation in the match."""


class StakesAgreed(Event):
    """Seats agreed to the stakes. Once all seats have agreed, the match counts in the club's books."""

    TOPIC: ClassVar[str] = "stakes/agreed"
    seats: wire_types.Seats
    """Seats that agreed."""
    how: HowAgreed
    """Way in which these seats agreed."""
    invitation: wire_types.InvitationNumber | None = None
    """Number of the invitation by whose redemption the seats agreed, if any."""


class StakesDeclined(Event):
    """The stakes were declined. The match never counts in the club's books."""

    TOPIC: ClassVar[str] = "stakes/declined"
    seat: Seat | None = None
    """Seat that declined; left out: an official stopped waiting for the seats."""
