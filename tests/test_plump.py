"""Plump is a distribution of its own: it brings an act, a bid, a fault, a result field and texts, and no other file
changes.

Only processes that find the distribution know the game, so no other test meets it.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.cli import NOT_STARTED
from api.maintenance.doctor import doctor
from referee.games import ACTS, RULESETS
from referee.store.damaged import DamagedRow
from referee.store.store import construct
from referee.value import BIDS
from referee.vocabulary import ENTRY_POINT_GROUP
from tests.conformance.description_check import Description
from tests.plump.plump import points
from tests.support.match_client import Table, topics_of
from tests.support.paths import ROOT
from tests.support.running_service import environment_of, running

HANDS = [["SA", "H2"], ["SK", "HA"], ["S2", "HK"]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which the game is installed, as ``pipx inject`` does it."""
    source, site = tmp_path_factory.mktemp("source") / "plump", tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "tests/plump", source, ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile", "--target", site]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, source], check=True)
    return site


def program(site: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program that finds the packages in this folder."""
    environment = environment_of(PYTHONPATH=str(site), **settings)
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def matches(site: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[dict[str, Any]]]:
    """Return a store with random matches, and what happened in them."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store')}/knacka.db"
    done = program(site, "-m", "tests.plump.random_matches", url)
    assert done.returncode == 0, done.stderr
    return url, json.loads(done.stdout)


@pytest.fixture(scope="module")
def client(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Yield a client of the service in a process that has found the game."""
    url, fresh = f"sqlite:///{tmp_path_factory.mktemp('served')}/knacka.db", [sys.executable, "-m", "api"]
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as environment:  # of the start only: other tests start processes too
            environment.setenv("PYTHONPATH", str(site))
            process = stack.enter_context(running(url, knacka=fresh))
        client = stack.enter_context(httpx.Client(base_url=process.address, timeout=30))
        description = Description(client.get("/openapi.json").text)

        def check(answer: httpx.Response) -> None:
            """Assert that the answer fits the description of this service, and so does an accepted request."""
            asked, target = answer.request, answer.request.url.raw_path.decode()
            if target.startswith("/v1"):
                description.answered(asked.method, target, answer.status_code, answer.headers, answer.read())
                if answer.is_success:
                    description.asked(asked.method, target, json.loads(asked.content or "null"))

        client.event_hooks = {"response": [check]}
        yield client


def opened(client: httpx.Client, **opening: Any) -> Table:
    return Table(client, **{"ruleset": "plump", "enforcement": "refuse", "options": {"cards": 2}} | opening)


def test_here_it_is_not_known():
    assert "plump" not in RULESETS
    assert "10" not in BIDS
    assert "show_fingers" not in {kind.__struct_config__.tag for kind in ACTS}


@pytest.mark.parametrize(
    ("bid", "tricks", "expected"),
    [
        (3, 3, (13, "P9")),
        (10, 10, (110, "P9")),
        (0, 0, (5, "P10")),
        (3, 4, (0, "P11")),
        (3, 2, (0, "P11")),
        (0, 1, (0, "P11")),
    ],
)
def test_the_points_of_a_bid(bid: int, tricks: int, expected: tuple[int, str]):
    assert points(bid, tricks) == expected


class TestRandomMatches:
    def test_both_ways_to_bid_happen(self, matches: tuple[str, list[dict[str, Any]]]):
        topics = {topic for match in matches[1] for topic in match["topics"]}
        assert {"plump/bid", "plump/fingers-shown", "plump/fingers-compared", "card/played"} <= topics
        bids = {bid for match in matches[1] for line in match["lines"] for bid in line["detail"]["tricks_bid"]}
        assert 10 in bids, "a bid that only Plump has"

    def test_every_match_has_the_deals_and_cards_of_the_rules(self, matches: tuple[str, list[dict[str, Any]]]):
        for match in matches[1]:
            most, seats = match["options"]["cards"], match["seats"]
            each = [sum(line["tricks"]) for line in match["lines"]]
            assert each == [*range(most, 1, -1), *[1] * seats, *range(2, most + 1)]

    def test_every_line_follows_from_bids_and_tricks(self, matches: tuple[str, list[dict[str, Any]]]):
        for match in matches[1]:
            for line in match["lines"]:
                bids, tricks = line["detail"]["tricks_bid"], line["tricks"]
                given = [points(*one) for one in zip(bids, tricks, strict=True)]
                assert [(one["points"], one["rule"]) for one in line["entries"]] == given
                assert line["detail"]["plumps"] == [seat for seat, one in enumerate(given) if not one[0]]
                if match["options"]["bidding"] == "in_turn":
                    assert sum(bids) != sum(tricks)

    def test_the_most_points_win(self, matches: tuple[str, list[dict[str, Any]]]):
        for match in matches[1]:
            final = match["lines"][-1]["points"]
            best = [seat for seat, total in enumerate(final) if total == max(final)]
            assert (match["won"]["by"], match["won"]["seat"]) == ("most_points", best[0])
            assert match["won"].get("seats", best) == best

    def test_the_protocol_has_every_line(self, matches: tuple[str, list[dict[str, Any]]]):
        for match in matches[1]:
            lines = match["protocol"]["lines"]
            assert [line["detail"] for line in lines] == [line["detail"] for line in match["lines"]]


class TestOverHttp:
    def test_its_words_are_described(self, client: httpx.Client, site: Path):
        done = program(site, "-m", "api", "openapi")
        schemas = json.loads(done.stdout)["components"]["schemas"]
        kernel = json.loads((ROOT / "openapi/openapi.json").read_text("utf-8"))["components"]["schemas"]
        assert schemas["Act"]["discriminator"]["mapping"]["show_fingers"] == "#/components/schemas/ShowFingers"
        assert set(schemas["BidValue"]["enum"]) - set(kernel["BidValue"]["enum"]) == {"10"}
        for name in ("Offence", "Fault"):
            assert set(schemas[name]["enum"]) - set(kernel[name]["enum"]) == {"late_fingers"}
        assert schemas["Result"]["properties"].keys() - kernel["Result"]["properties"].keys() == {"fingers"}
        assert schemas["Detail"]["properties"]["plumps"]["description"].startswith("Seats that get a plump")
        assert "plump/fingers-compared" in schemas["Event"]["discriminator"]["mapping"]
        shown = client.get("/v1/rulesets/plump").json()
        assert shown["options"]["properties"]["cards"]["x-rules"] == ["P2"]
        rules = client.get("/v1/rulesets/plump/rules", headers={"Accept-Language": "sv"}).json()
        assert rules["title"] == "Plump"

    def test_its_pages_can_be_read(self, client: httpx.Client):
        for path in ("/docs", "/problems", "/problems/total-comes-out", "/docs/rulebooks/plump.md"):
            assert client.get(path).status_code == 200, path

    def test_a_deal_with_bids_in_turn(self, client: httpx.Client):
        table = opened(client)
        table.deal(HANDS)
        table.bid("1", "1")
        refused = table.send("bid", 0, bid="0")
        assert (refused.status_code, refused.json()["rule"]) == (422, "P5")
        assert refused.json()["detail"] == (
            "The dealer may bid any number but 0: with it the bids add up to the 2 tricks of the deal."
        )
        assert table.send("bid", 0, bid="10").json()["rule"] == "P4"
        assert table.send("show_fingers", 0, number=1).status_code == 409
        table.bid("1", first=0)
        table.play("HA", "HK", "H2", first=1)
        table.play("SK", "S2", "SA", first=1)
        (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
        assert (line["points"], line["detail"]["plumps"]) == ([11, 11, 0], [2])

    def test_ten_cards_can_all_be_bid(self, client: httpx.Client):
        table = opened(client, dealing="house", options={})
        table.done("deal", 0)
        assert {"act": "bid", "seat": 1, "bid": "10"} in table.get("/legal-acts", 1).json()
        done = table.done("bid", 1, bid="10")
        assert done["events"][0]["event"]["bid"] == "10"

    def test_a_deal_with_fingers(self, client: httpx.Client):
        table = opened(client, options={"cards": 2, "bidding": "fingers"})
        table.deal(HANDS)
        assert table.get().json()["due"] == ["show_fingers"]
        table.done("show_fingers", 2, number=1)
        hidden = table.get("/events", 0).json()["events"][-1]["event"]
        assert hidden == {"topic": "plump/fingers-shown", "seat": 2}
        refused = table.send("show_fingers", 2, number=0).json()
        said = "Seat 2 has shown its number already, and cannot change it."
        assert (refused["rule"], refused["detail"]) == ("P13", said)
        table.done("show_fingers", 0, number=0)
        done = table.done("show_fingers", 1, number=1)
        assert topics_of(done["events"]) == ["plump/fingers-shown", "plump/fingers-compared"]
        assert done["events"][1]["event"]["shown"] == [0, 1, 1]
        table.done("report", 0, accused=1, fault="late_fingers")
        table.play("HA", "HK", "H2", first=1)
        assert table.send("report", 0, accused=2, fault="late_fingers").json()["rule"] == "P-O4"
        table.play("SK", "S2", "SA", first=1)
        (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
        assert [(one["points"], one["rule"]) for one in line["entries"]] == [(0, "P11"), (0, "P-O4"), (0, "P11")]
        text = table.get(f"/deals/1?min_version={table.version()}", Accept="text/plain").text
        assert 'fingers   P3 {"number": 1}' in text
        assert table.get("/deals/1", 0).status_code == 200
        assert table.get("/replay?at=4", "official").status_code == 200

    def test_a_whole_deal_is_entered(self, client: httpx.Client):
        table = opened(client, dealing="tally", enforcement="penalise", options={"cards": 2, "bidding": "fingers"})
        refused = table.send("result", None, tricks=[0, 1], fingers=[1, 1])
        assert (refused.json()["rule"], refused.json()["facts"]["at"]) == ("P13", "/fingers")
        late = [{"seat": 1, "fault": "late_fingers"}]
        table.done("result", None, tricks=[0, 1], fingers=[1, 1, 1], faults=late)
        (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
        assert line["points"] == [11, 0, 0]

    @pytest.mark.parametrize("after", ["the tricks", "the ruling"])
    def test_its_offence_is_ruled_on_by_an_official(self, client: httpx.Client, after: str):
        fingers = {"cards": 2, "bidding": "fingers"}
        table = opened(client, options=fingers, adjudication={"officials": [{"name": "Maja"}, {"name": "Nils"}]})
        table.deal(HANDS)
        for seat in range(3):
            table.done("show_fingers", seat, number=1)
        answer = table.post("/knocks", {"seat": 0, "accused": 1, "offence": "late_fingers"}, 0)
        assert answer.status_code == 201, answer.text
        ruling: dict[str, Any] = {"verdict": "upheld", "standard": "balance_of_probabilities", "rule": "P-O4"}
        if after == "the ruling":
            self.rule(table, ruling)
        table.play("HA", "HK", "H2", first=1)
        table.play("SK", "S2", "SA", first=1)
        if after == "the tricks":
            (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
            assert line["points"] == [11, 11, 0]
            self.rule(table, ruling)
        (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
        assert line["points"] == [11, 0, 0]
        assert [one["rule"] for one in line["entries"]] == ["P9", "P-O4", "P11"]
        case = table.get("/knocks/1", "official", **{"Accept-Language": "sv"}).json()
        assert "visade fingrarna efter de andra" in str(case)
        answer = table.post("/knocks/1/appeal", {"seat": 1, "text": "I was not late."}, 1)
        assert answer.status_code == 201, answer.text
        self.rule(table, ruling | {"verdict": "dismissed"}, by="official:2")
        (line,) = table.get(f"/protocol?min_version={table.version()}").json()["lines"]
        assert line["points"] == [11, 11, 0]

    @staticmethod
    def rule(table: Table, ruling: dict[str, Any], by: str = "official") -> None:
        answer = table.post("/knocks/1/ruling", ruling, by)
        assert answer.status_code == 201, answer.text


class TestWithoutTheGame:
    """The rows of a game that is not installed are refused, and never misread."""

    def test_the_service_does_not_start(self, matches: tuple[str, list[dict[str, Any]]], tmp_path: Path):
        done = program(tmp_path, "-m", "api", "serve", KNACKA_DATABASE_URL=matches[0])
        assert done.returncode == NOT_STARTED
        said = "the store has matches of a game that is not installed: plump: install its distribution"
        assert done.stderr.splitlines()[-1].startswith(said)

    def test_nothing_is_verified(self, matches: tuple[str, list[dict[str, Any]]], tmp_path: Path):
        done = program(tmp_path, "-m", "api", "verify", KNACKA_DATABASE_URL=matches[0])
        assert (done.returncode, done.stdout) == (NOT_STARTED, "")
        assert "not installed: plump" in done.stderr

    def test_the_doctor_names_it(self, matches: tuple[str, list[dict[str, Any]]]):
        lines: list[str] = []
        assert doctor({"KNACKA_DATABASE_URL": matches[0]}, lines.append) == 1
        assert any("not installed: plump" in line for line in lines)
        assert not any("restore its row" in line for line in lines)

    def test_no_match_is_read(self, matches: tuple[str, list[dict[str, Any]]]):
        with construct(matches[0]) as referee:
            for match in matches[1]:
                with pytest.raises(DamagedRow, match=r"cannot be read: .* not installed: plump"):
                    referee.load(UUID(match["id"]))


IMPORTS = "import referee.sentences, referee.notation, referee.store"


def add_game(folder: Path, package: str, *changes: tuple[str, str], words: str | None = None) -> None:
    """Install a copy of the game as this package, with texts of its files changed."""
    copy = folder.joinpath(*package.split("."))
    shutil.copytree(ROOT / "tests/plump/plump", copy, ignore=shutil.ignore_patterns("__pycache__"))
    if words is not None:
        (copy / "words.toml").write_text(words)
    for file in copy.iterdir():
        text = file.read_text("utf-8").replace("from plump.", f"from {package}.")
        for old, new in changes:
            text = text.replace(old, new)
        file.write_text(text, "utf-8")
    add_entry_point(folder, package)


def add_entry_point(folder: Path, package: str) -> None:
    info = folder / f"{package.replace('.', '_')}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.stem}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{info.stem[:-2]} = {package}\n")


OTHER_GAME = (
    ('key="plump"', 'key="plomp"'),
    ('ruleset = "plump"', 'ruleset = "plomp"'),
    ('"plump/', '"plomp/'),
    ("PlumpBidding", "PlompBidding"),
    ("show_fingers", "show_hands"),
    ("ShowFingers", "ShowHands"),
    ('"fingers"', '"hands"'),
    ("TricksBid", "PlompTricksBid"),
    ("FingersShown", "HandsShown"),
    ("FingersCompared", "HandsCompared"),
    ("LateFingersLifted", "LateHandsLifted"),
)
"""Changes that make of Plump a different game, with an option of the same name that has other values."""


def add_other_game(folder: Path, *without: str) -> None:
    """Install a second game, and make no change of the texts in ``without``."""
    add_game(folder, "plomp", *(change for change in OTHER_GAME if change[0] not in without))
    (folder / "plomp/plump.toml").rename(folder / "plomp/plomp.toml")


class TestOtherPackages:
    """Games are installed that have something in common with a different game."""

    @staticmethod
    def described(folder: Path) -> dict[str, Any]:
        done = program(folder, "-m", "api", "openapi")
        assert done.returncode == 0, done.stderr[-1000:]
        schemas: dict[str, Any] = json.loads(done.stdout)["components"]["schemas"]
        return schemas

    def test_an_option_may_have_the_name_of_an_option_of_another_game(self, tmp_path: Path):
        add_game(tmp_path, "plump", ("bidding: Bidding", "money: Bidding"), ("options.bidding", "options.money"))
        schemas = self.described(tmp_path)
        name = schemas["Options"]["properties"]["money"]["$ref"].rpartition("/")[2]
        assert {"in_turn", "fingers", "difference"} <= set(schemas[name]["enum"])

    def test_two_games_may_have_options_of_one_name(self, tmp_path: Path):
        add_game(tmp_path, "plump")
        add_other_game(tmp_path)
        schemas = self.described(tmp_path)
        name = schemas["Options"]["properties"]["bidding"]["$ref"].rpartition("/")[2]
        assert schemas[name]["enum"] == ["fingers", "hands", "in_turn"]

    def test_an_enumeration_needs_no_title(self, tmp_path: Path):
        add_game(tmp_path, "plump", ('title="PlumpBidding",', ""))
        assert self.described(tmp_path)["OneOfFingersInTurn"]["enum"] == ["fingers", "in_turn"]

    def test_a_package_inside_another_is_found_without_an_import(self, tmp_path: Path):
        add_game(tmp_path, "outer.plump")
        (tmp_path / "outer/__init__.py").write_text("import referee.value\n")
        done = program(tmp_path, "-c", f"{IMPORTS}; from referee.games import RULESETS; print(*RULESETS)")
        assert "plump" in done.stdout.split(), done.stderr


class TestMistakesOfAnAuthor:
    """A package that cannot be used is named when the service starts."""

    @classmethod
    def said(cls, folder: Path, words: str, rulebook: bool = True) -> str:
        """Return the error of the first import, for a game with these words."""
        add_game(folder, "odd_game", words=words)
        if not rulebook:
            (folder / "odd_game/plump.toml").unlink()
        return cls.error(folder)

    @staticmethod
    def error(folder: Path) -> str:
        """Return the error of the first import."""
        done = program(folder, "-O", "-c", IMPORTS)
        assert done.returncode == 1
        return done.stderr.splitlines()[-1]

    def test_without_a_rulebook(self, tmp_path: Path):
        said = self.said(tmp_path, "", rulebook=False)
        assert said.startswith("ImportError: The package odd_game has no file plump.toml")

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("bid = []", "words.toml of the package odd_game cannot be used: Object contains unknown field `bid`"),
            ('bids = ["ten tricks"]', "Expected `str` matching regex"),
            ('[offences."late-fingers"]', "Expected `str` matching regex"),
            ('faults = ["late"]', "cannot be used: faults without a text in offences: late"),
            (
                '[kinds]\nplayed = { en = "a", sv = "b" }',
                "The package odd_game and the kernel have different texts in kinds for played",
            ),
            ('[kinds]\nodd = { en = "a" }', "Object missing required field `sv` - at `$.kinds[...]`"),
            (
                '[result.bids]\nkind = "seat"\nsays = "A seat."',
                "The package odd_game has a result field that the kernel has already: bids",
            ),
            ('[result.act]\nkind = "seat"\nsays = "A seat."', "result fields with a reserved name"),
            ('[result.10]\nkind = "seat"\nsays = "A seat."', "odd_game cannot be used: Expected `str`"),
            ('[result.__init__]\nkind = "seat"\nsays = "A seat."', "odd_game cannot be used: Expected `str`"),
            ("[phases]\nshowing = 3", "package odd_game cannot be used: Expected `object`"),
            ("", "The act show_fingers needs a word of its own in [notation]"),
            ('[notation]\nshow_fingers = "bids"', "The act show_fingers needs a word of its own in [notation]"),
        ],
    )
    def test_with_wrong_words(self, tmp_path: Path, words: str, error: str):
        assert error in self.said(tmp_path, words)

    @pytest.mark.parametrize(
        ("old", "new", "error"),
        [
            ("RULESET =", "ruleset =", "The package plump has no RULESET"),
            (
                'id = "P2"',
                'id = "P1"',
                "The file plump.toml of the package plump cannot be used: plump: ids used more than",
            ),
            ('{"number": "own"}', '{"numbr": "own"}', "FingersShown has numbr, which is no field"),
            ('{"number": "own"}', '{"number": "officials"}', "FingersShown has number for 'officials': an audience"),
            ('key="plump"', 'key="kalabrias"', "referee.games.kalabrias and plump have games with the key kalabrias"),
            ('"plump/bid"', '"plump/fingers-shown"', "FingersShown have the topic plump/fingers-shown"),
            ('"plump/bid"', '"card/played"', "plump.states.TricksBid have the topic card/played"),
            ("TricksBid", "CaseOpened", "plump.states.CaseOpened have the class name CaseOpened"),
            ("ShowFingers", "KnockOut", "referee.acts and plump have different acts with the class name KnockOut"),
            ("[notation]", '[notation]\nbid = "zzz"', "words only for acts of its own, not for bid"),
            ("[notation]", '[notation]\nodd = "zzz"', "words only for acts of its own, not for odd"),
        ],
    )
    def test_with_wrong_types(self, tmp_path: Path, old: str, new: str, error: str):
        add_game(tmp_path, "plump", (old, new))
        assert error in self.error(tmp_path)

    @pytest.mark.parametrize(
        ("same", "error"),
        [
            ("ShowFingers", "plomp and plump have different acts with the class name ShowFingers"),
            ("show_fingers", "plomp and plump have different acts with the name show_fingers"),
            ("FingersShown", "plump.states.FingersShown have the class name FingersShown"),
            ('"plump/', "have the topic plump/"),
            ("PlumpBidding", "plomp and plump have different enumerations with the title PlumpBidding"),
        ],
    )
    def test_with_a_name_of_another_package(self, tmp_path: Path, same: str, error: str):
        add_game(tmp_path, "plump")
        add_other_game(tmp_path, same)
        assert error in self.error(tmp_path)

    def test_with_a_different_text_of_another_package(self, tmp_path: Path):
        add_game(tmp_path, "plump")
        add_other_game(tmp_path)
        words = tmp_path / "plomp/words.toml"
        words.write_text(words.read_text("utf-8").replace("the players show their", "all show their"), "utf-8")
        said = "The package plump and plomp have different texts in phases for showing"
        assert said in self.error(tmp_path)

    @pytest.mark.parametrize("package", ["absent", "absent.inner", "json.decoder"])
    def test_without_a_package(self, tmp_path: Path, package: str):
        add_entry_point(tmp_path, package)
        assert self.error(tmp_path).endswith(f"names {package}, which is no package.")
