"""Schemas of a bundle, and functions that fill them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent
from litestar.params import QueryParameter
from msgspec import Meta, field

from api.http.problems import Problem
from api.money.ledger_access import Cause, Day
from api.runtime.proofs import Leaf, Placed, ProofText, in_base64
from projections.follow.page import topics
from projections.journal import JournalEntry
from referee import wire_types
from referee.clubs.facts import EntryKind, Postings
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.log.facts import LogSigned, LogSize, Note
from referee.log.notes import LastRow, SigningKey, base64, checkpoint_in, signed_note
from referee.log.tree import Tree
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack
from referee.settlement import amounts_owed
from referee.store.rows import from_row
from referee.value import EventNumber, Value
from referee.visibility import Recorded
from referee.wire_types import EVENT_BYTES_MAX, EXACT_MAX

OPENED = topics(MatchOpened)
ENDS = topics(MatchWon, MatchClosed, MatchAbandoned)
RULED = topics(ProtocolCorrected, ActTakenBack)
"""Topics of rulings, which can change a result. Only officials and auditors see the requests in their rows."""

AGREED = topics(StakesAgreed, StakesDeclined)
"""Topics that decide whether a club's books count the match."""

ROWS_MAX = 10_000
"""Maximum rows in a bundle, about ten megabytes."""

Stored = Annotated[
    str,
    Meta(
        description="The stored bytes of a row, JSON, in base64. Its `salt`, 16 random bytes, is shown only here, so "
        "the hash of a row reveals nothing to a caller without the row.",
        extra_json_schema={"pattern": "^[A-Za-z0-9+/]+={0,2}$", "maxLength": 2 * EVENT_BYTES_MAX},
    ),
]


class BundleRow(Value):
    """A row of the log. Its leaf is the SHA-256 over a zero byte, id, version and topic, each with a line break, and
    `state`. The next row of the match or club has this hash as `prev`."""

    index: Leaf
    id: wire_types.MatchId
    """Id of the match or club."""
    version: EventNumber
    """Number of the event in the match or club."""
    topic: wire_types.Topic
    """Kind of the event."""
    state: Stored
    proof: ProofText
    """Hashes from the leaf to the root (RFC 6962, 2.1.1)."""


class BundleConsistency(Value):
    """The proof that the checkpoint extends an older checkpoint of `from` rows."""

    from_: LogSize = field(name="from")
    proof: ProofText
    """Hashes that make both roots (RFC 6962, 2.1.2)."""


class BundleSettlement(Value):
    """The result of a match in money. `amounts` and `pot` add up to 0."""

    match: wire_types.MatchId
    event: EventNumber
    """Number of the event with the result."""
    currency: wire_types.Currency
    unit: wire_types.Unit
    pot: wire_types.Money
    """Amount left in the pot, in minor units."""
    amounts: wire_types.MoneyBySeat
    """Amounts that the seats receive (below zero: pay), in minor units; `amount` in `GET …/settlement`."""


class BundleEntry(Value):
    """An entry of the club's books."""

    number: wire_types.EntryNumber
    """Number of the entry."""
    date: Day
    kind: EntryKind
    currency: wire_types.Currency
    cause: Cause
    """Event that made the entry, whose row is in the bundle."""
    postings: Postings
    """Postings by account. They add up to 0."""


class BundleAbout(Value):
    """The match or closing that a bundle proves."""

    kind: Literal["match", "closing"]
    """Result of a match, or a closing of a club's books."""
    id: wire_types.MatchId
    """Id of the match or club."""
    closing: wire_types.Count | None
    """Number of the closing; null: a match."""


class BundleRange(Value):
    """A range of events whose rows are all in the bundle."""

    first: EventNumber
    """First event."""
    last: EventNumber
    """Last event."""


class BundleAggregate(Value):
    """A match or club with rows in a bundle."""

    id: wire_types.MatchId
    ranges: wire_types.Many[BundleRange]
    """Ranges of its rows, in order."""
    statement: Note | None
    """Signed note: origin, `last row`, id, number of its last row in the log, leaf hash of that row in base64,
    size of the log. A later row of this match or club within that size contradicts the statement.
    null: the service has no key."""


FromSize = Annotated[
    int | None,
    QueryParameter(
        name="from",
        ge=1,
        le=EXACT_MAX,
        description="Size of a checkpoint that you keep: the bundle then also proves that the log begins with it.",
    ),
]
Settlements = wire_types.Many[BundleSettlement]
Entries = wire_types.Many[BundleEntry]


class Bundle(Value):
    """Rows of a match or club with proofs, and the results that follow from them."""

    about: BundleAbout
    """Match or closing."""
    checkpoint: Note
    consistency: BundleConsistency | None
    """Null: no proof was requested."""
    aggregates: wire_types.Many[BundleAggregate]
    """Matches and clubs with rows in the bundle."""
    rows: wire_types.Many[BundleRow]
    """Rows in the order of the log."""
    settlements: Settlements
    """Results of finished matches for money."""
    entries: Entries
    """Entries since the previous closing; empty for a match."""


class Last(NamedTuple):
    """The last row of a match or club in a log of ``size`` rows."""

    row: Placed
    size: int


def must_extend(signed: LogSigned, size: int | None) -> None:
    """Raise ``Problem`` (404) if ``signed`` has fewer than ``size`` rows."""
    if size is not None and size > signed.size:
        raise Problem("no_such_size", size=signed.size)


def bundle_of(
    about: BundleAbout,
    last_signed: LogSigned,
    tree: Tree,
    extended: int | None,
    rows: Sequence[Placed],
    last: Mapping[str, Last],
    keys: Sequence[SigningKey],
    settlements: Settlements,
    entries: Entries,
) -> Bundle:
    """Return a bundle of rows, which must be in the order of the log.

    ``extended``: size of an older checkpoint; None: no proof. ``last``: last rows by id, for the statements
    that ``keys`` sign, if any.
    """
    consistency = None
    if extended is not None:
        consistency = BundleConsistency(from_=extended, proof=in_base64(tree.consistency(extended)))
    numbers: dict[str, list[int]] = {}
    for _, (_, whose, number, _, _) in rows:
        numbers.setdefault(published_id(whose), []).append(number)
    origin = checkpoint_in(last_signed.note).origin
    return Bundle(
        about=about,
        checkpoint=last_signed.note,
        consistency=consistency,
        aggregates=tuple(
            [
                BundleAggregate(
                    id=whose,
                    ranges=tuple(ranges_of(found)),
                    statement=_signed_statement(origin, whose, last[whose], tree, keys) if keys else None,
                )
                for whose, found in numbers.items()
            ]
        ),
        rows=tuple(
            [
                BundleRow(
                    index=leaf,
                    id=published_id(whose),
                    version=number,
                    topic=topic,
                    state=base64(state),
                    proof=in_base64(tree.inclusion(leaf)),
                )
                for leaf, (_, whose, number, topic, state) in rows
            ]
        ),
        settlements=settlements,
        entries=entries,
    )


def published_id(aggregate_id: object) -> str:
    return str(UUID(str(aggregate_id)))


def ranges_of(numbers: Iterable[int]) -> list[BundleRange]:
    """Return the ranges of consecutive numbers, in order."""
    found: list[BundleRange] = []
    for number in sorted(numbers):
        first = found.pop().first if found and found[-1].last == number - 1 else number
        found.append(BundleRange(first=first, last=number))
    return found


def _signed_statement(origin: str, whose: str, last: Last, tree: Tree, keys: Sequence[SigningKey]) -> str:
    number, leaf = last.row.row[2], tree.leaf(last.row.leaf)
    return signed_note(LastRow(origin=origin, aggregate=whose, number=number, leaf=leaf, size=last.size), keys)


def decode_placed(placed: Placed) -> Recorded:
    return from_row(StoredEvent(*placed.row[1:]))


def result_rows(found: Iterable[Placed]) -> Iterator[Placed]:
    """Yield the match's end, and the rulings that ended the match or came after its end."""
    over = False
    for one in found:
        topic = one.row[3]
        if topic in ENDS or (topic in RULED and (over or getattr(decode_placed(one).event, "won", None) is not None)):
            over = True
            yield one


def settlement_from_rows(match_id: UUID, opened: MatchOpened, rows: Iterable[Placed]) -> BundleSettlement | None:
    """Return the last result in the rows of :func:`result_rows`; ``None``: nothing is owed."""
    found: BundleSettlement | None = None
    for recorded in map(decode_placed, rows):
        amounts = amounts_owed(recorded.event, 0 if found is None else found.event)
        if amounts is None:
            continue
        found = None
        if amounts and opened.stakes is not None:
            found = BundleSettlement(
                match=str(match_id),
                event=recorded.originator_version,
                currency=opened.stakes.currency,
                unit=opened.stakes.unit,
                pot=-sum(amounts),
                amounts=amounts,
            )
    return found


def entry_view(entry: JournalEntry) -> BundleEntry:
    return BundleEntry(
        number=entry.number,
        date=entry.date.isoformat(),
        kind=msgspec.convert(entry.kind, EntryKind),
        currency=entry.currency,
        cause=entry.cause,
        postings=tuple(sorted(entry.postings, key=lambda one: one.account)),
    )
