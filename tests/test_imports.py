"""The imports that each package may use: the rules import no storage or clocks, the projections no rules.

``api/`` has one direction (:data:`LAYERS`). No module with calls imports a different one: code that two of them share
is in a module without calls.
"""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Set
from fnmatch import fnmatch
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted(
    path.relative_to(ROOT) for top in ("referee", "projections", "api") for path in ROOT.glob(f"{top}/**/*.py")
)
DEMO = sorted(path.relative_to(ROOT) for path in ROOT.glob("tests/demo/*.py"))
"""The demo, which uses the service only over HTTP."""

EDGE = {"referee.store"}
WEB = {"litestar", "uvicorn"}
STORAGE = {"eventsourcing", "psycopg", "psycopg_pool", "sqlalchemy", "sqlite3"}
CHANCE = {"random", "secrets", "time", "uuid.uuid1", "uuid.uuid4"}
MACHINE = {"asyncio", "io", "os", "pathlib", "socket", "subprocess", "threading"}
EDGES = {"referee.store.clock", "referee.store.connection", "referee.store.postgres_connection"}
IN_MEMORY = {"io.BytesIO", "io.StringIO"}
CLOCK = {"date.today", "datetime.now", "datetime.today", "datetime.utcnow", "time.time"}
"""The clock of the machine, which may show no date."""
READS_THE_CLOCK = "referee/store/clock.py"
CALLS = {*CLOCK, "open", "print", "uuid.uuid4"}


ROUTES = {"Controller", "delete", "get", "head", "patch", "post", "put", "route"}
PURE = ("journal.py", "transliterate.py", "payable.py", "plan.py", "spreadsheets.py", "exports/*")
"""Modules that work on a journal that other modules have read."""
STARTS = {"api/app.py", "api/cli.py"}
"""The modules that construct the service."""
LAYERS = (
    {"http"},
    {"access"},
    {"personal_data"},
    {"runtime"},
    {"books", "cases", "clubs", "docs", "health", "log", "matches", "money"},
    {"invitations"},
    {"log_lines", "settings", "startup"},
    {"maintenance"},
    {"commands"},
    {"__main__", "app", "cli", "direct_acts", "preload", "server"},
)
"""The folders and modules of ``api/`` from the lowest layer to the highest. Imports go down or stay in a layer."""


def answers(source: str) -> bool:
    """Return whether a module holds a call: it uses a route decorator of Litestar."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module in {"litestar", "litestar.handlers"}
        and {alias.name for alias in node.names} & ROUTES
        for node in ast.walk(ast.parse(source))
    )


@cache
def call_modules() -> set[str]:
    """Return the modules that hold calls."""
    return {
        ".".join(path.with_suffix("").parts)
        for path in SOURCES
        if path.parts[0] == "api" and answers((ROOT / path).read_text())
    }


def banned(file: str) -> tuple[set[str], set[str]]:
    """Return the names that this file may not use, and the exceptions. A new file of the referee must be pure."""
    if file.startswith("projections/"):
        # The projections are stored with the events: one module knows where, and how to connect.
        known = {
            "referee.actors",
            "referee.clubs.commands",
            "referee.clubs.facts",
            "referee.clubs.proposal_events",
            "referee.events",
            "referee.log.tree",
            "referee.officials.events",
            "referee.settlement",
            "referee.visibility",
            "referee.wire_types",
            "referee.tokens",
            "referee.value",
        } | EDGES
        if any(fnmatch(file, f"projections/{one}") for one in PURE):
            return WEB | STORAGE | CHANCE | MACHINE | CALLS | {"api", "referee"}, known - EDGES | IN_MEMORY
        return WEB | {"api", "referee"}, known
    if file.startswith(("api/http/", "api/access/")):
        own = {"api.http"} if file.startswith("api/http/") else {"api.http", "api.access"}
        return {"api"}, own
    if file.startswith("tests/demo/"):  # the abilities of any client, and of a person with access to the store
        own = set() if file == "tests/demo/tampering.py" else STORAGE
        return WEB | own | {"api", "projections", "referee", "tests"}, {"tests.demo"}
    if file.startswith("api/"):
        return set() if file in STARTS else call_modules(), set()
    everywhere = WEB | {"sqlalchemy", "api", "projections"}
    if file.startswith("referee/store/"):
        return everywhere, set()
    if fnmatch(file, "referee/rulebook/*"):  # reads its own data
        return everywhere | STORAGE | EDGE | CHANCE, set()
    seeded = {"random.Random"} if file == "referee/cards.py" else set()
    return everywhere | STORAGE | EDGE | CHANCE | MACHINE | CALLS, seeded


@cache
def uses(file: str, source: str) -> frozenset[str]:
    """Return the absolute dotted names that a file imports, and the functions of CALLS that it calls."""
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
    return frozenset(found)


ACCESS = {"api.access.access", "api.access.caller", "api.access.clubs"}
"""Modules of ``api/access/`` that calls may import; the others are internal."""
BESIDE_ACCESS = {
    "api/app.py": {
        "api.access.addresses.Addresses",
        "api.access.limits.Limits",
        "api.access.limits.INVALID_CREDENTIAL_CODES",
        "api.access.quotas.Quotas",
        "api.access.tokens.RefusedTokens",
        "api.access.attempts.noted_attempt",
    },
    "api/clubs/new_keys.py": {
        "api.access.idempotent_secrets.Derived",
        "api.access.keys.make_key_text",
        "api.access.tokens.hash_of",
    },
    "api/clubs/command_handling.py": {"api.access.codes.new_code", "api.access.tokens.hash_of"},
    "api/clubs/schemas.py": {"api.access.codes.Code", "api.access.keys.LENGTH_MAX", "api.access.keys.PATTERN"},
    "api/invitations/calls.py": {"api.access.codes"},
    "api/invitations/keys.py": {"api.access.codes.number_of", "api.access.tokens.hash_of"},
    "api/invitations/seats.py": {
        "api.access.codes.number_of",
        "api.access.tokens.hash_of",
        "api.access.tokens.new_token",
    },
    "api/matches/invitations.py": {"api.access.codes", "api.access.tokens.hash_of"},
    "api/commands/keys.py": {"api.access.tokens.hash_of", "api.access.tokens.new_token"},
    "api/matches/events.py": {"api.access.tickets.TICKET_LENGTH"},
    "api/matches/openings.py": {
        "api.access.idempotent_secrets.Derived",
        "api.access.tokens.hash_of",
        "api.access.tokens.new_token",
    },
    "api/matches/tokens.py": {"api.access.tokens.hash_of", "api.access.tokens.new_token"},
    "api/runtime/call.py": {"api.access.credentials"},
    "api/runtime/refused_attempts.py": {"api.access.attempts.Tried"},
    "api/runtime/service.py": {
        "api.access.limits.Limits",
        "api.access.quotas.Quotas",
        "api.access.tickets.Tickets",
    },
    "api/settings.py": {"api.access.addresses.networks_of"},
}
"""Other names that some modules use: they make tokens, limit or count, and decide no access."""
TELLS = {"authorization", "holder", "sole_actor"}
"""Names that identify a caller: a module that reads them decides access itself."""
VERIFIES = "api/maintenance/replay_check.py"
"""Looks at what was decided once."""


def decides(file: str, source: str) -> set[str]:
    """Return the names by which a file of the API decides access itself."""
    if not file.startswith("api/") or file.startswith("api/access/"):
        return set()
    known = ACCESS | BESIDE_ACCESS.get(file, set())
    found = {name for name in uses(file, source) if name.startswith("api.access.")}
    found = {name for name in found if name not in known and name.rpartition(".")[0] not in known}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(of, name)) if name in TELLS and file != VERIFIES:
                found |= set() if ast.unparse(of).endswith("access") else {name}
            case ast.Constant(b"authorization"):
                found.add("authorization")
    return found


def forbidden(file: str, source: str) -> set[str]:
    def within(name: str, tops: set[str]) -> bool:
        return any(f"{name}.".startswith(f"{top}.") for top in tops)

    no, yes = banned(file)
    return {name for name in uses(file, source) if within(name, no) and not within(name, yes)}


def room_of(name: str) -> str | None:
    """Return the folder or module directly below ``api`` of a dotted name; ``None`` if it is outside."""
    top, *rest = name.split(".")
    return rest[0] if top == "api" and rest and any(rest[0] in layer for layer in LAYERS) else None


def rooms_used(path: Path) -> set[str]:
    """Return the rooms of ``api/`` that a file imports, without its own."""
    file = path.as_posix()
    return {room for name in uses(file, (ROOT / path).read_text()) if (room := room_of(name))} - {rooms()[path]}


@cache
def rooms() -> dict[Path, str]:
    """Return the room of each file in ``api/``."""
    inside = (path for path in SOURCES if path.parts[0] == "api" and path != Path("api/__init__.py"))
    return {path: path.with_suffix("").parts[1] for path in inside}


def test_the_api_has_one_direction():
    height = {room: number for number, layer in enumerate(LAYERS) for room in layer}
    upward = {
        (path.as_posix(), used)
        for path, room in rooms().items()
        for used in rooms_used(path)
        if height[used] > height[room]
    }
    assert upward == set()


def test_the_rooms_of_the_api_have_no_circle():
    arrows: dict[str, set[str]] = {room: set() for layer in LAYERS for room in layer}
    for path, room in rooms().items():
        arrows[room] |= rooms_used(path)
    TopologicalSorter(arrows).prepare()  # raises CycleError and names the circle


def test_every_room_of_the_api_has_a_layer():
    assert set(rooms().values()) == set().union(*LAYERS)


def found_in(paths: Iterable[Path], look: Callable[[str, str], Set[str]]) -> dict[str, Set[str]]:
    """Return by file what a check of its name and text finds; no entry if it finds nothing."""
    found = {path.as_posix(): look(path.as_posix(), (ROOT / path).read_text()) for path in paths}
    return {file: uses for file, uses in found.items() if uses}


def test_one_place_decides_who_may_see_and_do_what():
    assert found_in(SOURCES, decides) == {}


@pytest.mark.parametrize(
    ("file", "source", "found"),
    [
        ("api/matches/acts.py", "from api.access.caller import Caller", set()),
        ("api/matches/acts.py", "from api.access.access import Access, check_authorization", set()),
        ("api/matches/acts.py", "from api.access.tokens import hash_of", {"api.access.tokens.hash_of"}),
        ("api/matches/acts.py", "from api.access import attempts", {"api.access.attempts"}),
        ("api/matches/tokens.py", "from api.access.tokens import hash_of, new_token", set()),
        ("api/matches/tokens.py", "import api.access.tokens", {"api.access.tokens"}),
        ("api/matches/acts.py", "service.access.holder(match, shown)", set()),
        ("api/matches/acts.py", "match.holder(held)", {"holder"}),
        ("api/matches/acts.py", "match.sole_actor(act)", {"sole_actor"}),
        ("api/matches/acts.py", 'header(request, b"authorization")', {"authorization"}),
        ("api/access/access.py", "match.holder(held)", set()),
        ("referee/store/desk.py", "match.holder(held)", set()),
    ],
)
def test_a_second_place_is_found(file: str, source: str, found: set[str]):
    assert decides(file, source) == found


def test_one_place_reads_the_clock():
    assert found_in(SOURCES, lambda file, source: uses(file, source) & CLOCK).keys() == {READS_THE_CLOCK}


def test_a_file_imports_only_what_its_place_allows():
    assert found_in([*SOURCES, *DEMO], forbidden) == {}


LOADED = """
import sys
import api.cli
api.startup.open_once(sys.argv[1])
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_service_on_sqlite_loads_only_libraries_that_it_uses(tmp_path: Path):
    start = [sys.executable, "-c", LOADED]
    loaded = subprocess.run([*start, f"sqlite:///{tmp_path}/knacka.db"], cwd=ROOT, check=True, stdout=subprocess.PIPE)
    libraries = set(loaded.stdout.decode().split())
    assert "sqlalchemy" in libraries
    assert not libraries & {"cryptography", "psycopg", "psycopg_binary", "psycopg_pool"}


def test_the_calls_are_found():
    assert {"api.matches.acts", "api.docs.rulesets", "api.health.health"} <= call_modules()
    assert call_modules().isdisjoint({"api.matches.schemas", "api.http.describe", "api.runtime.service"})


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
        ("projections/pots.py", "from referee.officials.events.shuffle import EntropyGiven", set()),
        ("projections/pots.py", "from referee.officials import shuffle", {"referee.officials.shuffle"}),
        ("projections/pots.py", "from referee.officials.events.takeback import ActTakenBack", set()),
        ("projections/pots.py", "from referee.officials import takeback", {"referee.officials.takeback"}),
        ("projections/pots.py", "from referee.settlement import settlement", set()),
        ("projections/pots.py", "from referee.games import rams", {"referee.games.rams"}),
        ("projections/pots.py", "from referee.store import connection, store", {"referee.store.store"}),
        ("projections/pots.py", "def f():\n    import api.app", {"api.app"}),
        ("projections/plan.py", "import sqlalchemy\nfrom io import BytesIO", {"sqlalchemy"}),
        ("projections/exports/sie.py", "from datetime import date\ndate.today()", {"date.today"}),
        ("projections/exports/sie.py", "from referee.store import connection", {"referee.store.connection"}),
        ("api/cases/knocks.py", "from api.matches.acts import ACT", {"api.matches.acts.ACT"}),
        ("api/matches/events.py", "from . import acts, schemas", {"api.matches.acts"}),
        ("api/cases/case.py", "from api.books import deals", {"api.books.deals"}),
        ("api/runtime/service.py", "import api.runtime.metrics, api.health.health", {"api.health.health"}),
        ("api/http/describe.py", "from api.matches.schemas import EventSeen", {"api.matches.schemas.EventSeen"}),
        ("api/http/describe.py", "from api.http import problems\nfrom referee import sentences", set()),
        (
            "api/access/tokens.py",
            "from api.http.headers import header\nimport api.runtime.service",
            {"api.runtime.service"},
        ),
        ("tests/demo/table.py", "from tests.demo import client\nimport referee.games", {"referee.games"}),
        ("api/app.py", "from api.matches import acts", set()),
    ],
)
def test_a_forbidden_import_is_found(file: str, source: str, found: set[str]):
    assert forbidden(file, source) == found
