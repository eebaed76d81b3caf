"""The members of a club."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from api.access.clubs import KeyHolder
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.number_pages import LIMIT_MAX, Cursor, Limit, page_reply, some
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply
from api.runtime.member_names import Numbers, names_of, numbers_of, sees_numbers
from api.runtime.service import service_of
from referee import wire_types
from referee.clubs.facts import NumberRef, Ref
from referee.value import Value, Version


class MemberSeen(Value):
    """A member, or who was one."""

    member: wire_types.MemberNumber
    """The number: no other ever has it."""
    name: Ref
    left: date | None
    """On which day, by the club's clock; null: a member now."""
    erased: bool
    """Whether the name is erased: then nobody is told it."""
    swish: NumberRef | None
    """The Swish number by which the member is paid; null: there is none, or it is not the caller's to know."""
    iban: NumberRef | None
    """The account by which the member is paid in euros; null: there is none, or it is not the caller's to know."""


class MemberPage(Value):
    """Some members by number."""

    version: Version
    """How far the club had come: the number of its last event."""
    members: Annotated[tuple[MemberSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Those of this page."""
    next: wire_types.Cursor | None
    """What to give as `cursor` for more; null: these are the last."""


@get(
    "/clubs/{club:uuid}/members",
    operation_id="list_members",
    summary="The members of a club",
    description="A page of those who are members or were, by number, with their names: with any key of the club. The "
    "numbers by which they are paid are told to keys with `treasury` or `keys`, and a member's own to him. To the "
    "operator's key neither is told.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=MemberPage, errors=(400, 401, 404, 409, 503)),
)
async def list_members(
    request: Req,
    club: ClubId,
    here: Annotated[bool, QueryParameter(description="Whether to leave out who has left.")] = False,
    limit: Limit = 200,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """The members of a club."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    numbered = enumerate(caller.club.standing.members, 1)
    page = some((one for one in numbered if not here or one[1].left is None), cursor, limit)
    names = await names_of(service, caller.club, dict(page.found))
    known = names if isinstance(caller, KeyHolder) else {}
    numbers = await numbers_of(service, caller.club, (one for one, _ in page.found if sees_numbers(caller, one)))
    seen = tuple(
        MemberSeen(
            member=number,
            name=known.get(member.name, member.name),
            left=member.left,
            erased=member.erased,
            **numbers.get(number, Numbers())._asdict(),
        )
        for number, member in page.found
    )
    return await page_reply(request, MemberPage(version=caller.club.version, members=seen, next=page.next), page.next)
