"""A log of real matches, a store with it, and the projections of that store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Engine

from projections.follow.follow import engine_for, rebuild
from referee.store.store import Referee, construct
from tests.projections.filled_log import Said, all_books, append, content, play_some, reader


@pytest.fixture(scope="session")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[StoredEvent, ...]:
    """Return rows of several matches that were really played."""
    path: Path = tmp_path_factory.mktemp("played") / "knacka.db"
    with construct(f"sqlite:///{path}") as referee:
        return play_some(referee, 800, seed=1)


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory, rows: tuple[StoredEvent, ...]) -> Said:
    """Return the content of the projections after they have applied the whole log."""
    url = f"sqlite:///{tmp_path_factory.mktemp('whole')}/knacka.db"
    engine, books = engine_for(url), all_books()
    with construct(url) as referee:
        append(referee, rows)
        for projection in books:
            rebuild(reader(referee), engine, projection)
        said = content(engine, books)
    engine.dispose()
    return said


@pytest.fixture
def referee(store_url: str) -> Iterator[Referee]:
    """Return an empty store."""
    with construct(store_url) as referee:
        yield referee


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    """Return the engine of the projections of that store."""
    engine = engine_for(store_url)
    yield engine
    engine.dispose()
