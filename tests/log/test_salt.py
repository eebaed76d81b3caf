"""A leaf of the public log reveals nothing of its row to a caller who can guess all the rest of the row."""

import json
from base64 import b64decode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from referee.log.notes import checkpoint_in
from tests.api.conftest import client_of
from tests.api.table import Table
from tests.log.proving import KEY, sign

Client = TestClient[Litestar]
HANDS = [
    ["SA", "SK", "SQ", "H2", "H3", "D4"],
    ["S2", "S3", "HA", "HK", "D5", "D6"],
    ["S4", "S5", "H4", "CK", "DA", "C2"],
]
"""Seat 2 revokes if it throws the king of clubs on a spade."""


@pytest.fixture
def client(sqlite_url: str) -> Iterator[Client]:
    with client_of(sqlite_url, log_key=KEY.written, log_seconds=3600) as client:
        yield client


def public_hashes(client: Client, size: int) -> set[bytes]:
    """Return every hash that the public log shows of its first rows. The leaves are among them."""
    found: set[bytes] = set()
    for end in range(2, size + 1):
        proof = client.get(f"/v1/log/consistency?from={end - 1}&to={end}").json()["proof"]
        found |= {b64decode(one) for one in proof}
    return found


def leaf_of(match: str, event: dict[str, Any], row: dict[str, Any]) -> bytes:
    """Return the leaf of a row, as the guide about the log has it."""
    state = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
    return sha256(f"\0{match}\n{event['number']}\n{event['topic']}\n{state}".encode()).digest()


def guessed(event: dict[str, Any], act: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the row of an event without its salt. All parts are public but the hidden parts of ``event``, the
    Idempotency-Key and ``asked``."""
    return {
        "at": event["at"],
        "actor": event["actor"],
        "act": act,
        "digest": sha256(json.dumps(asked, separators=(",", ":")).encode()).hexdigest()[:16],
        "prev": event["prev"],
        "request": asked,
        "event": event["event"],
    }


def test_a_spectator_who_guesses_the_rest_of_a_hidden_row_does_not_find_its_leaf(client: Client) -> None:
    table = Table(client)
    table.deal(HANDS)
    table.bid(2, "pass", 3)
    table.play("SA", "S2", first=0)
    asked = {"act": "play", "seat": 2, "card": "CK"}
    thrown = table.post("/acts", asked, 2, **{"Idempotency-Key": "act-9"})
    assert thrown.status_code == 201, thrown.text
    size = checkpoint_in(sign(client)).size
    hashes = public_hashes(client, size)
    events = table.get("/events", "official").json()["events"]
    (played,) = [event for event in events if event["topic"] == "card/played" and event["event"]["card"] == "CK"]
    assert played["event"]["breaches"], "the event hides that the seat has revoked"
    assert bytes.fromhex(played["hash"]) in hashes, "the leaf is in the public log"
    assert leaf_of(table.id, played, guessed(played, "act-9", asked)) not in hashes
