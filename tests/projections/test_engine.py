"""The URL of a store leads to its projections."""

from pathlib import Path

import pytest

from projections.follow.engine import books_file, engine_for
from referee.store.store import settings_for
from tests.support.databases import Postgres


@pytest.mark.parametrize(
    ("url", "file"),
    [
        ("sqlite:///knacka.db", "knacka-books.db"),
        ("sqlite:////var/lib/knacka/knacka.db", "/var/lib/knacka/knacka-books.db"),
        ("sqlite:///data/all%20matches", "data/all matches-books"),
    ],
)
def test_on_sqlite_the_books_lie_beside_the_events(url: str, file: str):
    assert books_file(url) == Path(file)
    assert books_file(url).parent == Path(settings_for(url)["SQLITE_DBNAME"]).parent


@pytest.mark.parametrize("url", ["mysql://host/db", "knacka.db", "sqlite://", "sqlite:///", "sqlite:///:memory:"])
def test_a_url_without_a_place_for_books_is_refused(url: str):
    with pytest.raises(ValueError, match=r"store|file"):
        engine_for(url)


def test_a_schema_has_books_of_its_own(postgres: Postgres, empty_postgres_url: str):
    public, club = engine_for(empty_postgres_url), engine_for(f"{empty_postgres_url}&schema=The%20%22club%22")
    with public.begin() as connection:
        connection.exec_driver_sql('CREATE SCHEMA "The ""club"""')
        connection.exec_driver_sql("CREATE TABLE book (x int)")
    with club.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE book (x int, y int)")
    with public.connect() as connection:
        assert len(connection.exec_driver_sql("SELECT * FROM book").keys()) == 1
    with club.connect() as connection:
        assert len(connection.exec_driver_sql("SELECT * FROM book").keys()) == 2
    public.dispose()
    club.dispose()


def test_the_password_is_not_in_what_is_logged(postgres: Postgres):
    engine = engine_for("postgresql://user:secret@host/db")
    assert "secret" not in repr(engine)
    assert "secret" not in str(engine.url)
