"""The members of a club."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from api.access.clubs import KeyHolder
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT_MAX, Cursor, Limit, numbered_page, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode
from api.runtime.call import ApiCall
from api.runtime.member_names import Numbers, sees_numbers
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
    request: ApiCall,
    club_id: ClubId,
    here: Annotated[bool, QueryParameter(description="Whether to leave out who has left.")] = False,
    limit: Limit = 200,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """The members of a club."""
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    numbered = enumerate(caller.club.standing.members, 1)
    page = numbered_page((one for one in numbered if not here or one[1].left is None), cursor, limit)
    names = await service.member_names.names_of(caller.club, dict(page.entries))
    known = names if isinstance(caller, KeyHolder) else {}
    numbers = await service.member_names.numbers_of(
        caller.club, (one for one, _ in page.entries if sees_numbers(caller, one))
    )
    seen = tuple(
        MemberSeen(
            member=number,
            name=known.get(member.name, member.name),
            left=member.left,
            erased=member.erased,
            **numbers.get(number, Numbers())._asdict(),
        )
        for number, member in page.entries
    )
    shown = MemberPage(version=caller.club.version, members=seen, next=page.next)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)
