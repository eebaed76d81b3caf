"""A club's match for money counts in its books when the members in it have agreed to the stakes."""

from typing import Any

import httpx
import pytest

from tests.api.http.test_problems import problem
from tests.api.invitations.test_invitations import invited, redeemed
from tests.support.club_client import ClubTable
from tests.support.match_driver import seats_and

SHEET = {
    "bids": seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"]),
    "tricks": [0, 1, 2, 2, 2, 2],
    "exits": [{"seat": 1, "after": 2}],
}
"""A deal that begins with points [2, 1, 5]: seat 1 goes home, and seats 0 and 2 owe one point each."""
KRONA = {"currency": "SEK", "unit": 100}
PLAYERS = ("anna", "berit", "cesar")
BOOKED = {"member:1": 100, "member:2": -200, "member:3": 100}


class Club(ClubTable):
    """A club with three members who play, each with a key, a host, and programs."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        for name in ("Berit", "Cesar", "Hilda"):
            self.join(name)
        for member, name in enumerate(PLAYERS, 1):
            self.issue(name, "play", "self", member=member)
        self.issue("host", "officiate", member=4)
        self.issue("tablet", "officiate")
        self.issue("board", "open")
        self.done("open_evening", on="2026-11-22", season="2026/27")

    def balances(self) -> dict[str, int]:
        accounts = self.get("/accounts?fresh=true").json()["items"]
        return {one["account"]: one["balance"] for one in accounts if one["balance"]}

    def entries(self) -> list[dict[str, Any]]:
        entries: list[dict[str, Any]] = self.get("/journal?fresh=true").json()["items"]
        return entries

    def open(self, who: str = "board", **opening: Any) -> httpx.Response:
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in (1, 2, 3)],
            "dealing": "tally",
            "first_dealer": 2,
            "stakes": KRONA,
            "opening": {"points": [2, 1, 5]},
            "adjudication": None,
            "club": self.id,
            "evening": 1,
        } | opening
        answer: httpx.Response = self.client.post("/v1/matches", json=body, headers=self.bearer(who))
        return answer

    def match(self, who: str = "board", **opening: Any) -> "Match":
        return Match(self, self.open(who, **opening))


class Match:
    """A match of members 1, 2 and 3, opened by a program."""

    def __init__(self, club: Club, answer: httpx.Response) -> None:
        assert answer.status_code == 201, answer.text
        self.club, self.client, self.opened = club, club.client, answer.json()
        self.id, self.path = self.opened["id"], f"/v1/matches/{self.opened['id']}"

    def post(self, path: str, body: Any, who: str) -> httpx.Response:
        answer: httpx.Response = self.client.post(self.path + path, json=body, headers=self.bearer(who))
        return answer

    def bearer(self, who: str) -> dict[str, str]:
        return self.club.bearer(self.opened["official_token"] if who == "official" else who)

    def act(self, who: str, act: str, **fields: Any) -> httpx.Response:
        return self.post("/acts", {"act": act, **fields}, who)

    def done(self, who: str, act: str, **fields: Any) -> None:
        answer = self.act(who, act, **fields)
        assert answer.status_code == 201, answer.text

    def ends(self) -> None:
        self.done("official", "result", **SHEET)

    def agrees(self, *seats: int) -> None:
        for seat in seats:
            self.done(PLAYERS[seat], "agree_stakes", seat=seat)

    def counted(self) -> tuple[str, list[int]]:
        body = self.client.get(f"{self.path}/settlement", headers=self.bearer("official")).json()
        return body["counted"], body["waiting_for"]


@pytest.fixture
def club(either_client: Any) -> Club:
    return Club(either_client)


class TestWaiting:
    def test_nothing_is_booked_before_all_have_agreed(self, club: Club) -> None:
        match = club.match()
        match.agrees(0)
        assert match.counted() == ("waiting", [1, 2])
        match.ends()
        assert match.counted() == ("waiting", [1, 2])
        match.agrees(2)
        assert (match.counted(), club.balances()) == (("waiting", [1]), {})
        match.agrees(1)
        assert (match.counted(), club.balances()) == (("agreed", []), BOOKED)

    def test_the_agreement_is_the_cause_of_the_entry_if_it_comes_last(self, club: Club) -> None:
        match = club.match()
        match.ends()
        match.agrees(0, 1, 2)
        (entry,) = club.entries()
        last = match.client.get(match.path, headers=match.bearer("official")).json()["version"]
        assert (entry["kind"], entry["cause"]) == ("match", f"{match.id}/{last}")
        assert entry["by"] == {"actor": "seat:2", "member": None, "match": match.id}

    def test_a_result_counts_at_once_if_all_agreed_before(self, club: Club) -> None:
        match = club.match()
        match.agrees(0, 1, 2)
        assert (match.counted(), club.balances()) == (("agreed", []), {})
        match.ends()
        assert club.balances() == BOOKED

    def test_members_agree_when_they_redeem_their_invitations(self, club: Club) -> None:
        match = club.match()
        for seat, who in enumerate(PLAYERS):
            assert redeemed(club.client, invited(match, who, seat=seat)).json()["agreed"]
        match.ends()
        assert (match.counted(), club.balances()) == (("agreed", []), BOOKED)

    def test_a_closing_has_only_what_counts(self, club: Club) -> None:
        """A match whose last agreement comes after a closing is entered after the closing."""
        match, other = club.match(), club.match()
        for one in (match, other):
            one.ends()
        match.agrees(0, 1, 2)
        assert len(club.entries()) == 1
        closed = club.done("close_books", label="2026")["events"][0]["event"]
        assert closed["through"] == 1
        other.agrees(0, 1, 2)
        assert [entry["number"] for entry in club.entries()] == [1, 2]
        (closing,) = club.get("/closings").json()["items"]
        assert closing["holds"]

    def test_one_member_who_declines_ends_the_stakes(self, club: Club) -> None:
        match = club.match()
        match.agrees(0)
        match.done("cesar", "agree_stakes", seat=2, agree=False)
        match.ends()
        assert (match.counted(), club.balances()) == (("declined", []), {})
        problem(match.act("berit", "agree_stakes", seat=1), 409, "stakes-declined")

    def test_a_member_who_has_agreed_cannot_decline(self, club: Club) -> None:
        match = club.match()
        match.agrees(2)
        match.ends()
        problem(match.act("cesar", "agree_stakes", seat=2, agree=False), 409, "stakes-agreed")

    def test_a_match_without_a_club_counts_no_stakes(self, club: Club) -> None:
        players = [{"name": name} for name in PLAYERS]
        match = club.match(club=None, evening=None, players=players)
        assert match.counted() == (None, [])
        problem(match.act(match.opened["seats"][0]["token"], "agree_stakes", seat=0), 409, "no-stakes-to-agree")


class TestAgreeingCallers:
    def test_a_program_that_opens_matches_creates_no_debts(self, club: Club) -> None:
        """The program gets no token of a seat, and the official's token can neither agree nor invite."""
        match = club.match(
            ruleset="rams-english",
            dealing="house",
            first_dealer=None,
            opening={"points": [-1_000_000, 1_000_000, 0]},
        )
        assert [seat["token"] for seat in match.opened["seats"]] == [None] * 3
        for who in ("board", "official"):
            for fields in ({"seat": 0}, {}, {"agree": False}):
                assert match.act(who, "agree_stakes", **fields).status_code == 403
            assert match.post("/invitations", {"seat": 0}, who).status_code == 403
            assert match.post("/tokens", {"seat": 0}, who).status_code in (403, 409)
        match.done("official", "close")
        assert match.counted() == ("waiting", [0, 1, 2])
        assert (club.balances(), club.entries()) == ({}, [])

    def test_a_repeated_opening_gives_none_either(self, club: Club) -> None:
        once = club.bearer("board") | {"Idempotency-Key": "0123456789abcdef-opening"}
        body = {
            "ruleset": "rams-english",
            "players": [{"member": member} for member in (1, 2, 3)],
            "stakes": KRONA,
            "club": club.id,
            "evening": 1,
        }
        first, again = (club.client.post("/v1/matches", json=body, headers=once) for _ in range(2))
        assert (first.json(), again.headers["Idempotency-Replayed"]) == (again.json(), "true")
        assert [seat["token"] for seat in again.json()["seats"]] == [None] * 3

    def test_each_for_themselves(self, club: Club) -> None:
        match = club.match()
        problem(match.act("anna", "agree_stakes", seat=1), 403, "not-your-seat")
        for who in ("host", "tablet"):
            problem(match.act(who, "agree_stakes", seat=1), 403, "for-seats")
        problem(match.act("host", "agree_stakes"), 403, "members-agree")
        problem(match.act("tablet", "agree_stakes"), 403, "confirmed-by-members")

    def test_an_old_secret_agrees_to_nothing_and_invites_no_one(self, club: Club) -> None:
        match, old = club.match(), club.keys["berit"]
        (key,) = [one["key"] for one in club.get("/keys").json()["items"] if one["member"] == 2]
        club.done("rotate_key", "berit", key=key, overlap_seconds=3600)
        problem(match.act(old, "agree_stakes", seat=1), 403, "secret-replaced")
        problem(match.post("/invitations", {"seat": 1}, old), 403, "secret-replaced")

    def test_an_official_ends_the_waiting_for_a_member_who_does_not_answer(self, club: Club) -> None:
        match = club.match()
        match.ends()
        problem(match.act("tablet", "agree_stakes", agree=False), 403, "confirmed-by-members")
        match.done("host", "agree_stakes", agree=False)
        assert match.counted() == ("declined", [])
        (listed,) = club.get("/audit").json()["stakes"]
        assert (listed["how"], listed["by"]["name"], listed["members"]) == ("declined", "Hilda", [])


class TestSecretary:
    @pytest.fixture
    def club(self, either_client: Any) -> Club:
        club = Club(either_client)
        club.done("set", stakes_need="secretary")
        assert club.get().json()["stakes_need"] == "secretary"
        return club

    def test_one_member_who_officiates_confirms_for_all(self, club: Club) -> None:
        match = club.match(opening=None)
        problem(match.act("tablet", "agree_stakes"), 403, "confirmed-by-members")
        match.agrees(1)
        match.done("host", "agree_stakes")
        assert match.counted() == ("agreed", [])
        (listed,) = club.get("/audit").json()["stakes"]
        assert (listed["match"], listed["evening"], listed["how"]) == (match.id, 1, "secretary")
        assert (listed["by"]["name"], listed["members"]) == ("Hilda", [1, 3])
        page = club.client.get(f"{club.path}/audit", headers=club.bearer("founder") | {"Accept": "text/html"}).text
        assert "confirmed for the members" in page

    @pytest.mark.parametrize(
        "opening",
        [
            {"opening": {"points": [12, 12, 13]}},
            {"dealing": "house", "opening": None},
            {"ruleset": "rams-english", "dealing": "table", "opening": {"points": [0, 0, 0], "pot": 5}},
        ],
    )
    def test_one_member_cannot_confirm_other_points_at_the_start_or_stakes_that_no_one_sees(
        self, club: Club, opening: Any
    ) -> None:
        match = club.match(**opening)
        problem(match.act("host", "agree_stakes"), 403, "members-agree")

    def test_a_later_setting_changes_nothing(self, club: Club) -> None:
        first = club.match(opening=None)
        club.done("set", stakes_need="members")
        problem(club.match(opening=None).act("host", "agree_stakes"), 403, "members-agree")
        first.done("host", "agree_stakes")


class TestAudit:
    def test_it_lists_what_waits_and_who_invited_another(self, club: Club) -> None:
        match = club.match()
        match.agrees(0)
        assert redeemed(club.client, invited(match, "host", seat=1)).status_code == 201
        match.ends()
        audit = club.get("/audit").json()
        assert audit["ok"]
        (waits,) = audit["waiting"]
        assert (waits["match"], waits["evening"], waits["members"]) == (match.id, 1, [3])
        (listed,) = audit["stakes"]
        assert (listed["how"], listed["by"]["name"], listed["members"]) == ("invitation", "Hilda", [2])
        match.agrees(2)
        audit = club.get("/audit").json()
        assert (audit["ok"], audit["waiting"]) == (True, [])

    def test_a_match_agreed_to_after_a_closing_lies_across_it(self, club: Club) -> None:
        match = club.match()
        match.ends()
        club.done("deposit", member=1, amount=100, via="cash")
        club.done("close_books", label="2026")
        assert club.get("/audit").json()["across_closings"] == []
        match.agrees(0, 1, 2)
        (across,) = club.get("/audit").json()["across_closings"]
        assert (across["match"], across["closings"], across["entry"]) == (match.id, [1], 2)


class TestLimit:
    @pytest.fixture
    def club(self, either_client: Any) -> Club:
        club = Club(either_client)
        club.done("set", stake_limit=1000)
        assert club.get().json()["stake_limit"] == 1000
        return club

    @pytest.mark.parametrize(
        "opening",
        [
            {"stakes": {"currency": "SEK", "unit": 1001}, "opening": {"points": [0, 1, 1]}},
            {"opening": {"points": [2, 11, 5]}},
            {"ruleset": "rams-english", "opening": {"points": [1001, 0, 0]}},
            {"ruleset": "rams-english", "opening": {"points": [0, 0, 0], "pot": 1001}},
        ],
    )
    def test_stakes_that_are_above_it_from_the_start(self, club: Club, opening: Any) -> None:
        body = problem(club.open(**opening), 422, "stakes-above-limit")
        assert body["facts"]["limit"] == 1000

    def test_a_result_above_it_is_not_booked(self, club: Club) -> None:
        match = club.match(opening={"points": [10, 1, 10]})
        match.agrees(0, 1, 2)
        match.ends()
        assert (match.counted(), club.balances()) == (("above_limit", []), {})
        audit = club.get("/audit").json()
        assert audit["ok"]
        assert [(one["match"], one["why"]) for one in audit["left_out"]] == [(match.id, "above_limit")]

    def test_a_result_within_it_is(self, club: Club) -> None:
        match = club.match()
        match.agrees(0, 1, 2)
        match.ends()
        assert club.balances() == BOOKED

    def test_a_later_limit_changes_nothing(self, club: Club) -> None:
        match = club.match()
        match.agrees(0, 1, 2)
        club.done("set", stake_limit=0)
        problem(club.open(), 422, "stakes-above-limit")
        match.ends()
        assert club.balances() == BOOKED


def test_no_one_is_erased_of_whom_a_match_waits(club: Club) -> None:
    match = club.match()
    match.agrees(0, 2)
    match.ends()
    club.done("leave", member=2)
    problem(club.act("erase", member=2), 409, "matches-left")
    match.done("host", "agree_stakes", agree=False)
    club.done("erase", member=2)


# Rights to agree for a seat

TABLE = """
                          anna     again    berit    host     tablet   board    scribe   official
anna_agrees               done     done     yours    seats    seats    looks    seats    seats
anna_declines             done     done     yours    seats    seats    looks    seats    seats
all_agree                 official official official members  person   looks    official members
all_agree_by_secretary    official official official done     person   looks    official members
all_declined              official official official done     person   looks    official members
invite_anna               done     done     official done     person   scope    official keys
"""
"""Requests about a match for money, with the answer to each credential. ``again`` is Anna's second key. ``host`` is a
member with `officiate` who does not play, ``tablet`` a program with `officiate`, ``board`` a program with `open`.
``scribe`` and ``official`` are the tokens of these roles."""
HOLDERS, *LINES = (line.split() for line in TABLE.strip().splitlines())
ASKED: dict[str, tuple[str, dict[str, Any]]] = {
    "anna_agrees": ("/acts", {"act": "agree_stakes", "seat": 0}),
    "anna_declines": ("/acts", {"act": "agree_stakes", "seat": 0, "agree": False}),
    "all_agree": ("/acts", {"act": "agree_stakes"}),
    "all_agree_by_secretary": ("/acts", {"act": "agree_stakes"}),
    "all_declined": ("/acts", {"act": "agree_stakes", "agree": False}),
    "invite_anna": ("/invitations", {"seat": 0}),
}
ANSWERS = {
    "yours": "not-your-seat",
    "seats": "for-seats",
    "looks": "scope-missing",
    "official": "for-officials",
    "members": "members-agree",
    "person": "confirmed-by-members",
    "scope": "scope-missing",
    "keys": "invited-by-keys",
}


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_each_holder_gets_the_answer_of_the_table_of_stakes(client: Any, line: list[str]) -> None:
    what, *expected = line
    club = Club(client)
    club.issue("again", "play", "self", member=1)
    club.done("set", stakes_need="secretary" if what == "all_agree_by_secretary" else "members", name="Korten")
    found = []
    for who in HOLDERS:
        match = club.match(opening=None)
        club.keys["scribe"] = match.post("/tokens", {"role": "scribe"}, "board").json()["token"]
        path, body = ASKED[what]
        answer = match.post(path, body, who)
        found.append("done" if answer.status_code == 201 else answer.json()["type"].removeprefix("/problems/"))
    codes = [ANSWERS.get(one, one) for one in expected]
    if what == "invite_anna":
        codes = [one.replace("confirmed-by-members", "invited-by-members") for one in codes]
    assert dict(zip(HOLDERS, found, strict=True)) == dict(zip(HOLDERS, codes, strict=True))
