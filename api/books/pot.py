"""The pot, in games that have one."""

from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.http.describe import described, in_header
from api.http.headers import Req, header, prefers
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import JSON, Reply, written_of_match
from api.service import service_of
from projections import pots
from projections.pots import Pot

CSV = "text/csv"


@get(
    "/matches/{match:uuid}/pot",
    operation_id="get_pot",
    summary="The pot",
    description="What lies in the pot, and who put in or drew what in each deal, by which rule and shown by which "
    "events. `pending` is what has been staked in the deal under way and is entered when it is scored. 404 in a "
    "game without a pot. With `Accept: text/csv` as a table.",
    tags=["Books"],
    operation_class=described(
        gives=Pot,
        headers=("ETag",),
        others={CSV: {"type": "string", "description": "A row for each entry."}},
        takes=(in_header("Accept", "`application/json` or `text/csv`.", example=CSV),),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_pot(request: Req, match: MatchId, min_version: MinVersion = 0) -> Reply:
    """The pot."""
    service = service_of(request)
    seen, _ = await service.seen(request, match, min_version)
    if not seen.rules.has_pot:
        raise Problem("no_such_pot", ruleset=seen.rules.key)
    book = service.books.pots
    media_type = CSV if prefers(header(request, b"accept"), CSV) else JSON

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        pot = book.answer(connection, match_id)
        return None if pot is None else (pots.csv(pot).encode(), pot.version)

    question = table if media_type == CSV else book.written
    told = await service.books.ask_of(book, match, seen.version, question)
    assert told is not None, "the book has come to the version of the match"
    return written_of_match(*told, headers={"Vary": "Authorization, Accept"}, media_type=media_type)
