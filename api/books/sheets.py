"""How a book of sheets answers about a match: as JSON as it is kept, or as a table."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from litestar.openapi.spec import Operation
from sqlalchemy import Connection

from api.http.describe import Text, described, in_header
from api.http.headers import Req, header, held, prefers, tag_of
from api.http.long_answers import long_reply
from api.http.replies import JSON, PRIVATE, Reply, not_modified
from api.runtime.service import service_of
from projections.follow.sheets import S, Sheets
from referee.store.match import Match

CSV = "text/csv"


def sheet_of(gives: Any, row: str) -> type[Operation]:
    """The operation class of a call that gives a sheet; ``row`` says what each line of the table is."""
    return described(
        gives=gives,
        others={CSV: Text(row, begins='"deal",')},
        takes=(in_header("Accept", "`application/json` or `text/csv`.", example=CSV),),
        errors=(400, 401, 404, 409, 503),
    )


async def answer(request: Req, seen: Match, book: Sheets[S], written: Callable[[S], str]) -> Reply:
    """The sheet of a match when the book has come to what was ``seen``, as a table where the caller prefers it, which
    is ``written`` of it. 503 where the book does not come there in time."""
    media_type, kinds = (CSV, ("csv",)) if prefers(header(request, b"accept"), CSV) else (JSON, ())
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    if tag := held(request, tag_of(seen.version, *kinds)):
        return not_modified(tag, headers)

    players = seen.opened.players  # by the names that the caller is told

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        sheet = book.answer(connection, match_id, players=players)
        return None if sheet is None else (written(sheet).encode(), sheet.version)

    question = table if media_type == CSV else partial(book.written, players=players)
    found = await service_of(request).books.ask_of(book, seen.id, seen.version, question)
    assert found is not None, "the book has come to the version of the match"
    body, version = found
    return await long_reply(request, body, tag_of(version, *kinds), headers=headers, media_type=media_type)
