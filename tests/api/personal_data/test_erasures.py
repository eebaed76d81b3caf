"""The steps of a stored erasure: planned, recorded, carried out. Every other change of a text is found."""

import multiprocessing
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from msgspec.structs import replace
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from api.personal_data.erasures import Change, Erasures, Plan, digest_of
from api.personal_data.names import SALT_BYTES, Names, Origin, Rewriter, names_file, ref_of
from referee.clubs.facts import ClubFounded
from referee.store.aggregate import fold
from referee.store.club import Club
from referee.store.connection import Postgres, parse_store_url
from referee.visibility import Recorded
from tests.api.clubs.test_clubs import names_kept
from tests.api.personal_data.test_erasing import ANNA, BO, CESAR, Evening, Noted
from tests.api.personal_data.test_names import CLUB, opened, sql
from tests.backups.backup_commands import backup, not_restored
from tests.log.bundle_checks import followed
from tests.support.audited_club import Auditor, found
from tests.support.club_client import ClubTable
from tests.support.club_with_names import files_with
from tests.support.databases import Postgres as Server
from tests.support.edited_stores import said
from tests.support.service_in_memory import client_of
from tests.support.stored_names import changed_refs
from tests.support.unfinished_erasure import put_on_record, recorded

FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([__name__])
NOW = datetime(2026, 11, 22, 18, 30, tzinfo=UTC)
WRITER = 1000
"""Number of a member who writes about all others."""


def club_after(erasures: Sequence[str], version: int = 1) -> Club:
    """Return a club with these recorded erasures."""
    founded = ClubFounded(
        name="Knackarna",
        currencies=("SEK",),
        timezone="Europe/Stockholm",
        founder="hmac:" + "0" * 64,
        hash="1" * 64,
        expires_at=NOW + timedelta(days=30),
    )
    club: Club = fold(None, [Recorded(CLUB, 1, NOW, "operator", "~", "", "", founded)])
    return replace(club, version=version, state=replace(club.state, erasures=tuple(erasures)))


def plan_of(names: Names, member: int, version: int = 1) -> Plan:
    """Return the plan of an erasure of a member whose name is from :func:`fill`."""
    name, changes = f"Anna Åkesson-{member:05}", []
    with names.reader.connect() as connection:
        rows = connection.exec_driver_sql("SELECT ref, member, kind FROM names").all()
    texts = names.read(CLUB, [row.ref for row in rows])
    for row in rows:
        before, origin = texts.get(row.ref, ""), Origin(CLUB, None, row.member, row.kind)
        if row.member == member:
            changes.append(Change(row.ref, origin, NOW, before))
        elif name in before:
            salt = bytes(SALT_BYTES)
            changes.append(Change(row.ref, origin, NOW, before, before.replace(name, "█"), 1, salt))
    return Plan(CLUB, member, version, tuple(changes))


def erase(names: Names, member: int) -> dict[int, int]:
    """Plan, record and carry out the erasure of a member. Return the number of texts by kind of change."""
    plan, erasures = plan_of(names, member), Erasures(names)
    erasures.keep(plan)
    return erasures.carry_out(club_after([plan.digest], 2))


def fill(names: Names, members: range) -> None:
    """Store enough names for SQLite to move content between its pages."""
    for member in members:
        names.put(CLUB, member, [f"Anna Åkesson-{member:05}"], kind="name")
        names.put(CLUB, member, [f"Anna Åkesson-{member:05}!" * times for times in (1, 3, 12, 190)])
        names.put(CLUB, WRITER, [f"Anna Åkesson-{member:05}, " * times for times in (2, 200)])


# Carrying out


def test_an_erasure_deletes_texts_of_a_member_and_replaces_the_name_in_others(store_url: str) -> None:
    with opened(store_url) as names:
        fill(names, range(2))
        assert erase(names, 1) == {1: 7}
        kept = [text for (text,) in sql(store_url, "SELECT text FROM names ORDER BY text")]
        assert len(kept) == 9
        assert sum("█" in str(text) for text in kept) == 2
        assert changed_refs(names) == []
        assert erase(names, 0) == {0: 7}
        assert {member for (member,) in sql(store_url, "SELECT member FROM names")} == {WRITER}
        assert sql(store_url, "SELECT count(*) FROM names_erased WHERE text IS NOT NULL") == [(0,)]


def test_a_plan_that_never_came_on_record_changes_nothing_and_is_deleted_later(store_url: str) -> None:
    with opened(store_url) as names:
        fill(names, range(3))
        erasures, plans = Erasures(names), [plan_of(names, member) for member in (0, 1)]
        for plan in plans:
            erasures.keep(plan)
        assert erasures.carry_out(club_after([], 1)) == {}
        assert sql(store_url, "SELECT count(*) FROM names_erased") == [(14,)], "either may still come on record"
        assert erasures.carry_out(club_after([plans[1].digest], 2)) == {1: 7}
        assert sql(store_url, "SELECT DISTINCT erasure FROM names_erased") == [(plans[1].digest,)]
        assert erasures.carry_out(club_after([plans[1].digest], 2)) == {}
        later = plan_of(names, 2, version=2)
        erasures.keep(later)
        assert erasures.carry_out(club_after([plans[1].digest], 3)) == {}
        assert sql(store_url, "SELECT DISTINCT erasure FROM names_erased") == [(plans[1].digest,)]


def test_a_plan_that_is_stored_twice_is_carried_out_once(store_url: str) -> None:
    """Two processes plan the same erasure, or one ended between the plan and the event."""
    with opened(store_url) as names:
        names.put(CLUB, 0, ["Anna"], kind="name")
        erasures, plan = Erasures(names), plan_of(names, 0)
        erasures.keep(plan._replace(version=plan.version - 1))
        erasures.keep(plan)
        assert erasures.carry_out(club_after([], plan.version)) == {}
        assert erasures.carry_out(club_after([plan.digest], plan.version + 1)) == {0: 1}
        erasures.keep(plan)
        assert erasures.carry_out(club_after([plan.digest], plan.version + 1)) == {}
        assert sql(store_url, "SELECT count(*) FROM names") == [(0,)]


def test_on_sqlite_the_bytes_of_what_is_erased_are_in_no_file(sqlite_url: str, tmp_path: Path) -> None:
    """The bytes are gone even while other connections have read the open file."""
    with (
        opened(sqlite_url) as names,
        opened(sqlite_url) as other,
        closing(sqlite3.connect(names_file(sqlite_url))) as third,
    ):
        fill(names, range(20))
        assert files_with(tmp_path, "Anna Åkesson-00007") == ["knacka-names.db"]
        assert third.execute("SELECT count(*) FROM names").fetchall() == [(140,)]
        for member in range(1, 20, 2):
            assert erase(other, member) == {member: 7}
            assert names.read(CLUB, ["hmac:"]) == {}
            other.rewrite_due()
            assert files_with(tmp_path, f"Anna Åkesson-{member:05}") == []
        assert {file.name for file in tmp_path.iterdir()} == {"knacka-names.db"}
    assert files_with(tmp_path, "Anna Åkesson-00008") == ["knacka-names.db"]


def test_on_postgresql_they_are_in_no_table_and_in_no_file_of_one(postgres: Server, empty_postgres_url: str) -> None:
    with opened(empty_postgres_url) as names:
        fill(names, range(12))
        for member in range(1, 12, 2):
            erase(names, member)
        names.rewrite_due()
    sql(empty_postgres_url, "CHECKPOINT")
    [(database,)] = sql(empty_postgres_url, "SELECT oid FROM pg_database WHERE datname = current_database()")
    tables = Path(postgres.host) / "data" / "base" / str(database)
    assert files_with(tables, "Anna Åkesson-00008") != []
    for member in range(1, 12, 2):
        assert files_with(tables, f"Anna Åkesson-{member:05}") == []


# Rewriting


@contextmanager
def rewritten(names: Names, url: str) -> Iterator[Callable[[], int]]:
    """Yield a function that returns how often the table of names was rewritten."""
    if isinstance(parse_store_url(url), Postgres):
        files = set[object]()

        def count() -> int:
            files.add(sql(url, "SELECT relfilenode FROM pg_class WHERE relname = 'names'")[0])
            return len(files) - 1

        count()
        yield count
        return
    said = list[str]()

    def traced(connection: sqlite3.Connection, _: object) -> None:
        connection.set_trace_callback(said.append)

    names.reader.dispose()  # so that every connection is traced
    event.listen(names.reader, "connect", traced)
    yield lambda: said.count("VACUUM")
    event.remove(names.reader, "connect", traced)


def test_several_erasures_are_followed_by_one_rewrite_of_the_table(store_url: str) -> None:
    with opened(store_url) as names, rewritten(names, store_url) as count:
        fill(names, range(6))
        for member in range(5):
            erase(names, member)
        assert count() == 0
        assert len(sql(store_url, "SELECT * FROM names_due")) == 5
        names.rewrite_due()
        names.rewrite_due()
        assert count() == 1
        assert sql(store_url, "SELECT * FROM names_due") == []


def test_a_service_rewrites_the_table_periodically_and_when_it_stops(store_url: str) -> None:
    with client_of(store_url) as client:
        club, names = ClubTable(client), client.app.state.service.names
        with rewritten(names, store_url) as count:
            for number in range(4):
                member = club.join(f"Bo {number}")
                club.done("leave", member=member)
                club.done("erase", member=member)
            assert count() == 0, "within a minute"
    assert sql(store_url, "SELECT * FROM names_due") == [], "and in the end"


def test_a_rewrite_that_is_due_runs_once_in_each_period(store_url: str) -> None:
    with opened(store_url) as names, rewritten(names, store_url) as count:
        fill(names, range(2))
        rewriter = Rewriter(names, seconds=0.05)
        rewriter.start()
        for member in range(2):
            erase(names, member)
            while sql(store_url, "SELECT * FROM names_due"):
                time.sleep(0.01)
            assert count() == member + 1
        rewriter.close()


def test_while_the_table_is_in_use_it_is_not_waited_for(store_url: str) -> None:
    """The table is rewritten the next time."""
    with opened(store_url) as names:
        fill(names, range(1))
        erase(names, 0)
        with names.reader.connect() as reading:
            reading.exec_driver_sql("SELECT * FROM names").fetchone()
            with pytest.raises((sqlite3.OperationalError, OperationalError)):
                names.rewrite_due()
        names.put(CLUB, 1, ["Bo"])
        names.rewrite_due()
        assert sql(store_url, "SELECT * FROM names_due") == []


def _said(end: Connection) -> Any:
    assert end.poll(60), "the process does not answer"
    return end.recv()


def _erases(url: str, ready: Connection) -> None:
    with opened(url) as names:
        fill(names, range(30))
        for member in range(30):
            plan, erasures = plan_of(names, member), Erasures(names)
            erasures.keep(plan)
            ready.send((member, plan.digest))
            erasures.carry_out(club_after([plan.digest], 2))


@pytest.mark.parametrize("members", [3, 12, 22])
def test_a_killed_process_leaves_nothing_that_the_next_does_not_erase(
    store_url: str, tmp_path: Path, members: int
) -> None:
    """The completed part of an erasure is gone when the store is opened, the rest when the erasure is repeated."""
    end, child = FORKED.Pipe()
    process = FORKED.Process(target=_erases, args=(store_url, child))
    process.start()
    child.close()
    done, digest = -1, ""
    while done < members:
        done, digest = _said(end)
    process.kill()
    process.join(60)
    assert process.exitcode == -9
    while end.poll():
        try:
            done, digest = end.recv()
        except EOFError:
            break
    with opened(store_url) as names:
        assert sql(store_url, "SELECT * FROM names_due") == []
        kept = {member for (member,) in sql(store_url, "SELECT DISTINCT member FROM names")} - {WRITER}
        assert kept in (set(range(done, 30)), set(range(done + 1, 30)))
        for member in set(range(30)) - kept:
            assert files_with(tmp_path, f"Anna Åkesson-{member:05}") == []
        assert Erasures(names).carry_out(club_after([digest], 2)) in ({done: 7}, {})
        names.rewrite_due()
        assert files_with(tmp_path, f"Anna Åkesson-{done:05}") == []
        assert changed_refs(names) == []


def test_an_interrupted_erasure_is_completed_before_the_next_one(store_url: str) -> None:
    """Otherwise the second erasure would restore the first name."""
    with client_of(store_url) as client:
        club = Evening(client)
        match = Noted(club, ANNA, BO, CESAR)
        match.note(ANNA, "Bo and Cesar Ceder revoked")
        match.ends()
        club.done("leave", member=BO)
        service = client.app.state.service
        recorded(service.referee, service.desk, service.erasures, UUID(club.id), BO)
        assert match.texts()[0].startswith("hmac:"), "a recorded erasure is enough to hide the text"
        club.done("leave", member=CESAR)
        club.done("erase", member=CESAR)
        assert match.texts()[0] == "█ and █ revoked"
        assert club.get("/audit").json()["ok"] is True
    assert said(store_url)[0] == 0


def test_the_next_start_carries_out_what_is_on_record(store_url: str) -> None:
    with client_of(store_url) as client:
        club = Evening(client)
        match = Noted(club, ANNA, BO, CESAR)
        match.note(ANNA, "Bo revoked")
        match.ends()
        club.done("leave", member=BO)
    put_on_record(store_url, UUID(club.id), BO)
    assert "Bo" in names_kept(store_url)
    with client_of(store_url):
        others = {"Anna Åkesson-Ödmårk", "Cesar Ceder", "Dag Dahl", "It is late", "Maja"}
        assert {*names_kept(store_url)} == others | {"█ revoked"}


def test_another_erasure_deletes_later_texts_of_a_former_member(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo revoked")
    match.ends()
    club.erased(BO)
    said_later = {"seat": 1, "agrees": False, "text": "I never revoked"}
    assert match.post("/knocks/1/statements", said_later, 1).status_code == 201
    assert "I never revoked" in match.texts()
    assert club.done("erase", member=BO)["erased"] == {"deleted": 1, "changed": 0}
    assert "I never revoked" not in match.texts()
    assert club.act("erase", member=BO).status_code == 409


@pytest.fixture
def club(client: Any) -> Evening:
    return Evening(client)


# Changes without an erasure


class Kept(NamedTuple):
    """A store with a club in which Bo was erased."""

    folder: Path
    club: UUID
    match: Noted
    texts: Mapping[str, str]
    """Reference of each stored text."""
    salts: Mapping[str, bytes]
    """Salt of each stored text."""


OF_BO, OF_NONE, BY_BO = "Bo revoked, says Anna", "Nothing was seen", "I did not"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    folder = tmp_path_factory.mktemp("erased")
    url = f"sqlite:///{folder}/knacka.db"
    with client_of(url) as client:
        club = Evening(client)
        match = Noted(club, ANNA, BO, CESAR)
        match.note(ANNA, OF_BO)
        match.note(CESAR, OF_NONE)
        match.note(BO, BY_BO)
        match.ends()
        rows: list[Any] = sql(url, "SELECT text, ref, salt FROM names")
        refs, salts = {text[1:-1]: ref for text, ref, _ in rows}, {text[1:-1]: salt for text, _, salt in rows}
        club.erased(BO)
        assert club.get("/audit").json()["ok"] is True
        followed(client)
    assert said(url)[0] == 0
    return Kept(folder, UUID(club.id), match, refs, salts)


class Edited:
    """A copy of a store, edited by an attacker with write access to the names."""

    def __init__(self, kept: Kept, place: Path) -> None:
        shutil.copytree(kept.folder, place)
        self.kept, self.url = kept, f"sqlite:///{place}/knacka.db"

    def run(self, statement: str, *values: Any) -> list[Any]:
        with closing(sqlite3.connect(names_file(self.url))) as connection, connection:
            return connection.execute(statement, values).fetchall()

    def put(self, ref: str, text: str) -> str:
        """Replace a text, as if it had been redacted; return the new reference."""
        salt = bytes(SALT_BYTES)
        ((club, match, member, kind),) = self.run("SELECT club, match, member, kind FROM names WHERE ref = ?", ref)
        redacted = ref_of(salt, text, Origin(UUID(club), match and UUID(match), member, kind))
        self.run("UPDATE names SET text = ?, salt = ?, redacted = ? WHERE ref = ?", f'"{text}"', salt, redacted, ref)
        return redacted


def forged(edited: Edited) -> None:
    """Replace a text that no erasure has changed."""
    edited.put(edited.kept.texts[OF_NONE], "Bo revoked")


def forged_again(edited: Edited) -> None:
    """Replace a text that the erasure has changed by a different one."""
    edited.put(edited.kept.texts[OF_BO], "Cesar revoked")


def forged_with_its_list(edited: Edited) -> None:
    """Replace a text, and change the list of the erasure accordingly."""
    ref = edited.kept.texts[OF_BO]
    edited.run("UPDATE names_erased SET redacted = ? WHERE ref = ?", edited.put(ref, "Cesar revoked"), ref)


def forged_with_a_list_of_its_own(edited: Edited) -> None:
    """Replace a text, and add a second list. Its digest is recorded nowhere."""
    ref = edited.kept.texts[OF_NONE]
    redacted = edited.put(ref, "Bo revoked")
    digest = digest_of(edited.kept.club, BO, {ref: redacted})
    edited.run(
        "INSERT INTO names_erased (erasure, ref, redacted, club, member) VALUES (?, ?, ?, ?, ?)",
        *(digest, ref, redacted, edited.kept.club.hex, BO),
    )


def deleted(edited: Edited) -> None:
    """Delete a text that no erasure has deleted."""
    edited.run("DELETE FROM names WHERE ref = ?", edited.kept.texts[OF_NONE])


def changed_deleted(edited: Edited) -> None:
    """Delete a text that the erasure has only changed."""
    edited.run("DELETE FROM names WHERE ref = ?", edited.kept.texts[OF_BO])


def put_back(edited: Edited) -> None:
    """Restore a text from before the erasure, as from a backup."""
    salt, ref = edited.kept.salts[OF_BO], edited.kept.texts[OF_BO]
    edited.run("UPDATE names SET redacted = NULL, salt = ?, text = ? WHERE ref = ?", salt, f'"{OF_BO}"', ref)


def list_deleted(edited: Edited) -> None:
    """Delete the list of the erasure."""
    edited.run("DELETE FROM names_erased")


FORGED: dict[Callable[[Edited], None], tuple[str, set[str]]] = {
    forged: ("it was replaced without a recorded erasure", {"text_replaced"}),
    forged_again: ("its erasure is recorded but was not carried out", {"text_left"}),
    forged_with_its_list: ("differs from the recorded digest", {"erasure_unknown", "text_replaced", "text_missing"}),
    forged_with_a_list_of_its_own: ("it was replaced without a recorded erasure", {"text_replaced"}),
    deleted: ("is missing without a recorded erasure", {"text_missing"}),
    changed_deleted: ("is missing without a recorded erasure", {"text_missing"}),
    put_back: ("its erasure is recorded but was not carried out", {"text_left"}),
    list_deleted: ("differs from the recorded digest", {"erasure_unknown", "text_replaced", "text_missing"}),
}


@pytest.mark.parametrize("forge", FORGED, ids=lambda one: one.__name__)
def test_a_change_of_texts_without_an_erasure_is_found_and_hidden(
    kept: Kept, forge: Callable[[Edited], None], tmp_path: Path
) -> None:
    edited = Edited(kept, tmp_path / "copy")
    forge(edited)
    code, lines = said(edited.url)
    line, codes = FORGED[forge]
    assert (code, any(line in one for one in lines)) == (1, True), lines
    with Auditor(edited.url) as auditor:
        wrong = found(auditor.audit(kept.club))
    assert wrong.keys() == {"names"}
    assert {one.code for one in wrong["names"]} == codes
    with client_of(edited.url) as client:
        match = kept.match
        match.client = client
        texts = match.texts()
    assert not [one for one in texts if "Cesar revoked" in one or one in ("Bo revoked", OF_BO)]


@pytest.mark.parametrize("forge", [forged, forged_with_its_list, deleted, put_back], ids=lambda one: one.__name__)
def test_a_backup_of_such_a_store_is_not_restored(
    kept: Kept, forge: Callable[[Edited], None], tmp_path: Path
) -> None:
    edited = Edited(kept, tmp_path / "copy")
    forge(edited)
    file = backup(edited.url, tmp_path)
    assert FORGED[forge][0] in not_restored(file, f"sqlite:///{tmp_path}/away.db", "--check")


def test_an_idempotency_key_that_looks_like_a_ref_is_none(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    knock = {"seat": 0, "accused": 1, "offence": "revoke", "note": "Bo revoked"}
    answer = match.post("/knocks", knock, 0, **{"Idempotency-Key": f"hmac:{'0' * 64}"})
    assert answer.status_code == 201, answer.text
    names = next(one for one in club.get("/audit").json()["checks"] if one["check"] == "names")
    assert names["ok"], names["differences"]
