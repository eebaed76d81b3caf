"""What each package may import: the rules know nothing of storage or clocks, the books nothing of rules."""

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(path.relative_to(ROOT) for top in ("referee", "projections") for path in ROOT.glob(f"{top}/**/*.py"))

EDGE = {"referee.store"}
WEB = {"litestar", "uvicorn"}
STORAGE = {"eventsourcing", "psycopg", "psycopg_pool", "sqlalchemy", "sqlite3"}
CHANCE = {"random", "secrets", "time", "uuid.uuid1", "uuid.uuid4"}
MACHINE = {"asyncio", "io", "os", "pathlib", "socket", "subprocess", "threading"}
CALLS = {"date.today", "datetime.now", "datetime.today", "datetime.utcnow", "open", "print", "uuid.uuid4"}


def banned(file: str) -> tuple[set[str], set[str]]:
    """What this file may not use, and what of that it may. A new file of the referee is held to be pure."""
    if file.startswith("projections/"):
        return WEB | {"api", "referee"}, {"referee.events", "referee.value"}
    everywhere = WEB | {"sqlalchemy", "api", "projections"}
    if file.startswith("referee/store/"):
        return everywhere, set()
    if fnmatch(file, "referee/rulebook/*"):  # reads its own data
        return everywhere | STORAGE | EDGE | CHANCE, set()
    seeded = {"random.Random"} if file == "referee/cards.py" else set()
    return everywhere | STORAGE | EDGE | CHANCE | MACHINE | CALLS, seeded


def uses(file: str, source: str) -> set[str]:
    """The dotted names that a file imports, relative ones made absolute, and those of CALLS that it calls."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module, names, level):
                start = [*file.split("/")[:-level]] if level else []
                found |= {".".join([*start, *([module] if module else []), alias.name]) for alias in names}
            case ast.Call(function):
                found |= {".".join(ast.unparse(function).split(".")[-2:])} & CALLS
    return found


def forbidden(file: str, source: str) -> set[str]:
    def within(name: str, tops: set[str]) -> bool:
        return any(f"{name}.".startswith(f"{top}.") for top in tops)

    no, yes = banned(file)
    return {name for name in uses(file, source) if within(name, no) and not within(name, yes)}


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_a_file_imports_only_what_its_place_allows(path: Path):
    assert forbidden(path.as_posix(), (ROOT / path).read_text()) == set()


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("referee/games/rams.py", "import eventsourcing.domain", {"eventsourcing.domain"}),
        ("referee/games/rams.py", "from ..store.match import Match", {"referee.store.match.Match"}),
        ("referee/games/kalabrias/play.py", "from referee import store", {"referee.store"}),
        ("referee/tricks.py", "from random import Random", {"random.Random"}),
        ("referee/cards.py", "from random import Random, shuffle", {"random.shuffle"}),
        ("referee/events.py", "import datetime\ndatetime.datetime.now()", {"datetime.now"}),
        ("referee/acts.py", "from datetime import datetime\nfrom uuid import UUID", set()),
        ("referee/rulebook/__init__.py", "import pathlib, litestar", {"litestar"}),
        ("referee/store/store.py", "import time, psycopg, sqlalchemy, api", {"sqlalchemy", "api"}),
        ("projections/pots.py", "from referee.events import Event\nimport sqlalchemy", set()),
        ("projections/pots.py", "from referee.games import rams", {"referee.games.rams"}),
        ("projections/pots.py", "def f():\n    import api.app", {"api.app"}),
    ],
)
def test_a_forbidden_import_is_found(file: str, source: str, found: set[str]):
    assert forbidden(file, source) == found
