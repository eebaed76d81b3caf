"""The proposals of a club that wait for confirmation, and its closings."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.club_client import ClubTable


@pytest.fixture(scope="module")
def club(client: Any) -> Iterator[ClubTable]:
    """Yield a club in which Berit and Cesar have each sent a payment, and a payout above the limit waits."""
    table = ClubTable(client)
    for member, name in enumerate(("Berit", "Cesar", "Dag"), 2):
        table.join(name)
        table.issue(name.lower(), "play", "self", member=member)
    table.issue("treasurer", "treasury", member=4)
    for scope in ("audit", "read"):
        table.issue(scope, scope)
    table.done("set", payout_limit=100)
    table.done("deposit", member=2, amount=50000, via="cash")
    table.done("close_books", label="2025")
    table.done("deposit", member=3, amount=1000, via="bank")
    table.done("close_books", label="2026")
    table.done("pay", "berit", payer=2, payee=3, amount=400)
    table.done("pay", "cesar", payer=3, payee=1, amount=900)
    table.done("payout", member=2, amount=200, via="cash")
    return table


def listed(club: ClubTable, who: str = "founder", query: str = "") -> list[Any]:
    found: list[Any] = club.get(f"/proposals{query}", who).json()["items"]
    return found


def test_each_proposal_shows_its_act_its_sender_and_its_time(club: ClubTable) -> None:
    payment, _, payout = listed(club)
    asked = club.get("/journal").json()["items"]
    assert [entry["kind"] for entry in asked] == ["deposit", "deposit"], "none of them is an entry"
    assert {name: payment[name] for name in payment if name not in ("at", "event")} == {
        "proposal": 1,
        "act": {"act": "pay", "payer": 2, "payee": 3, "amount": 400},
        "draft": {
            "kind": "pay",
            "currency": "SEK",
            "postings": [{"account": "member:3", "amount": 400}, {"account": "member:2", "amount": -400}],
        },
        "by": {"actor": "key:k2", "member": 2, "match": None},
        "other": 3,
        "yours": True,
    }
    assert (payout["act"]["act"], payout["other"], payout["yours"]) == ("payout", None, False)
    assert payout["event"] == club.get().json()["version"]
    assert payout["at"] == club.get().json()["changed_at"]


@pytest.mark.parametrize(
    ("who", "yours"),
    [
        ("founder", {1: True, 2: True, 3: False}),  # the payee of the second, and the sender of the third
        ("treasurer", {1: True, 2: True, 3: True}),
        ("audit", {1: False, 2: False, 3: False}),
        ("berit", {1: False, 3: False}),
        ("cesar", {1: True, 2: False}),
        ("dag", {}),
    ],
)
def test_a_member_sees_the_proposals_of_their_account_and_which_ones_they_may_confirm(
    club: ClubTable, who: str, yours: dict[int, bool]
) -> None:
    assert {one["proposal"]: one["yours"] for one in listed(club, who)} == yours


def test_a_key_that_only_reads_proposals_cannot_confirm_them(club: ClubTable) -> None:
    for who in ("berit", "audit"):
        for one in listed(club, who):
            assert club.act("confirm", who, proposal=one["proposal"]).status_code == 403


@pytest.mark.parametrize("path", ["/proposals", "/closings"])
def test_a_program_without_the_scope_has_none(club: ClubTable, path: str) -> None:
    assert club.get(path, "read").json()["type"] == "/problems/scope-missing"


def test_proposals_page_by_page(club: ClubTable) -> None:
    first = club.get("/proposals?limit=2")
    assert [one["proposal"] for one in first.json()["items"]] == [1, 2]
    assert 'rel="next"' in first.headers["link"]
    rest = club.get(f"/proposals?limit=2&cursor={first.json()['next']}").json()
    assert ([one["proposal"] for one in rest["items"]], rest["next"]) == ([3], None)


def test_closings_by_number_with_what_stood_there(club: ClubTable) -> None:
    first, second = club.get("/closings", "audit").json()["items"]
    assert (first["closing"], first["through"], first["label"], first["holds"]) == (1, 1, "2025", True)
    assert (second["closing"], second["through"], second["label"], second["holds"]) == (2, 2, "2026", True)
    assert first["trial"] == [
        {"account": "cash", "currency": "SEK", "amount": 50000},
        {"account": "member:2", "currency": "SEK", "amount": -50000},
    ]
    assert len({first["digest"], second["digest"]}) == 2
    assert first["at"] < second["at"]


def test_closings_page_by_page(club: ClubTable) -> None:
    first = club.get("/closings?limit=1")
    assert 'rel="next"' in first.headers["link"]
    rest = club.get(f"/closings?limit=1&cursor={first.json()['next']}").json()
    assert ([one["closing"] for one in rest["items"]], rest["next"]) == ([2], None)


def test_a_member_reads_no_closings(club: ClubTable) -> None:
    """Closings show the balances of all members."""
    assert club.get("/closings", "berit").json()["type"] == "/problems/scope-missing"


def test_settled_proposals_are_not_listed(client: Any) -> None:
    club = ClubTable(client)
    club.join("Berit")
    club.issue("berit", "play", "self", member=2)
    numbers = [club.done("pay", "berit", payer=2, payee=1, amount=amount)["proposal"] for amount in (1, 2, 3)]
    club.done("confirm", proposal=numbers[0])
    club.done("decline", "berit", proposal=numbers[1])
    assert [one["proposal"] for one in listed(club)] == numbers[2:]
