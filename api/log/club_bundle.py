"""What a closing of a club's books rests on, with the proof of each row."""

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.clubs import ClubCaller, must_audit, must_see_books
from api.http.describe import KEY, described
from api.http.params import NUMBER, ClubId, ClubMinVersion
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode
from api.log.bundle_schemas import (
    AGREED,
    ENDS,
    OPENED,
    ROWS_MOST,
    RULED,
    Bundle,
    BundleAbout,
    BundleSettlement,
    Extended,
    Last,
    bundle_of,
    decided,
    entry_told,
    extended_by,
    recorded_in,
    settlement_by,
    written,
)
from api.money.ledger_access import ask_the_books
from api.runtime.call import ApiCall
from api.runtime.proofs import Placed, answer, in_tree, last_signed, rows_of
from api.runtime.service import Service
from projections.follow.page import topics
from projections.ledger.tables import Closing
from referee.events import MatchOpened, TokenEnded, TokenMade
from referee.log.tree import Tree
from referee.officials.events.seating import InvitationRedeemed, Invited

FOR_TREASURERS = OPENED | AGREED | ENDS | topics(Invited, InvitationRedeemed, TokenMade, TokenEnded)
"""What the rows of a match are that say nothing of a deal or a ruling."""

ENTRIES_MOST = 2000
"""Of one closing in one bundle: some megabytes, made in some seconds."""


@get(
    "/clubs/{club:uuid}/bundle",
    operation_id="get_club_bundle",
    summary="What a closing rests on, with its proof",
    description="Rows as they are stored, each with the proof that it is in the signed log: all rows of the club "
    "from the closing before, or from the first, to this closing; and of each match that was entered since then all "
    "rows from the opening to the last agreement to its stakes, and from its end to the closing. For the club and "
    "for each match there is a signed statement of its last row when the books were closed. `settlements` has what "
    "the matches came to, and `entries` all that was entered since the closing before. So `openapi/verify.py` makes "
    "the closing's digest again from nothing but this, and finds each entry in a row. No name is in it.\n\n"
    "With `audit` or `treasury`; with `treasury` alone 403 `scope-missing` where the closing rests on a private "
    "match, or on what officials decided after a match. A checkpoint is signed as soon as the books are closed; "
    "until then 409 `not-signed-yet`. Beyond 2000 entries or 10000 rows 409 `bundle-too-large`.",
    tags=["Proof"],
    security=KEY,
    operation_class=described(gives=Bundle, errors=(400, 401, 403, 404, 409, 503)),
)
async def get_club_bundle(
    request: ApiCall,
    club_id: ClubId,
    closing: Annotated[int, QueryParameter(description="The number of a closing, from 1.", schema_extra=NUMBER)],
    from_: Extended = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """What a closing rests on, with its proof."""
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    last = caller.club.standing.closings
    if not 1 <= closing <= last:
        raise Problem("no_such_closing", last=last)

    def read(connection: Connection, club_id: UUID) -> tuple[Closing, ...]:
        return service.projections.ledger.closings_of(connection, club_id)[max(0, closing - 2) : closing]

    *before, this = await ask_the_books(service, caller.club, read, fresh=False)
    count = this.through - (before[0].through if before else 0)
    if count > ENTRIES_MOST:
        raise Problem("bundle_too_large", count=count, most=ENTRIES_MOST)
    signed = await last_signed(service)
    extended_by(signed, from_)

    def made(connection: Connection, tree: Tree) -> bytes:
        rests = Resting(service, connection, caller, before, this)
        if not rests.on or rests.on[-1].leaf >= tree.size:
            raise Problem("not_signed_yet", event=this.event, size=signed.size)
        matches = sorted(rests.on_matches())
        rows = sorted([*rests.on, *(one for match in matches for one in match.rows)])
        if len(rows) > ROWS_MOST:
            raise Problem("bundle_too_large", count=len(rows), most=ROWS_MOST)
        bundle = bundle_of(
            BundleAbout(kind="closing", id=str(caller.club.id), closing=closing),
            signed,
            tree,
            from_,
            rows,
            {written(found[-1].row[1]): Last(found[-1], rests.size) for found in rests.last_of(matches)},
            service.signer.keys if service.signer else (),
            tuple([match.settled for match in matches if match.settled is not None]),
            tuple([entry_told(entry) for entry in rests.entries]),
        )
        return encode(bundle)

    return await answer(request, await in_tree(service, signed, made, takes_long=True), PRIVATE)


class Decided(NamedTuple):
    """A match that a closing rests on."""

    leaf: int
    """Of the row that first said what it came to: the matches are in this order."""
    rows: list[Placed]
    """All from its opening to the last agreement to its stakes, and from that one to the closing."""
    settled: BundleSettlement | None


class Resting:
    """What a closing rests on."""

    def __init__(
        self, service: Service, connection: Connection, caller: ClubCaller, before: list[Closing], this: Closing
    ) -> None:
        self._service, self._connection, self._caller = service, connection, caller
        club, after = caller.club.id, before[0].through if before else 0
        self.entries = tuple(service.projections.ledger.read(connection, club, after=after, to=this.through))
        """Since the closing before."""
        self._last: dict[UUID, int] = {}
        """By match the last event that made one of them."""
        for entry in self.entries:
            whose, _, number = entry.cause.partition("/")
            if UUID(whose) != club:
                self._last[UUID(whose)] = int(number)
        self.on = rows_of(service, connection, club, before[0].event if before else 1, this.event)
        """All rows of the club from the closing before, or from the first, to this closing."""
        self.size = self.on[-1].leaf + 1 if self.on else 0
        """Rows that the log had when the books were closed."""

    def last_of(self, matches: Iterable[Decided]) -> Iterator[list[Placed]]:
        """Yield the rows of the club, and those of each match."""
        yield self.on
        for match in matches:
            yield match.rows

    def on_matches(self) -> Iterator[Decided]:
        """Yield each match with what it came to by its rows."""
        for match_id, last in self._last.items():
            kinds = OPENED | ENDS | RULED | AGREED
            found = rows_of(self._service, self._connection, match_id, 1, last, kinds)
            opened, ended = recorded_in(found[0]).event, next(decided(found[1:])).row[2]
            assert isinstance(opened, MatchOpened), "a match begins with its opening"
            agreed = max((one.row[2] for one in found if one.row[3] in AGREED), default=1)
            rows = rows_of(self._service, self._connection, match_id, 1, agreed)
            rest = rows_of(self._service, self._connection, match_id, max(ended, agreed + 1), last + ROWS_MOST)
            rows += [one for one in rest if one.leaf < self.size]
            if opened.visibility == "private" or any(one.row[3] not in FOR_TREASURERS for one in rows):
                must_audit(self._caller)
            first = next(one.leaf for one in rows if one.row[2] == ended)
            yield Decided(first, rows, settlement_by(match_id, opened, decided(rows)))
