"""A payment of the plan is made once. A second proposal, with any key, returns the first one."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.club_client import ClubTable


class Table(ClubTable):
    """A club in which Berit owes Cesar 300 kronor, and Dag owes the club 10 kronor."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        for member, name in enumerate(("Berit", "Cesar", "Dag"), 2):
            self.join(name)
            self.issue(name.lower(), "play", "self", member=member)
        self.issue("berit again", "play", "self", member=2)
        self.done("open_evening", on="2026-11-22", season="2026/27")
        self.owes()
        self.done("fee", member=4, amount=1000)

    def owes(self) -> None:
        self.done("fee", member=2, amount=30000, evening=1)
        self.done("deposit", member=3, amount=30000, via="cash", evening=1)

    def planned(self, query: str = "") -> dict[str, Any]:
        """Return Berit's payment to Cesar as the body of an act."""
        payments = self.get(f"/plan{query}", "berit").json()["payments"]
        (payment,) = (one for one in payments if one["to"] == 3)
        return {"payer": 2, "payee": 3, "amount": payment["amount"], "plan": payment["id"]}

    def waiting(self) -> list[int]:
        return [one["proposal"] for one in self.get("/proposals").json()["items"]]

    def refused(self, act: str, who: str, **fields: Any) -> tuple[int, str]:
        answer = self.act(act, who, **fields)
        return answer.status_code, answer.json()["type"].removeprefix("/problems/")


@pytest.fixture
def club(either_client: Any) -> Table:
    return Table(either_client)


def test_proposed_again_it_is_the_same_proposal(club: Table) -> None:
    pay = club.planned()
    first = club.act("pay", "berit", headers={"Idempotency-Key": "the-first"}, **pay)
    for who in ("berit", "berit again", "cesar"):
        again = club.act("pay", who, **pay)
        assert again.status_code == 201, again.text
        assert again.headers["Idempotency-Replayed"] == "true"
        assert again.json()["proposal"] == first.json()["proposal"]
        assert again.json()["version"] == first.json()["version"]
    assert again.json()["events"][0]["act"] is None, "whose key that was is for its sender to know"
    assert club.waiting() == [first.json()["proposal"]]


def test_simultaneous_planned_payments_make_one_proposal(club: Table) -> None:
    pay = club.planned()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda who: club.act("pay", who, **pay), ["berit", "cesar"] * 8))
    assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
    assert [answer.json()["proposal"] for answer in answers] == club.waiting() * 16


def test_a_member_is_shown_numbers_of_the_own_payments_only(club: Table) -> None:
    """The numbers of the whole plan would reveal that others settle debts, perhaps for a private match."""
    whole = club.get("/plan").json()
    assert (whole["count"], whole["groups"], whole["minimal"]) == (2, 2, True)
    own = club.get("/plan", "berit").json()
    assert (len(own["payments"]), own["count"], own["groups"], own["minimal"]) == (1, 1, None, None)


def test_any_sixteen_digits_are_no_plan(club: Table) -> None:
    pay = club.planned() | {"plan": "0123456789abcdef"}
    assert club.refused("pay", "berit", **pay) == (409, "payment-not-planned")
    assert club.waiting() == []


def test_the_plan_of_an_evening_is_not_that_of_all(club: Table) -> None:
    pay = club.planned("?evening=1")
    assert club.refused("pay", "berit", **pay) == (409, "payment-not-planned")
    club.done("pay", "berit", **pay, evening=1)


def test_it_is_paid_as_it_is_planned(club: Table) -> None:
    pay = club.planned()
    for other in ({"amount": 29999}, {"payer": 3, "payee": 2}, {"payee": 4}):
        answer = club.act("pay", "berit", **{**pay, **other})
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/planned-otherwise")
        assert answer.json()["facts"] == {"payer": 2, "payee": 3, "amount": 30000}
    assert club.waiting() == []


def test_a_planned_payment_to_the_club_is_not_paid_to_a_member(club: Table) -> None:
    payments = {one["from"]: one for one in club.get("/plan").json()["payments"]}
    assert payments[4]["to"] is None
    pay = {"payer": 4, "payee": 1, "amount": 1000, "plan": payments[4]["id"]}
    assert club.refused("pay", "dag", **pay) == (409, "payment-not-planned")


def test_confirmed_it_is_not_paid_again(club: Table) -> None:
    pay = club.planned()
    club.done("confirm", "cesar", proposal=club.done("pay", "berit", **pay)["proposal"])
    for who in ("berit", "berit again", "cesar"):
        assert club.refused("pay", who, **pay) == (409, "payment-not-planned")
    assert club.waiting() == []


def test_a_lost_answer_is_given_again_when_it_is_confirmed(club: Table) -> None:
    pay = club.planned()
    once = {"headers": {"Idempotency-Key": "pay-it-once"}, **pay}
    first = club.act("pay", "berit", **once)
    club.done("confirm", "cesar", proposal=first.json()["proposal"])
    assert club.act("pay", "berit", **once).json() == first.json()


def test_declined_it_may_be_proposed_again(club: Table) -> None:
    pay = club.planned()
    club.done("decline", "cesar", proposal=club.done("pay", "berit", **pay)["proposal"])
    assert club.done("pay", "berit", **pay)["proposal"] == 2


def test_a_new_debt_of_the_same_amount_is_paid_again(club: Table) -> None:
    pay = club.planned()
    club.done("confirm", "cesar", proposal=club.done("pay", "berit", **pay)["proposal"])
    club.owes()
    club.done("confirm", "cesar", proposal=club.done("pay", "berit", **club.planned())["proposal"])


def test_while_it_waits_the_plan_may_change(club: Table) -> None:
    """The money has been paid, so the other party may still confirm it."""
    pay = club.planned()
    number = club.done("pay", "berit", **pay)["proposal"]
    club.done("fee", member=3, amount=100)
    assert club.planned()["plan"] != pay["plan"]
    assert club.done("pay", "berit", **pay)["proposal"] == number
    club.done("confirm", "cesar", proposal=number)


def test_others_learn_nothing_of_what_waits(club: Table) -> None:
    pay = club.planned()
    club.done("pay", "berit", **pay)
    assert club.refused("pay", "dag", **pay) == (403, "payment-of-others")
    assert club.refused("pay", "founder", **pay) == (403, "payment-of-others")
