"""Answers with a protocol or pot of a match, as JSON or a CSV table."""

from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import UUID

from litestar.openapi.spec import Operation
from sqlalchemy import Connection

from api.http.describe import Text, described, header_parameter
from api.http.headers import matching_etag, prefers, tag_of
from api.http.long_answers import long_reply
from api.http.member_texts import MemberTexts
from api.http.replies import CSV, JSON, PRIVATE, Reply, not_modified
from api.runtime.call import ApiCall
from projections.follow.sheets import S, Sheets
from referee.store.match import Match


def sheet_operation(gives: Any, row: str) -> type[Operation]:
    """Return the operation class for a sheet. ``row`` describes the rows of the CSV table."""
    return described(
        gives=gives,
        others={CSV: Text(row, begins='"deal",')},
        takes=(header_parameter("Accept", "`application/json` or `text/csv`.", example=CSV),),
        errors=(400, 401, 404, 409, 503),
    )


async def sheet_reply(
    request: ApiCall, match: Match, projection: Sheets[S], csv_of: Callable[[S], str], texts: MemberTexts
) -> Reply:
    """Return a sheet as JSON or as the CSV table that ``csv_of`` makes, or 304 for a known ETag.

    Raises what :meth:`Projections.ask_of` raises.
    """
    media_type, kinds = (CSV, ("csv",)) if prefers(request.accepted, CSV) else (JSON, ())
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    if tag := matching_etag(request, tag_of(match.version, *kinds), texts):
        return not_modified(tag, headers)

    # Only the match has the names that the caller may see.
    players = match.opened.players

    def table(connection: Connection, match_id: UUID) -> tuple[bytes, int] | None:
        sheet = projection.answer(connection, match_id, players=players)
        return None if sheet is None else (csv_of(sheet).encode(), sheet.version)

    question = table if media_type == CSV else partial(projection.answer_json, players=players)
    found = await request.service.projections.ask_of(projection, match.id, match.version, question)
    assert found is not None, "the projection has reached the version of the match"
    body, version = found
    return await long_reply(request, body, tag_of(version, *kinds), texts, headers=headers, media_type=media_type)
