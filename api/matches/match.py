"""The match as it stands."""

from litestar import get

from api.http.describe import IF_NONE_MATCH, described
from api.http.headers import Req, header, same_version
from api.http.params import MatchId, MinVersion
from api.http.replies import Reply, not_modified, of_match
from api.matches.shown import MatchSeen, seen_fields
from api.service import service_of


@get(
    "/matches/{match:uuid}",
    operation_id="get_match",
    summary="The match as the caller may see it",
    description="A seat sees its own hand, the official everything, and anybody what lies on the table. "
    "The answer has an ETag; with `If-None-Match` it is 304 while nothing has happened.",
    tags=["Matches"],
    operation_class=described(
        gives=MatchSeen,
        headers=("ETag",),
        takes=(IF_NONE_MATCH,),
        errors=(400, 401, 404, 409, 503),
        empty={304: "The match is at this version still."},
    ),
)
async def get_match(request: Req, match: MatchId, min_version: MinVersion = 0) -> Reply:
    """The match as the caller may see it."""
    seen, viewer = await service_of(request).seen(request, match, min_version)
    if same_version(header(request, b"if-none-match"), seen.version):
        return not_modified(seen.version)
    return of_match(seen_fields(seen, viewer), seen.version)
