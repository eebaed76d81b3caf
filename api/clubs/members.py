"""Lists the present and former members of a club."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from api.access.clubs import KeyHolder
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, numbered_page, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode
from api.runtime.call import ApiCall
from api.runtime.member_names import Numbers, may_see_payment_numbers
from referee import wire_types
from referee.clubs.facts import IbanRef, NumberRef, Ref
from referee.value import Value, Version


class MemberSeen(Value):
    """A present or former member of a club."""

    member: wire_types.MemberNumber
    name: Ref
    left: date | None
    """Date of leaving; null: a present member."""
    erased: bool
    """True: the name is erased."""
    swish: NumberRef | None
    """Swish number of the member; null: not set, or not visible to the caller."""
    iban: IbanRef | None
    """IBAN of the member, for euros; null: not set, or not visible to the caller."""


class MemberPage(Value):
    """A page of members, by number."""

    version: Version
    items: Annotated[tuple[MemberSeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/members",
    operation_id="list_members",
    summary="List the members of a club",
    description="Returns a page of present and former members, by number, with their names. Requires any key of the "
    "club. Payment numbers are shown to keys with `treasury` or `keys`, and to each member their own. The operator's "
    "key sees neither names nor numbers.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=MemberPage, errors=(400, 401, 404, 409, 503)),
)
async def list_members(
    request: ApiCall,
    club_id: ClubId,
    here: Annotated[bool, QueryParameter(description="True: only present members.")] = False,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    numbered = enumerate(caller.club.state.members, 1)
    page = numbered_page((one for one in numbered if not here or one[1].left is None), cursor, limit)
    names = await service.member_names.names_of(caller.club, dict(page.items))
    known = names if isinstance(caller, KeyHolder) else {}
    numbers = await service.member_names.numbers_of(
        caller.club, (one for one, _ in page.items if may_see_payment_numbers(caller, one))
    )
    seen = tuple(
        MemberSeen(
            member=number,
            name=known.get(member.name, member.name),
            left=member.left,
            erased=member.erased,
            **numbers.get(number, Numbers())._asdict(),
        )
        for number, member in page.items
    )
    shown = MemberPage(version=caller.club.version, items=seen, next=page.next)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)
