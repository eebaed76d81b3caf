"""Two services over one PostgreSQL: acts sent to either at random, compared with each match sent to one.

``python -m tests.benchmarks.replicas [ROUNDS]``. Each client plays a match with the same number of earlier events.
"""

import asyncio
import random
import sys
import time
from collections.abc import Sequence
from hashlib import sha256
from itertools import islice
from statistics import median
from uuid import UUID, uuid4

import msgspec
import uvloop
from eventsourcing.persistence import StoredEvent

from referee.actors import actor_at
from referee.events import MatchOpened
from referee.store.desk import digest_of
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.store.store import construct
from referee.tokens import hash_in_match
from referee.visibility import Recorded
from tests.benchmarks.http import DURABLE, served
from tests.benchmarks.load import ACTS, PLAYERS, Client, game, post
from tests.benchmarks.measure import floor, table
from tests.benchmarks.playouts import NOW
from tests.support.databases import empty_database, running_postgres
from tests.support.salted_rows import row_of

CLIENTS = 32
SECONDS = 3.0
EVENTS = (1000,)
LEAST = 0.51
ROWS = 5000
"""Rows per statement, so that the server is never silent for long."""

Script = list[tuple[int, bytes]]


def histories(ids: Sequence[UUID], events: int, keyed: bool) -> tuple[list[StoredEvent], Script]:
    """Yield the rows of a match for each id, of at least this length, and the acts that may follow."""
    rows: list[StoredEvent] = []
    played = list(islice(game(), events + ACTS))
    for match_id in ids:
        tokens = tuple(hash_in_match(match_id, sha256(b"%d" % seat).hexdigest()) for seat in range(PLAYERS))
        prev, number = HASH_BEFORE_FIRST, 0
        for place, (seat, body, made) in enumerate(played):
            if number >= events:
                break
            act_id = f"{place:032x}" if keyed else f"~{place:032x}"
            for event in made:
                if isinstance(event, MatchOpened):
                    event = msgspec.structs.replace(event, tokens=tokens)
                number += 1
                request = msgspec.Raw(body) if place and event is made[0] else None
                recorded = Recorded(
                    match_id, number, NOW, actor_at(seat), act_id, digest_of(body), prev, event, request
                )
                rows.append(row_of(recorded))
                prev = row_hash(rows[-1])
    return rows, [(seat, body) for seat, body, _ in played[place:]]


async def one(
    ports: Sequence[int], match_id: UUID, acts: Script, begin: asyncio.Event, keyed: bool
) -> tuple[int, int]:
    """Play a match through services chosen at random. Return the number of acts and of errors."""
    loop, chance = asyncio.get_running_loop(), random.Random(match_id.int)
    clients = [(await loop.create_connection(Client, "127.0.0.1", port))[1] for port in ports]
    path = f"/v1/matches/{match_id}/acts"
    heads = [post(path, b"", str(seat)).removesuffix(b"Content-Length: 0\r\n\r\n") for seat in range(PLAYERS)]
    await begin.wait()
    done, errors, until = 0, 0, time.perf_counter() + SECONDS
    for seat, act in acts:
        if time.perf_counter() >= until:
            break
        key = b"Idempotency-Key: %s\r\n" % uuid4().hex.encode() if keyed else b""
        head = heads[seat] + key + b"Content-Length: %d\r\n\r\n" % len(act)
        status, _ = await chance.choice(clients).send(head + act)
        done += 1
        errors += status != 201
    for client in clients:
        client.transport.close()
    return done, errors


async def run(ports: Sequence[int], ids: Sequence[UUID], acts: Script, sticky: bool, keyed: bool) -> float:
    """Return the acts a second of all clients together."""
    begin = asyncio.Event()
    playing = [
        asyncio.create_task(one([ports[place % 2]] if sticky else ports, match_id, acts, begin, keyed))
        for place, match_id in enumerate(ids)
    ]
    await asyncio.sleep(0.5)
    begin.set()
    started = time.perf_counter()
    results = await asyncio.gather(*playing)
    assert not any(errors for _, errors in results), results
    return sum(done for done, _ in results) / (time.perf_counter() - started)


def main(rounds: int = 1) -> bool:
    """Print the figures. Return whether all floors are reached."""
    figures: dict[tuple[int, bool, bool], list[float]] = {}
    with running_postgres(DURABLE) as server:
        for _ in range(rounds):
            for events in EVENTS:
                for keyed in (False, True):
                    for sticky in (True, False):
                        with empty_database(server) as url:
                            ids = [uuid4() for _ in range(CLIENTS)]
                            rows, acts = histories(ids, events, keyed)
                            with construct(url) as referee:
                                for first in range(0, len(rows), ROWS):
                                    referee.recorder.insert_events(rows[first : first + ROWS])
                                referee.take_snapshots([referee.load(match_id) for match_id in ids])
                            with served("knacka", url) as first, served("knacka", url) as second:
                                rate = uvloop.run(run((first, second), ids, acts, sticky, keyed))
                        figures.setdefault((events, keyed, sticky), []).append(rate)
    lines, held = [], []
    for events in EVENTS:
        for keyed in (False, True):
            one_each, either = (median(figures[events, keyed, sticky]) for sticky in (True, False))
            name = f"{events:,} events, {'keyed' if keyed else 'without keys'}"
            lines.append((name, one_each, either, either / one_each))
            held.append((name, either / one_each))
    table("Acts/s through two services", ("", "each match through one", "through either", "ratio"), lines)
    reached = [floor(*figure, LEAST) for figure in held]
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
