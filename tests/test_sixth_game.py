"""A game is one module and its rulebook: a sixth is installed, opened, played and scored, and nothing else changes.

It is known only in processes that find its distribution, so that no other test meets it.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.games import ENTRY_POINT_GROUP, RULESETS
from tests.sixth.high_card import RULESET
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import environment_of, running

METADATA = "Metadata-Version: 2.1\nName: knacka-high-card\nVersion: 1\n"
CARDS = [["H9"], ["SA"], ["DA"]]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder on the path with the files that an installer puts there for the game's distribution."""
    place = tmp_path_factory.mktemp("installed")
    info = place / "site" / "knacka_high_card-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\nhigh-card = tests.sixth.high_card\n")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("PYTHONPATH", str(info.parent))
        yield place


@pytest.fixture(scope="module")
def client(installed: Path) -> Iterator[httpx.Client]:
    """Yield a client of the service in a process that has found the game."""
    url = f"sqlite:///{installed}/knacka.db"
    fresh = [sys.executable, "-m", "api"]
    with running(url, knacka=fresh) as process, httpx.Client(base_url=process.address, timeout=30) as client:
        yield client


def test_a_distribution_that_left_out_its_rulebook_is_named_at_the_start(tmp_path: Path):
    (tmp_path / "bare_game").mkdir()
    (tmp_path / "bare_game" / "__init__.py").write_text("from tests.sixth.high_card import RULESET\n")
    info = tmp_path / "bare_game-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bare-game\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\nbare = bare_game\n")
    command = [sys.executable, "-c", "import referee.games"]
    environment = environment_of(PYTHONPATH=str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)
    assert "ImportError: The package bare_game has no file high-card.toml" in done.stderr


def test_here_it_is_not_known():
    assert "high-card" not in RULESETS


def test_at_the_desk_and_in_the_protocol(installed: Path):
    command = [sys.executable, "-m", "tests.sixth.at_the_desk", f"sqlite:///{installed}/desk.db"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    protocol = said["protocol"]
    assert "high-card/compared" in said["topics"]
    assert protocol["ruleset"] == "high-card"
    assert (protocol["over"], protocol["won_by"], protocol["won_rule"]) == (True, "target", "H6")
    assert max(protocol["points"]) == protocol["points"][protocol["winner"]] == 3
    assert said["acts"] == 4 * len(protocol["lines"]), "a deal, and three cards"
    for line in protocol["lines"]:
        assert sum(line["tricks"]) == sum(line["change"]) == 1
        assert [entry["rule"] for entry in line["entries"]] == ["H5"]


class TestOverHttp:
    """The interface as it is for any other game."""

    def test_it_is_described(self, client: httpx.Client):
        shown = client.get("/v1/rulesets/high-card").json()
        assert shown["seats"] == {"min": 2, "max": 4}
        assert shown["options"]["properties"]["target"]["x-rules"] == ["H6"]
        assert {ruleset["ruleset"] for ruleset in client.get("/v1/rulesets").json()} == {*RULESETS, "high-card"}
        rules = client.get("/v1/rulesets/high-card/rules", headers={"Accept-Language": "sv"}).json()
        assert rules["title"] == "Högsta kort"

    def test_it_is_played_to_its_end(self, client: httpx.Client):
        table = Table(client, ruleset="high-card", dealing="table", enforcement="refuse", options={"target": 2})
        assert table.opened["options"] == {"target": 2}
        for dealer in (0, 1):
            assert table.get("/legal-acts", dealer).json() == [{"act": "deal", "seat": dealer}]
            table.deal(CARDS, dealer)
            for step in (1, 2, 3):
                seat = (dealer + step) % 3
                assert table.get(who=seat).json()["hand"] == CARDS[seat]
                play = {"act": "play", "seat": seat, "card": CARDS[seat][0]}
                assert table.get("/legal-acts", seat).json() == [play]
                assert table.post("/acts", play, seat).status_code == 201
        protocol = table.get(f"/protocol?min_version={table.version()}").json()
        assert [line["points"] for line in protocol["lines"]] == [[0, 1, 0], [0, 2, 0]]
        assert (protocol["winner"], protocol["won_by"]) == (1, "target")
        assert table.get(who=0).json()["phase"] == "over"
        events = table.get("/events", "official").json()["events"]
        facts = [event["event"] for event in events]
        assert [one["highest"] for one in facts if one["topic"] == "high-card/compared"] == ["SA"] * 2

    def test_wrong_acts_are_refused_by_the_rules_of_the_game(self, client: httpx.Client):
        table = Table(client, ruleset="high-card", dealing="table", enforcement="refuse", options={})
        refused = table.send("deal", 1, hands=CARDS)
        assert (refused.status_code, refused.json()["rule"]) == (422, "H2")
        table.deal(CARDS)
        refused = table.send("play", 0, card="H9")
        assert (refused.status_code, refused.json()["rule"]) == (422, "H4")
        assert table.send("bid", 1, bid="1").status_code == 409
        body: dict[str, Any] = {"ruleset": "high-card", "players": [{"name": name} for name in "ABCDE"]}
        assert client.post("/v1/matches", json=body).status_code == 422
        stakes = {"players": body["players"][:2], "stakes": {"currency": "SEK", "unit": 1}}
        refused = client.post("/v1/matches", json=body | stakes)
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/no-money-rule")
        assert refused.json()["facts"] == {"ruleset": "high-card", "allowed": []}
        answer = client.post("/v1/matches", json=body | {"players": body["players"][:2], "options": {"goal": 1}})
        assert (answer.status_code, "target" in answer.text) == (422, True)


def test_the_module_holds_all_there_is_of_it():
    assert {path.name for path in (ROOT / "tests/sixth/high_card").iterdir() if path.is_file()} == {
        "__init__.py",
        "high-card.toml",
    }
    assert RULESET.events[0].TOPIC == "high-card/compared"
