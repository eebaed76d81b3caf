"""The call that returns the bundle of a closing."""

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
    ROWS_MAX,
    RULED,
    Bundle,
    BundleAbout,
    BundleSettlement,
    FromSize,
    Last,
    bundle_of,
    decode_placed,
    entry_view,
    must_extend,
    published_id,
    result_rows,
    settlement_from_rows,
)
from api.money.ledger_access import ask_the_books
from api.runtime.call import ApiCall
from api.runtime.proofs import Placed, ask_signed_tree, last_signed, proof_reply, rows_of
from api.runtime.service import Service
from projections.follow.page import topics
from projections.ledger.tables import Closing
from referee.events import MatchOpened, TokenEnded, TokenMade
from referee.log.tree import Tree
from referee.officials.events.seating import InvitationRedeemed, Invited

FOR_TREASURERS = OPENED | AGREED | ENDS | topics(Invited, InvitationRedeemed, TokenMade, TokenEnded)
"""Topics that callers with only ``treasury`` may see: no deals, no rulings."""

ENTRIES_MAX = 2000


@get(
    "/clubs/{club:uuid}/bundle",
    operation_id="get_club_bundle",
    summary="Get the proof of a closing",
    description="Returns stored rows, each with the proof that it is in the signed log. From the club: the rows from "
    "the previous closing, or the first row, to this closing. From each match with an entry in that period: its rows "
    "from the opening to the last answer about its stakes, and from its end to the closing. The club and each match "
    "have a signed statement of their last row at the closing. `settlements` has the results of the matches, and "
    "`entries` the entries since the previous closing. [verify.py](/docs/verify.py) calculates the closing's digest "
    "from the bundle alone, and finds each entry in a row. The bundle has no names.\n\n"
    "Requires `audit` or `treasury`. `treasury` alone gets 403 `scope-missing` if the closing includes a private "
    "match, or a decision of officials after a match. A checkpoint is signed soon after the closing; until then the "
    "call gets 409 `not-signed-yet`. More than 2000 entries or 10000 rows get 409 `bundle-too-large`.",
    tags=["Proof"],
    security=KEY,
    operation_class=described(gives=Bundle, errors=(400, 401, 403, 404, 409, 503)),
)
async def get_club_bundle(
    request: ApiCall,
    club_id: ClubId,
    closing: Annotated[int, QueryParameter(description="Number of a closing, from 1.", schema_extra=NUMBER)],
    from_: FromSize = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    last = caller.club.state.closings
    if not 1 <= closing <= last:
        raise Problem("no_such_closing", last=last)

    def read(connection: Connection, club_id: UUID) -> tuple[Closing, ...]:
        return service.projections.ledger.closings_of(connection, club_id)[max(0, closing - 2) : closing]

    *earlier, this = await ask_the_books(service, caller.club, read, fresh=False)
    previous = earlier[0] if earlier else None
    count = this.through - (previous.through if previous else 0)
    if count > ENTRIES_MAX:
        raise Problem("bundle_too_large", count=count, most=ENTRIES_MAX)
    signed = await last_signed(service)
    must_extend(signed, from_)

    def read_bundle(connection: Connection, tree: Tree) -> bytes:
        basis = ClosingRows(service, connection, caller, previous, this)
        if not basis.club_rows or basis.club_rows[-1].leaf >= tree.size:
            raise Problem("not_signed_yet", event=this.event, size=signed.size)
        matches = sorted(basis.matches())
        rows = sorted([*basis.club_rows, *(one for match in matches for one in match.rows)])
        if len(rows) > ROWS_MAX:
            raise Problem("bundle_too_large", count=len(rows), most=ROWS_MAX)
        bundle = bundle_of(
            BundleAbout(kind="closing", id=str(caller.club.id), closing=closing),
            signed,
            tree,
            from_,
            rows,
            basis.last_rows(matches),
            service.signer.keys if service.signer else (),
            tuple([match.settlement for match in matches if match.settlement is not None]),
            tuple([entry_view(entry) for entry in basis.entries]),
        )
        return encode(bundle)

    return await proof_reply(request, await ask_signed_tree(service, signed, read_bundle, takes_long=True), PRIVATE)


class IncludedMatch(NamedTuple):
    """A match with an entry since the previous closing."""

    log_index: int
    """Index in the log of the row that first ended the match. Matches are sorted by it."""
    rows: list[Placed]
    """Rows from the opening to the last answer about the stakes, and from the match's end to the closing."""
    settlement: BundleSettlement | None


class ClosingRows:
    """Reads the entries of a closing, and the rows that prove them."""

    def __init__(
        self, service: Service, connection: Connection, caller: ClubCaller, previous: Closing | None, this: Closing
    ) -> None:
        """Read the entries and the club's rows."""
        self._service, self._connection, self._caller = service, connection, caller
        club, after = caller.club.id, previous.through if previous else 0
        self.entries = tuple(service.projections.ledger.read(connection, club, after=after, to=this.through))
        self._last_events: dict[UUID, int] = {}
        """Number, by match, of the last event that made an entry."""
        for entry in self.entries:
            whose, _, number = entry.cause.partition("/")
            if UUID(whose) != club:
                self._last_events[UUID(whose)] = int(number)
        self.club_rows = rows_of(service, connection, club, previous.event if previous else 1, this.event)
        """The club's rows from the previous closing, or the first row, to this closing."""
        self.size = self.club_rows[-1].leaf + 1 if self.club_rows else 0
        """Rows of the log at the closing; 0: not yet in the tree."""

    def last_rows(self, matches: Iterable[IncludedMatch]) -> dict[str, Last]:
        """Return, by id, the last row of the club and of each match at the closing."""
        last = [self.club_rows[-1], *(match.rows[-1] for match in matches)]
        return {published_id(placed.row[1]): Last(placed, self.size) for placed in last}

    def matches(self) -> Iterator[IncludedMatch]:
        """Yield the matches with entries. Raises ``Problem`` (403) if the caller may not see a row."""
        for match_id, last in self._last_events.items():
            topics = OPENED | ENDS | RULED | AGREED
            found = rows_of(self._service, self._connection, match_id, 1, last, topics)
            opened, ended = decode_placed(found[0]).event, next(result_rows(found[1:])).row[2]
            assert isinstance(opened, MatchOpened), "a match begins with its opening"
            agreed = max((one.row[2] for one in found if one.row[3] in AGREED), default=1)
            rows = rows_of(self._service, self._connection, match_id, 1, agreed)
            rest = rows_of(self._service, self._connection, match_id, max(ended, agreed + 1), last + ROWS_MAX)
            rows += [one for one in rest if one.leaf < self.size]
            if opened.visibility == "private" or any(one.row[3] not in FOR_TREASURERS for one in rows):
                must_audit(self._caller)
            first = next(one.leaf for one in rows if one.row[2] == ended)
            yield IncludedMatch(first, rows, settlement_from_rows(match_id, opened, result_rows(rows)))
