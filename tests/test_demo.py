"""`make demo` plays to the end, fails if the service answers differently, and stops the service that it started."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.demo import __main__ as demo
from tests.demo import sheet
from tests.demo.service import running

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "tests.demo"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("KNACKA_")} | {
    "PYTHONUNBUFFERED": "1",
    "PYTHONUTF8": "1",
}
SECONDS = 60


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """Yield the address of a service for all demos that do not start their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("KNACKA_URL", raising=False)
        with running() as one:
            yield one.url


def test_it_plays_a_whole_match_with_a_service_of_its_own():
    done = subprocess.run(
        COMMAND, cwd=ROOT, env=ENVIRONMENT, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) < 320
    for text in (
        "refused Dagny 3: A bid has to go above",
        "Astrid asks: Börje folds, Dagny goes along",
        "Upheld: Dagny did not ask whether the others went along (B54) and goes up five.",
        "Bifalls: Dagny frågade inte om de andra gick med (B54) och åker upp fem.",
        "Dismissed: Dagny knocked for “revoke”",
        "Astrid 2 -3 (B58) +2 (B72) = 1",
        'Cilla stands at 0 and knocks: "Knack för min utgång!"',
        "breaches fold_question by Dagny (B54, 5 points",
        "Cilla wins with exactly 0 points (B70)",
        "Open: Börje says that Dagny revoked. Officials rule on it, or it is agreed (J1).",
        "Dagny states: “I had no club.”",
        "Börje states: “It was the six of clubs.”",
        "Dismissed by Maja: it is not shown that Dagny revoked (J4). Börje knocked. Open to an appeal (J7).",
        "Börje appeals (J7): “Cilla was not heard",
        "Upheld by Nils: Dagny revoked (B42) and goes up five. Börje knocked. Final (J7).",
        "scored again (J9): 10, 9, 11, 12 becomes 10, 9, 11, 17",
        "|  0 fold  +5  +5  17\n was case 1        B42 |",
        "Cilla 1.00 to Astrid (B74)",
        "The treasurer's plan: 3 payments, the fewest possible",
        "Swish C0701740605;6,80;Knackarna%20",
        "Liabilities:Member:2  0.00 SEK = 8.30 SEK",
        "entries: every entry (3) adds up and agrees with the rows and the closing",
        "NOT PROVED: ",
        "the settlement has [900, 0, -900, 0] by seat; its lines add up to [100, 0, -100, 0].",
    ):
        assert text in done.stdout


def test_it_plays_against_a_service_that_runs(
    service: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("KNACKA_URL", service)
    assert demo.main() == 0
    assert f"at {service}/v1/matches/" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("S8 S2 D2  Cilla", "S8 S2 D2  Dagny", "who took the trick"),
        ("refused Dagny 3 B34", "refused Dagny 3 B32", "the rule of the refusal"),
        ("refused Dagny 3 B34", "refused Dagny 4 B34", "201, but it should be 422"),
        ("fold_question B54", "fold_question -", "the ruling"),
        ("Cilla revoke -", "Cilla revoke B42", "the ruling"),
        ("ask     Börje fold  Dagny play", "ask     Dagny play", "who is asked"),
        ("out     Astrid", "out     Börje", "that the exit knock is valid"),
        ("score   1 15 3 16", "score   1 15 3 15", "the points"),
        ("winner  Cilla B70", "winner  Cilla B71", "the winner"),
        ("Börje Dagny revoke", "Börje Dagny fold_question", "the case"),
        ("Dagny denies", "Dagny agrees", "the status after a statement"),
        ("rules   Nils", "rules   Maja", "403, but it should be 201"),
        ("appeals Börje", "appeals Cilla", "403, but it should be 201"),
        ("Nils upheld balance_of_probabilities B42", "Nils dismissed undetermined J4", "corrected in"),
    ],
)
def test_it_fails_when_the_service_does_otherwise(
    service: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    right: str,
    wrong: str,
    told: str,
):
    assert any(right in deal for deal in (*sheet.DEALS.values(), sheet.HEARD))
    monkeypatch.setattr(sheet, "HEARD", sheet.HEARD.replace(right, wrong))
    monkeypatch.setattr(sheet, "DEALS", {title: deal.replace(right, wrong) for title, deal in sheet.DEALS.items()})
    monkeypatch.setenv("KNACKA_URL", service)
    assert demo.main() == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "127.0.0.1:8000", "ftp://127.0.0.1"])
def test_it_fails_without_a_service(url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("KNACKA_URL", url)
    assert demo.main() == 1
    assert "The demo failed: " in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_its_service_when_it_is_stopped(number: signal.Signals):
    with subprocess.Popen(
        COMMAND, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stdout.readline())
        process.send_signal(number)
        _, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert error.endswith("The demo was stopped.\n")  # the service may say that its client is gone
    assert found is not None
    with socket.socket() as probe, pytest.raises(ConnectionRefusedError):
        probe.connect(("127.0.0.1", int(found[1])))
