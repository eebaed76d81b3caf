"""A long match holds up nobody: the writer and the event loop do as much for it as for one of half its length."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.api.table import Table
from tests.api.test_steps import Served

SEATS = 4
TWO = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
DEALS = 30
READ = ("from_row", "evolve", "_walk", "take_all")
"""Functions that go through what has happened."""
GROWTH_MAX = 1.1
NOISE = 500
"""Steps that may be taken beside the request."""


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
    """The score sheet of a deal of Rams: all join, and the seats after the dealer take these tricks."""
    first = (deal - 1) % SEATS
    return {
        "bids": [[(first + place) % SEATS, "join"] for place in range(SEATS)],
        "tricks": [(first + place) % SEATS for place in tricks],
    }


def tallied(client: httpx.Client, deals: int) -> Table:
    """Return a tally of so many deals."""
    names = [{"name": name} for name in ("Anna", "Berit", "Cesar", "Dag")]
    table = Table(
        client,
        ruleset="rams-english",
        players=names,
        dealing="tally",
        first_dealer=SEATS - 1,
        options={},
        adjudication=TWO,
    )
    acts = [{"act": "result", **sheet(deal, 0, 1, 0, 2, 2)} for deal in range(1, deals + 1)]
    for start in range(0, deals, 64):
        answer = table.post("/acts/batch", {"acts": acts[start : start + 64]}, 0)
        assert answer.json()["refused"] is None, answer.text
    return table


def heard(service: Served, table: Table, deals: int) -> dict[str, tuple[int, int, int]]:
    """Have a line of a match heard and corrected. Return for each request the steps of the writer, those of the event
    loop, and how often either of them went through an event."""
    ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
    right, first = sheet(deals, 0, 1, 1, 2, 2), sheet(1, 0, 1, 1, 2, 2)
    steps: dict[str, tuple[int, int, int]] = {}
    agrees = {
        f"statement {seat}": ("/knocks/2/statements", seat, {"seat": seat, "agrees": True}) for seat in (1, 2, 3)
    }
    for name, (path, who, body) in {
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
    }.items():
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
    service: Served, client: httpx.Client
) -> None:
    heard(service, tallied(client, 5), 5)  # what is made once is made
    short, long = (heard(service, tallied(client, deals), deals) for deals in (DEALS, 2 * DEALS))
    for name, (writer, loop, read) in long.items():
        was = short[name]
        told = f"{name}: {was} steps of the writer and of the event loop, and events, then {long[name]}"
        assert read <= was[2], told
        assert writer <= GROWTH_MAX * was[0] + NOISE, told
        assert loop <= GROWTH_MAX * was[1] + NOISE, told
