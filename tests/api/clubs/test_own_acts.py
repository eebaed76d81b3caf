"""Acts about the key's own member need the scope `self`, and a replaced secret does nothing new."""

from typing import Any

import pytest

from tests.api.http.test_problems import problem
from tests.support.club_client import ClubTable, in_days

STRONG = ("open", "play", "officiate", "treasury", "audit", "read", "keys")
"""All scopes except `self`."""


@pytest.fixture
def club(client: Any) -> ClubTable:
    """Return a club in which Berit has keys with `read`, `play` and `officiate`, and must confirm a payment to
    her."""
    table = ClubTable(client)
    for name in ("Berit", "Cesar"):
        table.join(name)
    table.issue("reads", "read", member=2)
    table.issue("plays", "play", member=2)
    table.issue("officiates", "officiate", member=2)
    table.done("pay", payer=1, payee=2, amount=100)
    return table


def own_acts(club: ClubTable) -> dict[str, dict[str, Any]]:
    """Return Berit's acts about herself, by name."""
    return {
        "rename": {"member": 2, "name": "Bertil"},
        "set_payee": {"member": 2, "swish": "0701234567"},
        "pay": {"payer": 2, "payee": 3, "amount": 100},
        "rotate_key": {"key": club.itself("plays").json()["key"]},
        "revoke_key": {"key": club.itself("officiates").json()["key"]},
        "leave": {"member": 2},
    }


class TestSelf:
    @pytest.mark.parametrize("who", ["reads", "plays"])
    def test_a_key_that_reads_or_plays_changes_nothing_about_its_member(self, club: ClubTable, who: str) -> None:
        version = club.get().json()["version"]
        for act, fields in own_acts(club).items():
            body = problem(club.act(act, who, **fields), 403, "scope-missing")
            assert body["facts"]["needs"] == "self"
        for act in ("confirm", "decline"):
            problem(club.act(act, who, proposal=1), 403, "confirmed-with")
        assert club.get().json()["version"] == version

    def test_a_key_with_self_may(self, club: ClubTable) -> None:
        club.issue("berit", "play", "self", member=2)
        club.done("confirm", "berit", proposal=1)
        for act, fields in own_acts(club).items():
            club.done(act, "berit", **fields)

    def test_only_about_oneself(self, club: ClubTable) -> None:
        club.issue("berit", "play", "self", member=2)
        for act, fields in (
            ("rename", {"member": 1, "name": "Carl"}),
            ("set_payee", {"member": 1, "swish": "0701234567"}),
            ("set_club_payee", {"swish": "0701234567"}),
            ("leave", {"member": 1}),
            ("revoke_key", {"key": "k1"}),
        ):
            body = problem(club.act(act, "berit", **fields), 403, "scope-missing")
            assert body["facts"]["needs"] == "keys"

    def test_a_program_rotates_its_own_key_with_self(self, club: ClubTable) -> None:
        club.issue("till", "treasury", "self")
        club.issue("screen", "read")
        problem(club.act("rotate_key", "screen", key=club.itself("screen").json()["key"]), 403, "scope-missing")
        club.done("rotate_key", "till", key=club.itself("till").json()["key"])

    def test_the_founder_has_it_and_a_member_by_default(self, club: ClubTable) -> None:
        assert "self" in club.itself("founder").json()["scopes"]
        assert club.issue("again", member=1) == club.itself("again").json()["key"]
        assert club.itself("again").json()["scopes"] == ["play", "self"]
        club.issue("screen")
        assert club.itself("screen").json()["scopes"] == ["read"]


class TestReplacedSecrets:
    """During `overlap_seconds` the old secret of a rotated key reads, but no longer acts in the club."""

    @pytest.fixture
    def rotated(self, club: ClubTable) -> ClubTable:
        club.issue("old", *STRONG, member=1)
        key = club.itself("old").json()["key"]
        club.keys["new"] = club.done("rotate_key", "old", key=key, overlap_seconds=3600)["key"]["secret"]
        return club

    def test_it_cannot_rotate_again(self, rotated: ClubTable) -> None:
        key = rotated.itself("old").json()["key"]
        problem(rotated.act("rotate_key", "old", key=key, overlap_seconds=3600), 403, "secret-replaced")
        rotated.done("rotate_key", "new", key=key)

    def test_it_does_nothing_new(self, rotated: ClubTable) -> None:
        own = rotated.itself("old").json()["key"]
        for act, fields in (
            ("issue_key", {"app": "Till", "scopes": ["treasury"], "expires_at": in_days(3)}),
            ("join", {"name": "Dag"}),
            ("set", {"payout_limit": 5}),
            ("deposit", {"member": 2, "amount": 100, "via": "cash"}),
            ("open_evening", {"on": "2026-11-22", "season": "2026"}),
            ("revoke_key", {"key": own}),
        ):
            problem(rotated.act(act, "old", **fields), 403, "secret-replaced")
            assert rotated.act(act, "new", **fields).status_code == 201

    def test_it_still_reads(self, rotated: ClubTable) -> None:
        assert rotated.get("/members", "old").status_code == 200
        assert rotated.get("/audit", "old").status_code == 200

    def test_a_repeat_is_answered(self, club: ClubTable) -> None:
        """The answer to a rotation was lost. The same request with the old secret returns the same new secret."""
        club.issue("old", *STRONG, member=1)
        once = {"headers": {"Idempotency-Key": "3f0c8e52-1c52-4a52-9f6c-0d8bb2a4e911"}}
        fields = {"key": club.itself("old").json()["key"], "overlap_seconds": 3600}
        first, again = (club.act("rotate_key", "old", **once, **fields) for _ in range(2))
        assert (again.status_code, again.json()) == (201, first.json())
