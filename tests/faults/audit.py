"""Comparison of the store with the answers: acts lost, acts applied twice, and gaps."""

from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from typing import Any

import msgspec
from eventsourcing.persistence import StoredEvent

from projections.protocols import Protocol, after_event
from referee.actors import Actor
from referee.store.rows import HASH_BEFORE_FIRST, from_row, row_hash
from tests.faults.play import Ledger


class _Row(msgspec.Struct):
    """The fields of a row that show its act, whether the act begins with it, and the previous row."""

    actor: Actor
    act: str
    prev: str
    request: msgspec.Raw = msgspec.Raw()


_decode = msgspec.json.Decoder(_Row).decode


def audit(rows: Iterable[StoredEvent], ledger: Ledger) -> dict[str, list[StoredEvent]]:
    """Count and note in the ledger all differences from the answers. Return the rows by match."""
    by_match = defaultdict[str, list[StoredEvent]](list)
    for row in rows:
        by_match[str(row.originator_id)].append(row)
    stored = defaultdict[tuple[str, Actor, str], list[int]](list)
    for match, history in by_match.items():
        prev = HASH_BEFORE_FIRST
        for number, row in enumerate(history, 1):
            read = _decode(row.state)
            if (row.originator_version, read.prev) != (number, prev):
                ledger.found("gaps", f"{match}: row {number} is {row.originator_version} and names {read.prev}")
            prev = row_hash(row)
            act = (match, read.actor, read.act)
            if bytes(read.request) and act in stored:
                ledger.found("twice", f"{act} at {stored[act]} and again at {number}")
            stored[act].append(number)
    for act, told in ledger.acts.items():
        numbers = stored.get(act)
        if numbers is None or numbers[-1] != told.last or told.first not in (None, numbers[0]):
            ledger.found("lost", f"{act} was answered {told} and is stored at {numbers}")
    for match, version in ledger.versions.items():
        if len(by_match[match]) < version:
            ledger.found("lost", f"{match} was answered at {version} and is stored to {len(by_match[match])}")
    return by_match


def protocol_of(history: Iterable[StoredEvent]) -> Any:
    """Return the protocol that these rows make, in JSON."""
    sheet: Protocol | None = reduce(after_event, map(from_row, history), None)
    return msgspec.json.decode(msgspec.json.encode(sheet))
