"""The guides are true: their Python runs literally, and prints the output that they show."""

import contextlib
import io
import json
import re
import runpy
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.matches import events
from tests.clients import guides
from tests.log.bundle_checks import KEY
from tests.support import guide_bots
from tests.support.paths import ROOT
from tests.support.running_service import served

GUIDES = Path(__file__).parents[1] / "openapi" / "guides"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.parametrize("guide", ["first-match", "following", "conflicts", "errors", "shuffle", "clubs", "log"])
def test_a_guide_is_true(guide: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall((GUIDES / f"{guide}.md").read_text("utf-8"))
    assert blocks
    names: dict[str, Any] = {}
    with served(sqlite_url, log_key=KEY.private_text, log_seconds=1) as address:
        monkeypatch.setenv("KNACKA", address)
        for block, told in blocks:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block, f"{guide}.md", "exec"), names)
            assert said.getvalue() == told
        names["knacka"].close()


@pytest.mark.parametrize("language", ["go", "java", "python", "typescript"])
def test_a_guide_of_a_client_is_short_and_installs_what_is_locked(language: str) -> None:
    """``make clients`` runs the commands and the programs of these guides."""
    text = (GUIDES / f"client-{language}.md").read_text("utf-8")
    assert len(text.splitlines()) <= guides.LINES_MAX
    locked = (ROOT / "requirements-clients.lock").read_text("utf-8")
    from_npm = json.loads((CLIENTS / "package.json").read_text("utf-8"))["devDependencies"]
    wanted = guides.packages(text)
    assert wanted
    assert [name for name in wanted if f"\n{name}==" not in locked and name not in from_npm] == []


def test_the_guide_to_a_game_quotes_its_files() -> None:
    files = [
        path.read_text("utf-8") for path in (ROOT / "tests/plump").rglob("*.*") if path.suffix in (".py", ".toml")
    ]
    text = (GUIDES / "new-game.md").read_text("utf-8")
    parts = [
        part for block in re.findall(r"```\w+\n(.*?)```", text, re.DOTALL) for part in re.split(r"\n{2,}", block)
    ]
    assert len(parts) > 10
    for part in parts:
        assert any(part.strip() in file for file in files), part


def test_every_link_leads_somewhere() -> None:
    for guide in GUIDES.glob("*.md"):
        for link in re.findall(r"\]\(([^)]+)\)", guide.read_text("utf-8")):
            assert "://" in link or (GUIDES / link).exists(), f"{guide.name}: {link}"


@pytest.fixture
def bot() -> dict[str, Any]:
    """Return the names that bot.py defines."""
    return runpy.run_path(str(GUIDES / "bot.py"))


@pytest.fixture
def dealer(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """Yield a client of the dealer, in a match whose streams send a comment all the time."""
    monkeypatch.setattr(events, "KEEP_ALIVE_SECONDS", 0.01)
    with served(sqlite_url) as address, httpx.Client(base_url=f"{address}/v1/matches") as client:
        opening = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}], "first_dealer": 0}
        match = client.post("", json=opening).raise_for_status().json()
        client.headers["Authorization"] = f"Bearer {match['seats'][0]['token']}"
        client.base_url = client.base_url.join(match["id"])
        yield client


def test_a_bot_takes_each_state_once(bot: dict[str, Any], dealer: httpx.Client) -> None:
    found = bot["states"](dealer)
    first = next(found)
    later = threading.Timer(0.3, partial(dealer.post, "acts", json={"act": "deal", "seat": 0}))
    later.start()
    assert next(found)["version"] > first["version"]
    later.join()
    found.close()


def test_a_bot_without_its_token_gives_up(bot: dict[str, Any], dealer: httpx.Client) -> None:
    dealer.headers["Authorization"] = "Bearer of-something-else"
    with pytest.raises(httpx.HTTPStatusError, match="401"):
        next(bot["states"](dealer))


CLIENTS = GUIDES.parents[1] / "tests" / "clients"


@pytest.mark.parametrize(
    "place", [*sorted(GUIDES.iterdir()), *sorted(CLIENTS.glob("*/play.*"))], ids=lambda place: place.name
)
def test_no_key_of_an_act_can_be_guessed(place: Path) -> None:
    """Guides and clients are imitated. A key that is not random may be that of another act."""
    text = place.read_text("utf-8")
    guessed = re.findall(r""""Idempotency-Key": "[^"]+"|act-\$?\{""", text)
    assert not guessed


@pytest.mark.parametrize("name", ["bot.py", "bot.ts"])
def test_a_bot_has_sixty_lines_at_most(name: str) -> None:
    assert len((GUIDES / name).read_text("utf-8").splitlines()) <= 60


def test_bots_play_a_match_to_its_end(sqlite_url: str) -> None:
    """``make clients`` does the same with bots in TypeScript."""
    with served(sqlite_url) as address:
        assert guide_bots.play(address, (sys.executable, GUIDES / "bot.py")) == guide_bots.ENDED


def test_a_bot_goes_on_when_its_connection_breaks(sqlite_url: str) -> None:
    """``make clients`` does the same with a bot in TypeScript."""
    with served(sqlite_url) as address:
        assert guide_bots.goes_on(address, (sys.executable, GUIDES / "bot.py"))
