"""The log's projection: every row has its leaf, in the order of the store, for any pages and any follower."""

import random
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from sqlalchemy import Engine, event, select

from api.runtime.projections import log_of
from projections.follow.follow import engine_for, prepare, rebuild
from projections.follow.page import Page
from projections.log import Log
from referee.log.tree import EMPTY, TILE_WIDTH
from referee.store.rows import row_hash
from referee.store.store import Referee
from tests.log.test_tree import mth, path, subproof
from tests.projections.filled_log import Said, append, content, head, pages, reader
from tests.projections.follower_driver import at_the_head, following


def leaves_of(referee: Referee) -> list[bytes]:
    """Return the leaves of the rows as the library reads them, in its order."""
    found = referee.recorder.select_notifications(None, 100_000)
    return [
        bytes.fromhex(row_hash(StoredEvent(row.originator_id, row.originator_version, row.topic, row.state)))
        for row in found
    ]


def root(engine: Engine, projection: Log) -> tuple[int, bytes]:
    with engine.connect() as connection:
        return (size := projection.size(connection)), projection.tree(connection, size).root()


@pytest.fixture
def whole_log(referee: Referee, engine: Engine, rows: Sequence[StoredEvent]) -> Said:
    """Return the tables after the log was read from end to end."""
    append(referee, rows)
    rebuild(reader(referee), engine, Log(), page=100_000)
    return content(engine, [Log()])


class TestTree:
    def test_it_is_the_tree_over_all_rows_in_the_order_of_the_store(
        self, referee: Referee, engine: Engine, whole_log: Said
    ):
        leaves, projection, chance = leaves_of(referee), Log(), random.Random(1)
        assert len(leaves) > 3 * TILE_WIDTH
        assert root(engine, projection) == (len(leaves), mth(leaves))
        with engine.connect() as connection:
            for _ in range(30):
                size = chance.randint(1, len(leaves))
                tree, index, older = (
                    projection.tree(connection, size),
                    chance.randrange(size),
                    chance.randint(1, size),
                )
                assert tree.root() == mth(leaves[:size])
                assert list(tree.inclusion(index)) == path(index, leaves[:size])
                assert list(tree.consistency(older)) == subproof(older, leaves[:size], True)

    @pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)  # PostgreSQL reads so few rows without a key
    def test_the_edge_of_the_log_is_found_by_key(self, engine: Engine, whole_log: Said):
        projection, asked = Log(), list[tuple[str, Any]]()
        with engine.connect() as connection:
            event.listen(connection, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
            assert projection.edge(connection).size > TILE_WIDTH
            plans = [
                row.detail
                for statement, parameters in list(asked)
                for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            ]
        assert plans
        assert [plan for plan in plans if not plan.startswith("SEARCH")] == []

    def test_a_row_is_found_by_its_position(self, referee: Referee, engine: Engine, whole_log: Said):
        positions = [row[0] for row in reader(referee)(0, 100_000).rows]
        with engine.connect() as connection:
            assert [Log().leaf_index(connection, position) for position in positions] == list(range(len(positions)))
            assert Log().leaf_index(connection, 0) is None
            assert Log().leaf_index(connection, positions[-1] + 1) is None

    def test_the_root_of_an_empty_log_is_the_empty_hash(self, referee: Referee, engine: Engine):
        prepare(engine, [Log()])
        assert root(engine, Log()) == (0, EMPTY)


class TestFollowing:
    @pytest.mark.parametrize("size", [1, 7, 255, 256, 257, 999])
    def test_any_page_size_gives_the_same_tables(self, referee: Referee, engine: Engine, whole_log: Said, size: int):
        projection = Log()
        with engine.begin() as connection:
            projection.metadata.drop_all(connection)
        prepare(engine, [projection])
        for page in pages(referee, size):
            with engine.begin() as connection:
                projection.apply(connection, page)
        assert content(engine, [projection]) == whole_log

    def test_a_page_that_comes_again_changes_nothing(self, referee: Referee, engine: Engine, whole_log: Said):
        for page in pages(referee, 300):
            with engine.begin() as connection:
                Log().apply(connection, page)
        assert content(engine, [Log()]) == whole_log

    def test_stopped_anywhere_and_rebuilt_it_is_the_same(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        chance, projection = random.Random(3), Log()
        stops = sorted(chance.sample(range(len(rows)), 4))
        for first, last in zip([0, *stops], [*stops, len(rows)], strict=True):
            append(referee, rows[first:last])
            with following(referee, engine, [projection], page=chance.choice([10, 30, 100])) as follower:
                if chance.random() < 0.5:
                    at_the_head(follower, referee)
        with following(referee, engine, [projection]) as follower:
            at_the_head(follower, referee)
            followed = content(engine, [projection])
            assert root(engine, projection) == (len(rows), mth(leaves_of(referee)))
            follower.rebuild(projection)
        assert content(engine, [projection]) == followed

    def test_two_followers_make_one_tree(
        self, referee: Referee, store_url: str, engine: Engine, rows: Sequence[StoredEvent]
    ):
        other = engine_for(store_url)
        with (
            following(referee, engine, [Log()], page=17, poll_seconds=0.01) as one,
            following(referee, other, [Log()], page=40, poll_seconds=0.01) as two,
        ):
            append(referee, rows)
            at_the_head(one, referee)
            at_the_head(two, referee)
            assert (one.faults, two.faults) == ({}, {})
        assert root(engine, Log()) == (len(rows), mth(leaves_of(referee)))
        other.dispose()


class TestRows:
    def test_positions_with_gaps_make_leaves_without(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        """PostgreSQL never uses the position of a failed transaction again."""
        for first in range(0, 40, 10):
            append(referee, rows[first : first + 10])
            with pytest.raises(IntegrityError):
                referee.recorder.insert_events([rows[first]])
        rebuild(reader(referee), engine, Log())
        assert root(engine, Log()) == (40, mth([bytes.fromhex(row_hash(row)) for row in rows[:40]]))
        with engine.connect() as connection:
            places = [Log().leaf_index(connection, position) for position in range(1, head(referee) + 1)]
        assert [place for place in places if place is not None] == list(range(40))

    def test_there_is_no_row_that_it_cannot_take(self, engine: Engine):
        """Any content of the table can be applied: a projection of the whole log can set no match aside."""
        strange = [
            (3, "no id", 1, "match/opened", b"{"),
            (9, uuid4().hex, 7, "none/such", b""),
            (10, "", "one", "", "text"),
            (12, b"\xff", None, None, None),
        ]
        prepare(engine, [Log()])
        with engine.begin() as connection:
            Log().apply(connection, Page(strange, lambda *_: pytest.fail("it decodes nothing")))
        assert root(engine, Log())[0] == 4

    def test_it_knows_what_it_has(self, referee: Referee, engine: Engine, whole_log: Said):
        projection = Log()
        with engine.connect() as connection:
            tiles = connection.execute(select(projection.tiles.c.level, projection.tiles.c.number)).all()
            size = projection.size(connection)
        assert len([one for one in tiles if one.level == 0]) == -(-size // TILE_WIDTH)
        assert log_of(referee).head() == head(referee)
