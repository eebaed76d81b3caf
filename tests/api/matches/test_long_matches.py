"""A long match delays no other: the writer and the event loop do the same work for it as for one of half its
length."""

import os
import re
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from referee.store import aside, desk
from tests.api.http.test_steps import Served
from tests.support.match_client import Table
from tests.support.stopped_process import stop

SEATS = 4
TWO = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
DEALS = 30
LONG_DEALS = 50
REQUEST = re.compile("#request=[0-9a-f]+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?")
READ = ("from_row", "evolve", "_walk", "take_all")
"""Functions that iterate over the events of a match."""
GROWTH_MAX = 1.1
NOISE = 500
"""Steps allowed for work outside the request."""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(f"sqlite:///{tmp_path_factory.mktemp('long')}/knacka.db")
    yield served
    served.close()


@pytest.fixture(scope="module")
def client(service: Served) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://{service.place[0]}:{service.place[1]}", timeout=60) as client:
        yield client


def sheet(deal: int, *tricks: int) -> dict[str, Any]:
    """Return the score sheet of a deal of Rams: all join, and the seats after the dealer take these tricks."""
    first = (deal - 1) % SEATS
    return {
        "bids": [{"seat": (first + place) % SEATS, "bid": "join"} for place in range(SEATS)],
        "tricks": [(first + place) % SEATS for place in tricks],
    }


def tallied(client: httpx.Client, deals: int, **opening: Any) -> Table:
    """Return a tally of this number of deals."""
    names = [{"name": name} for name in ("Anna", "Berit", "Cesar", "Dag")]
    table = Table(
        client,
        ruleset="rams-english",
        players=names,
        dealing="tally",
        first_dealer=SEATS - 1,
        options={},
        adjudication=TWO,
        **opening,
    )
    acts = [{"act": "result", **sheet(deal, 0, 1, 0, 2, 2)} for deal in range(1, deals + 1)]
    for start in range(0, deals, 64):
        answer = table.post("/acts/batch", {"acts": acts[start : start + 64]}, 0)
        assert answer.json()["refused"] is None, answer.text
    return table


def heard(service: Served, table: Table, deals: int) -> dict[str, tuple[int, int, int]]:
    """Correct a line of a match by a case. Return for each request the steps of the writer, the steps of the event
    loop, and the number of calls of the functions in :data:`READ`."""
    ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
    right, first = sheet(deals, 0, 1, 1, 2, 2), sheet(1, 0, 1, 1, 2, 2)
    steps: dict[str, tuple[int, int, int]] = {}
    agrees = {
        f"statement {seat}": ("/knocks/2/statements", seat, {"seat": seat, "agrees": True}) for seat in (1, 2, 3)
    }
    calls: dict[str, tuple[str, int | str, dict[str, Any]]] = {
        "an act": ("/acts", 0, {"act": "result", **sheet(deals + 1, 0, 1, 0, 2, 2)}),
        "entry": ("/knocks", 0, {"seat": 0, "offence": "entry", "deal": deals, "result": right}),
        "preview": ("/knocks/1/ruling?preview=true", "official", ruling),
        "ruling": ("/knocks/1/ruling", "official", ruling),
        "another entry": (
            "/knocks",
            0,
            {"seat": 0, "offence": "entry", "deal": 1, "result": first},
        ),
        **agrees,
        "an act after it": ("/acts", 0, {"act": "result", **sheet(deals + 2, 0, 1, 0, 2, 2)}),
    }
    for name, (path, who, body) in calls.items():
        before = service.writer.taken, service.steps.taken, _read(service)
        with service.counted():
            answer = table.post(path, body, who)
        assert answer.status_code in (200, 201), answer.text
        after = service.writer.taken, service.steps.taken, _read(service)
        writer, loop, read = (new - old for new, old in zip(after, before, strict=True))
        steps[name] = writer, loop, read
    return steps


def _read(service: Served) -> int:
    return sum(steps.calls[name] for steps in (service.writer, service.steps) for name in READ)


@pytest.mark.rule("J2", "J3", "J9")
def test_a_match_twice_as_long_is_no_more_work_for_the_writer_or_the_event_loop(
    service: Served, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in (aside, desk):  # the event loop's work while a process starts would count
        monkeypatch.setattr(place, "LONG_FROM", 1_000_000)
    heard(service, tallied(client, 5), 5)  # one-time work is done now
    short, long = (heard(service, tallied(client, deals), deals) for deals in (DEALS, 2 * DEALS))
    for name, (writer, loop, read) in long.items():
        was = short[name]
        message = f"{name}: {was} steps of the writer and of the event loop, and events, then {long[name]}"
        assert read <= was[2], message
        assert writer <= GROWTH_MAX * was[0] + NOISE, message
        assert loop <= GROWTH_MAX * was[1] + NOISE, message


@pytest.fixture(scope="module")
def long_match(client: httpx.Client) -> Table:
    """Return a long match for money, with a case about its first deal."""
    table = tallied(client, LONG_DEALS, stakes={"currency": "SEK", "unit": 100})
    entry = {"seat": 0, "offence": "entry", "deal": 1, "result": sheet(1, 0, 1, 1, 2, 2)}
    assert table.post("/knocks", entry, 0).status_code == 201
    assert table.version() > aside.LONG_FROM
    return table


def read(table: Table) -> dict[str, tuple[int, str]]:
    """Return the answers that need the whole history of a match, without times."""
    ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
    answers = {
        "settlement": table.get("/settlement"),
        "replay": table.get(f"/replay?at={table.version() - 1}", "official"),
        "deal": table.get(f"/deals/{LONG_DEALS}", accept="text/plain"),
        "file": table.get("/knocks/1/file", "official"),
        "preview": table.post("/knocks/1/ruling?preview=true", ruling, "official"),
        "refused preview": table.post("/knocks/1/ruling?preview=true", ruling | {"verdict": "dismissed"}, 0),
        "refused entry": table.post(
            "/knocks", {"seat": 2, "offence": "entry", "deal": 1, "result": sheet(1, 0, 1, 0, 2, 2)}, 2
        ),
    }
    return {name: (one.status_code, TIME.sub("then", REQUEST.sub("", one.text))) for name, one in answers.items()}


@pytest.mark.rule("J3", "J9")
def test_a_process_of_its_own_answers_as_a_thread_does(
    service: Served, long_match: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = read(long_match)
    assert service.desk.worker_pid is not None
    for place in (aside, desk):
        monkeypatch.setattr(place, "LONG_FROM", 1_000_000)
    assert read(long_match) == beside
    assert {name: status for name, (status, _) in beside.items() if status != 200} == {
        "refused preview": 403,
        "refused entry": 409,
    }


@pytest.mark.parametrize("call", ["/settlement", "/knocks/1/ruling?preview=true", "/knocks"])
def test_a_process_that_is_killed_at_work_is_503_and_the_service_goes_on(
    service: Served, long_match: Table, call: str
) -> None:
    long_match.get("/settlement")
    pid, version = service.desk.worker_pid, long_match.version()
    assert pid is not None
    stop(pid)
    ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
    entry = {"seat": 2, "offence": "entry", "deal": 1, "result": sheet(1, 0, 1, 0, 2, 2)}

    def ask() -> httpx.Response:
        if call == "/settlement":
            return long_match.get(call)
        return long_match.post(call, entry if call == "/knocks" else ruling, 2 if call == "/knocks" else "official")

    with ThreadPoolExecutor() as threads:
        answer = threads.submit(ask)
        time.sleep(0.3)
        assert not answer.done()
        assert httpx.get(f"{long_match.client.base_url}/health/ready").status_code == 200
        os.kill(pid, signal.SIGKILL)
        refused = answer.result(60)
    assert (refused.status_code, refused.json()["type"]) == (503, "/problems/busy")
    assert int(refused.headers["Retry-After"]) >= 1
    assert long_match.version() == version
    assert ask().status_code == (409 if call == "/knocks" else 200)
    assert service.desk.worker_pid not in (None, pid)
