"""The keys of a club, and what a key may know of itself."""

from typing import Annotated
from uuid import UUID

from litestar import get

from api.access.clubs import KeyHolder, must_have
from api.http.describe import KEY, described
from api.http.headers import Req, tag_by
from api.http.number_pages import LIMIT_MAX, Cursor, Limit, page_reply, some
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode, short
from api.runtime.service import service_of
from referee import wire_types
from referee.clubs.facts import AppName, KeyId, Scopes
from referee.clubs.state import Key
from referee.store.clock import utc_now
from referee.value import Time, Value, Version


class KeySeen(Value):
    """A key, and never its secret: nobody has that but its holder."""

    key: KeyId
    scopes: Scopes
    member: wire_types.MemberNumber | None
    """Whose it is; null: a program's."""
    app: AppName | None
    """Which program it is for; null: a member's."""
    expires_at: Time
    """When it ends."""
    rotated_until: Time | None
    """So long the secret before the last rotation is good as well; null: it is not."""
    revoked: bool
    """Whether it is good for nothing any more, whatever time it had left."""
    invited_until: Time | None
    """Until then the member can redeem the invitation to it; null: it was issued, or redeemed."""


class KeyPage(Value):
    """Some keys by number, those that have ended too."""

    version: Version
    """How far the club had come: the number of its last event."""
    keys: Annotated[tuple[KeySeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Those of this page."""
    next: wire_types.Cursor | None
    """What to give as `cursor` for more; null: these are the last."""


class KeySelf(KeySeen, kw_only=True):
    """The key that was shown."""

    club: UUID
    """The id of its club."""
    ends_at: Time
    """When what was shown ends: before ``expires_at`` where another secret has taken its place."""


def _fields(key_id: KeyId, key: Key) -> dict[str, object]:
    invitation = key.invitation
    rotated = key.until if key.until is not None and key.until > utc_now() and not key.revoked else None
    return {
        "key": key_id,
        "scopes": key.scopes,
        "member": key.member,
        "app": key.app,
        "expires_at": key.expires_at,
        "rotated_until": rotated,
        "revoked": key.revoked,
        "invited_until": None if invitation is None or invitation.ended or key.revoked else invitation.expires_at,
    }


def key_self(holder: KeyHolder) -> dict[str, object]:
    """The fields of :class:`KeySelf`, ready to encode."""
    return {**_fields(holder.key_id, holder.key), "club": holder.club.id, "ends_at": holder.ends_at}


@get(
    "/clubs/{club:uuid}/keys",
    operation_id="list_keys",
    summary="The keys of a club",
    description="A page of all keys that were ever made, by number: whose each is and what it is good for. With a "
    "key that has the scope `keys`.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=KeyPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_keys(
    request: Req, club: ClubId, limit: Limit = 200, cursor: Cursor = None, min_version: ClubMinVersion = 0
) -> Reply:
    """The keys of a club."""
    caller = await service_of(request).club_access.caller(request, club, min_version)
    must_have(caller, "keys")
    page = some(enumerate(caller.club.standing.keys, 1), cursor, limit)
    seen = [_fields(f"k{number}", key) for number, key in page.found]
    return await page_reply(request, {"version": caller.club.version, "keys": seen, "next": page.next}, page.next)


@get(
    "/key",
    operation_id="get_key",
    summary="What a key is good for",
    description="A key of a club, shown in `Authorization`, is told of itself: of which club it is and whose, what "
    "it is good for and until when.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=KeySelf, errors=(400, 401, 503)),
)
async def get_key(request: Req) -> Reply:
    """What a key is good for."""
    told = key_self(await service_of(request).club_access.holder(request))
    return short(request, tag_by(encode(told)), lambda: told)
