"""The settlement of a match over HTTP, and openings with stakes in games without a rule for money."""

from typing import Any

import pytest

from referee.games import RULESETS
from tests.api.books.test_pot import play_deal, rams
from tests.support.club_with_names import Club, ClubTable
from tests.support.match_client import KORTOXEN, Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client

KRONA = {"currency": "SEK", "unit": 100}
SHEET = {
    "act": "result",
    "bids": seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"]),
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [{"seat": 1, "after": 2}],
}
"""Seat 0 takes one trick, seat 1 takes the second and goes home, and seat 2 takes four."""


def tally(client: Client, **opening: Any) -> Table:
    return Table(
        client,
        **{"dealing": "tally", "first_dealer": 2, "stakes": KRONA, "opening": {"points": [2, 1, 5]}} | opening,
    )


def won(client: Client, **opening: Any) -> Table:
    """Return a match that seat 1 has won."""
    table = tally(client, **opening)
    answer = table.post("/acts", SHEET, 0)
    assert answer.status_code == 201, answer.text
    return table


class TestSettlement:
    def test_the_settlement_names_payer_payee_and_reasons(self, client: Client) -> None:
        table = won(client)
        last = table.version()
        answer = table.get(f"/settlement?min_version={last}")
        assert answer.status_code == 200
        assert answer.headers["etag"] == f'"{last}"'
        body = answer.json()
        first, second = body["seats"][0], body["seats"][1]
        (trick,) = [line["events"] for line in first["lines"] if line["rule"] == "B58"]
        assert {name: value for name, value in body.items() if name not in ("seats", "payments")} == {
            "status": "final",
            "currency": "SEK",
            "unit": 100,
            "basis": "source",
            "pot": 0,
            "sum": 0,
            "counted": None,
            "waiting_for": [],
        }
        assert first == {
            "seat": 0,
            "member": None,
            "amount": -100,
            "lines": [
                {"deal": None, "rule": "opening", "points": 2, "amount": -200, "events": [1]},
                {"deal": 1, "rule": "B58", "points": -1, "amount": 100, "events": trick},
            ],
        }
        assert second["amount"] == 200
        assert [line["events"] for line in second["lines"]] == [[last], [last]]
        assert body["payments"] == [
            {"from": 0, "to": 1, "points": 1, "amount": 100, "rule": "B74"},
            {"from": 2, "to": 1, "points": 1, "amount": 100, "rule": "B74"},
        ]
        assert [seat["amount"] for seat in body["seats"]] == table.get("/protocol").json()["settlement"]

    def test_the_settlement_of_a_match_of_a_club_names_the_members(self, client: Client) -> None:
        table = ClubTable(Club(client), members=(3, 1, 2), dealing="tally", first_dealer=2, stakes=KRONA)
        assert [seat["member"] for seat in table.get("/settlement").json()["seats"]] == [3, 1, 2]

    def test_the_events_say_so(self, client: Client) -> None:
        table = won(client)
        (event,) = table.get(f"/events?after={table.version() - 1}").json()["events"]
        assert event["event"]["topic"] == "match/won"
        assert event["event"]["payments"] == [
            {"payer": 0, "payee": 1, "points": 1, "rule": "B74"},
            {"payer": 2, "payee": 1, "points": 1, "rule": "B74"},
        ]

    def test_all_see_the_same(self, client: Client) -> None:
        table = won(client)
        answers = {table.get("/settlement", who).content for who in (None, 0, 1, 2, "official")}
        assert len(answers) == 1
        answer = table.get("/settlement")
        assert answer.headers["cache-control"] == "private, no-cache"
        assert "Authorization" in answer.headers["vary"]
        assert table.get("/settlement", **{"If-None-Match": answer.headers["etag"]}).status_code == 304

    def test_while_the_match_goes_on_no_one_owes_anything(self, client: Client) -> None:
        body = tally(client).get("/settlement").json()
        assert (body["status"], body["payments"], body["pot"]) == ("open", [], 0)
        assert [(seat["amount"], seat["lines"]) for seat in body["seats"]] == [(0, [])] * 3

    def test_a_deal_under_way_does_not_change_the_settlement(self, client: Client) -> None:
        """The settlement includes neither the cards in the hands nor penalties of the unfinished deal."""
        table = Table(client, stakes=KRONA)
        before = table.get("/settlement").json()
        table.deal()
        assert table.get("/settlement").json() == before

    def test_if_officials_attend_it_is_provisional_for_a_time(self, client: Client) -> None:
        table = won(client, adjudication={})
        answer = table.get("/settlement")
        assert answer.json()["status"] == "provisional"
        assert answer.headers["etag"] == f'"{table.version()}-provisional"'
        at_once = won(client, adjudication={"correction_minutes": 0})
        assert at_once.get("/settlement").json()["status"] == "final"

    def test_rams_has_its_balances_and_its_pot(self, client: Client) -> None:
        table = rams(client, stakes={"currency": "SEK", "unit": 10})
        play_deal(table)
        body = table.get("/settlement").json()
        assert (body["status"], body["pot"], body["sum"], body["payments"]) == ("open", 100, 0, [])
        assert [seat["amount"] for seat in body["seats"]] == [0, -50, -50]
        assert [(line["rule"], line["amount"]) for line in body["seats"][0]["lines"]] == [("D15", -50), ("D59", 50)]
        table.done("close", None)
        body = table.get("/settlement").json()
        assert (body["status"], body["pot"]) == ("final", 0)
        assert [seat["amount"] for seat in body["seats"]] == [33, -16, -17]
        assert body["seats"][1]["lines"][-1] == {
            "deal": None,
            "rule": "D-O18",
            "points": 34,
            "amount": 34,
            "events": [table.version()],
        }

    def test_an_abandoned_match_owes_nothing(self, client: Client) -> None:
        table = tally(client)
        table.done("abandon", None)
        body = table.get("/settlement").json()
        assert body["status"] == "final"
        assert [seat["amount"] for seat in body["seats"]] == [0, 0, 0]

    def test_on_either_store(self, either_client: Client) -> None:
        table = won(either_client)
        assert table.get(f"/settlement?min_version={table.version()}").json()["seats"][1]["amount"] == 200


class TestNotForMoney:
    @pytest.mark.parametrize("ruleset", RULESETS)
    def test_without_stakes_there_is_no_settlement(self, client: Client, ruleset: str) -> None:
        table = Table(client, ruleset=ruleset, options={})
        answer = table.get("/settlement", **{"Accept-Language": "sv"})
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/not-for-money")
        assert "utan insats" in answer.json()["detail"]

    def test_a_missing_match_has_no_settlement(self, client: Client) -> None:
        answer = client.get("/v1/matches/00000000-0000-4000-8000-000000000009/settlement")
        assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-match")

    def test_a_version_not_yet_reached(self, client: Client) -> None:
        answer = tally(client).get("/settlement?min_version=99")
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/version-not-reached")


class TestNoMoneyRule:
    """Stakes are refused in a game without a rule for money, because they would have no effect."""

    HOUSE = (
        ("rodskagg-alga", "points_left"),
        ("rodskagg-catsatcards", "points_left"),
        ("kalabrias", "difference"),
    )

    def opened(self, client: Client, ruleset: str, options: dict[str, Any], **more: Any) -> Any:
        players = [{"name": name} for name in ("Anna", "Berit", "Cesar")]
        body = {"ruleset": ruleset, "players": players, "options": options, "stakes": KRONA, **more}
        return client.post("/v1/matches", json=body)

    @pytest.mark.parametrize(("ruleset", "rule"), HOUSE)
    def test_a_source_without_money_needs_a_house_rule(self, client: Client, ruleset: str, rule: str) -> None:
        for options in ({}, {"money": "none"}):
            answer = self.opened(client, ruleset, options)
            assert (answer.status_code, answer.json()["type"]) == (422, "/problems/no-money-rule")
            assert answer.json()["facts"] == {"ruleset": ruleset, "allowed": [rule]}
        answer = self.opened(client, ruleset, {"money": rule})
        assert answer.status_code == 201
        assert answer.json()["options"]["money"] == rule
        body = client.get(f"{answer.headers['Location']}/settlement").json()
        assert body["basis"] == "house"

    @pytest.mark.parametrize(("ruleset", "rule"), HOUSE)
    def test_a_source_without_money_is_played_without_stakes_as_before(
        self, client: Client, ruleset: str, rule: str
    ) -> None:
        assert self.opened(client, ruleset, {}, stakes=None).json()["options"]["money"] == "none"
        table = self.opened(client, ruleset, {"money": rule}, stakes=None)
        assert client.get(f"{table.headers['Location']}/settlement").status_code == 404

    @pytest.mark.parametrize("ruleset", [KORTOXEN, "rams-english"])
    def test_a_source_with_money_needs_none(self, client: Client, ruleset: str) -> None:
        assert self.opened(client, ruleset, {}).status_code == 201
        answer = self.opened(client, ruleset, {"money": "points_left"})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/unknown-option")

    def test_in_swedish(self, client: Client) -> None:
        players = [{"name": name} for name in ("Anna", "Berit")]
        body = {"ruleset": "kalabrias", "players": players, "stakes": KRONA}
        answer = client.post("/v1/matches", json=body, headers={"Accept-Language": "sv"})
        assert "husregel" in answer.json()["detail"]

    def test_half_points_need_an_even_unit(self, client: Client) -> None:
        options = {"money": "difference", "bete_odd_point": "exact_half"}
        answer = self.opened(client, "kalabrias", options, stakes={"currency": "SEK", "unit": 25})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/odd-unit")
        assert (answer.json()["rule"], answer.json()["facts"]) == ("E-O42", {"unit": 25})
        assert self.opened(client, "kalabrias", options).status_code == 201
