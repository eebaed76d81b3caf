"""Lists the keys of a club, and returns the caller's key."""

from typing import Annotated
from uuid import UUID

from litestar import get

from api.access.clubs import must_have
from api.http.describe import KEY, described
from api.http.headers import tag_of_body
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, numbered_page, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode, uncompressed_reply
from api.runtime.call import ApiCall
from referee import wire_types
from referee.clubs.facts import AppName, KeyId, Scopes
from referee.clubs.state import Key
from referee.store.clock import utc_now
from referee.value import Time, Value, Version


class KeySeen(Value):
    """A key of a club, without its secret."""

    key: KeyId
    scopes: Scopes
    member: wire_types.MemberNumber | None
    """Holder of the key; null: a program's key."""
    app: AppName | None
    expires_at: Time
    rotated_until: Time | None
    """Time until which the previous secret is valid; null: no previous secret is valid."""
    revoked: bool
    """True: the key was revoked."""
    invited_until: Time | None
    """Time at which the invitation to the key expires; null: no invitation, or redeemed or revoked."""


class KeyPage(Value):
    """A page of keys, by number."""

    version: Version
    items: Annotated[tuple[KeySeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


class KeySelf(KeySeen, kw_only=True):
    """The caller's key."""

    club: UUID
    ends_at: Time
    """Time at which the sent secret ends: before ``expires_at`` if it was replaced."""


def _key_fields(key_id: KeyId, key: Key) -> dict[str, object]:
    """Return the fields of a :class:`KeySeen`."""
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


@get(
    "/clubs/{club:uuid}/keys",
    operation_id="list_keys",
    summary="List the keys of a club",
    description="Returns a page of the keys, by number, with those that have ended. Requires the scope `keys`.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=KeyPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_keys(
    request: ApiCall,
    club_id: ClubId,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    caller = await request.service.club_access.caller(request, club_id, min_version)
    must_have(caller, "keys")
    page = numbered_page(enumerate(caller.club.state.keys, 1), cursor, limit)
    seen = [_key_fields(f"k{number}", key) for number, key in page.items]
    shown = {"version": caller.club.version, "items": seen, "next": page.next}
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)


@get(
    "/key",
    operation_id="get_key",
    summary="Get the caller's key",
    description="Returns the club, holder, scopes and end of the club key in `Authorization`.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=KeySelf, errors=(400, 401, 503)),
)
async def get_key(request: ApiCall) -> Reply:
    holder = await request.service.club_access.holder(request)
    fields = {**_key_fields(holder.key_id, holder.key), "club": holder.club.id, "ends_at": holder.ends_at}
    return uncompressed_reply(request, tag_of_body(encode(fields)), lambda: fields, NO_TEXTS)
