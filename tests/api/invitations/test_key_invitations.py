"""Keys for other members are invitations: no member sees another member's secret."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from referee.clubs.facts import SCOPES
from tests.api.http.test_problems import problem
from tests.support.club_client import ClubTable, in_days

SECRET = re.compile(r"knk_[0-9A-Za-z]{22}k[0-9]+_[0-9A-Za-z]{49}")
TREASURER = ("treasury", "self", "read")


@pytest.fixture
def club(client: Any) -> ClubTable:
    """Return a club of three members, in which only the founder has a key."""
    table = ClubTable(client)
    for name in ("Berit", "Cesar"):
        table.join(name)
    return table


def invited(club: ClubTable, member: int, *scopes: str, who: str = "founder", **headers: str) -> httpx.Response:
    """Send `issue_key` for a member; return the answer."""
    fields = {"scopes": scopes} if scopes else {}
    return club.act("issue_key", who, headers, member=member, expires_at=in_days(30), **fields)


def redeemed(club: ClubTable, code: str, **headers: str) -> httpx.Response:
    answer: httpx.Response = club.client.post(f"/v1/invitations/{code}", headers=headers)
    return answer


class TestInvitations:
    def test_a_key_for_another_member_is_an_invitation(self, club: ClubTable) -> None:
        answer = invited(club, 2)
        assert answer.status_code == 201, answer.text
        assert SECRET.search(answer.text) is None
        assert "key" not in answer.json()
        (said,) = answer.json()["events"]
        assert said["event"]["topic"] == "key/invited"
        assert (said["event"]["key"], said["event"]["member"], said["event"]["scopes"]) == ("k2", 2, ["play", "self"])

    def test_the_member_redeems_it_and_is_shown_the_secret(self, club: ClubTable) -> None:
        invitation = invited(club, 2).json()["invitation"]
        answer = redeemed(club, invitation["code"])
        assert answer.status_code == 201, answer.text
        assert answer.headers["Cache-Control"] == "no-store"
        key = answer.json()["key"]
        assert (key["id"], key["scopes"]) == ("k2", ["play", "self"])
        assert club.itself(key["secret"]).json()["member"] == 2
        assert answer.json()["club"] == club.id

    def test_one_looks_at_it_first(self, club: ClubTable) -> None:
        invitation = invited(club, 2, *TREASURER).json()["invitation"]
        answer = club.client.get(f"/v1/invitations/{invitation['code']}")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert (body["club"], body["club_name"], body["member"], body["name"]) == (club.id, "Knackarna", 2, "Berit")
        assert (body["key"], body["scopes"]) == ("k2", ["self", "treasury", "read"])
        assert (body["by"], body["by_name"]) == ("key:k1", "Anna Åkesson-Ödmårk")
        assert body["expires_at"] == invitation["expires_at"]

    def test_it_lasts_seven_days(self, club: ClubTable) -> None:
        until = datetime.fromisoformat(invited(club, 2).json()["invitation"]["expires_at"])
        left = until - datetime.now(UTC)
        assert timedelta(days=7) - timedelta(minutes=1) < left <= timedelta(days=7)

    def test_it_is_redeemed_once(self, club: ClubTable) -> None:
        code = invited(club, 2).json()["invitation"]["code"]
        assert redeemed(club, code).status_code == 201
        problem(redeemed(club, code), 409, "invitation-ended")
        problem(club.client.get(f"/v1/invitations/{code}"), 409, "invitation-ended")

    def test_a_repeat_gives_the_same_secret(self, club: ClubTable) -> None:
        code = invited(club, 2).json()["invitation"]["code"]
        own_key = str(uuid4())
        first, again = (redeemed(club, code, **{"Idempotency-Key": own_key}) for _ in range(2))
        assert (first.status_code, first.json()) == (201, again.json())
        assert again.headers["Idempotency-Replayed"] == "true"
        problem(redeemed(club, code, **{"Idempotency-Key": str(uuid4())}), 409, "invitation-ended")

    def test_a_repeated_act_gives_the_same_code(self, club: ClubTable) -> None:
        headers = {"Idempotency-Key": str(uuid4())}
        sent = {"member": 2, "expires_at": in_days(30)}
        first, again = (club.act("issue_key", headers=headers, **sent) for _ in range(2))
        assert (first.status_code, first.json()) == (201, again.json())
        assert redeemed(club, first.json()["invitation"]["code"]).status_code == 201

    def test_until_then_it_is_no_key(self, club: ClubTable) -> None:
        code = invited(club, 2).json()["invitation"]["code"]
        problem(club.get("", code), 401, "key-malformed")
        (_, listed) = club.get("/keys").json()["items"]
        assert (listed["key"], listed["revoked"]) == ("k2", False)
        assert listed["invited_until"] is not None
        problem(club.act("rotate_key", key="k2"), 409, "key-not-redeemed")
        redeemed(club, code)
        (_, listed) = club.get("/keys").json()["items"]
        assert listed["invited_until"] is None

    def test_revoked_it_ends(self, club: ClubTable) -> None:
        code = invited(club, 2).json()["invitation"]["code"]
        club.done("revoke_key", key="k2")
        problem(redeemed(club, code), 409, "invitation-ended")

    def test_it_ends_when_the_member_leaves(self, club: ClubTable) -> None:
        code = invited(club, 2).json()["invitation"]["code"]
        club.done("leave", member=2)
        problem(redeemed(club, code), 409, "invitation-ended")

    def test_it_ends_with_the_key_that_made_it(self, club: ClubTable) -> None:
        """The thief of a key cannot return through an invitation that was made with it."""
        club.issue("secretary", "keys", "read", "play", "self")
        code = invited(club, 2, who="secretary").json()["invitation"]["code"]
        club.done("revoke_key", key=club.itself("secretary").json()["key"])
        problem(redeemed(club, code), 409, "invitation-ended")

    @pytest.mark.parametrize("code", ["kni_nonsense", "x", "k2"])
    def test_a_code_that_no_one_made(self, club: ClubTable, code: str) -> None:
        for answer in (redeemed(club, code), club.client.get(f"/v1/invitations/{code}")):
            problem(answer, 404, "no-such-invitation")


class TestSecretsAreSeenOnlyByTheirHolder:
    def test_no_one_rotates_another_members_key(self, club: ClubTable) -> None:
        key = redeemed(club, invited(club, 2).json()["invitation"]["code"]).json()["key"]
        problem(club.act("rotate_key", key=key["id"]), 403, "others-secret")
        club.done("revoke_key", key=key["id"])
        assert redeemed(club, invited(club, 2).json()["invitation"]["code"]).status_code == 201

    def test_ones_own_keys_and_those_of_programs_are_shown(self, club: ClubTable) -> None:
        assert club.done("issue_key", member=1, expires_at=in_days(3))["key"]["secret"]
        made = club.done("issue_key", app="Board", expires_at=in_days(3))["key"]
        assert club.done("rotate_key", key=made["id"])["key"]["secret"]


class TestTwoPersons:
    @pytest.fixture
    def two(self, club: ClubTable) -> ClubTable:
        """Return the club after Berit also got all scopes."""
        club.issue("berit", *SCOPES, member=2)
        return club

    def test_a_strong_key_waits_for_the_second_person(self, two: ClubTable) -> None:
        for scope in ("keys", "treasury", "audit", "officiate"):
            answer = invited(two, 3, "play", scope)
            assert answer.status_code == 201, answer.text
            assert "invitation" not in answer.json()
            number = answer.json()["proposal"]
            problem(two.act("confirm", proposal=number), 403, "second-person-needed")
            confirmed = two.done("confirm", "berit", proposal=number)
            assert [one["event"]["topic"] for one in confirmed["events"]] == ["proposal/confirmed", "key/invited"]
            assert SECRET.search(str(confirmed)) is None
            key = redeemed(two, confirmed["invitation"]["code"]).json()["key"]
            assert key["scopes"] == [one for one in SCOPES if one in ("play", scope)]

    def test_a_weak_one_does_not(self, two: ClubTable) -> None:
        assert "invitation" in invited(two, 3, "play", "self", "read", "open").json()

    def test_a_lone_founder_invites_alone_and_the_event_says_so(self, club: ClubTable) -> None:
        (said,) = invited(club, 2, *TREASURER).json()["events"]
        assert said["event"]["alone"] is True
        (said,) = invited(club, 2).json()["events"]
        assert "alone" not in said["event"]

    def test_a_repeated_confirmation_gives_the_same_code(self, two: ClubTable) -> None:
        number = invited(two, 3, "treasury").json()["proposal"]
        headers = {"Idempotency-Key": str(uuid4())}
        first, again = (two.act("confirm", "berit", headers, proposal=number) for _ in range(2))
        assert (first.status_code, first.json()) == (201, again.json())

    @pytest.mark.parametrize("act", ["revoke_key", "leave"])
    def test_ending_the_keys_of_another_member_does_not_make_a_member_alone(self, two: ClubTable, act: str) -> None:
        """A member whose keys another member revoked, or who was made to leave, counts for 30 more days."""
        if act == "revoke_key":
            two.done("revoke_key", key=two.itself("berit").json()["key"])
        else:
            two.done("leave", member=2)
        assert "proposal" in two.done("set", currencies=["SEK", "EUR"])

    def test_a_member_who_gives_their_own_up_is_gone(self, two: ClubTable) -> None:
        two.done("leave", "berit", member=2)
        assert "proposal" not in two.done("set", currencies=["SEK", "EUR"])
