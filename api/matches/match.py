"""The match as it stands."""

from litestar import get

from api.http.describe import described
from api.http.headers import Req, held
from api.http.params import MatchId, MinVersion, Wait
from api.http.replies import Reply, short
from api.matches.schemas import MatchSeen, seen_fields, tag_now
from api.runtime.service import service_of


@get(
    "/matches/{match:uuid}",
    operation_id="get_match",
    summary="The match as the caller may see it",
    description="A seat sees its own hand, the official everything, and anybody what lies on the table. "
    "The answer has an ETag; with `If-None-Match` it is 304 while nothing has happened, and with `wait` as well the "
    "answer waits for something to happen, so many seconds at most. Where the match is over it does not wait.",
    tags=["Matches"],
    operation_class=described(
        gives=MatchSeen,
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_match(request: Req, match: MatchId, min_version: MinVersion = 0, wait: Wait = 0) -> Reply:
    """The match as the caller may see it."""
    service = service_of(request)
    seen, caller = await service.access.sees(request, match, min_version)
    seen = await service.later(request, seen, caller, wait, lambda now: held(request, tag_now(now)) is not None)
    viewer = caller.sees_as(seen.version <= seen.public_to)
    return short(request, tag_now(seen), lambda: seen_fields(seen, viewer))
