"""The protocol: the score sheet of a match."""

from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.http.describe import described, in_header
from api.http.headers import Req, header, prefers
from api.http.params import MatchId, MinVersion
from api.http.replies import JSON, Reply, written_of_match
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
    "balances. With `Accept: text/csv` as a table.",
    tags=["Books"],
    operation_class=described(
        gives=Protocol,
        headers=("ETag",),
        others={CSV: {"type": "string", "description": "A row for each deal."}},
        takes=(in_header("Accept", "`application/json` or `text/csv`.", example=CSV),),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_protocol(request: Req, match: MatchId, min_version: MinVersion = 0) -> Reply:
    """The protocol."""
    service = service_of(request)
    seen, _ = await service.seen(request, match, min_version)
    book = service.books.protocols
    media_type = CSV if prefers(header(request, b"accept"), CSV) else JSON

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        protocol = book.answer(connection, match_id)
        return None if protocol is None else (protocols.csv(protocol).encode(), protocol.version)

    question = table if media_type == CSV else book.written
    told = await service.books.ask_of(book, match, seen.version, question)
    assert told is not None, "the book has come to the version of the match"
    return written_of_match(*told, headers={"Vary": "Authorization, Accept"}, media_type=media_type)
