"""What a closing of a club's books rests on, with the proof of each row."""

from collections.abc import Iterator
from typing import Annotated, NamedTuple
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.clubs import ClubCaller, must_audit, must_see_books
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.params import NUMBER, ClubId, ClubMinVersion
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode
from api.log.bundled import (
    AGREED,
    ENDS,
    OPENED,
    RULED,
    Bundle,
    BundleSettlement,
    Extended,
    bundle_of,
    decided,
    entry_told,
    extended_by,
    recorded_in,
    settlement_by,
)
from api.log.proving import Placed, answer, in_tree, last_signed, rows_of
from api.money.asking import ask_the_books
from api.service import Service, service_of
from projections.ledger.tables import Closing
from referee.events import MatchOpened
from referee.log.tree import Tree

ENTRIES_MOST = 2000
"""Of one closing in one bundle: some megabytes, made in some seconds."""


@get(
    "/clubs/{club:uuid}/bundle",
    operation_id="get_club_bundle",
    summary="What a closing rests on, with its proof",
    description="What the entries of a closing come of, row by row as it is stored, each with the proof that it is "
    "in the signed log: what the treasurer posted, and of each match the opening, the end and the rulings that "
    "changed it; the closing, and the closing before. `settlements` has what the matches came to, and `entries` all "
    "that was entered since the closing before. The rows of a match say who agreed to its stakes, too. So who has "
    "nothing but this and `openapi/verify.py` makes the "
    "closing's digest again, and finds each entry in a row. No row of a deal is in it, and no name: those are told "
    "by a match's own bundle and by the members.\n\n"
    "With `audit` or `treasury`; with `treasury` alone 403 `scope-missing` where the closing rests on a private "
    "match, or on a correction of a protocol. A checkpoint is signed as soon as the books are closed; until then 409 "
    "`not-signed-yet`. Beyond 2000 entries 409 `bundle-too-large`.",
    tags=["Proof"],
    security=KEY,
    operation_class=described(gives=Bundle, errors=(400, 401, 403, 404, 409, 503)),
)
async def get_club_bundle(
    request: Req,
    club: ClubId,
    closing: Annotated[int, QueryParameter(description="The number of a closing, from 1.", schema_extra=NUMBER)],
    from_: Extended = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """What a closing rests on, with its proof."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    must_see_books(caller)
    last = caller.club.standing.closings
    if not 1 <= closing <= last:
        raise Problem("no_such_closing", last=last)

    def read(connection: Connection, club_id: UUID) -> tuple[Closing, ...]:
        return service.books.ledger.closings_of(connection, club_id)[max(0, closing - 2) : closing]

    *before, this = await ask_the_books(service, caller.club, read, fresh=False)
    count = this.through - (before[0].through if before else 0)
    if count > ENTRIES_MOST:
        raise Problem("bundle_too_large", closing=closing, entries=count, most=ENTRIES_MOST)
    signed = await last_signed(service)
    extended_by(signed, from_)

    def made(connection: Connection, tree: Tree) -> bytes:
        rests = Resting(service, connection, caller, before, this)
        if not any(one.row[2] == this.event and one.leaf < tree.size for one in rests.on):
            raise Problem("not_signed_yet", event=this.event, size=signed.size)
        matches = sorted(rests.on_matches())
        rows = sorted([*rests.on, *(one for match in matches for one in match.rows)])
        settlements = tuple([match.settled for match in matches if match.settled is not None])
        entries = tuple([entry_told(entry, of_club=True) for entry in rests.entries])
        return encode(bundle_of(signed, tree, from_, rows, settlements, entries))

    return await answer(request, await in_tree(service, signed, made, takes_long=True), PRIVATE)


class Decided(NamedTuple):
    """A match that a closing rests on."""

    leaf: int
    """Of the row that first said what it came to: they are told in this order."""
    rows: list[Placed]
    settled: BundleSettlement | None


class Resting:
    """What a closing rests on."""

    def __init__(
        self, service: Service, connection: Connection, caller: ClubCaller, before: list[Closing], this: Closing
    ) -> None:
        self._service, self._connection, self._caller = service, connection, caller
        club, after = caller.club.id, before[0].through if before else 0
        self.entries = tuple(service.books.ledger.read(connection, club, after=after, to=this.through))
        """Since the closing before."""
        self._last: dict[UUID, int] = {}
        """By match or club the last event that made one of them."""
        own = {one.event for one in (*before, this)}
        for entry in self.entries:
            whose, _, number = entry.cause.partition("/")
            if UUID(whose) == club:
                own.add(int(number))
            else:
                self._last[UUID(whose)] = int(number)
        self.on = [one for number in sorted(own) for one in rows_of(service, connection, club, number, number)]
        """The rows of the club: the last is that of the closing."""

    def on_matches(self) -> Iterator[Decided]:
        """Of each match the rows that decide, and what it came to by them."""
        for match_id, last in self._last.items():
            found = rows_of(self._service, self._connection, match_id, 1, last, OPENED | ENDS | RULED | AGREED)
            opened, deciding = recorded_in(found[0]).event, list(decided(found[1:]))
            assert isinstance(opened, MatchOpened), "a match begins with its opening"
            if opened.visibility == "private" or any(one.row[3] in RULED for one in deciding):
                must_audit(self._caller)
            settled = settlement_by(match_id, opened, deciding)
            first = next(one for one in deciding if one.row[3] not in AGREED)
            yield Decided(first.leaf, [found[0], *deciding], settled)
