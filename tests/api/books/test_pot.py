"""A session of Rams over HTTP: the contents of the pot, taken over and closed. Other games have no pot."""

import csv as files
import re
from io import StringIO
from typing import Any

import pytest

from tests.support.match_client import KORTOXEN, Table
from tests.support.service_in_memory import Client

HANDS = [
    ["SA", "SK", "SQ", "SJ", "ST"],
    ["HA", "HK", "HQ", "HJ", "HT"],
    ["DA", "DK", "DQ", "DJ", "DT"],
]
WIDOW, TURN_UP = ["CA", "CK", "CQ", "CJ", "CT"], "S7"


def rams(client: Client, **opening: Any) -> Table:
    return Table(client, **{"ruleset": "rams-english", "options": {}, "enforcement": "refuse"} | opening)


def play_deal(table: Table, dealer: int = 0) -> None:
    """Play a deal in which all seats join, and the first seat takes every trick with its trumps."""
    seats = [(dealer + place) % 3 for place in (1, 2, 0)]
    table.done("deal", dealer, hands=HANDS, widow=WIDOW, turn_up=TURN_UP)
    for seat in seats:
        table.done("bid", seat, bid="join")
    for _ in range(15):
        state = table.get().json()
        (turn,) = state["to_act"]
        card = next(act for act in table.get("/legal-acts", turn).json() if act["act"] == "play")
        table.done("play", turn, card=card["card"])


class TestPot:
    def test_payments_and_draws_are_listed_with_their_rules(self, client: Client) -> None:
        table = rams(client)
        assert table.get("/pot").json() == {
            "match": table.id,
            "version": 1,
            "ruleset": "rams-english",
            "players": ["Anna", "Berit", "Cesar"],
            "currency": None,
            "opening": 0,
            "contents": 0,
            "pending": [],
            "lines": [],
            "closed": None,
            "corrected": [],
        }
        play_deal(table)
        answer = table.get("/pot")
        pot = answer.json()
        assert answer.headers["etag"] == f'"{pot["version"]}"'
        (line,) = pot["lines"]
        assert [(entry["seat"], entry["units"], entry["rule"]) for entry in line["entries"]] == [
            (0, 5, "D15"),
            (0, -5, "D59"),
            (1, 5, "D60"),
            (2, 5, "D60"),
        ]
        assert (line["deal"], line["before"], line["after"], pot["contents"]) == (1, 0, 10, 10)
        assert table.get("/protocol").json()["points"] == [0, -5, -5]

    def test_the_stake_is_pending_until_the_deal_is_scored(self, client: Client) -> None:
        table = rams(client, stakes={"currency": "SEK", "unit": 10})
        table.done("deal", 0, hands=HANDS, widow=WIDOW, turn_up=TURN_UP)
        pot = table.get("/pot").json()
        assert (pot["contents"], pot["currency"]) == (0, "SEK")
        assert pot["pending"] == [{"seat": 0, "units": 50, "event": 2}]
        table.done("void", None)
        assert table.get("/pot").json()["pending"] == []

    def test_as_a_table(self, client: Client) -> None:
        table = rams(client)
        play_deal(table)
        answer = table.get("/pot", Accept="text/csv")
        assert answer.headers["content-type"].startswith("text/csv")
        rows = list(files.reader(StringIO(answer.text, newline="")))
        assert rows[0] == ["deal", "player", "units", "rule", "contents"]
        assert rows[-1] == ["1", "Cesar", "5", "D60", "10"]

    @pytest.mark.parametrize("ruleset", [KORTOXEN, "rodskagg-alga", "rodskagg-catsatcards", "kalabrias"])
    def test_a_game_without_a_pot_has_no_such_page(self, client: Client, ruleset: str) -> None:
        answer = Table(client, ruleset=ruleset, options={}).get("/pot")
        assert answer.status_code == 404
        assert answer.json()["type"] == "/problems/no-such-pot"
        assert answer.json()["facts"] == {"ruleset": ruleset}


class TestOpening:
    def test_a_pot_is_taken_over(self, client: Client) -> None:
        opening = {"points": [-1500, 500, 0], "pot": 1000}
        table = rams(client, stakes={"currency": "SEK", "unit": 100}, opening=opening)
        assert (table.get("/pot").json()["opening"], table.get("/pot").json()["contents"]) == (1000, 1000)
        assert table.get("/protocol").json()["opening"] == [-1500, 500, 0]
        assert table.get().json()["more"]["pot"] == 1000

    def test_without_one_it_is_empty(self, client: Client) -> None:
        assert rams(client, opening={"points": [1, -1, 0]}).get("/pot").json()["opening"] == 0

    def test_the_rules_refuse_one_below_zero(self, client: Client) -> None:
        players = [{"name": name} for name in ("Anna", "Berit", "Cesar")]
        body = {"ruleset": "rams-english", "players": players, "opening": {"points": [0, 0, 0], "pot": -1}}
        answer = client.post("/v1/matches", json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/pot-below-zero")
        assert (answer.json()["rule"], answer.json()["facts"]) == ("D-O23", {"pot": -1})

    def test_more_players_than_the_table_agreed_on(self, client: Client) -> None:
        players = [{"name": name} for name in "ABCDEF"]
        body = {"ruleset": "rams-english", "players": players, "options": {"six_players": False}}
        answer = client.post("/v1/matches", json=body)
        assert (answer.status_code, answer.json()["rule"]) == (422, "D-O9")


class TestClosed:
    @pytest.fixture
    def closed(self, client: Client) -> Table:
        table = rams(client, stakes={"currency": "SEK", "unit": 10})
        play_deal(table)
        assert table.get("/legal-acts", "official").json() == [{"act": "close"}, {"act": "abandon"}]
        done = table.done("close", None)
        assert [event["event"]["topic"] for event in done["events"]] == ["match/closed"]
        return table

    def test_the_pot_goes_as_agreed_and_the_books_say_so(self, closed: Table) -> None:
        pot = closed.get("/pot").json()
        assert (pot["contents"], pot["closed"]["before"], pot["closed"]["rule"]) == (0, 100, "D-O18")
        drawn = [(entry["seat"], entry["units"]) for entry in pot["closed"]["entries"]]
        assert sorted(drawn) == [(0, -33), (1, -34), (2, -33)]
        protocol = closed.get("/protocol").json()
        assert (protocol["over"], protocol["winner"], protocol["winners"]) == (True, None, [])
        assert protocol["points"] == protocol["settlement"] == [33, -16, -17]
        closing = protocol["closing"]
        assert (closing["before"], closing["change"]) == ([0, -50, -50], [33, 34, 33])
        assert (closing["pot_before"], closing["pot"], closing["event"]) == (100, 0, protocol["version"])

    def test_nothing_more_can_be_done(self, closed: Table) -> None:
        assert closed.get().json()["phase"] == "over"
        assert closed.get("/legal-acts", "official").json() == closed.get("/legal-acts", 1).json() == []
        acts: list[tuple[str, int | None]] = [("close", None), ("void", None), ("deal", 1), ("score", 0)]
        for act, seat in acts:
            answer = closed.send(act, seat)
            assert (answer.status_code, answer.json()["type"]) == (409, "/problems/match-over")
        knock = closed.post("/knocks", {"seat": 0, "accused": 1}, 0)
        assert (knock.status_code, knock.json()["type"]) == (409, "/problems/match-over")

    def test_it_is_listed_as_over_and_its_stream_ends(self, closed: Table) -> None:
        path = "/v1/matches?ruleset=rams-english&status=over&limit=200&fresh=true"
        (entry,) = [one for one in closed.client.get(path).json()["items"] if one["id"] == closed.id]
        assert (entry["winner"], entry["deal"]) == (None, 1)
        last = str(closed.version())
        assert closed.get("/events/stream", **{"Last-Event-ID": last}).status_code == 204
        sent = closed.get("/events/stream").text
        assert re.search(f'id: {last}\ndata: {{"topic":"[a-z/-]+","number":{last},', sent)

    def test_only_the_official_closes_and_only_between_deals(self, client: Client) -> None:
        table = rams(client)
        answer = table.post("/acts", {"act": "close"}, 1)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/for-officials")
        table.done("deal", 0, hands=HANDS, widow=WIDOW, turn_up=TURN_UP)
        answer = table.send("close", None)
        assert (answer.status_code, answer.json()["rule"]) == (409, "D-O28")

    def test_a_game_with_an_end_of_its_own_is_not_closed(self, table: Table) -> None:
        assert table.send("close", None).status_code == 409
