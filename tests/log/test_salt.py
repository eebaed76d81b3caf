"""A leaf of the public log reveals nothing of its row to a caller who can guess all the rest of the row."""

import json
import random
from base64 import b64decode, b64encode
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from hypothesis import given
from hypothesis import strategies as st

from api.runtime.service import Service
from referee.games import RULESETS
from referee.log.notes import checkpoint_in
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.rows import row_hash
from referee.store.store import construct
from tests.log.bundle_checks import KEY, checked, played, sign
from tests.support.match_client import Table
from tests.support.random_matches import legal_acts, opening, send
from tests.support.service_in_memory import Client, client_of

HANDS = [
    ["SA", "SK", "SQ", "H2", "H3", "D4"],
    ["S2", "S3", "HA", "HK", "D5", "D6"],
    ["S4", "S5", "H4", "CK", "DA", "C2"],
]
"""Seat 2 revokes if it throws the king of clubs on a spade."""
THROWN = {"act": "play", "seat": 2, "card": "CK"}
KEY_OF_ACT = "act-9"
NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MATCH = UUID("00000000-0000-4000-8000-000000000001")


@pytest.fixture
def client(sqlite_url: str) -> Iterator[Client]:
    with client_of(sqlite_url, log_key=KEY.private_text, log_seconds=3600) as client:
        yield client


@pytest.fixture
def revoked(client: Client) -> Table:
    """A match in which seat 2 has just revoked, with an Idempotency-Key that can be guessed."""
    table = Table(client)
    table.deal(HANDS)
    table.bid("2", "pass", "3")
    table.play("SA", "S2", first=0)
    thrown = table.post("/acts", THROWN, 2, **{"Idempotency-Key": KEY_OF_ACT})
    assert thrown.status_code == 201, thrown.text
    return table


def public_hashes(client: Client) -> set[bytes]:
    """Have the log signed, and return the hashes that it shows to the public. All leaves but the first are among
    them."""
    found: set[bytes] = set()
    for end in range(2, checkpoint_in(sign(client)).size + 1):
        proof = client.get(f"/v1/log/consistency?from={end - 1}&to={end}").json()["proof"]
        found |= {b64decode(one) for one in proof}
    return found


def rows_of(client: Client, match: str) -> list[StoredEvent]:
    service: Service = client.app.state.service
    return list(service.referee.rows(UUID(match)))


def salt_of(row: StoredEvent) -> str:
    salt: str = json.loads(row.state)["salt"]
    return salt


def leaf_of(match: str, event: dict[str, Any], row: dict[str, Any]) -> bytes:
    """Return the leaf of a row, as the guide about the log has it."""
    state = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
    return sha256(f"\0{match}\n{event['number']}\n{event['event']['topic']}\n{state}".encode()).digest()


def guessed(event: dict[str, Any], **salt: str) -> dict[str, Any]:
    """Return the row of an event. All its parts are public but the hidden parts of the event, the act and its
    Idempotency-Key, which may be guessed, and the salt."""
    return {
        "v": 2,
        "at": event["at"],
        "actor": event["actor"],
        "act": KEY_OF_ACT,
        "digest": sha256(json.dumps(THROWN, separators=(",", ":")).encode()).hexdigest()[:16],
        "prev": event["prev"],
        **salt,
        "request": THROWN,
        "event": {name: value for name, value in event["event"].items() if name != "topic"},
    }


def test_a_spectator_who_guesses_the_rest_of_a_hidden_row_does_not_find_its_leaf(
    client: Client, revoked: Table
) -> None:
    hashes = public_hashes(client)
    events = revoked.get("/events", "official").json()["events"]
    played = [event for event in events if event["event"]["topic"] == "card/played"]
    (hidden,) = [event for event in played if event["event"]["card"] == "CK"]
    assert hidden["event"]["breaches"], "the event hides that the seat has revoked"
    assert bytes.fromhex(hidden["hash"]) in hashes, "the leaf is in the public log"
    assert leaf_of(revoked.id, hidden, guessed(hidden)) not in hashes
    chance = random.Random(1)
    for _ in range(1000):
        salt = b64encode(chance.randbytes(16)).decode()
        assert leaf_of(revoked.id, hidden, guessed(hidden, salt=salt)) not in hashes
    salt = salt_of(rows_of(client, revoked.id)[hidden["number"] - 1])
    assert leaf_of(revoked.id, hidden, guessed(hidden, salt=salt)) in hashes, "only the salt was missing"


def test_during_the_deal_no_answer_shows_the_salt_of_a_hidden_row(client: Client, revoked: Table) -> None:
    assert revoked.post("/acts", THROWN, 0).status_code == 403, "an attempt that officials may see"
    sign(client)
    rows = rows_of(client, revoked.id)
    hidden = [salt_of(row) for row in rows[1:]]
    pages = ["", "/events", "/knocks", "/protocol", "/deals/1", "/legal-acts", "/attempts", "/bundle"]
    for number in range(1, len(rows) + 1):
        pages += [f"/replay?at={number}", f"/events/{number}/proof"]
    for who in (None, 0, 1, 2, "official"):
        for page in pages:
            answer = revoked.get(page, who)
            said = f"{answer.headers} {answer.text}"
            for salt in hidden:
                for written in (salt, b64decode(salt).hex(), b64encode(salt.encode()).decode()):
                    assert written not in said, (who, page)
            for row in json.loads(answer.text)["rows"] if page == "/bundle" and answer.status_code == 200 else ():
                assert row["version"] == 1, "the opening hides nothing"


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_after_the_deal_the_bundle_proves_each_leaf(client: Client, tmp_path: Path, ruleset: str) -> None:
    table = played(client, 1, ruleset=ruleset, options={})
    hashes = public_hashes(client)
    answer = table.get("/bundle", "official")
    shown = answer.json()["rows"]
    assert len(shown) > 5
    assert checked(tmp_path, answer.content).code in (0, 3), "rows of the next deal may not be shown"
    for row in shown:
        state = b64decode(row["state"])
        leaf = sha256(f"\0{table.id}\n{row['version']}\n{row['topic']}\n".encode() + state).digest()
        assert leaf in hashes or row["index"] == 0
        assert len(b64decode(json.loads(state)["salt"], validate=True)) == 16
        unsalted = json.dumps({name: one for name, one in json.loads(state).items() if name != "salt"})
        assert sha256(f"\0{table.id}\n{row['version']}\n{row['topic']}\n{unsalted}".encode()).digest() not in hashes
    salts = [salt_of(row) for row in rows_of(client, table.id)]
    assert len(set(salts)) == len(salts), "no two rows have the same salt"


def history_of(url: str, ruleset: str, chance: int, acts: int = 25) -> list[StoredEvent]:
    """Return the rows of a match as a service stores them whose seeds, keys of acts and clock are these."""
    numbers, draw = count(), random.Random(chance)
    with construct(url) as referee:
        desk = Desk(referee, seed=lambda: f"{next(numbers):032}", clock=lambda: NOON)
        opened = Command(id=MATCH, actor="official", request=opening(ruleset=ruleset), key="the opening of the match")
        desk.submit(opened).result(30)
        for number in range(acts):
            if legal := legal_acts(desk.get(MATCH)):
                send(desk, MATCH, draw.choice(legal), key=f"act-{number}")
        desk.close()
        return list(referee.rows(MATCH))


def unsalted(row: StoredEvent) -> dict[str, Any]:
    """Return the content of a row without its salt and without the leaf of the row before, which has a salt."""
    return {name: one for name, one in json.loads(row.state).items() if name not in ("salt", "prev")}


@given(ruleset=st.sampled_from(sorted(RULESETS)), chance=st.integers(0, 2**32))
def test_two_services_that_are_given_the_same_have_no_leaf_in_common(ruleset: str, chance: int) -> None:
    one, other = (history_of("sqlite:///:memory:", ruleset, chance) for _ in range(2))
    assert [*map(unsalted, one)] == [*map(unsalted, other)], "the same acts at the same time with the same keys"
    assert not {*map(row_hash, one)} & {*map(row_hash, other)}
