"""A club's match is opened with its key, entered by a scribe, and counts in the standings."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from referee.store.connection import Postgres, parse_store_url
from tests.api.http.test_problems import problem
from tests.conformance.description_check import Description
from tests.support.club_client import FOUNDING, ClubTable
from tests.support.club_with_names import files_with, tables_with
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_names import is_ref

DESCRIBED = Description()


class Home(ClubTable):
    """A club with three members and an evening."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        self.key = self.keys["founder"]
        for name in ("Berit Berg", "Cesar Ceder"):
            self.join(name)
        self.evening = self.done("open_evening", on="2026-11-22", season="2026/27")["evening"]

    def issued(self, *scopes: str, **whose: Any) -> str:
        """Issue a key; return its text."""
        self.issue("new", *scopes, **(whose or {"app": "Scoreboard"}))
        return self.keys["new"]

    def opening(self, **fields: Any) -> dict[str, Any]:
        return {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in (2, 1, 3)],
            "dealing": "table",
            "first_dealer": 0,
            "club": self.id,
            "evening": self.evening,
            "table": 1,
            **fields,
        }

    def open(self, key: str | None = "", **fields: Any) -> httpx.Response:
        shown = bearer(self.key if key == "" else key)
        answer: httpx.Response = self.client.post("/v1/matches", json=self.opening(**fields), headers=shown)
        DESCRIBED.answered("POST", "/v1/matches", answer.status_code, answer.headers, answer.content)
        return answer

    def look(self, path: str, key: str | None = "") -> httpx.Response:
        """Read a path outside the club."""
        answer: httpx.Response = self.client.get(path, headers=bearer(self.key if key == "" else key))
        return answer


def bearer(shown: str | None) -> dict[str, str]:
    return {} if shown is None else {"Authorization": f"Bearer {shown}"}


@pytest.fixture
def home(client: Client) -> Home:
    return Home(client)


class TestOpening:
    def test_a_key_with_the_scope_opens_a_match_of_the_club(self, home: Home) -> None:
        answer = home.open(home.issued("open"))
        assert answer.status_code == 201, answer.text
        made = answer.json()
        assert (made["club"], made["evening"], made["table"]) == (home.id, 1, 1)
        assert made["visibility"] == "club"
        assert [seat["member"] for seat in made["seats"]] == [2, 1, 3]
        events = home.look(f"/v1/matches/{made['id']}/events", made["official_token"]).json()["events"]
        assert events[0]["actor"] == "key:k2"
        assert events[0]["event"]["members"] == [2, 1, 3]

    def test_its_players_are_named_only_to_callers_with_the_right(self, home: Home) -> None:
        made = home.open(visibility="public").json()
        path = f"/v1/matches/{made['id']}"
        names = {"Berit Berg", FOUNDING["founder"]["name"], "Cesar Ceder"}
        for shown in (home.key, made["seats"][0]["token"], made["official_token"], home.issued("read")):
            assert {player["name"] for player in home.look(path, shown).json()["players"]} == names
        assert [player["name"] for player in home.look(path, None).json()["players"]] == ["M2", "M1", "M3"]

    @pytest.mark.parametrize(
        ("scopes", "status", "code"),
        [(("play", "read", "keys", "audit", "officiate", "treasury"), 403, "scope-missing")],
    )
    def test_a_key_without_the_scope_or_of_another_club_opens_no_match(
        self, home: Home, scopes: tuple[str, ...], status: int, code: str
    ) -> None:
        problem(home.open(home.issued(*scopes)), status, code)
        problem(home.open(None), 401, "key-missing")
        problem(home.open("nobody's"), 401, "key-malformed")
        stranger = Home(home.client)
        problem(home.open(stranger.key), 404, "no-such-club")
        problem(home.open(club=str(uuid4())), 404, "no-such-club")

    @pytest.mark.parametrize(
        ("fields", "status", "code"),
        [
            ({"players": [{"member": 2}, {"member": 1}, {"member": 9}]}, 422, "no-such-member"),
            ({"players": [{"member": 2}, {"member": 1}, {"member": 2}]}, 422, "member-twice"),
            ({"players": [{"member": 2}, {"member": 1}, {"name": "Cesar"}]}, 422, "players-by-member"),
            ({"players": [{"member": 2}, {"member": 1}, {"member": 3, "name": "Cesar"}]}, 422, "players-by-member"),
            ({"evening": None}, 422, "evening-needed"),
            ({"evening": 2}, 422, "no-such-evening"),
            ({"club": None}, 422, "no-club-named"),
            ({"club": None, "evening": None, "table": None}, 422, "players-by-name"),
            ({"club": None, "evening": None, "table": None, "visibility": "club"}, 422, "no-club-named"),
            ({"visibility": "secret"}, 400, "unreadable"),
            ({"club": "mine"}, 400, "unreadable"),
        ],
    )
    def test_an_opening_that_contradicts_the_club_is_refused(
        self, home: Home, fields: Any, status: int, code: str
    ) -> None:
        problem(home.open(**fields) if fields.get("club", home.id) else home.open(None, **fields), status, code)
        assert home.look(f"/v1/matches?club={home.id}&fresh=true").json()["items"] == []

    def test_a_match_needs_present_members_and_an_open_evening(self, home: Home) -> None:
        home.done("leave", member=3)
        problem(home.open(), 409, "member-left")
        home.done("close_evening", evening=1)
        home.join("Dag Dahl")
        problem(home.open(players=[{"member": 1}, {"member": 2}, {"member": 4}]), 409, "evening-closed")

    def test_repeated_it_is_the_same_match_also_when_the_evening_is_over(self, home: Home) -> None:
        once = bearer(home.key) | {"Idempotency-Key": str(uuid4())}
        first = home.client.post("/v1/matches", json=home.opening(), headers=once)
        home.done("close_evening", evening=1)
        again = home.client.post("/v1/matches", json=home.opening(), headers=once)
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.json() == first.json()
        assert again.headers["idempotency-replayed"] == "true"
        problem(home.client.post("/v1/matches", json=home.opening(table=2), headers=once), 422, "key-reused")

    def test_as_many_open_matches_as_a_club_may_have(self, either_url: str) -> None:
        with client_of(either_url, club_matches=1) as client:
            home = Home(client)
            made = home.open().json()
            home.look(f"/v1/matches?club={home.id}&fresh=true")
            answer = home.open()
            problem(answer, 403, "quota-reached")
            assert answer.json()["facts"] == {"what": "open_matches", "most": 1}
            end = {"act": "abandon", "reason": "Rain"}
            acts = f"/v1/matches/{made['id']}/acts"
            assert client.post(acts, json=end, headers=bearer(made["official_token"])).status_code == 201
            home.look(f"/v1/matches?club={home.id}&fresh=true")
            assert home.open().status_code == 201


class TestRoles:
    def test_a_scribe_gets_a_token_and_writes_for_all(self, home: Home) -> None:
        made = home.open(visibility="private").json()
        path = f"/v1/matches/{made['id']}"
        by = bearer(home.issued("open"))
        scribe = home.client.post(f"{path}/tokens", json={"role": "scribe"}, headers=by).json()
        assert (scribe["role"], scribe["seat"]) == ("scribe", None)
        watcher = home.client.post(f"{path}/tokens", json={"role": "watcher"}, headers=by).json()["token"]
        act = {"act": "cut", "seat": 0}
        done = home.client.post(f"{path}/acts", json=act, headers=bearer(scribe["token"]))
        assert done.status_code == 201, done.text
        problem(home.client.post(f"{path}/acts", json=act, headers=bearer(watcher)), 403, "only-looks-on")
        events = home.look(f"{path}/events", watcher).json()["events"]
        assert events[-1]["actor"] == "scribe"
        other = home.client.post(f"{path}/tokens", json={"role": "scribe"}, headers=by).json()["token"]
        assert home.look(path, other).status_code == 200
        assert home.look(path, scribe["token"]).status_code in (401, 404), "one device at a time"
        problem(home.look(path, None), 404, "no-such-match")


class TestLists:
    def test_a_key_finds_its_clubs_matches_by_evening_and_member(self, home: Home) -> None:
        first = home.open().json()["id"]
        home.done("open_evening", on="2026-11-29", season="2026/27")
        second = home.open(evening=2, players=[{"member": 1}, {"member": 2}, {"member": 3}]).json()["id"]
        private = home.open(visibility="private").json()["id"]

        def listed(query: str, key: str | None = "") -> list[str]:
            page = home.look(f"/v1/matches?club={home.id}&fresh=true{query}", key).json()
            return [one["id"] for one in page["items"]]

        assert listed("") == [first, second, private]
        assert listed("", home.issued("read")) == [first, second]
        assert listed("", home.issued("play", member=2)) == [first, second, private]
        assert listed("", None) == listed("", Home(home.client).key) == []
        assert listed("&evening=2") == [second]
        assert listed("&member=3") == [first, second, private]
        problem(home.look("/v1/matches?evening=1"), 422, "no-club-named")
        problem(home.look(f"/v1/matches?club={home.id}&member=null"), 400, "bad-parameter")


class TestStandings:
    def test_standings_can_be_limited_to_a_season(self, home: Home) -> None:
        made = home.open().json()
        by = bearer(made["official_token"])
        home.client.post(f"/v1/matches/{made['id']}/acts", json={"act": "abandon", "reason": "Rain"}, headers=by)

        def standings(query: str = "") -> Any:
            return home.look(f"/v1/clubs/{home.id}/standings?fresh=true{query}").json()["items"]

        assert standings() == [], "an unfinished match does not count"
        self.won_by(home, 2)
        self.won_by(home, 2)
        self.won_by(home, 1)
        expected = [(2, 3, 2), (1, 3, 1), (3, 3, 0)]
        assert [(one["member"], one["played"], one["won"]) for one in standings("&season=2026/27")] == expected
        assert standings("&season=2025/26") == []
        assert standings("&ruleset=kalabrias") == []
        problem(home.look(f"/v1/clubs/{home.id}/standings?ruleset=whist"), 422, "unknown-ruleset")
        problem(home.look(f"/v1/clubs/{home.id}/standings", None), 401, "key-missing")
        problem(home.look(f"/v1/clubs/{UUID(int=7)}/standings"), 404, "no-such-club")

    def test_one_row_per_member_and_ruleset(self, home: Home) -> None:
        """Points of two rulesets are different things: a sum over both has no meaning."""
        self.won_by(home, 2)
        made = home.open(ruleset="rams-english", dealing="tally").json()
        by = bearer(made["official_token"])
        closed = home.client.post(f"/v1/matches/{made['id']}/acts", json={"act": "close"}, headers=by)
        assert closed.status_code == 201, closed.text

        def standings(query: str = "") -> Any:
            return home.look(f"/v1/clubs/{home.id}/standings?fresh=true{query}").json()["items"]

        rams, rodskagg = standings("&ruleset=rams-english"), standings("&ruleset=rodskagg-kortoxen")
        assert [(one["ruleset"], one["member"]) for one in rams] == [("rams-english", number) for number in (1, 2, 3)]
        assert [(one["ruleset"], one["member"], one["won"]) for one in rodskagg] == [
            ("rodskagg-kortoxen", 2, 1),
            ("rodskagg-kortoxen", 1, 0),
            ("rodskagg-kortoxen", 3, 0),
        ]
        assert standings() == rams + rodskagg

    def test_points_in_money_have_their_own_rows(self, home: Home) -> None:
        """A point of Rams is an öre in a match with stakes in kronor, and a unit of one trick in others."""
        for stakes in (None, {"currency": "SEK", "unit": 10}, {"currency": "SEK", "unit": 50}):
            made = home.open(ruleset="rams-english", dealing="tally", stakes=stakes).json()
            by = bearer(made["official_token"])
            home.client.post(f"/v1/matches/{made['id']}/acts", json={"act": "close"}, headers=by)
        rows = home.look(f"/v1/clubs/{home.id}/standings?fresh=true").json()["items"]
        assert [(one["currency"], one["member"], one["played"]) for one in rows] == [
            *((None, member, 1) for member in (1, 2, 3)),
            *(("SEK", member, 2) for member in (1, 2, 3)),
        ]

    def test_standings_have_pages(self, home: Home) -> None:
        self.won_by(home, 2)
        self.won_by(home, 3)
        path = f"/v1/clubs/{home.id}/standings"
        whole = home.look(f"{path}?fresh=true").json()
        assert ([one["member"] for one in whole["items"]], whole["next"]) == ([2, 3, 1], None)
        first = home.look(f"{path}?limit=2").json()
        second = home.look(f"{path}?limit=2&cursor={first['next']}").json()
        assert first["items"] + second["items"] == whole["items"]
        assert (len(first["items"]), second["next"]) == (2, None)
        problem(home.look(f"{path}?cursor=nonsense"), 400, "bad-cursor")

    def test_a_private_match_counts_for_those_who_may_see_it(self, home: Home) -> None:
        self.won_by(home, 2)
        self.won_by(home, 1, visibility="private")
        outsider, player = home.issued("play"), home.issued("play", member=2)

        def wins(key: str) -> dict[int, int]:
            standings = home.look(f"/v1/clubs/{home.id}/standings?fresh=true", key).json()["items"]
            return {one["member"]: one["won"] for one in standings}

        assert wins(home.issued("audit")) == wins(player) == {2: 1, 1: 1, 3: 0}
        assert wins(outsider) == wins(home.issued("read")) == {2: 1, 1: 0, 3: 0}

    def won_by(self, home: Home, member: int, **fields: Any) -> None:
        """Let a member win a match of Rödskägg: all tricks in a deal with that bid win it."""
        seat = (2, 1, 3).index(member)
        made = home.open(dealing="tally", first_dealer=seat, **fields).json()
        bids = seats_and("bid", [(seat + 1) % 3, "pass"], [(seat + 2) % 3, "pass"], [seat, "rodskagg"])
        result = {"act": "result", "bids": bids, "tricks": [seat] * 6}
        answer = home.client.post(
            f"/v1/matches/{made['id']}/acts", json=result, headers=bearer(made["official_token"])
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["events"][-1]["event"]["topic"] == "match/won", answer.text


def test_no_one_is_erased_who_plays_in_a_match_that_goes_on(home: Home) -> None:
    """Otherwise the result would be entered in the account of an erased member."""
    body = home.opening(players=[{"member": number} for number in (1, 2, 3)])
    made = home.client.post("/v1/matches", json=body, headers=bearer(home.key)).json()
    home.done("leave", member=2)
    refused = home.act("erase", member=2)
    assert (refused.status_code, refused.json()["type"]) == (409, "/problems/matches-left")
    ended = {"act": "abandon", "reason": "Bo has left"}
    acts = f"/v1/matches/{made['id']}/acts"
    assert home.client.post(acts, json=ended, headers=bearer(made["official_token"])).status_code == 201
    home.done("erase", member=2)


def test_the_name_of_an_official_is_stored_and_erased_as_personal_data(store_url: str, tmp_path: Path) -> None:
    """A member may be an official. Callers with the right see the name, and an erasure removes it."""
    name, attending = "Berit Berg", {"officials": [{"name": "Berit Berg"}, {"name": "official"}]}
    again = {"Idempotency-Key": str(uuid4())}
    with client_of(store_url) as client:
        home = Home(client)
        home.join("Dag Dahl")
        body = home.opening(visibility="public", adjudication=attending, players=[{"member": n} for n in (1, 3, 4)])
        made = [client.post("/v1/matches", json=body, headers=bearer(home.key) | again) for _ in range(2)]
        assert [answer.status_code for answer in made] == [201, 201]
        assert made[0].json() == made[1].json()
        assert [one["name"] for one in made[0].json()["officials"]] == [name, "official"]
        path = f"/v1/matches/{made[0].json()['id']}"

        def view(key: str | None) -> list[str]:
            officials: list[str] = home.look(path, key).json()["adjudication"]["officials"]
            return officials

        assert view(home.key) == view(made[0].json()["official_token"]) == [name, "official"]
        ref, official = view(None)
        assert (is_ref(ref), official) == (True, "official")
        home.done("leave", member=2)
        home.done("erase", member=2)
        assert view(home.key) == [ref, "official"]
    place = parse_store_url(store_url)
    assert (tables_with(store_url, name) if isinstance(place, Postgres) else files_with(tmp_path, name)) == []
