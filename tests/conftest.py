"""Fixtures for all tests. A store test asks for `store_url` and runs on SQLite and on PostgreSQL."""

import gc
import os
import signal
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import external_programs
from tests.support.databases import Postgres, empty_database, running_postgres
from tests.support.databases_without_rows import database_without_rows

EXAMPLES = int(os.environ.get("EXAMPLES", "50"))
"""Examples of a Hypothesis test. ``make soak`` has 2,000."""
# No deadline: how long an example takes says more about the machine than about us.
settings.register_profile("knacka", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("knacka")

# A shell that starts tests in the background has them ignore it, and with them the services that they interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# No test uses TLS, so tests and their processes get no certificates: reading them takes each client of httpx 30 ms.
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = os.devnull

NEEDED = os.environ.get("PROGRAMS") == "needed"
"""True if a test fails without the program that it needs; otherwise it is skipped, and the reason is shown."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Freeze the collected tests, so that the garbage collector does not visit them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(50_000, 20, 50)
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    lacking = [
        item
        for item in items
        for mark in item.iter_markers("program")
        if {*mark.args} & {*external_programs.missing()}
    ]
    if lacking and not NEEDED:
        config.hook.pytest_deselected(items=lacking)
        items[:] = [item for item in items if item not in lacking]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if external_programs.missing() and not NEEDED:
        terminalreporter.write_line(f"left out, for what is missing: {external_programs.told_missing()}", red=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Run a real PostgreSQL for each test process. Tests fail if it cannot start; they are never skipped."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/knacka.db"


@pytest.fixture
def empty_postgres_url(postgres: Postgres) -> Iterator[str]:
    """Yield the URL of a store without tables, for tests that make them or depend on their files."""
    with empty_database(postgres) as url:
        yield url


@pytest.fixture
def postgres_url(postgres: Postgres) -> Iterator[str]:
    """Yield the URL of a store without rows."""
    with database_without_rows(postgres) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest) -> str:
    """Yield the URL of a store without rows, for each of the two supported databases."""
    name = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    url: str = request.getfixturevalue(name)
    return url
