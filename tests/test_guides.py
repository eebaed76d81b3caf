"""The guides are true: their Python is run as it stands, and prints what they say that it prints."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.serving import served

GUIDES = Path(__file__).parents[1] / "openapi" / "guides"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)
BOT_SECONDS = 120


@pytest.mark.parametrize("guide", ["first-match", "following", "conflicts", "errors", "shuffle"])
def test_a_guide_is_true(guide: str, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = BLOCK.findall((GUIDES / f"{guide}.md").read_text("utf-8"))
    assert blocks
    names: dict[str, Any] = {}
    with served(sqlite_url) as address:
        monkeypatch.setenv("KNACKA", address)
        for block, told in blocks:
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                exec(compile(block, f"{guide}.md", "exec"), names)
            assert said.getvalue() == told
        names["knacka"].close()


def test_every_link_leads_somewhere() -> None:
    for guide in GUIDES.glob("*.md"):
        for link in re.findall(r"\]\(([^)]+)\)", guide.read_text("utf-8")):
            assert "://" in link or (GUIDES / link).exists(), f"{guide.name}: {link}"


def test_the_check_of_a_shuffle_has_thirty_lines_at_most() -> None:
    assert len((GUIDES.parent / "shuffle.py").read_text("utf-8").splitlines()) <= 30


@pytest.mark.parametrize("name", ["bot.py", "bot.ts"])
def test_a_bot_has_sixty_lines_at_most(name: str) -> None:
    assert len((GUIDES / name).read_text("utf-8").splitlines()) <= 60


def test_bots_play_a_match_to_its_end(sqlite_url: str) -> None:
    with served(sqlite_url) as address, httpx.Client(base_url=address) as client:
        opening = {
            "ruleset": "kalabrias",
            "players": [{"name": "Anna"}, {"name": "Bo"}],
            "options": {"target_score": 200},
        }
        match = client.post("/v1/matches", json=opening).raise_for_status().json()
        bots = [
            subprocess.Popen(
                [sys.executable, GUIDES / "bot.py", address, match["id"], str(one["seat"]), one["token"]]
            )
            for one in match["seats"]
        ]
        try:
            assert [one.wait(BOT_SECONDS) for one in bots] == [0, 0]
        finally:
            for one in bots:
                one.kill()
                one.wait()
        assert client.get(f"/v1/matches/{match['id']}").json()["phase"] == "over"
