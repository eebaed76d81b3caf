"""The token of an official for all their matches: its creation, and that events do not reveal it."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import create_engine, text

from api.maintenance.verify import verify
from api.runtime.service import Service
from referee.store.connection import SqliteFile, parse_store_url
from tests.api.cases.test_cases import ANNA, REVOKE, ask, attended
from tests.api.cases.test_docket import listed, places
from tests.api.http.test_problems import problem
from tests.backups.backup_commands import backup, nothing_in, other_than, restored
from tests.support.databases import Postgres
from tests.support.match_client import KORTOXEN, Table
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_clubs import Club

PATH = "/v1/official-tokens"
HEX = re.compile(r"\b[0-9a-f]{64}\b")
FIRST = "0" * 64


def made(client: Client) -> dict[str, str]:
    """Return a new token of an official and its SHA-256."""
    answer = client.post(PATH)
    assert answer.status_code == 201, answer.text
    body: dict[str, str] = answer.json()
    return body


def table_of(client: Client, token_sha256: str) -> Table:
    """Open a match in which a second official has this token, with a case."""
    officials = [{"name": "Maja"}, {"name": "Nils", "token_sha256": token_sha256}]
    table = attended(client, {"officials": officials})
    ask(table, "", ANNA, REVOKE)
    return table


def stored(table: Table) -> str:
    """Return all stored rows of a match, which contain more than any bundle or answer."""
    service: Service = table.client.app.state.service
    return "\n".join(row.state.decode() for row in service.referee.rows(UUID(table.id)))


class TestEvents:
    def test_nothing_in_them_opens_a_match_in_the_docket(self, lone_client: Client) -> None:
        """Runs on either store. A seat gets the rows of its match in the bundle."""
        own = made(lone_client)
        table = table_of(lone_client, own["token_sha256"])
        assert table.get("", "official").json()["viewer"] == "official"
        found = {*HEX.findall(stored(table))} - {FIRST}
        assert len(found) > 5, "tokens, hashes of rows, and what else looks like a SHA-256"
        for value in sorted(found):
            table_of(lone_client, value)
            table_of(lone_client, sha256(value.encode()).hexdigest())
        assert places(listed(lone_client, own["token"])) == [(table.id, 1)]

    def test_no_value_in_two_matches_is_the_same(self, client: Client) -> None:
        """The rows of two matches do not show that they have the same official."""
        own = made(client)["token_sha256"]
        one, other = ({*HEX.findall(stored(table_of(client, own)))} - {FIRST} for _ in range(2))
        assert one.isdisjoint(other)
        assert own not in one | other

    def test_a_token_that_a_match_made_is_good_in_no_other(self, client: Client) -> None:
        """A seat cannot use the hash of its token in the rows to become an official of a different match."""
        table = table_of(client, made(client)["token_sha256"])
        for value in {*HEX.findall(stored(table))} - {FIRST}:
            table_of(client, value)
        for who in (ANNA, "official"):
            assert {match for match, _ in places(listed(client, table.tokens[who]))} <= {table.id}


class TestMade:
    def test_a_token_and_its_hash(self, client: Client) -> None:
        body = made(client)
        assert body["token_sha256"] == sha256(body["token"].encode()).hexdigest()
        answer = client.post(PATH)
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.json()["token"] != body["token"], "each is another"

    def test_it_officiates_where_its_hash_was_given(self, client: Client) -> None:
        own = made(client)
        table = table_of(client, own["token_sha256"])
        table.tokens["Nils"] = own["token"]
        assert table.get("", "Nils").json()["viewer"] == "official"
        assert places(listed(client, own["token"])) == [(table.id, 1)]

    def test_a_caller_who_may_open_no_match_gets_no_official_token(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, anybody_opens=False) as client:
            app: Any = client.app
            club = Club(app.state.service.desk)

            def by(key: str) -> httpx.Response:
                answer: httpx.Response = client.post(PATH, headers={"Authorization": f"Bearer {key}"})
                return answer

            problem(client.post(PATH), 401, "opening-needs-key")
            problem(by("a token"), 401, "opening-needs-key")
            problem(by(club.key("read")), 403, "scope-missing")
            problem(by(club.founder[:-1]), 401, "key-malformed")
            gone = club.key("open")
            assert by(gone).status_code == 201
            club.revoke(gone)
            problem(by(gone), 401, "key-revoked")

    def test_it_counts_as_a_match_that_is_opened(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, matches_per_hour=2, limit_loopback=True) as client:
            assert client.post(PATH).status_code == 201
            Table(client)
            problem(client.post(PATH), 403, "quota-reached")
            body = {"ruleset": KORTOXEN, "players": [{"name": name} for name in "ABC"]}
            problem(client.post("/v1/matches", json=body), 403, "quota-reached")


class TestStored:
    def test_the_docket_after_a_restart_a_rebuild_and_a_restore(
        self, store_url: str, tmp_path: Path, postgres: Postgres
    ) -> None:
        """Runs on either store, and restores into the other kind of store."""
        with client_of(store_url) as client:
            own = made(client)
            table = table_of(client, own["token_sha256"])
        with client_of(store_url) as client:
            app: Any = client.app
            app.state.service.projections.rebuild("cases")
            assert places(listed(client, own["token"])) == [(table.id, 1)]
        assert found_by_verify(store_url) == []
        with nothing_in(other_than(store_url), postgres, tmp_path) as empty:
            restored(backup(store_url, tmp_path / "b"), empty)
            with client_of(empty) as client:
                app = client.app
                app.state.service.projections.rebuild("cases")
                assert places(listed(client, own["token"])) == [(table.id, 1)]
                table_of(client, own["token_sha256"])
                assert len(places(listed(client, own["token"]))) == 2

    def test_verify_finds_another_secret(self, sqlite_url: str) -> None:
        """A rebuild with a different secret would lose every docket."""
        with client_of(sqlite_url) as client:
            table = table_of(client, made(client)["token_sha256"])
        target = parse_store_url(sqlite_url)
        assert isinstance(target, SqliteFile)
        with create_engine(f"sqlite:///{target.path}").begin() as connection:
            connection.execute(text("UPDATE stored_secret SET secret = zeroblob(32)"))
        found = [line for line in found_by_verify(sqlite_url) if "docket" in line]
        assert len(found) == 2, "of each official of the match"
        assert all(table.id in line for line in found)


def found_by_verify(url: str) -> list[str]:
    """Return the faults that `knacka verify` finds in a store."""
    said: list[str] = []
    status = verify(url, None, said.append, lambda _: None)
    assert status == (1 if len(said) > 1 else 0), said
    return said[:-1]
