"""The call that lists the closings of a club's books."""

from datetime import UTC
from operator import attrgetter
from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import Cursor, after_of, page_by_number, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode
from api.money.ledger_access import ask_the_books
from api.runtime.call import ApiCall
from projections.ledger.tables import Closing
from referee import wire_types
from referee.clubs.facts import Label, Trial
from referee.value import Time, Value

CLOSINGS, CLOSINGS_MAX = 20, 100
"""Default and maximum items of a page: fewer than elsewhere, because each closing has all balances."""


class ClosingSeen(Value):
    """A closing. Entries up to ``through`` never change."""

    closing: wire_types.ClosingNumber
    """Number of the closing, from 1."""
    through: wire_types.EntryNumber
    """Number of the last closed entry."""
    digest: wire_types.Hash
    """SHA-256 of the previous closing's digest and the entries since then."""
    label: Label
    at: Time
    trial: Trial
    """Trial balance, without balances of 0."""
    holds: bool
    """True: digest and trial balance follow from the entries."""


class ClosingPage(Value):
    """A page of closings, by number."""

    items: Annotated[tuple[ClosingSeen, ...], wire_types.at_most(CLOSINGS_MAX)]
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/closings",
    operation_id="list_closings",
    summary="List the closings of the books",
    description="Returns a page of closings, by number, each checked against the entries. Requires `audit` or "
    "`treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=ClosingPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_closings(
    request: ApiCall,
    club_id: ClubId,
    limit: Annotated[
        int, QueryParameter(ge=1, le=CLOSINGS_MAX, description="The maximum number of items.")
    ] = CLOSINGS,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    ledger, after = service.projections.ledger, after_of(cursor)

    def read(connection: Connection, club_id: UUID) -> tuple[bytes, str | None]:
        found = ledger.closings_of(connection, club_id, after=after, limit=limit + 1)
        page = page_by_number(found, limit, attrgetter("closing"))
        return encode(ClosingPage(items=tuple(map(_closing_seen, page.items)), next=page.next)), page.next

    body, following = await ask_the_books(service, caller.club, read, fresh=False)
    return await page_reply(request, body, following, NO_TEXTS)


def _closing_seen(closing: Closing) -> ClosingSeen:
    return ClosingSeen(
        closing=closing.closing,
        through=closing.through,
        digest=closing.digest,
        label=closing.label,
        at=closing.at.astimezone(UTC),
        trial=closing.trial,
        holds=closing.holds,
    )
