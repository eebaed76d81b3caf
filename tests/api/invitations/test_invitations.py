"""Invitations to the seats and roles of a match: their authors, their contents, and that each is redeemed once."""

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api.access.codes import CODES
from api.access.tokens import hash_of
from api.http.problems import problem_of_unexpected
from referee.admission import Invite
from referee.invitations import INVITATION_DAYS
from referee.store.clock import utc_now
from referee.store.command import Command
from referee.store.desk import Desk
from tests.api.http.test_problems import problem
from tests.conformance.description_check import Description
from tests.support.club_client import ClubTable
from tests.support.match_client import Table
from tests.support.service_in_memory import client_of

DESCRIBED = Description()
NOBODY = CODES.make_text(UUID(int=0), "", bytes(16))
"""A code without an invitation."""


def invited(table: Any, who: Any, **wanted: Any) -> str:
    """Make an invitation; return its code."""
    answer = table.post("/invitations", wanted, who)
    DESCRIBED.answered("POST", f"{table.path}/invitations", answer.status_code, answer.headers, answer.content)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    code: str = answer.json()["code"]
    return code


def look(client: Any, code: str) -> httpx.Response:
    answer: httpx.Response = client.get(f"/v1/invitations/{code}")
    DESCRIBED.answered("GET", f"/v1/invitations/{code}", answer.status_code, answer.headers, answer.content)
    return answer


def redeemed(client: Any, code: str, **headers: str) -> httpx.Response:
    answer: httpx.Response = client.post(f"/v1/invitations/{code}", headers=headers)
    DESCRIBED.answered("POST", f"/v1/invitations/{code}", answer.status_code, answer.headers, answer.content)
    return answer


def ago(days: float) -> datetime:
    return utc_now() - timedelta(days=days)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class TestWithoutAClub:
    def test_the_holder_of_the_code_takes_the_seat(self, table: Table) -> None:
        code = invited(table, "official", seat=1)
        shown = look(table.client, code).json()
        assert (shown["match"], shown["role"], shown["seat"], shown["name"]) == (table.id, "seat", 1, "Berit")
        assert (shown["by"], shown["stakes"], shown["agrees"]) == ("official", None, False)
        before = table.tokens[1]
        taken = redeemed(table.client, code).json()
        assert (taken["match"], taken["seat"], taken["agreed"]) == (table.id, 1, False)
        assert table.client.get(table.path, headers=bearer(taken["token"])).json()["viewer"] == "seat:1"
        assert table.client.get(table.path, headers=bearer(before)).status_code == 401, "the seat has another token"

    def test_a_code_is_redeemed_once(self, table: Table) -> None:
        code = invited(table, "official", seat=1)
        assert redeemed(table.client, code).status_code == 201
        problem(redeemed(table.client, code), 409, "invitation-ended")
        problem(look(table.client, code), 409, "invitation-ended")

    def test_another_to_the_same_place_replaces_it(self, table: Table) -> None:
        first, other = (invited(table, "official", seat=seat) for seat in (1, 2))
        second = invited(table, 1, seat=1)
        problem(redeemed(table.client, first), 409, "invitation-ended")
        for code in (second, other):
            assert redeemed(table.client, code).status_code == 201

    def test_an_answer_that_was_lost_is_given_again(self, table: Table) -> None:
        once, code = {"Idempotency-Key": str(uuid4())}, invited(table, "official", seat=1)
        first, again = (redeemed(table.client, code, **once) for _ in range(2))
        assert again.json() == first.json()
        assert again.headers["idempotency-replayed"] == "true"
        other = invited(table, "official", seat=1)
        problem(redeemed(table.client, other, **once), 422, "key-reused")
        problem(redeemed(table.client, other, **{"Idempotency-Key": "short"}), 400, "short-opening-key")

    @pytest.mark.parametrize(("role", "acts"), [("scribe", 201), ("watcher", 403)])
    def test_to_a_role(self, table: Table, role: str, acts: int) -> None:
        code = invited(table, "official", role=role)
        assert look(table.client, code).json()["name"] is None
        token = redeemed(table.client, code).json()["token"]
        deal = {"act": "deal", "seat": 0, "counts": [6, 6, 6]}
        assert table.client.post(f"{table.path}/acts", json=deal, headers=bearer(token)).status_code == acts

    @pytest.mark.parametrize(
        ("who", "wanted", "status", "code"),
        [
            (0, {"seat": 1}, 403, "for-officials"),
            (0, {"role": "scribe"}, 403, "for-officials"),
            (None, {"seat": 1}, 401, "token-missing"),
            ("official", {}, 422, "whose-token"),
            ("official", {"seat": 3}, 422, "no-such-seat"),
            ("official", {"seat": 1, "role": "watcher"}, 422, "token-of-no-seat"),
            ("official", {"role": "official"}, 409, "officials-have-tokens"),
            ("official", {"role": "official", "official": 2}, 422, "no-such-official"),
            ("official", {"seat": 1, "official": 1}, 422, "no-such-official"),
            ("official", {"role": "dealer"}, 400, "unreadable"),
        ],
    )
    def test_an_impossible_invitation_is_refused(
        self, table: Table, who: Any, wanted: Any, status: int, code: str
    ) -> None:
        problem(table.post("/invitations", wanted, who), status, code)

    def test_an_invitation_is_redeemed_after_the_end_of_the_match(self, table: Table) -> None:
        table.done("abandon", None)
        token = redeemed(table.client, invited(table, "official", seat=1)).json()["token"]
        assert table.client.get(table.path, headers=bearer(token)).json()["viewer"] == "seat:1"


class TestCodes:
    @pytest.mark.parametrize("code", [NOBODY, NOBODY[:-1], NOBODY + "0", "kni_", "x"])
    def test_one_that_no_invitation_has(self, client: Any, code: str) -> None:
        problem(client.get(f"/v1/invitations/{code}"), 404, "no-such-invitation")
        problem(client.post(f"/v1/invitations/{code}"), 404, "no-such-invitation")

    def test_the_right_match_and_a_wrong_secret(self, table: Table) -> None:
        invited(table, "official", seat=1)
        problem(redeemed(table.client, CODES.make_text(UUID(table.id), "", bytes(16))), 404, "no-such-invitation")

    def test_it_lasts_seven_days(self, either_url: str) -> None:
        """A desk with a different clock makes the invitations, as if in a different process."""
        with client_of(either_url) as client:
            table, codes = Table(client), []
            match, service = UUID(table.id), client.app.state.service
            for days in (INVITATION_DAYS - 0.01, INVITATION_DAYS):
                desk = Desk(service.referee, clock=partial(ago, days))
                codes.append(code := CODES.make_text(match, ""))
                invite = Invite(role="watcher", hash=hash_of(code), seat=None)
                desk.submit(Command(id=match, actor="official", request=invite)).result(30)
                desk.close()
            problem(redeemed(client, codes[1]), 409, "invitation-expired")
            problem(look(client, codes[1]), 409, "invitation-expired")

    def test_a_code_and_its_tokens_are_not_recorded(self, table: Table) -> None:
        code = invited(table, "official", seat=1)
        token = redeemed(table.client, code).json()["token"]
        table.client.post(f"{table.path}/tokens", json={"role": "watcher"}, headers=table.bearer("official"))
        rows = b"".join(row.state for row in table.client.app.state.service.referee.rows(UUID(table.id)))
        for secret in (code, token):
            assert secret.encode() not in rows
        for who in (0, 1, "official", None):
            shown = {**table.tokens, 1: token}
            answer = table.client.get(f"{table.path}/events", headers=bearer(shown[who]) if who is not None else {})
            body = answer.json()
            assert "invitation-redeemed" in answer.text
            assert hash_of(code) not in answer.text
            assert hash_of(token) not in answer.text
            assert body["acts"] == [], "requests here name hashes"
            assert len(body["events"]) > 1

    def test_it_is_not_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.ERROR):
            scope = {"method": "POST", "path": f"/v1/invitations/{NOBODY}", "headers": [], "state": {}}
            problem_of_unexpected(scope, RuntimeError("no reason"))
        assert NOBODY not in caplog.text
        assert "/v1/invitations/…" in caplog.text


class OfClub(ClubTable):
    """A club of four members with an evening; the first three play, and the fourth is the host."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        for name in ("Berit", "Cesar", "Hilda"):
            self.join(name)
        for name, member in (("anna", 1), ("berit", 2), ("cesar", 3)):
            self.issue(name, "play", member=member)
        self.issue("host", "officiate", member=4)
        self.issue("tablet", "officiate")
        self.issue("board", "open")
        self.done("open_evening", on="2026-11-22", season="2026/27")
        self.keys["none"] = ""

    def table(self, who: str = "board", **opening: Any) -> "TableOfClub":
        return TableOfClub(self, who, **opening)


class TableOfClub:
    """A match of the club at a real table, opened by a program."""

    def __init__(self, club: OfClub, who: str, **opening: Any) -> None:
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in (1, 2, 3)],
            "dealing": "table",
            "first_dealer": 0,
            "adjudication": {"officials": [{"name": "Maja"}, {"name": "Nils"}]},
            "club": club.id,
            "evening": 1,
        } | opening
        answer = club.client.post("/v1/matches", json=body, headers=club.bearer(who))
        assert answer.status_code == 201, answer.text
        self.club, self.client, self.opened = club, club.client, answer.json()
        self.path = f"/v1/matches/{self.opened['id']}"

    def post(self, path: str, body: Any, who: str) -> httpx.Response:
        answer: httpx.Response = self.client.post(self.path + path, json=body, headers=self.club.bearer(who))
        return answer


KRONOR = {"currency": "SEK", "unit": 100}


@pytest.fixture
def club(either_client: Any) -> OfClub:
    return OfClub(either_client)


class TestInAClub:
    def test_the_member_the_table_and_the_host_invite_to_a_seat(self, club: OfClub) -> None:
        table = club.table()
        for who in ("berit", "host", "tablet"):
            code = invited(table, who, seat=1)
        shown = look(club.client, code).json()
        assert (shown["name"], shown["member"], shown["club"], shown["evening"]) == ("Berit", 2, club.id, 1)
        for who in ("anna", "board", "founder"):
            answer = table.post("/invitations", {"seat": 1}, who)
            assert answer.status_code == 403, (who, answer.text)

    def test_to_one_for_money_only_people_do(self, club: OfClub) -> None:
        table = club.table(stakes=KRONOR)
        problem(table.post("/invitations", {"seat": 1}, "tablet"), 403, "invited-by-members")
        shown = look(club.client, invited(table, "host", seat=1)).json()
        assert (shown["stakes"]["unit"], shown["agrees"], shown["by_member"], shown["by_name"]) == (
            100,
            True,
            4,
            "Hilda",
        )
        shown = look(club.client, invited(table, "berit", seat=1)).json()
        assert (shown["by"], shown["by_member"], shown["by_name"]) == ("seat:1", 2, "Berit")

    def test_a_program_that_opens_matches_admits_to_no_seat(self, club: OfClub) -> None:
        table = club.table()
        assert invited(table, "board", role="scribe")
        assert invited(table, "board", role="watcher")
        for body in ({"seat": 0}, {"role": "official"}):
            problem(table.post("/invitations", body, "board"), 403, "scope-missing")

    def test_no_one_is_given_a_lost_token_of_a_seat(self, club: OfClub) -> None:
        table = club.table()
        for who in ("host", "board"):
            problem(table.post("/tokens", {"seat": 0}, who), 409, "seats-are-invited")

    def test_an_official_is_invited_by_a_key_that_officiates(self, club: OfClub) -> None:
        table = club.table()
        code = invited(table, "host", role="official", official=2)
        assert look(club.client, code).json()["name"] == "Nils"
        club.keys["nils"] = redeemed(club.client, code).json()["token"]
        assert table.post("/acts", {"act": "abandon"}, "nils").status_code == 201
        events = club.client.get(f"{table.path}/events", headers=club.bearer("nils")).json()["events"]
        assert events[-1]["actor"] == "official:2"
        for body in ({"seat": 0}, {"role": "official"}):
            problem(table.post("/invitations", body, "nils"), 403, "invited-by-keys")
