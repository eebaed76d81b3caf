"""An evening for money in a club, over HTTP: attacks of one person are refused, and two honest persons succeed.

Tora is the treasurer and founded the club, and Alva audits it. Berit, Cesar and Dag play. Erik has left. A scoreboard
has a key that only opens matches, and a till has a key for all acts about money.
"""

from typing import Any

import httpx
import pytest

from tests.api.http.test_problems import problem
from tests.api.money.test_stakes import KRONA, SHEET
from tests.support.club_client import ClubTable, in_days

TORA, ALVA, BERIT, CESAR, DAG, ERIK = range(1, 7)
PLAYERS = {BERIT: "berit", CESAR: "cesar", DAG: "dag"}
FOUNDING = {
    "name": "Knackarna",
    "currencies": ["SEK"],
    "timezone": "Europe/Stockholm",
    "founder": {"name": "Tora"},
}
BOTH = ("Tora", "Alva")


class Evening(ClubTable):
    """The club, with its members, keys and an evening that has begun."""

    def __init__(self, client: Any) -> None:
        self.client = client
        answer = client.post("/v1/clubs", json=FOUNDING)
        assert answer.status_code == 201, answer.text
        self.made = answer.json()
        self.id, self.path = self.made["id"], f"/v1/clubs/{self.made['id']}"
        self.keys = {"tora": self.made["key"]["secret"]}
        self.keys["founder"] = self.keys["tora"]
        for name in ("Alva", "Berit", "Cesar", "Dag", "Erik"):
            self.join(name)
        self.done("set", payout_limit=5000)
        self.done("set", payout_limit=6000)  # the founder is alone, and the audit says so
        self.issue("alva", "audit", "self", "read", member=ALVA)
        for member, who in PLAYERS.items():
            self.issue(who, member=member)
        self.issue("tora again", "treasury", "keys", "audit", "self", "play", member=TORA)
        self.issue("dag reads", "read", member=DAG)
        self.issue("board", "open")
        self.issue("till", "treasury", "audit")
        self.done("leave", "tora", member=ERIK)
        self.done("erase", "tora", member=ERIK)
        self.done("set", "tora", keep_years=7, stake_limit=100_000)
        self.done("open_evening", "tora", on="2026-11-24", season="2026/27")

    # Requests

    def refused(self, status: int, code: str, act: str, who: str, **fields: Any) -> None:
        """Assert that an act is refused and changes nothing."""
        before = self.get().json()["version"]
        problem(self.act(act, who, **fields), status, code)
        assert self.get().json()["version"] == before

    def waits(self, act: str, who: str, **fields: Any) -> int:
        """Assert that an act only becomes a proposal; return its number."""
        done = self.done(act, who, **fields)
        assert [one["event"]["topic"] for one in done["events"]] == ["proposal/made"]
        number: int = done["proposal"]
        return number

    def second(self, number: int, act: str) -> None:
        """Assert that the sender's second key and a program cannot confirm a proposal, and confirm it as Alva."""
        self.refused(403, "second-person-needed", "confirm", "tora", proposal=number)
        self.refused(403, "second-person-needed", "confirm", "tora again", proposal=number)
        self.refused(403, "confirmed-by-member", "confirm", "till", proposal=number)
        done = self.done("confirm", "alva", proposal=number)
        assert act in [one["event"]["topic"] for one in done["events"]]

    def balances(self) -> dict[str, int]:
        accounts = self.get("/accounts?fresh=true").json()["items"]
        return {one["account"]: one["balance"] for one in accounts if one["balance"]}

    # Matches

    def opened(self, who: str, **opening: Any) -> dict[str, Any]:
        """Open a match of the three players as a program or a member; return the answer."""
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in PLAYERS],
            "dealing": "tally",
            "first_dealer": 2,
            "stakes": KRONA,
            "adjudication": None,
            "club": self.id,
            "evening": 1,
        } | opening
        answer = self.client.post("/v1/matches", json=body, headers=self.bearer(who))
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def match_act(self, match: dict[str, Any], who: str, act: str, **fields: Any) -> httpx.Response:
        answer: httpx.Response = self.client.post(
            f"/v1/matches/{match['id']}/acts", json={"act": act, **fields}, headers=self.bearer(who)
        )
        return answer

    def settlement(self, match: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.get(f"/v1/matches/{match['id']}/settlement", headers=self.bearer("tora"))
        body: dict[str, Any] = answer.json()
        return body


@pytest.fixture
def evening(either_client: Any) -> Evening:
    return Evening(either_client)


# Item 6: two persons, not two keys


def resets_the_payout_counter(evening: Evening) -> None:
    """Closing the books needs two persons, and does not restart the 30 days of the payout limit."""
    evening.done("deposit", "tora", member=BERIT, amount=20_000, via="cash", evening=1)
    assert "proposal" not in evening.done("payout", "tora", member=BERIT, amount=6000, via="cash")
    evening.second(evening.waits("close_books", "tora", label="Before play"), "books/closed")
    number = evening.waits("payout", "tora", member=BERIT, amount=100, via="cash")
    evening.refused(403, "second-person-needed", "confirm", "tora again", proposal=number)
    evening.refused(403, "confirmed-with", "confirm", "alva", proposal=number)
    evening.done("decline", "tora", proposal=number)


def takes_over_a_key(evening: Evening) -> None:
    """A member who invites another sees no secret, and powerful keys need two persons."""
    berits = evening.itself("berit").json()["key"]
    evening.refused(403, "others-secret", "rotate_key", "tora", key=berits)
    weak = evening.done("issue_key", "tora", member=CESAR, scopes=["read"], expires_at=in_days(3))
    assert "key" not in weak
    evening.done("revoke_key", "tora", key=weak["invitation"]["key"])
    number = evening.waits("issue_key", "tora", member=CESAR, scopes=["treasury"], expires_at=in_days(30))
    evening.refused(403, "second-person-needed", "confirm", "tora again", proposal=number)
    evening.refused(403, "confirmed-by-member", "confirm", "till", proposal=number)
    given = evening.done("confirm", "alva", proposal=number)["invitation"]
    evening.keys["cesar treasurer"] = evening.redeemed(given["code"])["key"]["secret"]


def loosens_a_setting(evening: Evening) -> None:
    """Each looser setting needs two persons, so one person cannot erase early and restore the setting."""
    for setting in ({"payout_limit": 900_000}, {"keep_years": 0}, {"stake_limit": 900_000}):
        number = evening.waits("set", "tora", **setting)
        evening.refused(403, "second-person-needed", "confirm", "tora again", proposal=number)
        evening.done("decline", "alva", proposal=number)
    assert evening.get().json()["payout_limit"] == 6000
    evening.second(evening.waits("set", "tora", stakes_need="secretary"), "club/set")


def redirects_a_number(evening: Evening) -> None:
    """Two persons change the number of the club or of another member. A member changes their own number alone."""
    evening.second(evening.waits("set_club_payee", "tora", swish="1231234567"), "payee/set")
    number = evening.waits("set_payee", "tora", member=BERIT, swish="0701740605")
    evening.refused(403, "second-person-needed", "confirm", "tora again", proposal=number)
    evening.done("decline", "alva", proposal=number)
    evening.done("set_payee", "berit", member=BERIT, swish="0701740606")


def pays_out_by_a_reversal(evening: Evening) -> None:
    """A deposit that was spent cannot be reversed."""
    deposit = evening.done("deposit", "tora", member=DAG, amount=3000, via="cash")
    entry = len(evening.get("/journal?fresh=true").json()["items"])
    assert deposit["events"][0]["event"]["topic"] == "money/posted"
    evening.done("fee", "tora", member=DAG, amount=2500)
    evening.refused(409, "payout-too-high", "reverse", "tora", entry=entry)
    evening.done("deposit", "tora", member=DAG, amount=2500, via="cash")
    evening.done("reverse", "tora", entry=entry)


def confirms_with_a_program(evening: Evening) -> None:
    """The other party confirms a payment. An act about money from a program waits for a member."""
    number = evening.waits("pay", "berit", payer=BERIT, payee=CESAR, amount=300)
    evening.refused(403, "confirmed-by-member", "confirm", "till", proposal=number)
    evening.refused(403, "confirmed-by-other", "confirm", "berit", proposal=number)
    evening.done("confirm", "cesar", proposal=number)
    waiting = evening.waits("fee", "till", member=DAG, amount=5)
    evening.refused(403, "confirmed-by-member", "confirm", "till", proposal=waiting)
    evening.done("confirm", "tora", proposal=waiting)


def pays_a_planned_payment_twice(evening: Evening) -> None:
    """A payment of the plan makes one proposal, however often it is sent. An unknown plan id is refused."""
    payments = evening.get("/plan", "tora").json()["payments"]
    planned = next(one for one in payments if {one["from"], one["to"]} <= PLAYERS.keys())
    payer, payee = PLAYERS[planned["from"]], PLAYERS[planned["to"]]
    pay = {"payer": planned["from"], "payee": planned["to"], "amount": planned["amount"]}
    evening.refused(409, "payment-not-planned", "pay", payer, **pay, plan="0123456789abcdef")
    first = evening.done("pay", payer, **pay, plan=planned["id"])["proposal"]
    for who in (payer, payee, payer):
        assert evening.done("pay", who, **pay, plan=planned["id"])["proposal"] == first
    evening.done("confirm", payee, proposal=first)
    evening.refused(409, "proposal-settled", "confirm", payee, proposal=first)


# Item 7: no member is in debt without their agreement


def creates_debts(evening: Evening) -> None:
    """The scoreboard opens a match with a million on either side and closes it: no entry is made."""
    before = evening.balances()
    refused = evening.client.post(
        "/v1/matches",
        json={
            "ruleset": "rams-english",
            "players": [{"member": member} for member in PLAYERS],
            "stakes": KRONA,
            "opening": {"points": [-1_000_000, 1_000_000, 0]},
            "club": evening.id,
            "evening": 1,
        },
        headers=evening.bearer("board"),
    )
    problem(refused, 422, "stakes-above-limit")
    match = evening.opened("board", ruleset="rams-english", opening={"points": [-100_000, 100_000, 0]})
    assert {seat["token"] for seat in match["seats"]} == {None}
    official = match["official_token"]
    for who in ("board", official, "till", "dag reads"):
        for fields in ({"seat": 0}, {}):
            assert evening.match_act(match, who, "agree_stakes", **fields).status_code == 403
    problem(evening.match_act(match, "tora", "agree_stakes"), 403, "members-agree")
    assert evening.match_act(match, official, "close").status_code == 201
    body = evening.settlement(match)
    assert (body["status"], body["counted"], body["waiting_for"]) == ("final", "waiting", [0, 1, 2])
    assert evening.balances() == before
    assert evening.match_act(match, "tora", "agree_stakes", agree=False).status_code == 201
    assert evening.settlement(match)["counted"] == "declined"


def play_for_money(evening: Evening) -> dict[str, int]:
    """Berit and Cesar agree with their keys, and Dag by Tora's invitation: then the match is entered."""
    before = evening.balances()
    match = evening.opened("board", opening={"points": [2, 1, 5]})
    for seat, who in enumerate(("berit", "cesar")):
        assert evening.match_act(match, who, "agree_stakes", seat=seat).status_code == 201
    assert evening.match_act(match, match["official_token"], "result", **SHEET).status_code == 201
    assert evening.balances() == before
    path = f"/v1/matches/{match['id']}/invitations"
    problem(evening.client.post(path, json={"seat": 2}, headers=evening.bearer("board")), 403, "scope-missing")
    code = evening.client.post(path, json={"seat": 2}, headers=evening.bearer("tora")).json()["code"]
    shown = evening.client.get(f"/v1/invitations/{code}").json()
    assert (shown["stakes"], shown["points"], shown["agrees"], shown["by_name"]) == (KRONA, [2, 1, 5], True, "Tora")
    assert evening.redeemed(code)["agreed"]
    after = evening.balances()
    accounts = before.keys() | after.keys()
    changed = {one: after.get(one, 0) - before.get(one, 0) for one in accounts}
    return {one: amount for one, amount in changed.items() if amount}


def the_secretary_confirms(evening: Evening) -> None:
    """A member who officiates and does not play confirms for all seats."""
    match = evening.opened("board", dealing="table", first_dealer=0, opening=None)
    problem(evening.match_act(match, match["official_token"], "agree_stakes"), 403, "members-agree")
    assert evening.match_act(match, "tora", "agree_stakes").status_code == 201
    assert evening.settlement(match)["counted"] == "agreed"


# Item 8: reads change nothing


def changes_things_with_a_key_that_reads(evening: Evening) -> None:
    for act, fields in (
        ("set_payee", {"member": DAG, "swish": "0701740607"}),
        ("rename", {"member": DAG, "name": "Dagny"}),
        ("pay", {"payer": DAG, "payee": BERIT, "amount": 5}),
        ("revoke_key", {"key": evening.itself("dag").json()["key"]}),
        ("leave", {"member": DAG}),
    ):
        evening.refused(403, "scope-missing", act, "dag reads", **fields)
    number = evening.waits("pay", "berit", payer=BERIT, payee=DAG, amount=5)
    evening.refused(403, "confirmed-with", "confirm", "dag reads", proposal=number)
    evening.done("confirm", "dag", proposal=number)
    evening.done("rename", "dag", member=DAG, name="Dag")


def rotates_with_an_old_secret(evening: Evening) -> None:
    key = evening.itself("dag").json()["key"]
    evening.keys["dag before"] = evening.keys["dag"]
    rotated = evening.done("rotate_key", "dag", key=key, overlap_seconds=3600)
    evening.keys["dag"] = rotated["key"]["secret"]
    evening.refused(403, "secret-replaced", "rotate_key", "dag before", key=key)
    evening.refused(403, "secret-replaced", "set_payee", "dag before", member=DAG)
    match = evening.opened("board", opening=None)
    problem(evening.match_act(match, "dag before", "agree_stakes", seat=2), 403, "secret-replaced")
    assert evening.match_act(match, "dag", "agree_stakes", seat=2).status_code == 201


# The lists of the audit


def names(one: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the names of the sender and of the confirming member of an act."""
    confirmed = one["confirmed_by"]
    return one["by"]["name"], None if confirmed is None else confirmed["name"]


def test_fraud_by_one_person_is_refused_and_the_audit_names_the_actors(evening: Evening) -> None:
    resets_the_payout_counter(evening)
    takes_over_a_key(evening)
    loosens_a_setting(evening)
    redirects_a_number(evening)
    pays_out_by_a_reversal(evening)
    confirms_with_a_program(evening)
    creates_debts(evening)
    assert play_for_money(evening) == {"member:3": 100, "member:4": -200, "member:5": 100}
    pays_a_planned_payment_twice(evening)
    the_secretary_confirms(evening)
    changes_things_with_a_key_that_reads(evening)
    rotates_with_an_old_secret(evening)
    evening.second(evening.waits("close_books", "tora", label="The evening"), "books/closed")

    audit = evening.get("/audit", "alva").json()
    assert audit["ok"], [one for one in audit["checks"] if not one["ok"]]
    changes = {one["key"]: [(change["what"], names(change)) for change in one["changes"]] for one in audit["keys"]}
    whose = {evening.itself(who).json()["key"]: who for who in evening.keys if who not in ("founder", "dag before")}
    by_holder = {whose[key]: done for key, done in changes.items() if key in whose}
    assert by_holder["tora"] == [("issued", ("Tora", None))]
    for who, name in (("alva", "Alva"), ("berit", "Berit"), ("cesar", "Cesar"), ("dag reads", "Dag")):
        assert by_holder[who] == [("invited", ("Tora", None)), ("redeemed", (name, None))]
    assert by_holder["dag"][2:] == [("rotated", ("Dag", None))]
    assert by_holder["cesar treasurer"] == [("invited", BOTH), ("redeemed", ("Cesar", None))]
    (revoked,) = [done for key, done in changes.items() if key not in whose]
    assert revoked == [("invited", ("Tora", None)), ("revoked", ("Tora", None))]

    settings = [(one["setting"], one["before"], one["after"], names(one)) for one in audit["settings"]]
    assert settings == [
        ("payout_limit", "", "5000", ("Tora", None)),
        ("payout_limit", "5000", "6000", ("Tora", None)),
        ("keep_years", "", "7", ("Tora", None)),
        ("stake_limit", "", "100000", ("Tora", None)),
        ("stakes_need", "", "secretary", BOTH),
    ]
    payees = [(one["name"], one["swish"], names(one)) for one in audit["payees"]]
    assert payees == [(None, True, BOTH), ("Berit", True, ("Berit", None))]
    assert [(one["member"], names(one)) for one in audit["erasures"]] == [(ERIK, ("Tora", None))]
    closings = [(one["label"], names(one)) for one in audit["closings"]]
    assert closings == [("Before play", BOTH), ("The evening", BOTH)]
    assert [(one["topic"], names(one)) for one in audit["alone"]] == [
        ("club/set", ("Tora", None)),
        ("key/invited", ("Tora", None)),
    ]
    payments = [(names(one), one["how"], one["inviter"]["name"]) for one in audit["related"] if one["act"] == "pay"]
    assert (("Berit", "Cesar"), "invited_by_the_same", "Tora") in payments
    assert (("Berit", "Dag"), "invited_by_the_same", "Tora") in payments
    assert len(payments) == 3
    acts = [(one["act"], one["how"]) for one in audit["related"] if names(one) == BOTH]
    assert acts == [
        (act, "one_invited_the_other") for act in ("close_books", "issue_key", "set", "set_club_payee", "close_books")
    ]
    stakes = [(one["how"], one["by"]["name"], one["members"]) for one in audit["stakes"]]
    assert stakes == [
        ("declined", "Tora", []),
        ("invitation", "Tora", [DAG]),
        ("secretary", "Tora", [BERIT, CESAR, DAG]),
    ]
    assert (audit["waiting"], audit["left_out"], audit["proposals"]) == ([], [], [])
