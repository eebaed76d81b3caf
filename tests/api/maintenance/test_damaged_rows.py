"""Unreadable or missing rows of the store: each answer that needs one names it, and no other answer fails."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import pytest

from api.maintenance.doctor import doctor
from api.runtime.metrics import exposition
from referee.store.log import LOG_ID
from tests.api.cases.test_cases import RULING, TWO
from tests.log.bundle_checks import KEY, followed, sign
from tests.support.audited_club import Played
from tests.support.club_client import ClubTable
from tests.support.edited_stores import Editor, said
from tests.support.match_client import Table
from tests.support.service_in_memory import client_of

THIS = "WHERE originator_id = ? AND originator_version = ?"
WAYS: dict[str, tuple[str, bytes | str]] = {
    "no JSON": (f"UPDATE {{events}} SET state = ? {THIS}", b"{?"),
    "no UTF-8": (f"UPDATE {{events}} SET state = ? {THIS}", b'{"at":"\xff"}'),
    "nested": (f"UPDATE {{events}} SET state = ? {THIS}", b"[" * 60_000),
    "no event": (f"UPDATE {{events}} SET state = ? {THIS}", b"null"),
    "unknown topic": (f"UPDATE {{events}} SET topic = ? {THIS}", "card/eaten"),
    "missing": (f"DELETE FROM {{events}} WHERE topic <> ? AND {THIS.removeprefix('WHERE ')}", "x/y"),
}
"""Kinds of damage to a row on either store."""
OF_SQLITE: dict[str, tuple[str, bytes | str]] = {
    "text": (f"UPDATE {{events}} SET state = CAST(substr(state, 2) AS TEXT) || ? {THIS}", "x"),
    "topic is no UTF-8": (f"UPDATE {{events}} SET topic = CAST(? AS TEXT) {THIS}", b"deal/\xff"),
}
"""Kinds of damage to a row that only a SQLite file allows."""

MATCH = (
    "",
    "/legal-acts?seat=0",
    "/events",
    "/replay?at=3",
    "/deals/1",
    "/protocol",
    "/settlement",
    "/knocks",
    "/knocks/1",
    "/knocks/1/file",
    "/attempts",
    "/bundle",
    "/events/2/proof",
)
CLUB = (
    "",
    "/members",
    "/evenings",
    "/keys",
    "/accounts",
    "/journal",
    "/plan",
    "/proposals",
    "/closings",
    "/audit",
    "/export/beancount",
    "/bundle?closing=1",
)


class Stored(NamedTuple):
    """The contents of a store."""

    club: ClubTable
    heard: Table
    """A match with a case."""
    won: Table
    """A club's match for money."""
    other: Table

    def at(self, client: Any) -> "Stored":
        """Return these contents for a client of a second service on the store."""
        for one in self:
            one.client = client
        return self


def filled(client: Any) -> Stored:
    club = ClubTable(client)
    for name in ("Bo", "Ce"):
        club.join(name)
    club.done("open_evening", on="2026-11-22", season="2026/27")
    won = Played(club)
    won.ends()
    heard = Table(client, adjudication=TWO)
    heard.done("deal", 0, counts=[6, 6, 6])
    heard.bid("2", "pass", "pass")
    heard.play("HA", "C3", first=1)
    assert knocked(heard).status_code == 201
    heard.send("bid", 2, bid="1")
    other = Table(client, dealing="house")
    other.finish_deal()
    followed(client)
    club.done("close_books", label="2026")
    sign(client)
    followed(client)
    return Stored(club, heard, won, other)


def knocked(table: Table) -> httpx.Response:
    body = {"seat": 0, "accused": 2, "offence": "revoke"}
    return table.post("/knocks", body, 0, **{"Idempotency-Key": "of-the-knock"})


def service_over(url: str, tmp_path: Path | None = None) -> Any:
    """Return a service that seldom signs the log. The file of the checkpoint is next to a SQLite file, or in a
    folder."""
    file = "" if tmp_path is None else str(tmp_path / "log.note")
    return client_of(url, log_key=KEY.private_text, log_file=file, log_seconds=3600)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Stored]:
    """Return the directory of a SQLite store, and its contents."""
    path = tmp_path_factory.mktemp("original")
    with service_over(f"sqlite:///{path}/knacka.db") as client:
        stored = filled(client)
    for file in path.iterdir():
        file.chmod(0o600)
    return path, stored


@pytest.fixture
def copied(original: tuple[Path, Stored], tmp_path: Path) -> Callable[[], Editor]:
    """Return a function that copies the store."""

    def copy() -> Editor:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(original[0], tmp_path / "copy")
        return Editor(f"sqlite:///{tmp_path}/copy/knacka.db")

    return copy


def damage(editor: Editor, way: str, whose: str, number: int) -> None:
    statement, value = (WAYS | OF_SQLITE)[way]
    editor.run(statement, value, UUID(whose), number)


def last_of(editor: Editor, whose: str) -> int:
    last: int = editor.run("SELECT max(originator_version) FROM {events} WHERE originator_id = ?", UUID(whose))[0][0]
    return last


def place_in(editor: Editor, whose: str, way: str) -> int:
    """Return the number of the first event, one in the middle, or the last, by the kind of damage. A missing last
    event is not noticed, so it is never the last then."""
    last = last_of(editor, whose)
    return (1, last // 2 + 1, last - (way == "missing"))[[*WAYS, *OF_SQLITE].index(way) % 3]


def damaged(answer: httpx.Response, whose: str, number: int) -> bool:
    """Return whether an answer names the damaged row. Assert that it has no other error."""
    if answer.status_code < 500:
        return False
    body = answer.json()
    if body["type"] == "/problems/book-set-aside":
        assert body["facts"]["event"] == number
        return True
    assert (answer.status_code, body["type"]) == (503, "/problems/row-damaged"), answer.text
    assert (body["facts"]["id"], body["facts"]["event"]) == (whose, number), answer.text
    assert "Retry-After" in answer.headers
    return True


def asked_of_match(table: Table) -> Iterator[httpx.Response]:
    """Send every call about a match as an official. Officials may see everything."""
    for path in MATCH:
        yield table.get(path, "official")
    stream = f"{table.path}/events/stream", table.bearer("official")
    if table.client.head(stream[0], headers=stream[1]).status_code != 200:  # otherwise the stream would not end
        yield table.client.get(stream[0], headers=stream[1])
    yield table.send("play", 0, card="H2")
    yield table.post("/acts/batch", {"acts": [{"act": "play", "seat": 0, "card": "H3"}]}, 0)
    yield knocked(table)
    yield table.post("/knocks/1/ruling", RULING, "official")
    yield table.post("/tokens", {"seat": 2}, "official")
    yield table.post("/tickets", None, 0)


def unaffected(stored: Stored, *but: str) -> None:
    """Assert that everything except these parts can be read, and that other matches can be played."""
    client = stored.other.client
    for path in ("/v1/matches?fresh=true", "/v1/rulesets", "/health/live"):
        assert client.get(path).status_code == 200
    assert client.get("/v1/cases", headers=stored.heard.bearer("official")).status_code == 200
    for path in ("", "/events", "/protocol", "/deals/1"):
        assert stored.other.get(path).status_code == 200
    assert stored.other.send("deal", 1).status_code in (201, 409)
    if stored.club.id not in but:
        for path in CLUB:
            assert stored.club.get(path).status_code == 200, path


@pytest.mark.parametrize("way", [*WAYS, *OF_SQLITE])
def test_each_answer_names_the_row_of_a_match(
    original: tuple[Path, Stored], copied: Callable[[], Editor], way: str
) -> None:
    editor, whose = copied(), original[1].heard.id
    number = place_in(editor, whose, way)
    damage(editor, way, whose, number)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        found = [damaged(answer, whose, number) for answer in asked_of_match(stored.heard)]
        assert sum(found) > len(found) / 2
        unaffected(stored)


@pytest.mark.parametrize("way", ["no JSON", "nested", "unknown topic", "missing"])
def test_each_answer_names_the_row_of_a_club(
    original: tuple[Path, Stored], copied: Callable[[], Editor], way: str
) -> None:
    """The club's matches can still be played, with numbers instead of names."""
    editor, whose = copied(), original[1].club.id
    number = place_in(editor, whose, way)
    damage(editor, way, whose, number)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        answers = [stored.club.get(path) for path in CLUB]
        answers += [stored.club.act("join", name="Dag"), stored.club.itself("founder")]
        assert [answer.url for answer in answers if not damaged(answer, whose, number)] == []
        assert [one["name"] for one in stored.won.get("", 0).json()["players"]] == ["M2", "M1", "M3"]
        unaffected(stored, whose)


def test_books_of_a_club_go_on_without_a_match(original: tuple[Path, Stored], copied: Callable[[], Editor]) -> None:
    """The books have already applied the match. The audit names the difference, and the closing's bundle fails."""
    editor, whose = copied(), original[1].won.id
    damage(editor, "no JSON", whose, 2)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        for path in CLUB:
            answer = stored.club.get(path)
            assert answer.status_code == 200 or damaged(answer, whose, 2), path
        audit = stored.club.get("/audit").json()
        assert any(whose in str(one["differences"]) for one in audit["checks"] if not one["ok"])
        unaffected(stored, stored.club.id)


@pytest.mark.parametrize("way", ["no JSON", "missing"])
def test_each_answer_names_the_row_of_the_signed_log(
    original: tuple[Path, Stored], copied: Callable[[], Editor], way: str
) -> None:
    editor = copied()
    damage(editor, way, str(LOG_ID), 1)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        for path in ("/v1/log", "/v1/log/checkpoint", f"/v1/matches/{stored.heard.id}/events/2/proof"):
            answer = client.get(path, headers=stored.heard.bearer("official"))
            assert damaged(answer, str(LOG_ID), 1), answer.text
        assert stored.other.done("deal", 1)
        assert client.get("/health/ready").status_code == 200


@pytest.mark.parametrize("way", ["no JSON", "unknown topic", "missing"])
def test_it_is_so_on_either_store(store_url: str, way: str, tmp_path: Path) -> None:
    """An event is deleted while the running service has the match in memory."""
    with service_over(store_url, tmp_path) as client:
        stored, editor = filled(client), Editor(store_url)
        damage(editor, way, stored.heard.id, 3)
        assert damaged(stored.heard.get("/events", "official"), stored.heard.id, 3)
        unaffected(stored)
    with service_over(store_url, tmp_path) as client:
        stored = stored.at(client)
        assert damaged(stored.heard.get("", "official"), stored.heard.id, 3)
        unaffected(stored)


def test_an_event_that_cannot_follow_is_named(original: tuple[Path, Stored], copied: Callable[[], Editor]) -> None:
    """A second opening replaces the last play of a match."""
    editor, whose = copied(), UUID(original[1].heard.id)
    ((topic, state),) = editor.run(f"SELECT topic, state FROM {{events}} {THIS}", whose, 1)
    number = last_of(editor, original[1].heard.id) - 1
    editor.run(f"UPDATE {{events}} SET topic = ?, state = ? {THIS}", topic, state, whose, number)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        assert damaged(stored.heard.get("", "official"), stored.heard.id, number)
        unaffected(stored)


def test_operators_see_it_until_it_is_repaired(original: tuple[Path, Stored], copied: Callable[[], Editor]) -> None:
    editor, whose = copied(), UUID(original[1].heard.id)
    ((state,),) = editor.run(f"SELECT state FROM {{events}} {THIS}", whose, 3)
    damage(editor, "no JSON", str(whose), 3)
    with service_over(editor.url) as client:
        stored, service = original[1].at(client), client.app.state.service
        series = f'knacka_damaged_rows{{id="{whose}",event="3"}} 1'
        assert series not in exposition(service.metrics, service.health.gauges())
        assert stored.heard.get().status_code == 503
        assert series in exposition(service.metrics, service.health.gauges())
        (line,) = _doctor(editor.url)
        assert f"event 3 of match {whose} cannot be read" in line
        assert f"knacka verify {whose}" in line
        editor.run(f"UPDATE {{events}} SET state = ? {THIS}", state, whose, 3)
        assert stored.heard.get().status_code == 200
        assert "knacka_damaged_rows{" not in exposition(service.metrics, service.health.gauges())
    assert _doctor(editor.url) == ["no faults found"]


def test_the_doctor_finds_each_without_being_asked_for_it(
    original: tuple[Path, Stored], copied: Callable[[], Editor]
) -> None:
    editor, expected = copied(), []
    heard, won, club = original[1].heard.id, original[1].won.id, original[1].club.id
    rows = [(heard, 1), (heard, 3), (won, 2), (won, 17), (club, 1), (club, 3), (club, 5), (club, 7)]
    for way, (whose, number) in zip([*WAYS, *OF_SQLITE], rows, strict=True):
        damage(editor, way, whose, number)
        expected.append((number, whose))
    lines = _doctor(editor.url)
    assert len(lines) == len(expected)
    for number, whose in expected:
        assert [line for line in lines if line.startswith(f"event {number} of ") and whose in line], (number, lines)


def _doctor(url: str) -> list[str]:
    said: list[str] = []
    doctor({"KNACKA_DATABASE_URL": url}, said.append)
    return said


def test_no_answer_shows_the_content_of_a_damaged_row(
    original: tuple[Path, Stored], copied: Callable[[], Editor]
) -> None:
    editor, whose = copied(), UUID(original[1].heard.id)
    rows = editor.run("SELECT originator_version, state FROM {events} WHERE originator_id = ?", whose)
    number = next(number for number, state in rows if b'"card":"HA"' in state)
    editor.edit(whose, number, lambda state: state.replace(b'"card":"HA"', b'"card":"XX"'))
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        answer = stored.heard.get()
        assert damaged(answer, str(whose), number)
        assert "XX" not in answer.text


def test_a_row_that_cannot_be_read_is_a_line_in_the_log(
    original: tuple[Path, Stored], copied: Callable[[], Editor], caplog: pytest.LogCaptureFixture
) -> None:
    """The log has no traceback, because the program has no fault."""
    editor, whose = copied(), original[1].heard.id
    damage(editor, "no JSON", whose, 2)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        assert damaged(stored.heard.get(), whose, 2)
        lines = [one for one in caplog.records if one.name == "api.http.problems"]
        assert [one.exc_info for one in lines] == [None]
        assert f"event 2 of {whose}" in lines[0].getMessage()


def test_no_one_learns_of_a_match_that_is_not_theirs_to_see(
    original: tuple[Path, Stored], copied: Callable[[], Editor]
) -> None:
    """The list shows the match if its opening can be read."""
    editor = copied()
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        hidden = Played(stored.club, visibility="club", stakes=None)
        hidden.ends()
        followed(client)
    damage(editor, "no JSON", hidden.id, last := last_of(editor, hidden.id))
    with service_over(editor.url) as client:
        hidden.client = client
        unknown = f"/v1/matches/{UUID(int=7)}"
        for path in ("", "/events", "/protocol", "/knocks"):
            for who in (None, stored.heard.tokens[0]):
                headers = {} if who is None else {"Authorization": f"Bearer {who}"}
                answer = client.get(hidden.path + path, headers=headers)
                absent = client.get(unknown + path, headers=headers)
                assert answer.status_code == absent.status_code == 404
                assert answer.content.replace(hidden.id.encode(), b"") == absent.content.replace(
                    str(UUID(int=7)).encode(), b""
                )
            assert damaged(hidden.get(path, 0), hidden.id, last)
            founder = client.get(hidden.path + path, headers=stored.club.bearer("founder"))
            assert damaged(founder, hidden.id, last)


def test_a_damaged_attempt_does_not_affect_the_attempts_of_other_matches(
    original: tuple[Path, Stored], copied: Callable[[], Editor]
) -> None:
    """Refused attempts are a separate chain of rows."""
    editor, whose = copied(), UUID(original[1].heard.id)
    editor.run("UPDATE {attempts} SET state = ? WHERE originator_id = ?", b"{?", whose)
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        other = Table(client, dealing="house", adjudication=TWO)
        for table in (stored.heard, other):
            assert table.send("bid", 2, bid="1").status_code in (409, 422)
        answer = stored.heard.get("/attempts", "official")
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/attempts-damaged")
        assert answer.json()["facts"] == {"match": str(whose), "attempt": 1}
        assert len(other.get("/attempts", "official").json()["items"]) == 1
        assert stored.heard.get("", "official").status_code == 200


def test_a_snapshot_that_cannot_be_read_is_of_no_use_and_does_no_harm(
    original: tuple[Path, Stored], copied: Callable[[], Editor]
) -> None:
    for state in (
        b"{?",
        b'{"kind":"\xff"}',
        b"null",
        b"[" * 60_000,
        b'{"kind":"a","shape":"","head":"","aggregate":1}',
    ):
        editor = copied()
        assert editor.run("SELECT count(*) FROM {snapshots}")[0][0]
        editor.run("UPDATE {snapshots} SET state = ?", state)
        with service_over(editor.url) as client:
            stored = original[1].at(client)
            unaffected(stored)
            assert stored.heard.get("", "official").status_code == 200


def test_a_keyed_act_whose_events_are_not_there(original: tuple[Path, Stored], copied: Callable[[], Editor]) -> None:
    editor, heard = copied(), original[1].heard
    last = last_of(editor, heard.id)
    editor.run("UPDATE {acts} SET first = ?, last = ? WHERE originator_id = ?", last + 1, last + 2, UUID(heard.id))
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        assert damaged(knocked(stored.heard), heard.id, last + 1)
        assert stored.heard.get("", "official").status_code == 200


@pytest.mark.parametrize("number", ["nine", b"9", None])
def test_a_number_that_is_none(
    original: tuple[Path, Stored], copied: Callable[[], Editor], number: str | bytes | None
) -> None:
    """SQLite accepts any value in the column."""
    editor, whose = copied(), original[1].heard.id
    last = last_of(editor, whose)
    editor.run(f"UPDATE {{events}} SET originator_version = ? {THIS}", number, UUID(whose), last)
    code, lines = said(editor.url, whose)
    assert code == 1
    assert [line for line in lines if "this is not the number of an event" in line]
    assert [line for line in _doctor(editor.url) if line.startswith(f"event {last} of match {whose} is missing")]
    with service_over(editor.url) as client:
        stored = original[1].at(client)
        assert all(answer.status_code != 500 for answer in asked_of_match(stored.heard))
        unaffected(stored)


@pytest.mark.parametrize("number", ["nine", b"9", None])
def test_a_number_in_the_middle_that_is_none(
    original: tuple[Path, Stored], copied: Callable[[], Editor], number: str | bytes | None
) -> None:
    """The doctor reads rows in the order in which they were stored, so other rows of the match follow."""
    editor, whose = copied(), original[1].heard.id
    editor.run(f"UPDATE {{events}} SET originator_version = ? {THIS}", number, UUID(whose), 3)
    assert said(editor.url, whose)[0] == 1
    lines = [line for line in _doctor(editor.url) if whose in line]
    assert [line for line in lines if line.startswith(f"event 3 of match {whose} is missing")]
    assert len(lines) == 1, "the rows after it are in order"


def test_numbers_of_attempts_that_are_none(original: tuple[Path, Stored], copied: Callable[[], Editor]) -> None:
    editor, whose = copied(), original[1].heard.id
    for number, changed in ((1, "nine"), (2, b"9")):
        with service_over(editor.url) as client:
            assert original[1].at(client).heard.send("bid", 2, bid="1").status_code in (409, 422)
        editor.run(f"UPDATE {{attempts}} SET originator_version = ? {THIS}", changed, UUID(whose), number)
    code, lines = said(editor.url, whose)
    assert code == 1
    assert len([line for line in lines if "this is not the number of an attempt" in line]) == 2, lines


@pytest.mark.parametrize(("column", "value"), [("first", "text"), ("last", None), ("last", 3), ("key", "text")])
def test_a_keyed_act_that_cannot_be_read(
    original: tuple[Path, Stored], copied: Callable[[], Editor], column: str, value: Any
) -> None:
    """The rows name the Idempotency-Key, by which a repeat is recognised."""
    editor, whose = copied(), original[1].heard.id
    editor.run(f"UPDATE {{acts}} SET {column} = ? WHERE originator_id = ?", value, UUID(whose))
    code, lines = said(editor.url, whose)
    assert code == 1
    assert [line for line in lines if "its act has a key that is not stored" in line]
    if column != "key":
        with service_over(editor.url) as client:
            answer = knocked(original[1].at(client).heard)
            assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (201, "true")
