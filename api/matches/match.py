"""Returns a match."""

from litestar import get

from api.http.describe import described
from api.http.headers import matching_etag
from api.http.params import MatchId, MinVersion, Wait
from api.http.replies import Reply, uncompressed_reply
from api.matches.schemas import MatchSeen, seen_fields, tag_now
from api.runtime.call import ApiCall
from api.runtime.long_polls import wait_for_news


@get(
    "/matches/{match:uuid}",
    operation_id="get_match",
    summary="Get a match",
    description="Returns the present state of a match as the caller may see it. A seat sees its own hand, the "
    "official sees everything, and every caller sees the cards on the table.\n\n"
    "The answer has an ETag. With `If-None-Match` it is 304 while nothing has changed. With `wait` as well, the "
    "answer waits at most this many seconds for a change, unless the match is over.",
    tags=["Matches"],
    operation_class=described(
        gives=MatchSeen,
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_match(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0, wait: Wait = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    match, caller = await wait_for_news(
        request, match, caller, wait, lambda now: matching_etag(request, tag_now(now), caller.texts) is not None
    )
    viewer = caller.deal_viewer(match.version <= match.public_to)
    return uncompressed_reply(request, tag_now(match), lambda: seen_fields(match, viewer), caller.texts)
