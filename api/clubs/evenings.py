"""Lists the evenings of a club."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, numbered_page, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode
from api.runtime.call import ApiCall
from referee import wire_types
from referee.clubs.commands import PERSON
from referee.clubs.facts import SEASON_MAX, Season
from referee.value import Value, Version


class EveningSeen(Value):
    """An evening of a club."""

    evening: wire_types.EveningNumber
    on: date
    season: Season
    closed: bool
    """True: no match can be opened on the evening any more."""


class EveningPage(Value):
    """A page of evenings, by number."""

    version: Version
    items: Annotated[tuple[EveningSeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/evenings",
    operation_id="list_evenings",
    summary="List the evenings of a club",
    description="Returns a page of evenings in the order of their opening. Requires any key of the club.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=EveningPage, errors=(400, 401, 404, 409, 503)),
)
async def list_evenings(
    request: ApiCall,
    club_id: ClubId,
    season: Annotated[
        str | None,
        QueryParameter(
            description="Only evenings of this season.",
            min_length=1,
            max_length=SEASON_MAX,
            pattern=PERSON,
        ),
    ] = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    club = (await request.service.club_access.caller(request, club_id, min_version)).club
    numbered = enumerate(club.state.evenings, 1)
    page = numbered_page((one for one in numbered if season in (None, one[1].season)), cursor, limit)
    seen = tuple(
        EveningSeen(evening=number, on=evening.on, season=evening.season, closed=evening.closed)
        for number, evening in page.items
    )
    shown = EveningPage(version=club.version, items=seen, next=page.next)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)
