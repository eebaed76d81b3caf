"""What each package may import: the rules know nothing of storage or clocks, the books nothing of rules.

In ``api/`` no call's module imports another's: what two calls share lies in a module that is no call.
"""

import ast
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path.relative_to(ROOT) for top in ("referee", "projections", "api") for path in ROOT.glob(f"{top}/**/*.py")
)

EDGE = {"referee.store"}
WEB = {"litestar", "uvicorn"}
STORAGE = {"eventsourcing", "psycopg", "psycopg_pool", "sqlalchemy", "sqlite3"}
CHANCE = {"random", "secrets", "time", "uuid.uuid1", "uuid.uuid4"}
MACHINE = {"asyncio", "io", "os", "pathlib", "socket", "subprocess", "threading"}
CALLS = {"date.today", "datetime.now", "datetime.today", "datetime.utcnow", "open", "print", "uuid.uuid4"}


ROUTES = {"Controller", "delete", "get", "head", "patch", "post", "put", "route"}
STARTS = {"api/app.py", "api/cli.py"}
"""What puts the service together."""


def answers(source: str) -> bool:
    """Whether a module holds a call: it has use for a route decorator of Litestar."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in {"litestar", "litestar.handlers"}
        and {alias.name for alias in node.names} & ROUTES
        for node in ast.walk(ast.parse(source))
    )


CALL_MODULES = {
    ".".join(path.with_suffix("").parts)
    for path in SOURCES
    if path.parts[0] == "api" and answers((ROOT / path).read_text())
}


def banned(file: str) -> tuple[set[str], set[str]]:
    """What this file may not use, and what of that it may. A new file of the referee is held to be pure."""
    if file.startswith("projections/"):
        # The books lie beside the events: where that is, and how one gets there, is said once.
        known = {"referee.actors", "referee.events", "referee.proceedings", "referee.store.reach", "referee.told"}
        return WEB | {"api", "referee"}, known | {"referee.log.tree", "referee.value"}
    if file.startswith(("api/http/", "api/access/")):
        own = {"api.http"} if file.startswith("api/http/") else {"api.http", "api.access"}
        return {"api"}, own
    if file.startswith("api/demo/"):  # what any client could do
        return WEB | STORAGE | {"api", "projections", "referee"}, {"api.demo"}
    if file.startswith("api/"):
        return set() if file in STARTS else CALL_MODULES, set()
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


def test_the_calls_are_found():
    assert {"api.matches.acts", "api.docs.rulesets", "api.ops.health"} <= CALL_MODULES
    assert CALL_MODULES.isdisjoint({"api.matches.shown", "api.http.describe", "api.service"})


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
        ("projections/pots.py", "from referee.proceedings.shuffle import EntropyGiven", set()),
        ("projections/pots.py", "from referee.officials import shuffle", {"referee.officials.shuffle"}),
        ("projections/pots.py", "from referee.proceedings.takeback import ActTakenBack", set()),
        ("projections/pots.py", "from referee.officials import takeback", {"referee.officials.takeback"}),
        ("projections/pots.py", "from referee.games import rams", {"referee.games.rams"}),
        ("projections/pots.py", "from referee.store import reach, store", {"referee.store.store"}),
        ("projections/pots.py", "def f():\n    import api.app", {"api.app"}),
        ("api/matches/knocks.py", "from api.matches.acts import ACT", {"api.matches.acts.ACT"}),
        ("api/matches/knocks.py", "from . import acts, shown", {"api.matches.acts"}),
        ("api/cases/case.py", "from api.books import deals", {"api.books.deals"}),
        ("api/service.py", "import api.ops.metrics, api.ops.health", {"api.ops.health"}),
        ("api/http/describe.py", "from api.matches.shown import EventSeen", {"api.matches.shown.EventSeen"}),
        ("api/http/describe.py", "from api.http import problems\nfrom referee import sentences", set()),
        ("api/access/tokens.py", "from api.http.headers import header\nimport api.service", {"api.service"}),
        ("api/demo/table.py", "from api.demo import client\nimport referee.games", {"referee.games"}),
        ("api/app.py", "from api.matches import acts", set()),
    ],
)
def test_a_forbidden_import_is_found(file: str, source: str, found: set[str]):
    assert forbidden(file, source) == found
