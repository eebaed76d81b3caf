"""The call that lists the entries of a club's books."""

from functools import partial
from operator import attrgetter
from typing import Annotated
from uuid import UUID

import msgspec
from litestar import get
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, after_of, page_by_number, page_reply
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.replies import Reply, encode
from api.money.ledger_access import EntryFields, ask_the_books
from api.runtime.call import ApiCall
from projections.journal import Author, JournalEntry, author_of
from referee import wire_types
from referee.clubs.facts import EntryKind
from referee.clubs.lookup import member_of_actor
from referee.value import Value


class EntrySeen(EntryFields):
    """An entry. Its postings add up to 0."""

    by: Author
    """Actor who sent the act, or whose request in the match made the entry."""


class JournalPage(Value):
    """A page of entries, by number."""

    items: Annotated[tuple[EntrySeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/journal",
    operation_id="list_entries",
    summary="List the entries of a club's books",
    description="Returns a page of entries, by number. An entry never changes: a later entry reverses a wrong "
    "one. Requires `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=JournalPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_entries(
    request: ApiCall,
    club_id: ClubId,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    ledger, after, club = service.projections.ledger, after_of(cursor), caller.club

    def seen(entry: JournalEntry) -> EntrySeen:
        return EntrySeen(
            number=entry.number,
            date=entry.date.isoformat(),
            kind=msgspec.convert(entry.kind, EntryKind),
            currency=entry.currency,
            cause=entry.cause,
            evening=entry.evening,
            postings=entry.postings,
            reverses=entry.reverses,
            by=author_of(entry.by, entry.cause, club.id, partial(member_of_actor, club.state)),
        )

    def read(connection: Connection, club_id: UUID) -> tuple[bytes, str | None]:
        found = list(ledger.read(connection, club_id, after=after, limit=limit + 1))
        page = page_by_number(found, limit, attrgetter("number"))
        return encode(JournalPage(items=tuple(map(seen, page.items)), next=page.next)), page.next

    body, following = await ask_the_books(service, club, read, fresh=fresh)
    return await page_reply(request, body, following, NO_TEXTS)
