"""Requests that admit people to a match: tokens for its seats and roles, and invitations to them."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import wire_types
from referee.value import Seat, SeatSent, Value

TokenRole = Literal["seat", "scribe", "watcher"]
"""What a token can be issued for: to act for a seat, to write down what all seats do, or only to look."""
Role = Annotated[
    Literal["seat", "scribe", "watcher", "official"],
    Meta(
        title="InvitedRole",
        description="What an invitation admits to. `seat`: to act for the seat. `scribe`: one device at a real "
        "table, which acts for all seats and sees what a spectator sees. `watcher`: only to look. `official`: one of "
        "the officials that the match names.",
    ),
]
PlaceSent = Annotated[int, Meta(ge=1, le=wire_types.OFFICIALS_MAX)]


class IssueToken(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="issue_token"):
    """By the official: a seat or a role gets a token, of which this is the SHA-256, instead of the one before."""

    seat: Seat | None
    """The seat; null: the role has none."""
    hash: wire_types.HiddenHash
    """SHA-256 of the token. It is shown to nobody."""
    role: TokenRole = "seat"


class Invite(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="invite"):
    """Make an invitation to a seat or a role. It replaces an earlier one that was not redeemed."""

    role: Role
    """What it admits to."""
    hash: wire_types.HiddenHash
    """SHA-256 of the code. It is shown to nobody."""
    seat: SeatSent | None = None
    """The seat; left out: the role has none."""
    official: PlaceSent | None = None
    """Which of the officials, from 1; left out: another role."""


class RedeemInvitation(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="redeem"):
    """Take the seat or role that an invitation admits to. At a seat for money this agrees to the stakes."""

    invitation: wire_types.InvitationNumber
    """The number of the invitation in the match."""
    hash: wire_types.HiddenHash
    """SHA-256 of the token that the holder gets. It is shown to nobody."""
