"""Material for proofs: the last checkpoint, the signed tree, and the leaf of a row."""

from collections.abc import Callable, Collection, Sequence
from typing import Annotated, NamedTuple, TypeVar
from uuid import UUID

from msgspec import Meta
from sqlalchemy import Connection

from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.problems import Problem
from api.http.replies import JSON, Reply, encode
from api.http.threads import in_thread
from api.runtime.service import Service
from api.runtime.signer import stored_log
from projections.follow.page import Row
from referee.log.facts import LogSigned
from referee.log.notes import base64
from referee.log.tree import Tree
from referee.wire_types import EXACT_MAX

T = TypeVar("T")

PROOF_MAX = 64
"""Maximum number of hashes in a proof: the tree has at most 2^64 leaves."""
HashText = Annotated[
    str,
    Meta(
        description="A SHA-256 in base64.",
        extra_json_schema={"pattern": "^[A-Za-z0-9+/]{43}=$", "maxLength": 44},
    ),
]
ProofText = Annotated[
    tuple[HashText, ...],
    Meta(
        title="LogProof",
        description="Hashes as RFC 6962 orders them (2.1.1, 2.1.2).",
        extra_json_schema={"maxItems": PROOF_MAX},
    ),
]
Leaf = Annotated[
    int,
    Meta(
        description="Index of the row in the log, from 0.",
        extra_json_schema={"minimum": 0, "maximum": EXACT_MAX},
    ),
]


class Placed(NamedTuple):
    """A row, and its index in the tree."""

    leaf: int
    row: Row


def in_base64(proof: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(map(base64, proof))


async def last_signed_or_none(service: Service) -> LogSigned | None:
    """Return the last signed checkpoint, or None before the first."""
    log = await in_thread(stored_log, service.desk)
    return log.state.last if log else None


async def last_signed(service: Service) -> LogSigned:
    """Raises Problem (404) before the first."""
    last = await last_signed_or_none(service)
    if last is None:
        raise Problem("log_unsigned")
    return last


async def ask_signed_tree(
    service: Service, signed: LogSigned, question: Callable[[Connection, Tree], T], *, takes_long: bool = False
) -> T:
    """Return the answer to ``question`` about the tree over the rows that ``signed`` covers.

    ``takes_long``: on a thread for long work. Raises Problem (503) while the projection lacks signed rows.
    """
    projection = service.projections.tree

    def in_connection(connection: Connection) -> T:
        if projection.size(connection) < signed.size:
            raise Problem("books_behind", headers={"Retry-After": "1"})
        return question(connection, projection.tree(connection, signed.size))

    if takes_long:
        return await service.projections.ask_long(in_connection)
    found, _ = await service.projections.ask_of_all(projection, in_connection)
    return found


def rows_of(
    service: Service,
    connection: Connection,
    aggregate_id: UUID,
    first: int,
    last: int,
    topics: Collection[str] | None = None,
) -> list[Placed]:
    """Return the rows ``first`` to ``last`` of a match or club. Stop before the first that is not yet in the tree.

    ``topics``: return only rows with these topics.
    """
    placed = []
    for row in service.projections.rows(aggregate_id, after=first - 1, limit=last - first + 1).rows:
        if topics is not None and row[3] not in topics:
            continue
        if (index := service.projections.tree.leaf_index(connection, row[0])) is None:
            break
        placed.append(Placed(index, row))
    return placed


async def proof_reply(request: Req, body: object, headers: dict[str, str], media_type: str = JSON) -> Reply:
    """Return ``body``, encoded unless it is text or bytes, or 304 if the caller has it. Refs remain refs."""
    written = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else encode(body)
    return await marked_reply(request, written, NO_TEXTS, headers=headers, media_type=media_type)
