"""Rows of a match with the proof of each, to be checked by anybody with ``openapi/verify.py``."""

from collections.abc import Iterable
from typing import Annotated, Any

from eventsourcing.persistence import StoredEvent
from litestar import get
from litestar.params import QueryParameter
from msgspec import Meta, field
from sqlalchemy import Connection

from api.access.caller import Caller
from api.books.places import place_of
from api.http.describe import described
from api.http.headers import Req
from api.http.params import NUMBER, MatchId
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply
from api.log.proving import Leaf, Placed, ProofText, answer, in_tree, last_signed, rows_of, texts
from api.service import service_of
from projections.follow.page import topics
from referee import told
from referee.events import DealScored, MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.log.facts import LogSize, Note
from referee.log.notes import base64
from referee.log.tree import Tree
from referee.proceedings.corrections import ProtocolCorrected
from referee.store.match import Match
from referee.store.rows import from_row
from referee.told import EVENT_BYTES_MAX, EXACT_MAX
from referee.value import EventNumber, Value

SCORES = topics(MatchOpened, DealScored, MatchWon, MatchClosed, MatchAbandoned)
"""What a match came to, and by what rules."""
RULED = topics(ProtocolCorrected)
"""What officials get with it: what they asked for stands in the row, and is not for all."""

Stored = Annotated[
    str,
    Meta(
        title="LogState",
        description="The bytes of a row as they are stored, JSON, in base64.",
        extra_json_schema={"pattern": "^[A-Za-z0-9+/]+={0,2}$", "maxLength": 2 * EVENT_BYTES_MAX},
    ),
]


class BundleRow(Value):
    """A row of the log. Its leaf is the SHA-256 over a zero byte, id, version and topic with a line break behind
    each, and the bytes of `state`; the next row of the match names the same hash as `prev`."""

    index: Leaf
    """Its place in the log."""
    id: told.MatchId
    """Whose row it is: the match."""
    version: EventNumber
    """The number of the event."""
    topic: told.Topic
    """What kind of event it is."""
    state: Stored
    """The bytes of the row."""
    proof: ProofText
    """The hashes that lead from the row to the root (RFC 6962, 2.1.1)."""


class BundleConsistency(Value):
    """That the checkpoint extends an older one, of `from` rows."""

    from_: LogSize = field(name="from")
    proof: ProofText
    """The hashes that make both roots (RFC 6962, 2.1.2)."""


class Bundle(Value):
    """Rows of a match, each proved to be in the log that the checkpoint signs."""

    checkpoint: Note
    """A signed note: origin, size and root of the log."""
    consistency: BundleConsistency | None
    """For who named the size of a checkpoint that he keeps in `from`."""
    count: told.Tally
    """Of the rows."""
    rows: told.Many[BundleRow]
    """In the order of their numbers."""


def is_whole(match: Match, placed: Placed, caller: Caller) -> bool:
    """Whether nothing of a row is hidden from the caller but what is hidden from everybody (the hashes of tokens)."""
    _, _, number, topic, _ = placed.row
    public = number <= max(match.public_to, 1)
    if not public and topic not in RULED:
        return False
    recorded = from_row(StoredEvent(match.id, *placed.row[2:]))
    return match.seen(recorded, caller.sees_as(public)) == match.seen(recorded, "official")


def _rows(found: Iterable[Placed], match: Match, tree: Tree) -> tuple[BundleRow, ...]:
    return tuple(
        [
            BundleRow(
                index=index,
                id=str(match.id),
                version=number,
                topic=topic,
                state=base64(state),
                proof=texts(tree.inclusion(index)),
            )
            for index, (_, _, number, topic, state) in found
        ]
    )


@get(
    "/matches/{match:uuid}/bundle",
    operation_id="get_bundle",
    summary="What a match came to, with its proof",
    description="Rows as they are stored, each with the proof that it is in the signed log: the opening, the score "
    "of each finished deal, and the end. For the seats and the officials, and a key of its club with `audit`. With "
    "`deal` all rows of a finished deal after the opening, for officials and that key: a row holds what was hidden "
    "when it was written, and nothing can be taken out of it without breaking its hash. So nobody gets rows of a "
    "deal under way. In a club's match members are numbers and what they wrote is a reference: names and texts stand "
    "in no row, and erasing them breaks no proof.\n\n"
    "`python verify.py BUNDLE VKEY` (`openapi/verify.py`) checks it with nothing of this service.",
    tags=["Proof"],
    operation_class=described(gives=Bundle, errors=(401, 403, 404, 409, 503)),
)
async def get_bundle(
    request: Req,
    match: MatchId,
    deal: Annotated[
        int | None, QueryParameter(description="Only this finished deal, and the opening.", schema_extra=NUMBER)
    ] = None,
    from_: Annotated[
        int | None,
        QueryParameter(
            name="from",
            ge=1,
            le=EXACT_MAX,
            description="The size of a checkpoint that you keep: that the log begins with it is proved as well.",
        ),
    ] = None,
) -> Reply:
    """What a match came to, with its proof."""
    service = service_of(request)
    seen, caller = await service.access.sees(request, match)
    viewer = caller.sees_as(public=True)
    if viewer == "spectator":
        raise Problem("for_the_match")
    if deal is not None and viewer != "official":
        raise Problem("for_officials")
    place = None if deal is None else await place_of(service, seen, deal)
    signed = await last_signed(service)
    if from_ is not None and from_ > signed.size:
        raise Problem("no_such_size", size=signed.size)

    def made(connection: Connection, tree: Tree) -> Any:
        if place is None:
            kinds = SCORES | RULED if viewer == "official" else SCORES
            found = [one for one in rows_of(service, connection, match, 1, seen.version) if one.row[3] in kinds]
            found = [one for one in found if is_whole(seen, one, caller)]
        else:
            found = rows_of(service, connection, match, place.before + 1, place.score)
            if place.before:
                found = [*rows_of(service, connection, match, 1, 1), *found]
            if len(found) < place.score - place.before or found[-1].leaf >= tree.size:
                raise Problem("not_signed_yet", event=place.score, size=signed.size)
        found = [one for one in found if one.leaf < tree.size]
        if not found:
            raise Problem("not_signed_yet", event=1, size=signed.size)
        consistency = None if from_ is None else BundleConsistency(from_=from_, proof=texts(tree.consistency(from_)))
        return Bundle(
            checkpoint=signed.note, consistency=consistency, count=len(found), rows=_rows(found, seen, tree)
        )

    return await answer(request, await in_tree(service, signed, made), PRIVATE)
