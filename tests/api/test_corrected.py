"""What is read of a match after deals in it have been scored anew (J9). The correction itself comes from the desk."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from referee.store.desk import Desk
from referee.store.store import construct
from tests.api.conftest import client_of
from tests.store.test_corrections import correct, scored


@pytest.fixture
def corrected(either_url: str) -> Iterator[tuple[TestClient[Litestar], UUID, int]]:
    """A service over a match whose first deal of two was corrected, and the event that did."""
    with construct(either_url) as referee:
        desk = Desk(referee)
        match_id = scored(desk, 2)
        (event,) = correct(desk, match_id).events
        desk.close()
    with client_of(either_url) as client:
        yield client, match_id, event.originator_version


def test_the_protocol_has_the_lines_as_they_count_and_as_they_were(corrected: Any) -> None:
    client, match_id, number = corrected
    protocol = client.get(f"/v1/matches/{match_id}/protocol?min_version={number}").json()
    first, second = protocol["lines"]
    (was,) = first["was"]
    assert {name: was[name] for name in ("event", "case", "rule", "reason")} == {
        "event": number,
        "case": None,
        "rule": "B42",
        "reason": "seen by all",
    }
    assert first["points"] == [points + 5 * (seat == 1) for seat, points in enumerate(was["line"]["points"])]
    assert {"seat": 1, "points": 5, "rule": "B42", "events": [number - 1, number]} in first["entries"]
    assert second["before"] == first["points"]
    assert second["change"] == second["was"][0]["line"]["change"]
    assert protocol["points"] == second["points"]
    assert (protocol["struck"], protocol["corrected"]) == ([], [number])


def test_so_has_the_table_for_a_spreadsheet(corrected: Any) -> None:
    client, match_id, number = corrected
    address = f"/v1/matches/{match_id}/protocol?min_version={number}"
    protocol = client.get(address).json()
    table = client.get(address, headers={"Accept": "text/csv"}).text
    rows = list(csv.DictReader(StringIO(table)))
    assert [[row[f"P{seat} points"] for seat in (1, 2, 3)] for row in rows] == [
        [str(points) for points in line["points"]] for line in protocol["lines"]
    ]


def test_the_match_stands_as_it_counts(corrected: Any) -> None:
    client, match_id, number = corrected
    protocol = client.get(f"/v1/matches/{match_id}/protocol?min_version={number}").json()
    match = client.get(f"/v1/matches/{match_id}").json()
    assert (match["points"], match["version"], match["deal"]) == (protocol["points"], number, 3)
    listed = {one["id"]: one for one in client.get("/v1/matches?fresh=true").json()["matches"]}
    one = listed[str(match_id)]  # beside those that were won too early
    assert (one["version"], one["deal"], one["status"]) == (number, 3, "open")


def test_all_see_the_correction_but_its_script_only_officials(corrected: Any) -> None:
    client, match_id, number = corrected
    (event,) = client.get(f"/v1/matches/{match_id}/events?after={number - 1}").json()["events"]
    assert (event["topic"], event["number"]) == ("protocol/corrected", number)
    assert event["event"]["why"] == {"rule": "B42", "reason": "seen by all"}
    assert len(event["event"]["lines"]) == 2
    assert "scripts" not in json.dumps(event)


def test_a_deal_that_was_corrected_is_still_told_as_it_was_played(corrected: Any) -> None:
    client, match_id, number = corrected
    was = client.get(f"/v1/matches/{match_id}/protocol?min_version={number}").json()["lines"][0]["was"][0]["line"]
    record = client.get(f"/v1/matches/{match_id}/deals/1").json()
    assert record["score"]["points"] == was["points"]
    assert client.get(f"/v1/matches/{match_id}/deals/2", headers={"Accept": "text/plain"}).status_code == 200
    before = client.get(f"/v1/matches/{match_id}/replay?at={number - 1}").json()
    assert before["points"] != client.get(f"/v1/matches/{match_id}").json()["points"]
