"""``knacka doctor`` reports each fault in one line, and never crashes because of a fault."""

import os
import re
import shutil
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import psycopg
import pytest

from api.cli import main
from api.maintenance import doctor as doctors
from api.maintenance.doctor import doctor
from api.maintenance.raw_store import POSITIONS, SET_ASIDE
from projections.follow.engine import books_file
from projections.ledger import Ledger
from tests.api.personal_data.test_names import opened, sql
from tests.support.databases import Postgres
from tests.support.edited_stores import Editor, Matches
from tests.support.match_client import Table
from tests.support.running_service import running


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctors, "PROGRESS_SECONDS", 0.1)


def report(url: str, **more: str) -> list[str]:
    """Return the lines of the doctor's report. Assert that it exits with 1 unless it says ``no faults found``."""
    lines: list[str] = []
    code = doctor({"KNACKA_DATABASE_URL": url, "PATH": "/bin", **more}, lines.append)
    assert code == (0 if lines == ["no faults found"] else 1)
    assert all("\n" not in line and "Traceback" not in line for line in lines)
    return lines


def assert_reports(url: str, what: str) -> None:
    """Assert that the doctor reports only this fault."""
    lines = report(url)
    assert len(lines) == 1, lines
    assert re.search(what, lines[0]), lines


class TestSettings:
    def test_nothing_is_wrong(self, editor: Editor) -> None:
        assert report(editor.url, KNACKA_SERVICE_HOST="10.0.0.1", KNACKA_PORT_8000_TCP="tcp://") == [
            "no faults found"
        ]

    def test_a_name_that_is_none(self, sqlite_editor: Editor) -> None:
        said = report(sqlite_editor.url, KNACKA_LOGLEVEL="info", KNACKA_COLOUR="1")
        assert said == [
            "KNACKA_COLOUR: unknown setting: see `knacka serve --help`",
            "KNACKA_LOGLEVEL: unknown setting: use KNACKA_LOG_LEVEL",
        ]

    def test_a_value_that_cannot_be(self, sqlite_url: str) -> None:
        assert report("mysql://x")[0].startswith("KNACKA_DATABASE_URL: unknown store 'mysql'")
        assert report("sqlite:///:memory:")[0].startswith("KNACKA_DATABASE_URL: books need a file")
        (linked,) = report(sqlite_url, KNACKA_PORT="tcp://10.0.0.1:8000")
        assert linked.startswith("KNACKA_PORT: ")
        assert linked.endswith("set enableServiceLinks to false")

    def test_the_command(
        self, sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("KNACKA_DATABASE_URL", sqlite_url)
        assert main(["doctor"]) == 1
        assert capsys.readouterr().out.startswith(f"there is no file {tmp_path}/knacka.db: `knacka serve` creates it")
        assert list(tmp_path.iterdir()) == []
        with pytest.raises(SystemExit):
            main(["doctor", "--help"])
        assert "changes nothing" in " ".join(capsys.readouterr().out.split())


class TestFile:
    @pytest.fixture
    def file(self, sqlite_url: str, sqlite_editor: Editor) -> Path:
        assert sqlite_editor.url == sqlite_url
        return Path(sqlite_url.removeprefix("sqlite:///"))

    @pytest.fixture
    def books(self, file: Path) -> Path:
        return file.with_name("knacka-books.db")

    def test_it_changes_nothing(self, sqlite_url: str, file: Path, books: Path) -> None:
        before = file.read_bytes(), books.read_bytes()
        assert report(sqlite_url) == ["no faults found"]
        assert (file.read_bytes(), books.read_bytes()) == before

    def test_an_interrupted_rewrite_of_the_names_is_reported(self, sqlite_url: str, file: Path) -> None:
        """The service ended before it rewrote the file of names."""
        with opened(sqlite_url):
            sql(sqlite_url, "INSERT INTO names_due VALUES ('5d')")
        assert_reports(sqlite_url, "the files of the names may still hold erased data: start `knacka serve`")
        with running(sqlite_url):
            assert report(sqlite_url) == ["no faults found"]
        assert report(sqlite_url) == ["no faults found"]

    def test_it_is_a_directory(self, tmp_path: Path) -> None:
        (tmp_path / "store.db").mkdir()
        assert f"{tmp_path}/store.db is not a file" in report(f"sqlite:///{tmp_path}/store.db")[0]

    def test_everyone_can_read_it(self, sqlite_url: str, books: Path) -> None:
        books.chmod(0o644)
        assert report(sqlite_url) == [f"{books} can be read by all users of this machine: chmod 600 {books}"]

    def test_it_cannot_be_written(self, sqlite_url: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        access = os.access  # root has access to every file
        monkeypatch.setattr(os, "access", lambda path, how: path != file and access(path, how))
        assert_reports(sqlite_url, f"{file} cannot be read and written by this user")
        monkeypatch.setattr(os, "access", lambda path, how: path != file.parent and access(path, how))
        assert_reports(sqlite_url, f"{file.parent} cannot be written by this user")

    def test_the_disk_is_full(self, sqlite_url: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        usage = shutil.disk_usage(file.parent)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=5 * 2**20))
        assert_reports(sqlite_url, f"{file.parent} has 5 MiB left: free some space")

    def test_it_is_no_database(self, sqlite_url: str, file: Path, books: Path) -> None:
        books.write_bytes(b"minutes of the annual meeting\n" * 200)
        assert_reports(
            sqlite_url, f"{books} cannot be read: file is not a database: stop the service, delete {books}"
        )
        file.write_bytes(b"minutes of the annual meeting\n" * 200)
        lines = report(sqlite_url)
        assert lines == [
            f"{file} cannot be read: file is not a database: restore it from a backup (deploy/backup.md)"
        ]

    def test_it_is_damaged(self, sqlite_url: str, file: Path) -> None:
        data = bytearray(file.read_bytes())
        data[4096 * 2 : 4096 * 4] = b"\x5a" * 8192
        file.write_bytes(data)
        (said,) = report(sqlite_url)
        assert re.match(rf"{file} (is damaged|cannot be read): .*: restore it from a backup", said)

    def test_it_is_empty(self, sqlite_url: str, file: Path, books: Path) -> None:
        file.write_bytes(b"")
        books.unlink()
        lines = report(sqlite_url)
        assert lines[0].startswith("there is no table stored_events")

    def test_there_are_no_books(self, sqlite_url: str, books: Path) -> None:
        books.unlink()
        lines = report(sqlite_url)
        assert [line[:25] for line in lines][:1] == ["there is no projection pr"]
        assert len(lines) == 4


class TestBooks:
    def test_those_of_another_store(self, editor: Editor, matches: Matches) -> None:
        editor.run("DELETE FROM {events} WHERE originator_id = ?", matches.ids[0])
        lines = report(editor.url)
        what = f"has match {matches.ids[0]}, but the store does not: the projections belong to a different store"
        assert len(lines) == 4
        assert all(what in line for line in lines)

    def test_one_that_is_ahead_of_the_log(self, editor: Editor) -> None:
        editor.run(f"UPDATE {POSITIONS.name} SET position = 5000 WHERE book = 'cases_4'", books=True)
        assert_reports(
            editor.url, r"projection cases is at position 5000, but the log ends at \d+: .*`knacka rebuild cases`"
        )

    def test_one_that_is_behind_while_no_service_runs(self, editor: Editor) -> None:
        """A service that was stopped before the books had the last events applies them when it starts."""
        for key in ("cases_4", Ledger.key):
            editor.run(f"UPDATE {POSITIONS.name} SET position = 7 WHERE book = '{key}'", books=True)
        assert report(editor.url) == ["no faults found"]

    def test_one_that_stands_still_while_a_service_runs(self, editor: Editor) -> None:
        with running(editor.url) as process, httpx.Client(base_url=process.address) as client:
            with no_book_moves(editor):
                Table(client)
                lines = report(editor.url)
                still = r"projection (\w+) has stopped at position \d+, but the log ends at \d+: see /health/ready"
                found = [re.match(still, line) for line in lines]
                assert {one[1] for one in found if one} >= {"protocols", "cases", "ledger"}, lines
            process.end(signal.SIGTERM, 20)
        assert report(editor.url) == ["no faults found"]

    def test_a_projection_without_tables_is_reported(self, editor: Editor) -> None:
        editor.run("DROP TABLE book_cases_4_entries", books=True)
        assert_reports(
            editor.url, "there is no projection cases: `knacka rebuild` or the next `knacka serve` builds it"
        )

    @pytest.mark.parametrize(("key", "name"), [("cases_4", "cases"), (Ledger.key, Ledger.name)])
    def test_a_match_that_is_set_aside(self, editor: Editor, matches: Matches, key: str, name: str) -> None:
        kinds = "book text, match uuid, since timestamp, event bigint, error text"
        editor.run(f"CREATE TABLE IF NOT EXISTS {SET_ASIDE.name} ({kinds})", books=True)
        values = f"'{key}', ?, '2026-01-01 12:00:00', 9, '\"bad row\"'"
        editor.run(
            f"INSERT INTO {SET_ASIDE.name} (book, match, since, event, error) VALUES ({values})",
            matches.ids[0],
            books=True,
        )
        assert_reports(
            editor.url,
            rf"projection {name} has set match {matches.ids[0]} aside at event 9: bad row: run `knacka verify",
        )


@contextmanager
def no_book_moves(editor: Editor) -> Iterator[None]:
    """Hold the lock that every writer of the books needs, in a second session."""
    if editor.sqlite:
        with closing(sqlite3.connect(books_file(editor.url), isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(editor.url) as session:
        session.execute("SELECT FROM book_places FOR UPDATE")
        yield


class TestPostgres:
    @pytest.fixture
    def url(self, postgres_editor: Editor) -> str:
        return postgres_editor.url

    def run(self, url: str, *statements: str) -> None:
        with psycopg.connect(url, autocommit=True) as admin:
            for statement in statements:
                admin.execute(statement.encode())

    def test_it_is_away(self, tmp_path: Path) -> None:
        assert_reports(
            f"postgresql://knacka@/knacka?host={tmp_path}", "cannot be queried: .*No such file.*: check that it runs"
        )
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            assert_reports(
                f"postgresql://knacka@127.0.0.1:{free.getsockname()[1]}/knacka", "refused.*: check that it runs"
            )

    def test_it_does_not_answer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            began = time.monotonic()
            assert_reports(
                f"postgresql://knacka@127.0.0.1:{silent.getsockname()[1]}/knacka", "cannot be queried: .*timeout"
            )
            assert time.monotonic() - began < 20

    def test_it_does_not_know_us(self, postgres: Postgres) -> None:
        hba = Path(postgres.host) / "data" / "pg_hba.conf"
        hba.write_text(f"local all stranger scram-sha-256\n{hba.read_text()}")
        self.run(postgres.url, "CREATE ROLE stranger LOGIN PASSWORD 'right'", "SELECT pg_reload_conf()")
        where = f"?host={quote(postgres.host)}&port={postgres.port}"
        until = time.monotonic() + 20
        url = f"postgresql://stranger:wrong@/{postgres.dbname}{where}"
        while "password" not in report(url)[0] and time.monotonic() < until:
            time.sleep(0.05)
        assert_reports(url, "password authentication failed.*: correct the password in KNACKA_DATABASE_URL")
        assert_reports(
            f"postgresql://nobody@/{postgres.dbname}{where}", 'role "nobody" does not exist: create the user'
        )
        assert_reports(
            f"postgresql://knacka@/nothing{where}", 'database "nothing" does not exist: create the database'
        )

    def test_missing_rights_of_the_database_are_reported(self, url: str) -> None:
        assert_reports(f"{url}&schema=club", "there is no schema club that knacka may use")
        self.run(url, "DROP FUNCTION referee_events_store")
        assert_reports(url, "there is no function referee_events_store")
        self.run(url, "ALTER DATABASE edited SET default_transaction_read_only = on")
        try:
            assert "the database is read-only" in report(url)[0]
        finally:
            with psycopg.connect(url, autocommit=True, options="-c default_transaction_read_only=off") as admin:
                admin.execute("ALTER DATABASE edited RESET default_transaction_read_only")

    def test_tables_of_another_owner_are_reported(self, url: str) -> None:
        self.run(
            url,
            "GRANT USAGE ON SCHEMA public TO public",
            "DO $$ BEGIN CREATE ROLE other LOGIN; EXCEPTION WHEN duplicate_object THEN END $$",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO other",
        )
        lines = report(url.replace("knacka:knacka@", "other@"))
        assert "other may not create tables in schema public: GRANT CREATE ON SCHEMA public TO other" in lines
        assert any("table referee_events is not owned by other" in line for line in lines)

    @pytest.fixture
    def latin(self, postgres: Postgres) -> Iterator[str]:
        make = "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'"
        self.run(postgres.url, make)
        yield postgres.url_of("latin")
        self.run(postgres.url, "DROP DATABASE latin WITH (FORCE)")

    def test_it_is_not_in_utf8(self, latin: str) -> None:
        assert report(latin)[0].startswith("the database is in LATIN1: use one in UTF8")
