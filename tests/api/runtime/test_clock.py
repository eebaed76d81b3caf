"""The server's clock shows an impossible date: nothing is recorded, and operators read the reason."""

import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from api import cli
from api.maintenance.doctor import doctor
from tests.log.bundle_checks import followed
from tests.projections.follower_driver import until
from tests.support.club_client import ClubTable
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import running, served
from tests.support.service_in_memory import Client, client_of

NEVER_SET, FAR_AHEAD = 1.0, 3e11
"""Seconds since 1970 on a clock without a battery, and on a clock beyond the year 9999."""
OWN_CLOCK = """
import sys, time
from pathlib import Path
real, file = time.time, Path({file!r})
def shown():
    seconds = real() + float(file.read_text())
    if seconds * 10**9 >= 2**63:
        raise OverflowError("timestamp too large to convert to C _PyTime_t")  # as CPython does
    return seconds
time.time = shown
from api.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""A program that reads its clock from a file."""


@pytest.fixture
def set_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Return a function that sets the clock of this process."""
    return lambda seconds: monkeypatch.setattr(time, "time", lambda: seconds)


@pytest.fixture(params=[NEVER_SET, FAR_AHEAD])
def wrong(request: pytest.FixtureRequest) -> float:
    """Return a time that no act can have."""
    seconds: float = request.param
    return seconds


def refused(answer: httpx.Response) -> None:
    """Assert that the answer names the clock as the cause, and says when to try again."""
    assert answer.status_code == 503, answer.text
    assert answer.json()["type"] == "/problems/clock-wrong"
    assert answer.json()["facts"]["clock"]
    assert "Retry-After" in answer.headers


def test_no_act_is_recorded_until_the_clock_is_right(
    client: Client, set_clock: Callable[[float], None], wrong: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, club = Table(client, dealing="house"), ClubTable(client)
    version = table.version()
    with monkeypatch.context():
        set_clock(wrong)
        refused(table.send("deal", 0))
        refused(table.post("/acts/batch", {"acts": [{"act": "deal", "seat": 0}]}, 0))
        refused(table.post("/knocks", {"seat": 0, "accused": 1}, 0))
        refused(table.post("/tickets", None, 0))
        refused(club.act("join", name="Bo"))
        refused(client.post("/v1/matches", json={"ruleset": "kalabrias", "players": [{"name": "A"}, {"name": "B"}]}))
        monkeypatch.undo()
    assert table.version() == version
    table.done("deal", 0)
    assert club.join("Bo") == 2


def test_stored_matches_can_be_read_while_the_clock_is_wrong(
    client: Client, set_clock: Callable[[float], None], wrong: float
) -> None:
    table = Table(client, dealing="house")
    table.done("deal", 0)
    followed(client)
    set_clock(wrong)
    for path in ("/events", "/legal-acts", "/protocol"):
        assert table.get(path, 0).status_code == 200
    for path in ("/v1/matches", "/v1/rulesets", "/health/live"):
        assert client.get(path).status_code == 200


def test_readiness_says_so_in_both_languages(
    client: Client, set_clock: Callable[[float], None], wrong: float
) -> None:
    set_clock(wrong)
    for language, words in (("en", "The clock of the server shows"), ("sv", "Serverns klocka visar")):
        answer = client.get("/health/ready", headers={"Accept-Language": language})
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/not-ready")
        assert words in answer.json()["detail"]
        assert [reason["code"] for reason in answer.json()["facts"]["reasons"]] == ["clock_wrong"]


def test_the_doctor_says_what_to_do(
    sqlite_url: str, set_clock: Callable[[float], None], wrong: float, tmp_path: Path
) -> None:
    with client_of(sqlite_url) as client:
        Table(client)
        followed(client)
    for file in tmp_path.glob("*.db*"):
        file.chmod(0o600)
    set_clock(wrong)
    said: list[str] = []
    assert doctor({"KNACKA_DATABASE_URL": sqlite_url}, said.append) == 1
    (line,) = said
    assert line.startswith("the clock of this machine shows ")
    assert "set the clock" in line


def test_no_command_begins(
    sqlite_url: str,
    set_clock: Callable[[float], None],
    wrong: float,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KNACKA_DATABASE_URL", sqlite_url)
    set_clock(wrong)
    club = ["club", "found", "--name", "K", "--founder", "Bo", "--currency", "SEK", "--timezone", "Europe/Stockholm"]
    for command in (club, ["serve"]):
        assert cli.main(command) == cli.NOT_STARTED
        assert capsys.readouterr().err.startswith("the clock of this machine shows ")


def test_connections_are_served_meanwhile(sqlite_url: str, set_clock: Callable[[float], None]) -> None:
    """Answers have no Date header, because the server does not know the date."""
    with served(sqlite_url) as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client, dealing="house")
        set_clock(FAR_AHEAD)
        until(lambda: "Date" not in client.get("/health/live").headers)  # the server reads the clock once a second
        refused(table.send("deal", 0))


def test_a_process_whose_clock_is_set_beyond_all_numbers_goes_on(sqlite_url: str, tmp_path: Path) -> None:
    """After the year 2262 Python's clock overflows, but each line of the log needs a time."""
    file = tmp_path / "ahead"
    file.write_text("0")
    program = [sys.executable, "-c", OWN_CLOCK.format(file=str(file))]
    with running(sqlite_url, program, PYTHONPATH=str(ROOT)) as process:
        with httpx.Client(base_url=process.address, timeout=30) as client:
            table = Table(client, dealing="house")
            file.write_text("9e9")
            refused(table.send("deal", 0))
            until(lambda: "Date" not in client.get("/health/live").headers)
            answer: Any = client.get("/health/ready").json()
            assert "clock_wrong" in [reason["code"] for reason in answer["facts"]["reasons"]]
            refused(client.get("/v1/matches"))
            table.tokens[1] = "unknown"
            refused(table.send("bid", 1, bid="2"))
            file.write_text("0")
            version = table.done("deal", 0)["version"]
            assert table.get(f"/protocol?min_version={version}").status_code == 200, "the projections follow again"
        assert process.end(signal.SIGTERM, 30) == -signal.SIGTERM
