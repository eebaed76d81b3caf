"""The pot, in games that have one."""

from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.http.describe import described, in_header, text_of
from api.http.headers import Req, header, held, prefers, tag_of
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import JSON, PRIVATE, Reply, not_modified
from api.reading import long_reply
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
        others={CSV: text_of("A row for each entry.", begins="deal,")},
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
    media_type, kinds = (CSV, ("csv",)) if prefers(header(request, b"accept"), CSV) else (JSON, ())
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    if tag := held(request, tag_of(seen.version, *kinds)):
        return not_modified(tag, headers)

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        pot = book.answer(connection, match_id)
        return None if pot is None else (pots.csv(pot).encode(), pot.version)

    question = table if media_type == CSV else book.written
    found = await service.books.ask_of(book, match, seen.version, question)
    assert found is not None, "the book has come to the version of the match"
    body, version = found
    return await long_reply(request, body, tag_of(version, *kinds), headers=headers, media_type=media_type)
