"""Invitations: one-time codes that admit their holder to a seat of a match, or to a key of a club.

A code is shown once, to the inviting caller. The match or club stores its SHA-256.
"""

from datetime import datetime, timedelta

from referee.actors import Actor
from referee.refusals import InvitationOver
from referee.value import Value

INVITATION_DAYS = 7
INVITATIONS_MAX = 1000
"""Maximum invitations of one match."""


class Invitation(Value):
    hash: str
    """SHA-256 of the code, in hex."""
    by: Actor
    expires_at: datetime
    ended: bool = False
    """True after redemption, or after a later invitation to the seat or role."""


def expiry(at: datetime) -> datetime:
    return at + timedelta(days=INVITATION_DAYS)


def check_open(invitation: Invitation, at: datetime) -> None:
    """Raise ``InvitationOver`` if an invitation can no longer be redeemed."""
    if invitation.ended:
        raise InvitationOver("invitation_ended", None)
    if invitation.expires_at <= at:
        raise InvitationOver("invitation_expired", None, until=invitation.expires_at)
