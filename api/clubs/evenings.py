"""The evenings of a club."""

from datetime import date
from typing import Annotated

from litestar import get
from litestar.params import QueryParameter

from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.number_pages import LIMIT_MAX, Cursor, Limit, page_reply, some
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply
from api.runtime.service import service_of
from referee import wire_types
from referee.clubs.commands import PERSON
from referee.clubs.facts import SEASON_MAX, Season
from referee.value import Value, Version


class EveningSeen(Value):
    """An evening."""

    evening: wire_types.EveningNumber
    """Its number in the club."""
    on: date
    """The club's date."""
    season: Season
    closed: bool
    """Whether no match is opened on it any more."""


class EveningPage(Value):
    """Some evenings by number."""

    version: Version
    """How far the club had come: the number of its last event."""
    evenings: Annotated[tuple[EveningSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Those of this page."""
    next: wire_types.Cursor | None
    """What to give as `cursor` for more; null: these are the last."""


@get(
    "/clubs/{club:uuid}/evenings",
    operation_id="list_evenings",
    summary="The evenings of a club",
    description="A page of evenings in the order in which they were opened: with any key of the club.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=EveningPage, errors=(400, 401, 404, 409, 503)),
)
async def list_evenings(
    request: Req,
    club: ClubId,
    season: Annotated[
        str | None,
        QueryParameter(
            description="Only those of this season.",
            min_length=1,
            max_length=SEASON_MAX,
            pattern=PERSON,
        ),
    ] = None,
    limit: Limit = 200,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """The evenings of a club."""
    now = (await service_of(request).club_access.caller(request, club, min_version)).club
    numbered = enumerate(now.standing.evenings, 1)
    page = some((one for one in numbered if season in (None, one[1].season)), cursor, limit)
    seen = tuple(
        EveningSeen(evening=number, on=evening.on, season=evening.season, closed=evening.closed)
        for number, evening in page.found
    )
    return await page_reply(request, EveningPage(version=now.version, evenings=seen, next=page.next), page.next)
