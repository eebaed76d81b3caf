"""A club is founded once, run with its keys, and stores names only until their members are erased."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest

from api.access.keys import parse_key
from api.http import writes
from api.personal_data.names import names_file
from projections.cursors import cursor_of
from referee.clubs.facts import SCOPES
from referee.store.connection import Postgres, parse_store_url
from tests.api.http.test_problems import problem
from tests.support.club_client import FOUNDING, OPERATOR, ClubTable, found, in_days
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of
from tests.support.unfinished_erasure import recorded

AT_ONCE = 6
OPERATORS = {"operator_key_sha256": sha256(OPERATOR.encode()).hexdigest()}
AS_OPERATOR = {"Authorization": f"Bearer {OPERATOR}"}


@pytest.fixture
def club(client: Client) -> ClubTable:
    return ClubTable(client)


def names_kept(url: str) -> list[str]:
    """Return all texts in the names store of a service."""
    query = "SELECT CAST(text AS TEXT) FROM names"
    if isinstance(parse_store_url(url), Postgres):
        with psycopg.connect(url) as connection:
            return [json.loads(text) for (text,) in connection.execute(query.encode())]
    with closing(sqlite3.connect(names_file(url))) as file:
        return [json.loads(text) for (text,) in file.execute(query)]


class TestFounding:
    def test_its_founder_is_member_1_and_has_a_key_for_everything(self, client: Client) -> None:
        answer = found(client)
        made = answer.json()
        assert (answer.status_code, made["version"], made["member"]) == (201, 3, 1)
        assert answer.headers["Location"] == f"/v1/clubs/{made['id']}"
        assert (answer.headers["ETag"], answer.headers["Cache-Control"]) == ('"3"', "no-store")
        key = made["key"]
        assert (key["id"], key["scopes"]) == ("k1", list(SCOPES))
        assert parse_key(key["secret"]) == (UUID(made["id"]), "k1")
        response = client.get(answer.headers["Location"], headers={"Authorization": f"Bearer {key['secret']}"})
        assert (response.status_code, response.headers["ETag"]) == (200, '"3"')
        assert response.json()["name"] == "Knackarna"
        assert response.json()["timezone"] == "Europe/Stockholm"

    def test_a_repeat_gives_the_same_club_and_key(self, either_client: Client) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        first = found(either_client, **key)
        again = found(either_client, dict(reversed(FOUNDING.items())), **key)
        assert again.content == first.content
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        assert "Idempotency-Replayed" not in first.headers
        for name in ("Location", "ETag"):
            assert again.headers[name] == first.headers[name]
        other = found(either_client, FOUNDING | {"founder": {"name": "Berit"}}, **key)
        problem(other, 422, "key-reused")
        assert first.json()["id"] not in other.text

    def test_a_repeat_after_a_restart_gives_the_same_club_and_key(self, store_url: str) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        with client_of(store_url) as client:
            first = found(client, **key)
        with client_of(store_url) as client:
            assert found(client, **key).content == first.content
        assert len(names_kept(store_url)) == 1

    def test_two_processes_at_once_found_one_club(self, store_url: str) -> None:
        with (
            served(store_url) as one,
            served(store_url) as other,
            httpx.Client(base_url=one, timeout=30) as first,
            httpx.Client(base_url=other, timeout=30) as second,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            for _ in range(3):
                key = {"Idempotency-Key": str(uuid4())}
                asking = [pool.submit(found, (first, second)[turn % 2], **key) for turn in range(AT_ONCE)]
                answers = [one.result() for one in asking]
                assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
                assert len({answer.content for answer in answers}) == 1
        assert names_kept(store_url) == [FOUNDING["founder"]["name"]] * 3

    def test_a_repeated_founding_a_day_later_does_not_return_the_key(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        key = {"Idempotency-Key": str(uuid4())}
        first = found(client, **key).json()
        monkeypatch.setattr(writes, "REPEATED_FOR", timedelta(0))
        answer = found(client, **key)
        problem(answer, 422, "opening-key-expired")
        assert first["key"]["secret"] not in answer.text

    def test_a_key_that_could_be_guessed_founds_nothing(self, client: Client) -> None:
        problem(found(client, **{"Idempotency-Key": "founding-number"}), 400, "short-opening-key")

    def test_only_the_operator_founds_clubs_if_the_setting_says_so(self, either_url: str) -> None:
        with client_of(either_url, anybody_founds=False, **OPERATORS) as client:
            for headers in ({}, {"Authorization": "Bearer of bad news"}, {"Authorization": "Basic eDp5"}):
                answer = found(client, **headers)
                problem(answer, 401, "founding-needs-key")
                assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            answer = found(client, **AS_OPERATOR)
            assert answer.status_code == 201
            path = answer.headers["Location"]
            assert client.get(path, headers=AS_OPERATOR).status_code == 200
            done = client.post(f"{path}/acts", json={"act": "join", "name": "Berit"}, headers=AS_OPERATOR)
            assert done.json()["events"][0]["actor"] == "operator"
        assert sorted(names_kept(either_url)) == ["Anna Åkesson-Ödmårk", "Berit"], "nothing of what was refused"

    def test_a_caller_who_sends_a_key_expects_to_be_identified(self, client: Client, club: ClubTable) -> None:
        problem(found(client, **club.bearer("founder")), 401, "founding-needs-key")
        problem(found(client, **AS_OPERATOR), 401, "founding-needs-key")

    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"name": "x" * 101}, 400, "unreadable"),
            ({"name": ""}, 400, "unreadable"),
            ({"name": "  "}, 400, "unreadable"),
            ({"founder": {"name": "x" * 101}}, 400, "unreadable"),
            ({"founder": {"name": "Anna\nBerit"}}, 400, "unreadable"),
            ({"founder": {"name": "\u0000"}}, 400, "unreadable"),
            ({"founder": {"name": "Anna\u202e"}}, 422, "harmful-character"),
            ({"founder": {"name": "\u200b"}}, 422, "unseen-text"),
            ({"name": "\u2060"}, 422, "unseen-text"),
            ({"founder": {}}, 400, "unreadable"),
            ({"founder": "Anna"}, 400, "unreadable"),
            ({"timezone": "Europe/Knislinge"}, 422, "unknown-timezone"),
            ({"timezone": "europe/stockholm"}, 422, "unknown-timezone"),
            ({"timezone": "../../etc/passwd"}, 422, "unknown-timezone"),
            ({"timezone": "+01:00"}, 422, "unknown-timezone"),
            ({"timezone": "localtime"}, 422, "unknown-timezone"),
            ({"timezone": "Factory"}, 422, "unknown-timezone"),
            ({"timezone": ""}, 400, "unreadable"),
            ({"currencies": []}, 400, "unreadable"),
            ({"currencies": ["kr"]}, 400, "unreadable"),
            ({"currencies": ["SOL"]}, 422, "unknown-currency"),
            ({"currencies": ["SEK", "JPY"]}, 422, "currency-decimals"),
            ({"currencies": ["SEK", "SEK"]}, 422, "currency-twice"),
            ({"key": "mine"}, 400, "unreadable"),
        ],
    )
    def test_a_founding_with_an_invalid_field_is_refused(
        self, client: Client, changes: Any, status: int, code: str
    ) -> None:
        problem(found(client, FOUNDING | changes), status, code)

    def test_a_refused_founding_stores_no_name(self, either_url: str) -> None:
        with client_of(either_url) as client:
            assert found(client, FOUNDING | {"currencies": ["SOL"]}).status_code == 422
            assert found(client, FOUNDING | {"timezone": "Mars"}).status_code == 422
        assert names_kept(either_url) == []

    def test_a_clock_may_be_anywhere(self, client: Client) -> None:
        for zone in ("UTC", "America/Argentina/Buenos_Aires", "Asia/Kolkata"):
            assert found(client, FOUNDING | {"timezone": zone}).status_code == 201


class TestActs:
    def test_the_answer_to_an_act_has_its_events(self, club: ClubTable) -> None:
        joined = club.done("join", name="Bo Brännström")
        assert (joined["version"], joined["member"]) == (4, 2)
        assert [one["event"] for one in joined["events"]] == [
            {"topic": "member/joined", "member": 2, "name": "Bo Brännström"}
        ]
        assert joined["events"][0]["actor"] == "key:k1"
        assert "member" not in club.done("rename", member=2, name="Bo Ek")
        assert club.names() == ["Anna Åkesson-Ödmårk", "Bo Ek"]
        opened = club.done("open_evening", on="2026-11-22", season="2026/27")
        assert opened["evening"] == 1
        club.done("close_evening", evening=1)
        club.done("set", payout_limit=50000, timezone="Europe/Oslo", sie={"bank": "1940"})
        now = club.get().json()
        assert (now["timezone"], now["payout_limit"], now["sie"]["bank"]) == ("Europe/Oslo", 50000, "1940")
        assert (now["members"], now["open_evenings"]) == (2, 0)

    @pytest.mark.parametrize(
        ("act", "fields"),
        [
            ("join", {"name": "Bo"}),
            ("rename", {"member": 1, "name": "Anna"}),
            ("open_evening", {"on": "2026-11-22", "season": "2026/27"}),
            ("issue_key", {"app": "Board", "scopes": ["read"], "expires_at": in_days(3)}),
            ("rotate_key", {"key": "k2", "overlap_seconds": 60}),
            ("set", {"keep_years": 7}),
        ],
    )
    def test_a_repeat_is_answered_alike_and_nothing_is_done(
        self, either_client: Client, act: str, fields: dict[str, Any]
    ) -> None:
        club = ClubTable(either_client)
        club.issue("Other", "read")
        key = {"Idempotency-Key": str(uuid4())}
        first = club.act(act, headers=key, **fields)
        assert first.status_code == 201, first.text
        club.issue("Between", "read")
        version = club.get().json()["version"]
        again = club.act(act, headers=key, **fields)
        assert again.content == first.content
        assert again.headers["Idempotency-Replayed"] == "true"
        assert club.get().json()["version"] == version
        if "key" in first.json():
            assert again.headers["Cache-Control"] == "no-store"
            club.keys["made"] = first.json()["key"]["secret"]
            assert club.itself("made").status_code == 200
        changed = {**fields, **({"name": "Bertil"} if "name" in fields else {"keep_years": 8})}
        changed = changed if act in ("join", "rename", "set") else {**fields, "season": "2027/28"}
        changed = changed if act != "issue_key" else {**fields, "scopes": ["read", "play"]}
        changed = changed if act != "rotate_key" else {**fields, "overlap_seconds": 61}
        problem(club.act(act, headers=key, **changed), 422, "key-reused")

    def test_an_idempotency_key_that_is_too_short_issues_no_key(self, club: ClubTable) -> None:
        fields = {"app": "Board", "scopes": ["read"], "expires_at": in_days(3)}
        problem(club.act("issue_key", headers={"Idempotency-Key": "1"}, **fields), 400, "short-opening-key")

    def test_a_name_that_is_refused_is_not_kept(self, either_url: str) -> None:
        with client_of(either_url) as client:
            club = ClubTable(client)
            assert club.act("rename", member=7, name="Nobody Nilsson").status_code == 422
            assert club.act("join", headers={"If-Match": '"1"'}, name="Late Larsson").status_code == 412
            key = {"Idempotency-Key": "once"}
            for name, status in (("Bo", 201), ("Bo", 201), ("Other Olsson", 422)):
                assert club.act("join", headers=key, name=name).status_code == status
            assert club.names() == ["Anna Åkesson-Ödmårk", "Bo"]
        assert sorted(names_kept(either_url)) == ["Anna Åkesson-Ödmårk", "Bo"]

    def test_if_match_holds_it_to_a_version(self, club: ClubTable) -> None:
        key = {"app": "Board", "scopes": ["read"], "expires_at": in_days(3)}
        for act, fields in (("join", {"name": "Bo"}), ("issue_key", key), ("set", {"name": "New"})):
            stale = club.act(act, headers={"If-Match": '"2"'}, **fields)
            assert problem(stale, 412, "stale")["facts"] == {"version": club.get().json()["version"]}
            assert club.act(act, headers={"If-Match": club.get().headers["ETag"]}, **fields).status_code == 201

    def test_keys_made_at_once_are_all_good(self, store_url: str) -> None:
        """Each key contains its own number, which is known only when the act is decided."""
        with (
            served(store_url) as one,
            served(store_url) as other,
            httpx.Client(base_url=one, timeout=30) as first,
            httpx.Client(base_url=other, timeout=30) as second,
            ThreadPoolExecutor(AT_ONCE) as pool,
        ):
            clubs = [ClubTable(first), ClubTable(second)]
            clubs[1].id, clubs[1].path, clubs[1].keys = clubs[0].id, clubs[0].path, clubs[0].keys
            fields = {"scopes": ["read"], "expires_at": in_days(3)}
            key = {"Idempotency-Key": str(uuid4())}
            same = [pool.submit(clubs[n % 2].act, "issue_key", headers=key, app="x", **fields) for n in range(4)]
            made = {one.result().json()["key"]["secret"] for one in same if one.result().status_code == 201}
            assert len(made) == 1
            at_once = [pool.submit(clubs[n % 2].act, "issue_key", app=f"p{n}", **fields) for n in range(AT_ONCE)]
            answers = [one.result() for one in at_once]
            assert {answer.status_code for answer in answers} <= {201, 503}
            made = {
                answer.json()["key"]["id"]: answer.json()["key"]["secret"] for answer in answers if answer.is_success
            }
            assert len(made) == sum(answer.is_success for answer in answers) >= 1
            for key_id, secret in made.items():
                response = clubs[0].itself(secret)
                assert (response.status_code, response.json()["key"]) == (200, key_id)

    @pytest.mark.parametrize(
        ("act", "fields", "status", "code"),
        [
            ("join", {"name": "x" * 101}, 400, "unreadable"),
            ("join", {"name": "a\tb"}, 400, "unreadable"),
            ("join", {"name": "\u200d"}, 422, "unseen-text"),
            ("rename", {"member": 1, "name": "\u200d"}, 422, "unseen-text"),
            ("join", {}, 400, "unreadable"),
            ("pay", {"amount": 1}, 400, "unreadable"),
            ("leave", {"member": 2}, 422, "no-such-member"),
            ("leave", {"member": 0}, 400, "unreadable"),
            ("erase", {"member": 1}, 409, "member-here"),
            ("erase", {"member": 1, "balances": [5]}, 400, "unreadable"),
            ("set", {}, 422, "nothing-to-set"),
            ("set", {"timezone": "Mars/Olympus"}, 422, "unknown-timezone"),
            ("set", {"name": "\u2062"}, 422, "unseen-text"),
            ("set", {"currencies": ["EUR"]}, 422, "currency-kept"),
            ("open_evening", {"on": "2026-11-22", "season": "\u200d"}, 422, "unseen-text"),
            ("close_books", {"label": "\u200d"}, 422, "unseen-text"),
            ("open_evening", {"on": "2026-02-30", "season": "2026"}, 400, "unreadable"),
            ("open_evening", {"on": "2026-11-22", "season": "x" * 41}, 400, "unreadable"),
            ("close_evening", {"evening": 1}, 422, "no-such-evening"),
            ("issue_key", {"member": 1, "scopes": [], "expires_at": in_days(3)}, 400, "unreadable"),
            ("issue_key", {"member": 1, "scopes": ["all"], "expires_at": in_days(3)}, 400, "unreadable"),
            ("issue_key", {"member": 1, "scopes": ["hooks"], "expires_at": in_days(3)}, 400, "unreadable"),
            ("issue_key", {"member": 1, "scopes": ["read"], "expires_at": "tomorrow"}, 400, "unreadable"),
            ("issue_key", {"member": 1, "scopes": ["read"], "expires_at": in_days(401)}, 422, "key-expiry"),
            ("issue_key", {"member": 1, "scopes": ["read"], "expires_at": in_days(-1)}, 422, "key-expiry"),
            ("issue_key", {"scopes": ["read"], "expires_at": in_days(3)}, 422, "member-or-app"),
            ("issue_key", {"app": "\u200b", "scopes": ["read"], "expires_at": in_days(3)}, 422, "unseen-text"),
            (
                "issue_key",
                {"app": "x", "hash": "0" * 64, "scopes": ["read"], "expires_at": in_days(3)},
                400,
                "unreadable",
            ),
            ("rotate_key", {"key": "k9"}, 422, "no-such-key"),
            ("rotate_key", {"key": "1"}, 400, "unreadable"),
            ("rotate_key", {"key": "k1", "overlap_seconds": 604_801}, 400, "unreadable"),
            ("revoke_key", {"key": "k9"}, 422, "no-such-key"),
        ],
    )
    def test_a_refused_act_stores_no_event(
        self, club: ClubTable, act: str, fields: Any, status: int, code: str
    ) -> None:
        problem(club.act(act, **fields), status, code)
        assert club.get().json()["version"] == 3, "nothing half done"

    def test_an_evening_is_closed_once(self, club: ClubTable) -> None:
        club.done("open_evening", on="1999-12-31", season="1999")
        club.done("close_evening", evening=1)
        problem(club.act("close_evening", evening=1), 409, "evening-closed")


class TestReads:
    def test_all_have_etags_and_head_and_options(self, club: ClubTable) -> None:
        for path in (club.path, *(f"{club.path}/{what}" for what in ("members", "evenings", "keys")), "/v1/key"):
            answer = club.client.get(path, headers=club.bearer("founder"))
            assert (answer.status_code, answer.headers["Vary"].split(", ")[0]) == (200, "Authorization")
            asked_again = club.bearer("founder") | {"If-None-Match": answer.headers["ETag"]}
            assert club.client.get(path, headers=asked_again).status_code == 304
            head = club.client.head(path, headers=club.bearer("founder"))
            assert (head.status_code, head.content) == (200, b"")
            assert club.client.options(path).headers["Allow"] == "GET, HEAD, OPTIONS"
            assert club.client.head(path).status_code == 401

    def test_they_wait_for_a_version(self, club: ClubTable) -> None:
        for path in ("", "/members", "/evenings", "/keys"):
            assert club.get(f"{path}?min_version=3").status_code == 200
            body = problem(club.get(f"{path}?min_version=4"), 409, "version-not-reached")
            assert body["facts"] == {"version": 3, "min_version": 4}

    def test_members_and_evenings_come_by_pages(self, club: ClubTable) -> None:
        for name in "BCDE":
            club.join(name)
        club.done("leave", member=3)
        for number, season in enumerate(("2025", "2026", "2026", "2025", "2026"), 1):
            club.done("open_evening", on=f"2026-01-0{number}", season=season)
        found, path = [], "/members?limit=2"
        while path:
            page = club.get(path)
            found += [member["member"] for member in page.json()["items"]]
            following = page.json()["next"]
            path = f"/members?limit=2&cursor={following}" if following else ""
            assert ('rel="next"' in page.headers.get("Link", "")) == bool(following)
        assert found == [1, 2, 3, 4, 5]
        here = club.get("/members?here=true&limit=3").json()
        assert ([member["member"] for member in here["items"]], here["next"]) == ([1, 2, 4], cursor_of(4))
        first = club.get("/evenings?season=2026&limit=2").json()
        assert [one["evening"] for one in first["items"]] == [2, 3]
        rest = club.get(f"/evenings?season=2026&limit=2&cursor={first['next']}").json()
        assert ([one["evening"] for one in rest["items"]], rest["next"]) == ([5], None)
        for cursor in ("x", "1", "-1", "1.5", "9" * 20):
            assert club.get(f"/members?cursor={cursor}").status_code == 400

    def test_a_key_of_another_club_gets_the_answer_for_a_missing_club(self, client: Client, club: ClubTable) -> None:
        other, table = ClubTable(client), Table(client)
        unknown = str(uuid4())
        for call in ("", "/members", "/evenings", "/keys"):
            said = []
            for path in (club.path, f"/v1/clubs/{table.id}", f"/v1/clubs/{unknown}"):
                answer = client.get(path + call, headers=other.bearer("founder"))
                problem(answer, 404, "no-such-club")
                said.append(answer.text.replace(path, ""))
            assert len(set(said)) == 1
        for path in (club.path, f"/v1/clubs/{table.id}", f"/v1/clubs/{unknown}"):
            body = {"act": "join", "name": "Eve"}
            answer = client.post(f"{path}/acts", json=body, headers=other.bearer("founder"))
            problem(answer, 404, "no-such-club")
            assert client.get(path).status_code == 401
        problem(client.get("/v1/clubs/nonsense", headers=other.bearer("founder")), 404, "no-such-club")
        said = []
        for path in (f"/v1/matches/{club.id}", f"/v1/matches/{unknown}"):
            answer = client.get(path)
            problem(answer, 404, "no-such-match")
            said.append(answer.text.replace(path, ""))
            acted = client.post(f"{path}/acts", json={"act": "void"}, headers=table.bearer("official"))
            problem(acted, 404, "no-such-match")
        assert said[0] == said[1]

    def test_the_operator_reads_no_names(self, either_url: str) -> None:
        with client_of(either_url, **OPERATORS) as client:
            club = ClubTable(client)
            (name,) = club.names(OPERATOR)
            assert name.startswith("hmac:")
            assert club.get("/keys", OPERATOR).status_code == 200
            problem(client.get("/v1/key", headers=AS_OPERATOR), 401, "key-malformed")


class TestErasing:
    def test_the_name_is_gone_and_the_number_stays(self, store_url: str, tmp_path: Path) -> None:
        with client_of(store_url) as client:
            club = ClubTable(client)
            bo = club.join("Bo Brännström")
            club.done("rename", member=bo, name="Bo Erased-Eriksson")
            club.done("leave", member=bo)
            club.done("erase", member=bo)
            member = club.get("/members").json()["items"][1]
            assert (member["member"], member["erased"], member["name"][:5]) == (bo, True, "hmac:")
            problem(club.act("erase", member=bo), 409, "member-erased")
            assert club.names()[0] == "Anna Åkesson-Ödmårk"
            assert names_kept(store_url) == ["Anna Åkesson-Ödmårk"]
            for file in tmp_path.glob("**/*.db*"):
                data = file.read_bytes()
                assert not any(name.encode() in data for name in ("Bo Brännström", "Bo Erased-Eriksson"))

    @pytest.mark.parametrize("look", ["members", "erase"])
    def test_an_erasure_that_a_crash_interrupted_is_completed_later(self, store_url: str, look: str) -> None:
        """The event is stored, but nothing is deleted yet, as after a crash between the two steps."""
        with client_of(store_url) as client:
            club = ClubTable(client)
            bo = club.join("Bo Brännström")
            club.done("leave", member=bo)
            service = client.app.state.service
            recorded(service.referee, service.desk, service.erasures, UUID(club.id), bo)
        assert "Bo Brännström" in names_kept(store_url)
        with client_of(store_url) as club.client:
            if look == "members":
                assert club.names()[1].startswith("hmac:")
            else:
                problem(club.act("erase", member=bo), 409, "member-erased")
        assert names_kept(store_url) == ["Anna Åkesson-Ödmårk"]

    def test_for_as_long_as_the_books_are_kept_no_one_is(self, club: ClubTable) -> None:
        club.done("set", keep_years=7)
        bo = club.join("Bo")
        club.done("leave", member=bo)
        problem(club.act("erase", member=bo), 409, "books-kept")
        assert club.names() == ["Anna Åkesson-Ödmårk", "Bo"]
