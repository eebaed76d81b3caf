"""SECURITY.md names tests that exist, for every risk of the list."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_risk_of_the_list_has_a_test() -> None:
    rows = dict(re.findall(r"^\| API(\d+) .*\| (.*) \|$", SECURITY, re.MULTILINE))
    assert list(rows) == [str(number) for number in range(1, 11)]
    assert all(re.search(r"`tests/\S+\.py`", tests) for tests in rows.values())


def test_every_file_and_setting_that_is_named_exists() -> None:
    settings = (ROOT / "api" / "settings.py").read_text(encoding="utf-8")
    files = re.findall(r"`([a-z]+/[^`*…]+)`", SECURITY)
    assert len(files) > 20
    assert [file for file in files if not (ROOT / file).is_file()] == []
    names = re.findall(r"`KNACKA_([A-Z_]+)`", SECURITY)
    assert names
    assert [name for name in names if f"    {name.lower()}: " not in settings] == []


SENDS = {"http.client", "urllib.request", "httpx", "requests", "aiohttp", "smtplib", "ftplib", "xmlrpc"}
"""Modules that send requests to others."""


def test_the_service_sends_no_requests() -> None:
    """API7, API10: an address in a request is never fetched, and no other service is called."""
    found = {}
    for top in ("api", "projections", "referee"):
        for path in (ROOT / top).rglob("*.py"):
            if used := imported(path) & SENDS:
                found[str(path)] = used
    assert found == {}
    assert imported(ROOT / "tests/demo/client.py") & SENDS, "the check finds such a module"


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names
