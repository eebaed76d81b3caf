"""Names and texts of a club's people: told by their refs, and gone without a trace when they are erased."""

import hmac
import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unicodedata import normalize
from uuid import UUID

import psycopg
import pytest
from sqlalchemy.exc import DBAPIError

from api.names import Names, folded, is_ref, names_file
from projections.follow.engine import engine_for
from referee.store.reach import Postgres, place_of
from tests.api.written import files_with
from tests.stores import Postgres as Server

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
    """What somebody does who has the database at hand."""
    if isinstance(place_of(url), Postgres):
        with psycopg.connect(url, autocommit=True) as connection:
            done = connection.execute(statement.encode())
            return done.fetchall() if done.description else []
    with closing(sqlite3.connect(names_file(url), isolation_level=None)) as file:
        return file.execute(statement).fetchall()


# Refs


def test_a_ref_is_the_hmac_of_the_text_under_a_salt_that_lies_beside_it(names: Names, store_url: str):
    (ref,) = names.put(CLUB, 1, [ANNA])
    assert is_ref(ref)
    [(salt,)] = sql(store_url, "SELECT salt FROM names")
    assert len(bytes(salt)) == 32
    assert ref == "hmac:" + hmac.new(bytes(salt), ANNA.encode(), "sha256").hexdigest()


def test_what_is_put_is_read_in_its_club_alone(names: Names):
    texts = (ANNA, 'NUL \0, "quotes" and 🂡\n', BO)
    refs = names.put(CLUB, 1, texts)
    assert names.read(CLUB, refs) == dict(zip(refs, texts, strict=True))
    assert names.read(CLUB, [refs[1], "hmac:" + "0" * 64]) == {refs[1]: texts[1]}
    assert names.read(CLUB, []) == {}
    assert names.read(OTHER, refs) == {}


def test_of_the_same_text_nobody_can_tell_that_it_is_the_same(names: Names):
    refs = {names.put(CLUB, member, [ANNA])[0] for member in (1, 2, None)}
    assert len(refs) == 3


def test_more_are_read_than_one_statement_takes(names: Names, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("api.names.ONCE_MOST", 2)
    refs = names.put(CLUB, 1, [f"text {number}" for number in range(5)])
    assert len(names.read(CLUB, refs)) == 5
    assert names.erase(CLUB, 1, []) == 5
    assert names.read(CLUB, refs) == {}


# Repeats, and what comes to nothing


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


def test_what_was_dropped_is_gone(names: Names):
    kept, dropped = names.put(CLUB, 1, [ANNA, BO])
    names.drop([dropped, dropped])
    names.drop([])
    assert names.read(CLUB, [kept, dropped]) == {kept: ANNA}


def test_what_a_repeat_was_refused_stays_with_the_act_that_was_done(names: Names):
    """Each drops what it has put itself: whoever is refused takes no text from who was not."""
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


def test_of_processes_that_put_the_same_act_at_once_all_have_the_same_refs(store_url: str):
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


# Erasing


def test_a_number_is_forgotten_however_often_it_was_put(names: Names):
    old, new = (names.put(CLUB, 1, [text], act="k", kind="number") for text in ("0701234567", "0707654321"))
    assert names.put(CLUB, 1, ["0701234567"], act="k", kind="number") == old
    names.forget(old)
    assert names.read(CLUB, [*old, *new]) == {new[0]: "0707654321"}
    names.forget([])


def test_erasing_a_member_takes_his_numbers_and_what_has_one_in_it(names: Names):
    (swish,) = names.put(CLUB, 1, ["0701234567"], kind="number")
    (others,) = names.put(CLUB, 2, ["0707654321"], kind="number")
    said = names.put(CLUB, 2, ["Swish me: 0701234567", "Swish me: 0707654321"])
    assert names.erase(CLUB, 1, []) == 2
    assert set(names.read(CLUB, [swish, others, *said])) == {others, said[1]}


def test_erasing_a_member_takes_his_names_his_texts_and_what_names_him(names: Names):
    (anna,) = names.put(CLUB, None, [ANNA], kind="name")  # who joins has no number yet
    (married,) = names.put(CLUB, 1, ["Anna Ek"], kind="name")
    his = names.put(CLUB, 1, ["She had no hearts.", "Nor a king."])
    named = [
        *names.put(CLUB, 2, [f"It was {ANNA.upper()}!"]),
        *names.put(CLUB, None, [normalize("NFD", "anna  Åkesson-ödmårk revoked"), "ANNA\nEK says so"]),
    ]
    others = [
        *names.put(CLUB, None, [BO, ANNA, f"{ANNA} II"], kind="name"),  # another's name, even the same, is his own
        *names.put(CLUB, 2, ["Anna did it, and Åkesson saw it."]),
        *names.put(OTHER, 1, [ANNA]),
    ]
    assert names.erase(CLUB, 1, [anna]) == 7
    assert names.read(CLUB, [anna, married, *his, *named]) == {}
    assert len(names.read(CLUB, others)) == 4
    assert len(names.read(OTHER, others)) == 1
    assert names.erase(CLUB, 1, [anna]) == 0


@pytest.mark.parametrize(
    "texts", [("STRASSE", "Straße"), ("  ANNA\u2003 EK ", "Anna Ek"), ("A\u030angstro\u0308m", "ångström")]
)
def test_a_name_is_known_however_it_is_written(texts: tuple[str, str]):
    one, other = map(folded, texts)
    assert one == other


def _fill(names: Names, members: range) -> None:
    """Enough for SQLite to move what it keeps from page to page."""
    for member in members:
        names.put(CLUB, member, [f"Anna Åkesson-{member:05}"], kind="name")
        names.put(CLUB, member, [f"Anna Åkesson-{member:05}!" * times for times in (1, 3, 12, 190)])


def test_on_sqlite_the_bytes_of_what_is_erased_are_in_no_file(sqlite_url: str, tmp_path: Path):
    """Nor while others have the file open, and have read it."""
    with (
        opened(sqlite_url) as names,
        opened(sqlite_url) as other,
        closing(sqlite3.connect(names_file(sqlite_url))) as third,
    ):
        _fill(names, range(30))
        assert files_with(tmp_path, "Anna Åkesson-00007") == ["knacka-names.db"]
        assert third.execute("SELECT count(*) FROM names").fetchall() == [(150,)]
        for member in range(1, 30, 2):
            assert other.erase(CLUB, member, []) == 5
            assert names.read(CLUB, ["hmac:"]) == {}
            assert files_with(tmp_path, f"Anna Åkesson-{member:05}") == []
        assert {file.name for file in tmp_path.iterdir()} == {"knacka-names.db"}
    assert files_with(tmp_path, "Anna Åkesson-00008") == ["knacka-names.db"]


@pytest.mark.parametrize("times", [1, 400])
def test_on_sqlite_the_bytes_of_what_is_dropped_are_in_no_file(sqlite_url: str, tmp_path: Path, times: int):
    with opened(sqlite_url) as names:
        (kept, dropped) = names.put(CLUB, 1, [ANNA, BO * times])
        assert files_with(tmp_path, BO) == ["knacka-names.db"]
        names.drop([dropped])
        assert files_with(tmp_path, BO) == []
        assert names.read(CLUB, [kept]) == {kept: ANNA}


def test_on_postgresql_they_are_in_no_table_and_in_no_file_of_one(postgres: Server, postgres_url: str):
    with opened(postgres_url) as names:
        _fill(names, range(20))
        for member in range(1, 20, 2):
            names.erase(CLUB, member, [])
    sql(postgres_url, "CHECKPOINT")
    tables = Path(postgres.host) / "data" / "base"
    assert files_with(tables, "Anna Åkesson-00008") != []
    for member in range(1, 20, 2):
        assert files_with(tables, f"Anna Åkesson-{member:05}") == []


def _erases(url: str, ready: Connection) -> None:
    with opened(url) as names:
        _fill(names, range(40))
        for member in range(40):
            ready.send(member)
            names.erase(CLUB, member, [])


@pytest.mark.parametrize("members", [3, 17, 30])
def test_who_is_killed_while_he_erases_leaves_nothing_that_is_not_erased_then(
    store_url: str, tmp_path: Path, members: int
):
    """What was erased before is gone as soon as anybody opens the store, the rest when it is erased again."""
    end, child = FORKED.Pipe()
    process = FORKED.Process(target=_erases, args=(store_url, child))
    process.start()
    child.close()
    done = -1
    while done < members:
        done = _said(end)
    process.kill()
    process.join(60)
    assert process.exitcode == -9
    while end.poll():
        try:
            done = end.recv()
        except EOFError:
            break
    with opened(store_url) as names:
        assert sql(store_url, "SELECT * FROM names_due") == []
        kept = {member for (member,) in sql(store_url, "SELECT DISTINCT member FROM names")}
        assert kept in (set(range(done, 40)), set(range(done + 1, 40)))
        for member in set(range(40)) - kept:
            assert files_with(tmp_path, f"Anna Åkesson-{member:05}") == []
        names.erase(CLUB, done, [])
        assert files_with(tmp_path, f"Anna Åkesson-{done:05}") == []
        assert names.check() == []


def test_an_erasure_that_was_broken_off_is_ended_at_the_next_start(sqlite_url: str, tmp_path: Path):
    """Between deleting and writing the file anew."""
    with opened(sqlite_url):
        sql(sqlite_url, f"INSERT INTO names_due VALUES ('{UUID(int=5).hex}')")
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


def test_a_text_that_was_put_in_the_place_of_another_is_found_and_told_to_nobody(names: Names, store_url: str):
    refs = names.put(CLUB, 1, [ANNA, BO])
    assert names.check() == []
    sql(store_url, f"UPDATE names SET text = '\"{ANNA}\"' WHERE ref = '{refs[1]}'")
    assert names.check() == [refs[1]]
    assert names.read(CLUB, refs) == {refs[0]: ANNA}


def test_what_fails_tells_no_text(names: Names, store_url: str):
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
        assert (names._reader is books) is shared
        names.close()
        books.dispose()
