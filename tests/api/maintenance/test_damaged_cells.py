"""Unreadable cells of projections and unreadable texts of members: only answers that need them fail."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from api.maintenance.doctor import doctor
from api.personal_data.names import names_file
from api.runtime.projections import all_projections
from projections.follow.engine import Checked, books_file
from tests.api.maintenance.test_damaged_rows import CLUB, MATCH, Stored, filled, service_over
from tests.support.edited_stores import said
from tests.support.running_service import knacka

JUNK = "{?"
CELLS = [
    (table, column)
    for projection in all_projections()
    for table in projection.metadata.tables.values()
    for column in table.columns
    if isinstance(column.type, Checked)
]
"""Columns of all projections whose cells are converted when they are read."""


class Spoiled:
    """Makes all cells of a column unreadable within a block."""

    def __init__(self, file: Path, table: str, column: str) -> None:
        self._file, self._table, self._column = file, table, column
        self._cells: list[tuple[object, int]] = []

    def __enter__(self) -> int:
        with closing(sqlite3.connect(self._file)) as connection, connection:
            self._cells = connection.execute(f'SELECT "{self._column}", rowid FROM {self._table}').fetchall()
            connection.execute(f'UPDATE {self._table} SET "{self._column}" = ?', [JUNK])
        return len(self._cells)

    def __exit__(self, *_: object) -> None:
        with closing(sqlite3.connect(self._file)) as connection, connection:
            connection.executemany(f'UPDATE {self._table} SET "{self._column}" = ? WHERE rowid = ?', self._cells)


def unanswered(stored: Stored) -> list[str]:
    """Return the paths whose reads fail. Assert that each answer names the damage and has no other error."""
    found = []
    answers = [stored.heard.get(path, "official") for path in MATCH]
    answers += [stored.club.get(path) for path in CLUB]
    answers.append(stored.won.get("/protocol", 0))
    answers.append(stored.won.client.get("/v1/matches"))
    answers.append(stored.won.client.get("/v1/cases", headers=stored.heard.bearer("official")))
    for answer in answers:
        if answer.status_code >= 500:
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/book-damaged"), answer.text
            assert "Retry-After" in answer.headers
            assert JUNK not in answer.text
            found.append(answer.url.path)
        elif answer.headers["Content-Type"] == "application/json":
            answer.json()
    return found


def test_a_cell_that_cannot_be_read_says_what_to_do(sqlite_url: str) -> None:
    """The answer names the command that rebuilds the projection from the events."""
    file, read = books_file(sqlite_url), dict[str, list[str]]()
    with service_over(sqlite_url) as client:
        stored = filled(client)
        for table, column in CELLS:
            with Spoiled(file, table.name, column.name):
                read[f"{table.name}.{column.name}"] = unanswered(stored)
        assert unanswered(stored) == []
    some = (
        "protocols_4_sheets.sheet",
        "protocols_4_lines.line",
        "cases_4_entries.at",
        "ledger_3_clubs.keeping",
        "ledger_3_entries.date",
    )
    for name in some:
        assert read[f"book_{name}"], name


def test_a_rebuild_repairs_it(sqlite_url: str, tmp_path: Path) -> None:
    with service_over(sqlite_url) as client:
        filled(client)
    Spoiled(books_file(sqlite_url), "book_protocols_4_sheets", "sheet").__enter__()
    Spoiled(books_file(sqlite_url), "book_matches_3", "opened_at").__enter__()
    backup = knacka("backup", str(tmp_path / "kept"), KNACKA_DATABASE_URL=sqlite_url)
    assert backup.returncode == 3
    assert "`knacka rebuild`" in backup.stderr.splitlines()[-1]
    assert "Traceback" not in backup.stderr
    assert knacka("verify", KNACKA_DATABASE_URL=sqlite_url).returncode == 1
    assert knacka("rebuild", KNACKA_DATABASE_URL=sqlite_url).returncode == 0
    assert knacka("verify", KNACKA_DATABASE_URL=sqlite_url).returncode == 0


def test_verify_names_a_cell_of_the_ledger(sqlite_url: str) -> None:
    with service_over(sqlite_url) as client:
        filled(client)
    with Spoiled(books_file(sqlite_url), "book_ledger_3_entries", "date"):
        code, lines = said(sqlite_url)
    assert code == 1
    assert [line for line in lines if line.startswith("projection ledger: book_ledger_3_entries cannot be read: ")]


def test_a_text_that_cannot_be_read_is_one_that_was_exchanged(sqlite_url: str) -> None:
    """The HMAC of the text differs from the recorded one. The member can still be erased."""
    with service_over(sqlite_url) as client:
        stored = filled(client)
        left = stored.club.join("Dag")
        with Spoiled(names_file(sqlite_url), "names", "text"):
            assert unanswered(stored) == []
            assert JUNK not in stored.club.get("/members").text
            stored.club.done("leave", member=left)
            stored.club.done("erase", member=left)


@pytest.mark.parametrize("column", ["error", "since"])
def test_the_doctor_does_not_fall_over_it(sqlite_url: str, column: str) -> None:
    with service_over(sqlite_url) as client:
        filled(client)
    with closing(sqlite3.connect(books_file(sqlite_url))) as connection, connection:
        row = {
            "book": "matches_2",
            "match": "0" * 32,
            "since": "2026-11-22 19:00:00.000000",
            "event": 3,
            "error": '"x"',
        }
        connection.execute(f"INSERT INTO book_aside ({', '.join(row)}) VALUES (?, ?, ?, ?, ?)", [*row.values()])
        connection.execute(f"UPDATE book_aside SET {column} = ?", [JUNK])
    lines: list[str] = []
    assert doctor({"KNACKA_DATABASE_URL": sqlite_url}, lines.append) == 1
    assert [line for line in lines if "knacka rebuild" in line]
