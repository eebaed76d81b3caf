"""The one-time codes of invitations: ``kni_<id of a match or club>_<secret><checksum>``."""

from collections.abc import Sequence
from hmac import compare_digest
from typing import Annotated
from uuid import UUID

from msgspec import Meta

from api.access.secret_form import SecretForm
from api.access.tokens import hash_of
from referee.invitations import Invitation

CODES = SecretForm("kni_", None, random_bytes=16)
PATTERN, LENGTH_MAX = CODES.pattern, CODES.length_max
Code = Annotated[
    str,
    Meta(
        description="The one-time code of an invitation. Any person who has it can redeem it.",
        extra_json_schema={"pattern": f"^{PATTERN}$", "maxLength": LENGTH_MAX},
    ),
]


def new_code(aggregate: UUID, random: bytes | None = None) -> str:
    """Return a new code for a match or club. ``random``: bytes for its secret; None: random bytes."""
    return CODES.make_text(aggregate, "", random)


def aggregate_of(code: str) -> UUID | None:
    """Return the id of the match or club in a code; ``None`` if the code is malformed."""
    found = CODES.parse(code)
    return None if found is None else found.aggregate


def number_of(code: str, invitations: Sequence[Invitation]) -> int | None:
    """Return the number (from 1) of the invitation with this code, or ``None``, in constant time."""
    wanted, found = hash_of(code), None
    for number, invitation in enumerate(invitations, 1):
        if compare_digest(invitation.hash, wanted):
            found = number
    return found
