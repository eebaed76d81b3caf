"""The match as it stands."""

from litestar import get

from api.http.describe import described
from api.http.headers import matching_etag
from api.http.params import MatchId, MinVersion, Wait
from api.http.replies import Reply, short
from api.matches.schemas import MatchSeen, seen_fields, tag_now
from api.runtime.call import ApiCall
from api.runtime.long_polls import wait_for_news


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
async def get_match(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0, wait: Wait = 0) -> Reply:
    """The match as the caller may see it."""
    service = request.service
    match, caller = await service.access.sees(request, match_id, min_version)
    match, caller = await wait_for_news(
        request, match, caller, wait, lambda now: matching_etag(request, tag_now(now), caller.texts) is not None
    )
    viewer = caller.sees_as(match.version <= match.public_to)
    return short(request, tag_now(match), lambda: seen_fields(match, viewer), caller.texts)
