"""What a bundle is made of: rows, each with its proof, and what they say of money.

Of a settlement and of an entry stands there only what its rows prove; the rest of them is told by the match and by
the journal.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent
from litestar.params import QueryParameter
from msgspec import Meta, field

from api.http.problems import Problem
from api.money.ledger_access import Cause, Day
from api.runtime.proofs import Leaf, Placed, ProofText, texts
from projections.follow.page import topics
from projections.journal import JournalEntry
from referee import wire_types
from referee.clubs.facts import EntryKind, Postings
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.log.facts import LogSigned, LogSize, Note
from referee.log.notes import LastRow, SigningKey, base64, checkpoint_in, signed
from referee.log.tree import Tree
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack
from referee.settlement import comes_to
from referee.store.rows import from_row
from referee.value import EventNumber, Value
from referee.visibility import Recorded
from referee.wire_types import EVENT_BYTES_MAX, EXACT_MAX

OPENED = topics(MatchOpened)
ENDS = topics(MatchWon, MatchClosed, MatchAbandoned)
RULED = topics(ProtocolCorrected, ActTakenBack)
"""What may change that afterwards. What was asked for stands in the row, and is for officials and auditors."""

AGREED = topics(StakesAgreed, StakesDeclined)
"""What decides whether a club's books count the match."""

ROWS_MOST = 10_000
"""In one bundle: some ten megabytes."""

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
    each, and the bytes of `state`; the next row of the match or club names the same hash as `prev`."""

    index: Leaf
    """Its place in the log."""
    id: wire_types.MatchId
    """Whose row it is: the match, or the club."""
    version: EventNumber
    """The number of the event."""
    topic: wire_types.Topic
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


class BundleSettlement(Value):
    """What a match came to in money, as far as one of the rows says it: the `amounts` and `pot` add up to 0."""

    match: wire_types.MatchId
    event: EventNumber
    """The event of the match that says it."""
    currency: wire_types.Currency
    unit: wire_types.Unit
    """What one point is worth, in minor units."""
    pot: wire_types.Money
    """What no seat has, in minor units."""
    amounts: wire_types.MoneyBySeat
    """By seat, what it receives, below zero pays, in minor units: `amount` of `GET …/settlement`."""


class BundleEntry(Value):
    """An entry of the club's books. Its postings add up to 0."""

    number: wire_types.EntryNumber
    """In the club's books."""
    date: Day
    """On the club's clock."""
    kind: EntryKind
    currency: wire_types.Currency
    cause: Cause
    """The event that made it, whose row is in the bundle."""
    postings: Postings
    """By account."""


class BundleAbout(Value):
    """What a bundle is about."""

    kind: Literal["match", "closing"]
    """What a match came to, or what a closing of a club's books rests on."""
    id: wire_types.MatchId
    """The match, or the club."""
    closing: wire_types.Count | None
    """The number of the closing; null for a match."""


class BundleRange(Value):
    """Rows without a gap, by the numbers of their events."""

    first: EventNumber
    """The number of the first row."""
    last: EventNumber
    """The number of the last row."""


class BundleAggregate(Value):
    """Which rows of a match or club a bundle has."""

    id: wire_types.MatchId
    ranges: wire_types.Many[BundleRange]
    """All its rows in the bundle: all that there are in each range, in order."""
    statement: Note | None
    """A signed note: origin, `last row`, id, number of the last row that the log had of it, leaf hash of that row in
    base64, and size of the log. A later row below that size contradicts it. Null: the service has no key."""


Extended = Annotated[
    int | None,
    QueryParameter(
        name="from",
        ge=1,
        le=EXACT_MAX,
        description="The size of a checkpoint that you keep: that the log begins with it is proved as well.",
    ),
]
Settlements = wire_types.Many[BundleSettlement]
Entries = wire_types.Many[BundleEntry]


class Bundle(Value):
    """Rows of a match or a club, each proved to be in the log that the checkpoint signs, and what they come to."""

    about: BundleAbout
    """What the bundle proves: a match, a deal, a case or a closing, and the rows that it has for that."""
    checkpoint: Note
    """A signed note: origin, size and root of the log."""
    consistency: BundleConsistency | None
    """For who named the size of a checkpoint that they keep in `from`."""
    aggregates: wire_types.Many[BundleAggregate]
    """Whose rows there are, and how far."""
    rows: wire_types.Many[BundleRow]
    """In the order of the log."""
    settlements: Settlements
    """What the matches came to that are over and for money, by these rows."""
    entries: Entries
    """What was entered in the club's books since the closing before; none for a match."""


class Last(NamedTuple):
    """The last row that the log had of a match or club, when it had so many rows."""

    row: Placed
    size: int


def extended_by(signed: LogSigned, size: int | None) -> None:
    """404 unless the last checkpoint can extend one of this size, where one was named."""
    if size is not None and size > signed.size:
        raise Problem("no_such_size", size=signed.size)


def bundle_of(
    about: BundleAbout,
    signed_last: LogSigned,
    tree: Tree,
    extended: int | None,
    rows: Sequence[Placed],
    last: Mapping[str, Last],
    keys: Sequence[SigningKey],
    settlements: Settlements,
    entries: Entries,
) -> Bundle:
    """Return a bundle of these rows, which are in the order of the log.

    ``extended``: the size of the older checkpoint that is to be shown to be a part of the log. ``last``: by id the
    last row of each match and club, which ``keys`` sign; no keys: nothing is signed.
    """
    consistency = None
    if extended is not None:
        consistency = BundleConsistency(from_=extended, proof=texts(tree.consistency(extended)))
    numbers: dict[str, list[int]] = {}
    for _, (_, whose, number, _, _) in rows:
        numbers.setdefault(written(whose), []).append(number)
    origin = checkpoint_in(signed_last.note).origin
    return Bundle(
        about=about,
        checkpoint=signed_last.note,
        consistency=consistency,
        aggregates=tuple(
            [
                BundleAggregate(
                    id=whose,
                    ranges=tuple(ranges_of(found)),
                    statement=_statement(origin, whose, last[whose], tree, keys) if keys else None,
                )
                for whose, found in numbers.items()
            ]
        ),
        rows=tuple(
            [
                BundleRow(
                    index=leaf,
                    id=written(whose),
                    version=number,
                    topic=topic,
                    state=base64(state),
                    proof=texts(tree.inclusion(leaf)),
                )
                for leaf, (_, whose, number, topic, state) in rows
            ]
        ),
        settlements=settlements,
        entries=entries,
    )


def written(aggregate_id: object) -> str:
    """Return the id of a match or club as it is shown, from how it stands in a row."""
    return str(UUID(str(aggregate_id)))


def ranges_of(numbers: Iterable[int]) -> list[BundleRange]:
    """Return the ranges without a gap that these numbers make."""
    found: list[BundleRange] = []
    for number in sorted(numbers):
        first = found.pop().first if found and found[-1].last == number - 1 else number
        found.append(BundleRange(first=first, last=number))
    return found


def _statement(origin: str, whose: str, last: Last, tree: Tree, keys: Sequence[SigningKey]) -> str:
    number, leaf = last.row.row[2], tree.leaf(last.row.leaf)
    return signed(LastRow(origin=origin, aggregate=whose, number=number, leaf=leaf, size=last.size), keys)


def recorded_in(placed: Placed) -> Recorded:
    """The event of a row."""
    return from_row(StoredEvent(*placed.row[1:]))


def decided(found: Iterable[Placed]) -> Iterator[Placed]:
    """The rows that say what a match came to, in order: its ends, and the rulings that came after one or made one."""
    over = False
    for one in found:
        topic = one.row[3]
        if topic in ENDS or (topic in RULED and (over or getattr(recorded_in(one).event, "won", None) is not None)):
            over = True
            yield one


def settlement_by(match_id: UUID, opened: MatchOpened, rows: Iterable[Placed]) -> BundleSettlement | None:
    """What a match for money came to by those rows of it; ``None``: nothing."""
    found: BundleSettlement | None = None
    for recorded in map(recorded_in, rows):
        amounts = comes_to(recorded.event, 0 if found is None else found.event)
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


def entry_told(entry: JournalEntry) -> BundleEntry:
    """Return an entry as a bundle has it."""
    return BundleEntry(
        number=entry.number,
        date=entry.date.isoformat(),
        kind=msgspec.convert(entry.kind, EntryKind),
        currency=entry.currency,
        cause=entry.cause,
        postings=tuple(sorted(entry.postings, key=lambda one: one.account)),
    )
