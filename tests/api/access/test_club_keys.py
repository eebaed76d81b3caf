"""Keys of a club: their validity, scopes and expiry. Their secrets are stored nowhere."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from api.access import clubs
from api.access.keys import make_key_text
from referee.clubs.facts import SCOPES
from referee.store.connection import Postgres, parse_store_url
from tests.api.http.test_problems import problem
from tests.support.club_client import FOUNDING, ClubTable, found, in_days
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

CALLS = ["", "/members", "/evenings", "/keys"]
REVOKED_SECONDS_MAX = 2.0


@pytest.fixture
def club(client: Client) -> ClubTable:
    return ClubTable(client)


@contextmanager
def later(monkeypatch: pytest.MonkeyPatch, **ahead: float) -> Iterator[None]:
    """Move the clock of the key checks ahead within this block."""
    with monkeypatch.context() as patch:
        patch.setattr(clubs, "utc_now", lambda: datetime.now(UTC) + timedelta(**ahead))
        yield


def refused(club: ClubTable, key: str, code: str) -> None:
    """Assert that every call refuses the key with the same problem."""
    for path in (*(club.path + call for call in CALLS), "/v1/key"):
        answer = club.client.get(path, headers=club.bearer(key))
        problem(answer, 401, code)
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="club"'
        assert club.keys.get(key, key) not in answer.text
    problem(club.act("join", key, name="Eve"), 401, code)


class TestWhichAreGood:
    def test_every_call_without_a_key_is_refused(self, club: ClubTable) -> None:
        for path in (*(club.path + call for call in CALLS), "/v1/key"):
            for headers in ({}, {"Authorization": "Basic eDp5"}, {"Authorization": "Bearer "}):
                problem(club.client.get(path, headers=headers), 401, "key-missing")
        problem(club.act("join", None, name="Eve"), 401, "key-missing")

    def test_one_that_is_not_whole(self, club: ClubTable) -> None:
        key = club.keys["founder"]
        other = "A" if key[-1] != "A" else "B"
        for text in (key[:-1], key[:-1] + other, key + "x", key[:40], key.replace("knk_", "KNK_"), "secret"):
            refused(club, text, "key-malformed")

    def test_one_that_no_one_made(self, club: ClubTable) -> None:
        refused(club, make_key_text(UUID(club.id), "k1"), "key-unknown")
        refused(club, make_key_text(UUID(club.id), "k9"), "key-unknown")
        refused(club, make_key_text(uuid4(), "k1"), "key-unknown")
        table = Table(club.client)
        refused(club, make_key_text(UUID(table.id), "k1"), "key-unknown")

    def test_an_expired_key_is_refused(self, club: ClubTable, monkeypatch: pytest.MonkeyPatch) -> None:
        club.issue("board", "read", "keys", days=3)
        assert club.itself("board").status_code == 200
        with later(monkeypatch, days=3.01):
            refused(club, "board", "key-expired")
            assert club.get().status_code == 200, "the founder's is good for longer"
        body = club.itself("board").json()
        assert body["ends_at"] == body["expires_at"]

    def test_one_that_was_revoked(self, club: ClubTable) -> None:
        key = club.issue("board", "read", "keys")
        club.done("revoke_key", key=key)
        refused(club, "board", "key-revoked")
        problem(club.act("revoke_key", key=key), 409, "key-ended")

    def test_one_of_a_member_who_left(self, club: ClubTable) -> None:
        bo = club.join("Bo")
        club.issue("bo", "play", "self", member=bo)
        club.done("leave", "bo", member=bo)
        refused(club, "bo", "key-revoked")
        fields = {"member": bo, "scopes": ["play"], "expires_at": in_days(3)}
        problem(club.act("issue_key", **fields), 409, "member-left")

    def test_one_that_was_rotated_is_good_beside_the_new_one_for_a_while(
        self, club: ClubTable, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = club.issue("old", "read", "keys", days=3)
        rotated = club.done("rotate_key", "old", key=key, overlap_seconds=3600)["key"]
        club.keys["new"] = rotated["secret"]
        assert (rotated["id"], rotated["scopes"]) == (key, ["read", "keys"])
        old, new = club.itself("old").json(), club.itself("new").json()
        assert old["rotated_until"] == new["rotated_until"] == old["ends_at"]
        assert new["ends_at"] == new["expires_at"] == old["expires_at"]
        with later(monkeypatch, hours=2):
            refused(club, "old", "key-expired")
            assert club.get("", "new").status_code == 200
        club.keys["newest"] = club.done("rotate_key", "new", key=key)["key"]["secret"]
        refused(club, "old", "key-unknown")
        refused(club, "new", "key-expired")
        assert club.get("", "newest").status_code == 200

    def test_two_authorizations_at_once(self, http: httpx.Client) -> None:
        club, table = ClubTable(http), Table(http)
        twice = [("Authorization", f"Bearer {club.keys['founder']}")] * 2
        for path in (club.path, "/v1/key", table.path, f"{table.path}/events"):
            problem(club.client.get(path, headers=httpx.Headers(twice)), 400, "two-authorizations")
        answer = club.client.post("/v1/clubs", json=FOUNDING, headers=httpx.Headers(twice))
        problem(answer, 400, "two-authorizations")

    def test_one_of_a_club_is_no_token_of_a_match(self, club: ClubTable) -> None:
        table = Table(club.client)
        refused(club, table.tokens["official"], "key-malformed")


class TestPermissions:
    ACTS: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("join", {"name": "Eve"}, "keys"),
        ("rename", {"member": 1, "name": "Eve"}, "keys"),
        ("leave", {"member": 1}, "keys"),
        ("erase", {"member": 1}, "keys"),
        ("issue_key", {"app": "x", "scopes": ["keys"], "expires_at": in_days(3)}, "keys"),
        ("rotate_key", {"key": "k1"}, "keys"),
        ("revoke_key", {"key": "k1"}, "keys"),
        ("set", {"name": "Ours"}, "keys"),
        ("open_evening", {"on": "2026-11-22", "season": "2026"}, "open"),
        ("close_evening", {"evening": 1}, "open"),
    )

    @pytest.mark.parametrize(("act", "fields", "scope"), ACTS, ids=[act for act, *_ in ACTS])
    def test_each_act_needs_its_scope(self, club: ClubTable, act: str, fields: dict[str, Any], scope: str) -> None:
        others = [one for one in SCOPES if one != scope]
        club.issue("others", *others)
        body = problem(club.act(act, "others", **fields), 403, "scope-missing")
        assert body["facts"] == {"needs": scope, "has": others}
        club.issue("fit", scope)
        assert club.act(act, "fit", **fields).status_code != 403 or act == "rotate_key", "of the founder's, no"

    def test_only_a_key_with_the_scope_keys_lists_keys(self, club: ClubTable) -> None:
        club.issue("reader", *(one for one in SCOPES if one != "keys"))
        problem(club.get("/keys", "reader"), 403, "scope-missing")
        for call in ("", "/members", "/evenings"):
            assert club.get(call, "reader").status_code == 200
        assert club.names("reader") == ["Anna Åkesson-Ödmårk"]
        page = club.get("/keys").json()
        assert [one["key"] for one in page["items"]] == ["k1", "k2"]
        assert [one["app"] for one in page["items"]] == [None, "reader"]

    def test_a_member_manages_only_their_own_name_and_keys(self, club: ClubTable) -> None:
        bo, cilla = club.join("Bo"), club.join("Cilla")
        key, other = club.issue("bo", "play", "self", member=bo), club.issue("bo's phone", "read", member=bo)
        club.issue("cilla", "play", "self", member=cilla)
        club.done("rename", "bo", member=bo, name="Bosse")
        problem(club.act("rename", "bo", member=cilla, name="Silla"), 403, "scope-missing")
        problem(club.act("revoke_key", "cilla", key=key), 403, "scope-missing")
        club.done("revoke_key", "bo", key=other)
        club.done("leave", "bo", member=bo)
        assert club.names() == ["Anna Åkesson-Ödmårk", "Bosse", "Cilla"]

    def test_a_key_cannot_grant_scopes_that_it_lacks(self, club: ClubTable) -> None:
        club.issue("secretary", "keys", "read")
        fields = {"app": "Till", "expires_at": in_days(3)}
        body = problem(
            club.act("issue_key", "secretary", scopes=["treasury", "read"], **fields), 403, "scopes-not-yours"
        )
        assert body["facts"] == {"scopes": ["treasury"]}
        assert club.act("issue_key", "secretary", scopes=["read"], **fields).status_code == 201
        till = club.issue("till", "treasury")
        problem(club.act("rotate_key", "secretary", key=till), 403, "scopes-not-yours")
        club.issue("display", "self", member=1)
        body = problem(club.act("rotate_key", "display", key="k1", overlap_seconds=60), 403, "scopes-not-yours")
        assert "keys" in body["facts"]["scopes"], "the founder's own, but in a weaker hand"

    def test_a_key_reads_its_own_record(self, club: ClubTable) -> None:
        bo = club.join("Bo")
        club.issue("bo", "read", "play", member=bo)
        body = club.itself("bo").json()
        assert (body["club"], body["key"], body["member"], body["app"]) == (club.id, "k2", bo, None)
        assert (body["scopes"], body["revoked"], body["rotated_until"]) == (["play", "read"], False, None)
        club.issue("Scoreboard", "read")
        assert (club.itself("Scoreboard").json()["app"], club.itself("Scoreboard").json()["member"]) == (
            "Scoreboard",
            None,
        )


class TestInTwoProcesses:
    def test_a_key_is_known_and_revoked_in_both(self, postgres_url: str) -> None:
        with (
            served(postgres_url) as one,
            served(postgres_url) as other,
            httpx.Client(base_url=one, timeout=10) as here,
            httpx.Client(base_url=other, timeout=10) as there,
        ):
            club = ClubTable(here)
            for turn in range(3):
                key = club.issue(f"board {turn}", "read", "keys")
                headers = club.bearer(f"board {turn}")
                assert there.get(club.path, headers=headers).status_code == 200, "however soon"
                club.done("revoke_key", key=key)
                revoked_at = time.monotonic()
                acted = there.post(f"{club.path}/acts", json={"act": "join", "name": "Eve"}, headers=headers)
                problem(acted, 401, "key-revoked")
                while (answer := there.get(club.path, headers=headers)).status_code == 200:
                    assert time.monotonic() - revoked_at < REVOKED_SECONDS_MAX
                problem(answer, 401, "key-revoked")
            assert club.names() == ["Anna Åkesson-Ödmårk"]

    def test_one_that_was_revoked_opens_no_match_anywhere(self, postgres_url: str) -> None:
        """A match is separate from its club, so the opening checks the key in the stored club."""
        with client_of(postgres_url) as here, client_of(postgres_url) as there:
            club = ClubTable(here)
            club.join("Bo")
            opening = {"ruleset": "kalabrias", "players": [{"member": 1}, {"member": 2}], "club": club.id}
            opening["evening"] = club.done("open_evening", on="2026-11-22", season="2026/27")["evening"]
            for turn in range(5):
                key = club.issue(f"desk {turn}", "open")
                shown = club.bearer(f"desk {turn}")
                assert there.post("/v1/matches", json=opening, headers=shown).status_code == 201
                club.done("revoke_key", key=key)
                problem(there.post("/v1/matches", json=opening, headers=shown), 401, "key-revoked")

    def test_one_service_reads_the_names_that_another_has_stored(self, postgres_url: str) -> None:
        with client_of(postgres_url) as here, client_of(postgres_url) as there:
            club = ClubTable(here)
            club.client = there
            assert club.names() == ["Anna Åkesson-Ödmårk"]
            club.client = here
            version = club.done("join", name="Bo")["version"]
            club.client = there
            members = club.get(f"/members?min_version={version}").json()["items"]
            assert [member["name"] for member in members] == ["Anna Åkesson-Ödmårk", "Bo"]


def test_an_idempotency_key_of_another_act_about_keys_is_refused_at_once(client: Client) -> None:
    """The first act may be any act about keys."""
    club = ClubTable(client)
    club.join("Bo")
    fields = {"scopes": ["read"], "expires_at": in_days(3)}
    acts: list[tuple[str, dict[str, Any]]] = [
        ("issue_key", {"app": "Clock", **fields}),
        ("issue_key", {"member": 1, **fields}),
        ("issue_key", {"member": 2, **fields}),
        ("rotate_key", {"key": club.issue("board", "read")}),
    ]
    for act, fields in acts:
        key = {"Idempotency-Key": str(uuid4())}
        made = club.act(act, headers=key, **fields)
        assert made.status_code == 201, made.text
        for other_act, other_fields in acts:
            if other_fields != fields:
                problem(club.act(other_act, headers=key, **other_fields), 422, "key-reused")


def stored(url: str, folder: Path) -> Iterator[bytes]:
    """Yield all stored bytes of a service: its files, or the rows of its tables."""
    place = parse_store_url(url)
    if not isinstance(place, Postgres):
        yield from (file.read_bytes() for file in folder.rglob("*") if file.is_file())
        return
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            for (row,) in connection.execute(f'SELECT t::text FROM "{table}" t'.encode()):
                yield row.encode()


def test_secrets_are_in_no_row_file_log_or_later_answer(
    store_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Secrets are not stored, and no Idempotency-Key is: with the store it would yield the secret."""
    caplog.set_level(logging.DEBUG)
    own_keys = [str(uuid4()) for _ in range(3)]
    answers = []
    with client_of(store_url) as client:
        made = found(client, **{"Idempotency-Key": own_keys[0]}).json()
        club = ClubTable(client)
        club.id, club.path, club.keys = made["id"], f"/v1/clubs/{made['id']}", {"founder": made["key"]["secret"]}
        key = {"app": "Board", "scopes": ["read"], "expires_at": in_days(3)}
        first = club.act("issue_key", headers={"Idempotency-Key": own_keys[1]}, **key).json()["key"]
        second = club.act("rotate_key", headers={"Idempotency-Key": own_keys[2]}, key=first["id"]).json()["key"]
        secrets = [made["key"]["secret"], first["secret"], second["secret"]]
        answers += [club.get(call).text for call in CALLS]
        answers += [club.itself(secret).text for secret in secrets]
        answers += [club.act("issue_key", headers={"Idempotency-Key": own_keys[1]}, **(key | {"app": "x"})).text]
        answers += [club.act("revoke_key", key="k2").text, club.itself(secrets[2]).text]
    hidden = [part for secret in secrets for part in (secret, secret.split("_")[2][:43])] + own_keys
    places = [*stored(store_url, tmp_path), caplog.text.encode(), *(answer.encode() for answer in answers)]
    assert sum(map(len, places)) > 1000
    for data in places:
        for one in hidden:
            assert one.encode() not in data
            assert one.encode().hex().encode() not in data, "as a column of bytes is written"
