"""Stores to back up, and empty stores."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.backups.backup_commands import Kept, backup, nothing_in, other_than, play
from tests.support.club_client import ClubTable
from tests.support.databases import Postgres


@pytest.fixture
def other_url(store_url: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield a store of the other kind."""
    with nothing_in(other_than(store_url), postgres, tmp_path) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def any_url(request: pytest.FixtureRequest, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield a store of either kind."""
    with nothing_in(request.param, postgres, tmp_path) as url:
        yield url


@pytest.fixture
def played(store_url: str) -> ClubTable:
    """Return the club in a store that the test changes."""
    return play(store_url)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def kept(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    """Yield a backup that no test changes."""
    folder = tmp_path_factory.mktemp("kept")
    with nothing_in(request.param, postgres, folder) as url:
        play(url)
        yield Kept(url, backup(url, folder))


@pytest.fixture
def away(kept: Kept, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield a store of the other kind."""
    with nothing_in(other_than(kept.url), postgres, tmp_path) as url:
        yield url
