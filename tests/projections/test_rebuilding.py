"""A projection is rebuilt beside the one that is read."""

import subprocess
import threading
from collections.abc import Sequence

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Engine, inspect, text

from projections.follow.follow import prepare, rebuild
from projections.follow.locks import only_rebuild
from projections.follow.page import Page
from projections.follow.projection import FRESH
from projections.protocols import Protocols
from referee.store.store import Referee
from tests.projections.filled_log import Said, all_books, append, content, head, last_versions, reader
from tests.projections.follower_driver import at_the_head, following, until
from tests.support.running_service import knacka


@pytest.fixture
def postgres_url(empty_postgres_url: str) -> str:
    """Return the URL of a store without positions of projections that the test does not have."""
    return empty_postgres_url


class TestRebuilding:
    """The new tables are separate until they are complete."""

    def test_the_next_rebuild_can_begin_as_soon_as_one_has_ended(self, engine: Engine):
        for _ in range(300):
            with engine.connect(), engine.connect():
                pass  # two connections wait in the pool
            with only_rebuild(engine):
                pass
            with only_rebuild(engine):
                pass

    def test_a_rebuilt_book_says_what_a_followed_one_does(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        books = all_books()
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
            spoil(engine)
            for _ in range(2):
                for projection in books:
                    assert follower.rebuild(projection) == head(referee)
                assert content(engine, books) == whole
            with engine.connect() as connection:
                left = connection.execute(text("SELECT count(*), sum(position) FROM book_places")).one()
            assert tuple(left) == (len(books), len(books) * head(referee))
        prepare(engine, all_books())
        assert len(inspect(engine).get_indexes("book_matches_3")) == 2

    @pytest.mark.parametrize("size", [7, 300, 100_000])
    def test_all_books_are_rebuilt_in_one_pass(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, size: int
    ):
        append(referee, rows)
        books, read = all_books(), reader(referee)
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
        spoil(engine)
        reads: list[int] = []

        def counted(after: int, limit: int) -> Page:
            reads.append(after)
            return read(after, limit)

        assert rebuild(counted, engine, *books, page=size) == head(referee)
        assert content(engine, books) == whole
        assert len(reads) == len(rows) // size + 1, "the log is read once"
        with engine.connect() as connection:
            left = connection.execute(text("SELECT book, position FROM book_places")).all()
        assert sorted(tuple(row) for row in left) == sorted((projection.key, head(referee)) for projection in books)

    def test_books_that_are_rebuilt_together_make_up_for_what_came_meanwhile(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        """The old projections have different positions when the new ones replace them."""
        append(referee, rows[:500])
        books, read = all_books(), reader(referee)
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
        late: list[bool] = []

        def growing(after: int, limit: int) -> Page:
            page = read(after, limit)
            if len(page) < limit and not late:  # as it seems, the end
                late.append(True)
                append(referee, rows[500:])
                with following(referee, engine, books[:2]) as follower:
                    at_the_head(follower, referee)
            return page

        rebuild(growing, engine, *books, page=300)
        assert late
        assert content(engine, books) == whole

    def test_it_is_read_and_kept_up_meanwhile(
        self, referee: Referee, store_url: str, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        half = len(rows) // 2
        append(referee, rows[:half])
        books = all_books()
        projection, match_id = books[0], rows[0].originator_id
        assert isinstance(projection, Protocols)
        versions: list[int] = []
        stopped = threading.Event()

        def look() -> None:
            while not stopped.is_set():
                with engine.connect() as connection:
                    sheet = projection.answer(connection, match_id)
                assert sheet is not None
                assert sheet.points == (sheet.lines[-1].points if sheet.lines else sheet.opening)
                versions.append(sheet.version)

        reads: list[int] = []

        def slowly(after: int, limit: int) -> Page:
            """Store and follow the rest of the log while the projection is rebuilt."""
            if len(reads) == 1:
                append(referee, rows[half:])
                follower.wake()
                at_the_head(follower, referee)
            reads.append(after)
            return reader(referee)(after, limit)

        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
            looking = threading.Thread(target=look)
            looking.start()
            rebuild(slowly, engine, projection, page=100)
            for other in books[1:]:
                rebuild(reader(referee), engine, other, page=100)
            count = len(versions)
            until(lambda: len(versions) > count + 5)
            stopped.set()
            looking.join()
            assert follower.faults == {}
        assert content(engine, books) == whole
        assert versions[-1] == last_versions(rows)[match_id]
        assert versions == sorted(versions)

    def test_broken_off_it_leaves_the_old_book_and_the_next_starts_clean(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        books, read = all_books(), reader(referee)
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
        for projection in books:

            def torn(after: int, limit: int) -> Page:
                if after >= 300:
                    raise KeyboardInterrupt
                return read(after, limit)

            with pytest.raises(KeyboardInterrupt):
                rebuild(torn, engine, projection, page=100)
            assert content(engine, books) == whole
            assert any(content(engine, [projection.with_prefix(FRESH)]).values()), "it had begun"
            rebuild(read, engine, projection, page=100)
        assert content(engine, books) == whole

    def test_while_one_runs_no_other_begins(
        self, referee: Referee, engine: Engine, store_url: str, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        books, read = all_books(), reader(referee)
        others: list[subprocess.CompletedProcess[str]] = []

        def interrupted(after: int, limit: int) -> Page:
            if after == 0:
                others.append(knacka("rebuild", "protocols", KNACKA_DATABASE_URL=store_url))
                others.append(knacka("rebuild", KNACKA_DATABASE_URL=store_url))
            return read(after, limit)

        assert rebuild(interrupted, engine, *books, page=300) == head(referee)
        assert content(engine, books) == whole
        assert [one.returncode for one in others] == [1, 1]
        assert {one.stderr.splitlines()[-1] for one in others} == {"a rebuild is running: wait until it has ended"}
        assert knacka("rebuild", KNACKA_DATABASE_URL=store_url).returncode == 0


def spoil(engine: Engine) -> None:
    """Damage the projections."""
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM book_protocols_4_lines"))
        connection.execute(text("UPDATE book_matches_3 SET status = 'over'"))
        connection.execute(text("UPDATE book_cases_4_entries SET topic = 'nothing'"))
