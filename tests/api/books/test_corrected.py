"""Reads of a match after a correction has scored deals again (J9). The desk makes the correction."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from referee import notation
from referee.officials.events.corrections import Why
from referee.requests import Correct
from referee.store.desk import Desk
from referee.store.store import construct
from tests.api.cases.test_remedies import all_agree, wrong
from tests.log.bundle_checks import KEY, checked, sign
from tests.store.test_corrections import correct, scored
from tests.support.service_in_memory import Client, client_of


@pytest.fixture
def corrected(either_url: str) -> Iterator[tuple[Client, UUID, int]]:
    """Yield a client of a service with a match whose first of two deals was corrected, and the correction's event."""
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


def test_the_table_for_a_spreadsheet_has_the_lines_as_they_count(corrected: Any) -> None:
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
    listed = {one["id"]: one for one in client.get("/v1/matches?fresh=true").json()["items"]}
    one = listed[str(match_id)]  # the list also has matches that were won too early
    assert (one["version"], one["deal"], one["status"]) == (number, 3, "open")


def test_all_see_the_correction_but_its_script_only_officials(corrected: Any) -> None:
    client, match_id, number = corrected
    (event,) = client.get(f"/v1/matches/{match_id}/events?after={number - 1}").json()["events"]
    assert (event["event"]["topic"], event["number"]) == ("protocol/corrected", number)
    assert event["event"]["why"] == {"rule": "B42", "reason": "seen by all"}
    assert len(event["event"]["lines"]) == 2
    assert "scripts" not in json.dumps(event)


def counted(numbers: list[int], halves: bool) -> list[float]:
    """Return the points of an event in the form of the protocol."""
    return [number / 2 for number in numbers] if halves else [*numbers]


def test_a_deal_shows_the_line_that_counts_the_line_as_it_was_and_the_ruling(corrected: Any) -> None:
    client, match_id, number = corrected
    lines = client.get(f"/v1/matches/{match_id}/protocol?min_version={number}").json()["lines"]
    for line in lines:
        record = client.get(f"/v1/matches/{match_id}/deals/{line['deal']}").json()
        ((once,), (was,)) = line["was"], record["was"]
        for score, body in ((record["score"], line), (was["score"], once["line"])):
            for name in ("before", "points"):
                assert counted(score[name], score.get("halves", False)) == body[name]
        assert record["score"]["points"] != was["score"]["points"]
        for ruling in (was, once):
            assert (ruling["event"], ruling["case"], ruling["rule"]) == (number, None, "B42")
            assert ruling["reason"] == "seen by all"
        assert record["struck"] is None
    before = client.get(f"/v1/matches/{match_id}/replay?at={number - 1}").json()
    assert before["points"] != client.get(f"/v1/matches/{match_id}").json()["points"]


def test_the_text_of_a_deal_shows_the_line_that_counts(corrected: Any) -> None:
    client, match_id, number = corrected
    for deal in (1, 2):
        address = f"/v1/matches/{match_id}/deals/{deal}"
        record, text = client.get(address).json(), client.get(address, headers={"Accept": "text/plain"}).text
        parsed = notation.parse(text)
        assert notation.write(parsed) == text
        assert list(parsed.result.points) == record["score"]["points"]
        assert [list(one.result.points) for one in parsed.was] == [one["score"]["points"] for one in record["was"]]
        result, was = text[text.index("\nresult ") :].split("\n\n")
        assert was.startswith("was       ")
        assert was.endswith(f'\nruled     by B42, event {number} "seen by all"\n')
        assert "after     " in result
        assert result != was


def test_a_struck_deal_says_that_its_line_counts_for_nothing(either_url: str) -> None:
    strike = Correct(why=Why(rule="B42", reason="Dealt twice"), strike=(2,))
    with construct(either_url) as referee:
        desk = Desk(referee)
        match_id = scored(desk, 3)
        (event,) = correct(desk, match_id, strike).events
        desk.close()
    with client_of(either_url) as client:
        address, plain = f"/v1/matches/{match_id}/deals", {"Accept": "text/plain"}
        by = {"event": event.originator_version, "case": None, "rule": "B42", "reason": "Dealt twice"}
        record = client.get(f"{address}/2").json()
        assert (record["struck"], record["was"]) == (by, [])
        text = client.get(f"{address}/2", headers=plain).text
        assert f'\n\nstruck    by B42, event {by["event"]} "Dealt twice"\nresult    ' in text
        assert notation.write(notation.parse(text)) == text
        later = client.get(f"{address}/3").json()
        assert (later["struck"], [one["event"] for one in later["was"]]) == (None, [by["event"]])
        assert "\nstruck" not in client.get(f"{address}/3", headers=plain).text
        assert client.get(f"{address}/1").json()["was"] == []


def test_a_ruling_on_the_deal_is_among_its_cases_and_its_rows_in_the_bundle(tmp_path: Path) -> None:
    with client_of(f"sqlite:///{tmp_path}/knacka.db", log_key=KEY.private_text, log_seconds=86_400) as client:
        table = wrong(client)
        table.finish_deal()
        sign(client)
        before = table.get("/bundle", "official").json()["rows"]
        all_agree(table)
        assert table.get("/bundle", "official").json()["rows"] == before, "the rest is not signed yet"
        sign(client)
        record = table.get("/deals/1").json()
        assert [(one["case"], one["verdict"]) for one in record["knocks"]] == [(1, "upheld")]
        assert [one["case"] for one in record["was"]] == [1]
        bundle = table.get("/bundle", "official")
        topics = [row["topic"] for row in bundle.json()["rows"]]
        assert topics[-3:] == ["case/stated", "case/ruled", "protocol/corrected"]
        assert topics.count("case/opened") == 1
        assert len(topics) == table.version()
        assert checked(tmp_path, bundle.content).code == 0


def test_the_text_of_a_corrected_deal_is_read_back_strictly() -> None:
    assert notation.write(notation.parse(CORRECTED)) == CORRECTED
    for right, false in (("event 9", "event nine"), ("case 2", "case two"), ("was  ", "were "), (' "It', " It")):
        with pytest.raises(notation.Unreadable):
            notation.parse(CORRECTED.replace(right, false))


CORRECTED = """\
game      rodskagg-alga
errors    refuse
dealing   table
players   "Anna" "Bo"
dealer    P2
before    P1 12  P2 12

bids      P1 pass  P2 pass

struck    by J9, event 12
result    passed_out
before    P1 12  P2 13
tricks    P1 0  P2 0
after     P1 12  P2 13

was       passed_out
tricks    P1 0  P2 0
after     P1 12  P2 12
won       P1 by points
ruled     by A1 in case 2, event 9 "It was, \\"really\\""
"""
