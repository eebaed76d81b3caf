"""The protocol: the score sheet of a match."""

from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.http.describe import described, in_header, text_of
from api.http.headers import Req, header, held, prefers, tag_of
from api.http.params import MatchId, MinVersion
from api.http.replies import JSON, PRIVATE, Reply, not_modified
from api.reading import long_reply
from api.service import service_of
from projections import protocols
from projections.protocols import Protocol

CSV = "text/csv"


@get(
    "/matches/{match:uuid}/protocol",
    operation_id="get_protocol",
    summary="The protocol",
    description="The score sheet: `points` by seat as they stand, and `lines`, one a deal, each with the entries "
    "that make it up, their rules and the events that show them. It has one form for all games: what only one game "
    "has to tell is in `detail`. Points are whole numbers but in games that count halves; in Rams they are the "
    "balances. After a correction `lines` are those that count, as they count, each with what it `was`; those that "
    "count no more are in `struck`. With `Accept: text/csv` as a table.",
    tags=["Books"],
    operation_class=described(
        gives=Protocol,
        others={CSV: text_of("A row for each deal.", begins="deal,")},
        takes=(in_header("Accept", "`application/json` or `text/csv`.", example=CSV),),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_protocol(request: Req, match: MatchId, min_version: MinVersion = 0) -> Reply:
    """The protocol."""
    service = service_of(request)
    seen, _ = await service.seen(request, match, min_version)
    book = service.books.protocols
    media_type, kinds = (CSV, ("csv",)) if prefers(header(request, b"accept"), CSV) else (JSON, ())
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    if tag := held(request, tag_of(seen.version, *kinds)):
        return not_modified(tag, headers)

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        protocol = book.answer(connection, match_id)
        return None if protocol is None else (protocols.csv(protocol).encode(), protocol.version)

    question = table if media_type == CSV else book.written
    found = await service.books.ask_of(book, match, seen.version, question)
    assert found is not None, "the book has come to the version of the match"
    body, version = found
    return await long_reply(request, body, tag_of(version, *kinds), headers=headers, media_type=media_type)
