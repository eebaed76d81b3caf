"""A match that the official abandons, in the middle of a deal or a session, in the answers of all calls."""

from typing import Any

import pytest

from tests.support.match_client import HANDS, Table
from tests.support.service_in_memory import Client

PLAYERS = [{"name": name} for name in ("Abandoned", "Berit", "Cesar")]


def listed(table: Table, status: str) -> list[dict[str, Any]]:
    page = table.client.get(f"/v1/matches?status={status}&player=Abandoned&limit=200&fresh=true").json()
    return [one for one in page["items"] if one["id"] == table.id]


@pytest.fixture
def abandoned(client: Client) -> Table:
    """Return a match abandoned in the middle of a deal in which a player was fined."""
    table = Table(client, players=PLAYERS, stakes={"currency": "SEK", "unit": 10})
    table.deal()
    table.bid("2", "pass", "pass")
    table.play("S2", "S4", first=1)
    table.play("H2", first=0)  # no spade, though there are three
    assert table.post("/knocks", {"seat": 1, "accused": 0}, 1).json()["verdict"] == "upheld"
    assert listed(table, "open")
    assert not listed(table, "abandoned")
    done = table.done("abandon", None, reason="the cake has come")
    (event,) = done["events"]
    assert event["event"] == {"topic": "match/abandoned", "deal": 1, "reason": "the cake has come"}
    return table


def test_it_is_over_and_no_one_has_won(abandoned: Table) -> None:
    for who in (0, "official", None):
        match = abandoned.get("", who).json()
        assert (match["phase"], match["winner"], match["to_act"]) == ("over", None, [])
        assert match["penalties"] == [0, 0, 0], "the deal counts for nothing"
    assert abandoned.get("/legal-acts", "official").json() == []
    answer = abandoned.send("abandon", None)
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/match-over")


def test_the_protocol_says_so_and_nothing_is_owed(abandoned: Table) -> None:
    protocol = abandoned.get("/protocol").json()
    assert (protocol["over"], protocol["abandoned"]) == (True, True)
    assert (protocol["winner"], protocol["winners"]) == (None, [])
    assert (protocol["settlement"], protocol["closing"], protocol["won_by"]) == (None, None, None)
    assert (protocol["points"], protocol["pending"], protocol["lines"]) == (protocol["opening"], [], [])


def test_it_has_a_status_of_its_own_in_the_list(abandoned: Table) -> None:
    assert [one["status"] for one in listed(abandoned, "abandoned")] == ["abandoned"]
    assert [one["status"] for one in listed(abandoned, "any")] == ["abandoned"]
    assert listed(abandoned, "open") == listed(abandoned, "over") == []


def test_its_cards_lie_open_and_its_stream_ends(abandoned: Table) -> None:
    dealt = next(one for one in abandoned.get("/events").json()["events"] if one["event"]["topic"] == "deal/dealt")
    assert dealt["event"]["hands"] == HANDS
    last = abandoned.version()
    sent = abandoned.get("/events/stream?names=topic", 0).text
    assert f"id: {last}\nevent: match/abandoned\n" in sent
    assert sent.endswith('event: end\ndata: {"topic":"end","reason":"match_over","problem":null}\n\n')
    assert abandoned.get("/events/stream", 0, **{"Last-Event-ID": str(last)}).status_code == 204
    assert abandoned.get("/deals/1").status_code == 404, "it was not finished"


def test_only_the_official_may(client: Client) -> None:
    table = Table(client)
    answer = table.post("/acts", {"act": "abandon", "reason": "I lose"}, 0)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/for-officials")
    answer = table.post("/acts", {"act": "abandon", "seat": 0}, "official")
    assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unreadable")


def test_in_rams_the_pot_is_shared_and_settled(either_client: Client) -> None:
    """Runs on either store."""
    opening = {"points": [-1000, 0, 0], "pot": 1000}
    table = Table(
        either_client,
        ruleset="rams-english",
        options={},
        dealing="house",
        enforcement="refuse",
        stakes={"currency": "SEK", "unit": 10},
        opening=opening,
    )
    table.done("deal", 0)
    assert table.get("/pot?min_version=2").json()["pending"]
    table.done("abandon", None)
    last = table.version()
    protocol, pot = (table.get(f"/{book}?min_version={last}").json() for book in ("protocol", "pot"))
    assert (protocol["abandoned"], protocol["closing"]["change"]) == (True, [334, 333, 333])
    assert protocol["points"] == protocol["settlement"] == [-666, 333, 333]
    assert (pot["contents"], pot["pending"]) == (0, [])
    assert (pot["closed"]["before"], pot["closed"]["rule"]) == (1000, "D-O18")
    drawn = {entry["seat"]: entry["units"] for entry in pot["closed"]["entries"]}
    assert drawn == {0: -334, 1: -333, 2: -333}
