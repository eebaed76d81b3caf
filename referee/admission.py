"""Requests that admit people to a match: tokens and invitations."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import wire_types
from referee.value import Seat, SeatSent, Value

TokenRole = Literal["seat", "scribe", "watcher"]
Role = Annotated[
    Literal["seat", "scribe", "watcher", "official"],
    Meta(
        title="InvitedRole",
        description="The role that an invitation admits to. `seat`: acts for the seat. `scribe`: one device at a "
        "real table, which acts for all seats and sees what a spectator sees. `watcher`: only reads. "
        "`official`: one of the officials that the match names.",
    ),
]
PlaceSent = Annotated[int, Meta(ge=1, le=wire_types.OFFICIALS_MAX)]
"""Number of an official, from 1."""


class IssueToken(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="issue_token"):
    """Give a seat or role a new token; the present one ends (officials only)."""

    seat: Seat | None
    """Seat; null: the role has none."""
    hash: wire_types.HiddenHash
    """Hash of the new token in this match. Never shown."""
    role: TokenRole = "seat"


class Invite(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="invite"):
    """Make an invitation to a seat or a role. It ends earlier ones to that place."""

    role: Role
    hash: wire_types.HiddenHash
    """SHA-256 of the code. Never shown."""
    seat: SeatSent | None = None
    """Seat; left out: the role has none."""
    official: PlaceSent | None = None
    given_by: wire_types.Givers = ()
    """Members who hold or gave the inviting key, for an official."""


class RedeemInvitation(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="redeem"):
    """Take the seat or role of an invitation. If the seat must still agree to the stakes, this agrees."""

    invitation: wire_types.InvitationNumber
    """Number of the invitation in the match."""
    hash: wire_types.HiddenHash
    """Hash of the new token in this match. Never shown."""
