"""The entries of a club's books."""

from typing import Annotated
from uuid import UUID

import msgspec
from litestar import get
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.query import more
from api.http.replies import PRIVATE, Reply, encode
from api.money.ledger_access import LINES_MAX, AfterEntry, EntrySeen, Lines, ask_the_books
from api.runtime.service import service_of
from projections.journal import JournalEntry
from referee import wire_types
from referee.clubs.facts import EntryKind
from referee.value import Value


class JournalPage(Value):
    """Some entries, by number."""

    entries: Annotated[tuple[EntrySeen, ...], wire_types.at_most(LINES_MAX)]
    """Those of this page."""
    next: wire_types.EntryNumber | None
    """What to give as `after` for more; null: these are the last."""


@get(
    "/clubs/{club:uuid}/journal",
    operation_id="list_entries",
    summary="The journal of a club",
    description="The entries of the books by number, those after `after`. An entry never changes: what was wrong is "
    "reversed by another. With `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=JournalPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_entries(
    request: Req,
    club: ClubId,
    after: AfterEntry = 0,
    limit: Lines = 200,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """The journal of a club."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    must_see_books(caller)
    ledger = service.books.ledger

    def read(connection: Connection, club_id: UUID) -> tuple[bytes, int | None]:
        found = list(ledger.read(connection, club_id, after=after, limit=limit + 1))
        following = found[limit - 1].number if len(found) > limit else None
        return encode(JournalPage(entries=tuple(map(_seen, found[:limit])), next=following)), following

    body, following = await ask_the_books(service, caller.club, read, fresh=fresh)
    headers = PRIVATE | (more(request, after=str(following)) if following is not None else {})
    return await marked_reply(request, body, headers=headers)


def _seen(entry: JournalEntry) -> EntrySeen:
    return EntrySeen(
        number=entry.number,
        date=entry.date.isoformat(),
        kind=msgspec.convert(entry.kind, EntryKind),
        currency=entry.currency,
        cause=entry.cause,
        evening=entry.evening,
        postings=entry.postings,
        reverses=entry.reverses,
        by=entry.by,
    )
