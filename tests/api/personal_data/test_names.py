"""Names and texts of a club's members: read by their references, and deleted without a trace."""

import hmac
import json
import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from api.personal_data.names import Names, names_file
from projections.follow.engine import engine_for
from referee.store.connection import Postgres, parse_store_url
from tests.support.club_with_names import files_with
from tests.support.stored_names import changed_refs, is_ref

CLUB, OTHER = UUID(int=1), UUID(int=2)
ANNA, BO = "Anna Åkesson-Ödmårk", "Bo Brännström"
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([__name__])


@contextmanager
def opened(url: str) -> Iterator[Names]:
    names = Names(url)
    try:
        names.prepare()
        yield names
    finally:
        names.close()


@pytest.fixture
def names(store_url: str) -> Iterator[Names]:
    with opened(store_url) as names:
        yield names


def sql(url: str, statement: str) -> list[tuple[object, ...]]:
    """Run a statement in the database, as an editor could. Return its rows."""
    if isinstance(parse_store_url(url), Postgres):
        with psycopg.connect(url, autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []
    with closing(sqlite3.connect(names_file(url), isolation_level=None)) as file:
        return file.execute(statement).fetchall()


# Refs


def test_a_ref_is_the_hmac_of_the_text_and_whose_it_is_under_a_salt_beside_it(names: Names, store_url: str):
    (ref,) = names.put(CLUB, 1, [ANNA])
    assert is_ref(ref)
    [(salt,)] = sql(store_url, "SELECT salt FROM names")
    assert len(bytes(salt)) == 32
    said = json.dumps([ANNA, str(CLUB), None, 1, "text"], ensure_ascii=False, separators=(",", ":"))
    assert ref == "hmac:" + hmac.new(bytes(salt), said.encode(), "sha256").hexdigest()


def test_stored_texts_are_read_only_in_their_club(names: Names):
    texts = (ANNA, 'NUL \0, "quotes" and 🂡\n', BO)
    refs = names.put(CLUB, 1, texts)
    assert names.read(CLUB, refs) == dict(zip(refs, texts, strict=True))
    assert names.read(CLUB, [refs[1], "hmac:" + "0" * 64]) == {refs[1]: texts[1]}
    assert names.read(CLUB, []) == {}
    assert names.read(OTHER, refs) == {}


def test_equal_texts_have_different_refs(names: Names):
    refs = {names.put(CLUB, member, [ANNA])[0] for member in (1, 2, None)}
    assert len(refs) == 3


def test_more_are_read_than_one_statement_takes(names: Names, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("api.personal_data.names.BATCH_MAX", 2)
    refs = names.put(CLUB, 1, [f"text {number}" for number in range(5)])
    assert len(names.read(CLUB, refs)) == 5
    names.forget(refs)
    assert names.read(CLUB, refs) == {}


# Repeats, and texts of refused acts


def test_a_repeat_of_an_act_has_the_refs_that_it_had(names: Names):
    refs = names.put(CLUB, 1, [ANNA, BO, ANNA], act="k")
    assert refs[0] == refs[2] != refs[1]
    assert names.put(CLUB, 1, [ANNA, BO, ANNA], act="k") == refs
    assert names.put(CLUB, 1, [BO], act="k") == refs[1:2]
    (another,) = names.put(CLUB, 1, ["Bo"], act="k")
    elsewhere = {
        names.put(CLUB, 1, [ANNA], act="l"),
        names.put(OTHER, 1, [ANNA], act="k"),
        names.put(CLUB, 1, [ANNA]),
    }
    assert len({*refs, another, *(ref for (ref,) in elsewhere)}) == 6


def test_dropped_texts_are_deleted(names: Names):
    kept, dropped = names.put(CLUB, 1, [ANNA, BO])
    names.drop([dropped, dropped])
    names.drop([])
    assert names.read(CLUB, [kept, dropped]) == {kept: ANNA}


def test_a_refused_repeat_deletes_no_text_of_the_accepted_act(names: Names):
    """Each request deletes only texts that it stored itself. A refused request deletes no text of an accepted one."""
    refs = names.put(CLUB, 1, [ANNA], act="k")
    for _ in range(2):
        assert names.put(CLUB, 1, [ANNA], act="k") == refs
        names.drop(refs)
    assert names.read(CLUB, refs) == {refs[0]: ANNA}
    names.drop(refs)
    assert names.read(CLUB, refs) == {}
    assert names.put(CLUB, 1, [ANNA], act="k") != refs


def _said(end: Connection) -> Any:
    assert end.poll(60), "the process does not answer"
    return end.recv()


def _puts(url: str, ready: Connection) -> None:
    with opened(url) as names:
        ready.send(())
        ready.recv()
        ready.send(names.put(CLUB, 1, [ANNA, BO], act="k"))


def test_processes_that_store_the_same_act_at_once_get_the_same_refs(store_url: str):
    with opened(store_url):
        pipes = [FORKED.Pipe() for _ in range(4)]
        processes = [FORKED.Process(target=_puts, args=(store_url, child)) for _, child in pipes]
        for process in processes:
            process.start()
        ends = [end for end, _ in pipes]
        assert [_said(end) for end in ends] == [()] * 4
        for end in ends:
            end.send(())
        refs = [_said(end) for end in ends]
        for process in processes:
            process.join(60)
        assert [process.exitcode for process in processes] == [0] * 4
    assert len(set(refs)) == 1
    assert sql(store_url, "SELECT count(*), min(puts) FROM names") == [(2, 4)]


def test_a_number_is_forgotten_however_often_it_was_put(names: Names):
    old, new = (names.put(CLUB, 1, [text], act="k", kind="number") for text in ("0701234567", "0707654321"))
    assert names.put(CLUB, 1, ["0701234567"], act="k", kind="number") == old
    names.forget(old)
    assert names.read(CLUB, [*old, *new]) == {new[0]: "0707654321"}
    names.forget([])


@pytest.mark.parametrize("times", [1, 400])
def test_on_sqlite_the_bytes_of_what_is_dropped_are_in_no_file(sqlite_url: str, tmp_path: Path, times: int):
    with opened(sqlite_url) as names:
        (kept, dropped) = names.put(CLUB, 1, [ANNA, BO * times])
        assert files_with(tmp_path, BO) == ["knacka-names.db"]
        names.drop([dropped])
        assert files_with(tmp_path, BO) == []
        assert names.read(CLUB, [kept]) == {kept: ANNA}


def test_an_erasure_that_was_broken_off_is_ended_at_the_next_start(sqlite_url: str, tmp_path: Path):
    """The erasure stops between the deletion and the rewriting of the file."""
    with opened(sqlite_url):
        sql(sqlite_url, "INSERT INTO names_due VALUES ('5d')")
    sql(sqlite_url, "PRAGMA secure_delete=OFF; ")
    with closing(sqlite3.connect(names_file(sqlite_url), isolation_level=None)) as file:
        file.execute("PRAGMA secure_delete=OFF")
        file.execute("CREATE TABLE other (text TEXT)")
        file.execute("INSERT INTO other VALUES (?)", [ANNA])
        file.execute("DELETE FROM other")
    assert files_with(tmp_path, ANNA) == ["knacka-names.db"]
    with opened(sqlite_url):
        assert files_with(tmp_path, ANNA) == []
    assert sql(sqlite_url, "SELECT * FROM names_due") == []


# Auditing


def test_a_replaced_text_is_found_and_hidden(names: Names, store_url: str):
    refs = names.put(CLUB, 1, [ANNA, BO])
    assert changed_refs(names) == []
    sql(store_url, f"UPDATE names SET text = '\"{ANNA}\"' WHERE ref = '{refs[1]}'")
    assert changed_refs(names) == [refs[1]]
    assert names.read(CLUB, refs) == {refs[0]: ANNA}


def test_an_error_of_the_store_shows_no_text(names: Names, store_url: str):
    names.put(CLUB, 1, [ANNA])
    sql(store_url, "ALTER TABLE names RENAME TO was_names")
    with pytest.raises(DBAPIError) as caught:
        names.put(CLUB, 1, [BO])
    sql(store_url, "ALTER TABLE was_names RENAME TO names")
    assert BO not in str(caught.value)


def test_on_postgresql_they_use_the_connections_of_the_books(postgres_url: str, sqlite_url: str):
    for url, shared in ((postgres_url, True), (sqlite_url, False)):
        books = engine_for(url)
        names = Names(url, books)
        assert (names.reader is books) is shared
        names.close()
        books.dispose()
