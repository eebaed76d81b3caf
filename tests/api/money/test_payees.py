"""Payment numbers of members and of the club: their writers, their readers, and their complete deletion."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from api.maintenance.verify import verify
from api.personal_data.names import names_file
from tests.support.club_client import OPERATOR, ClubTable
from tests.support.club_with_names import files_with, tables_with
from tests.support.service_in_memory import client_of
from tests.support.stored_clubs import hashed

SWISH, IBAN = "0701234567", "SE4550000000058398257466"
BERIT = {"swish": "+46 70-123 45 67", "iban": "se45 5000 0000 0583 9825 7466"}
"""The numbers in the form in which people write them; the IBAN is the example of the SWIFT registry."""


def berits(client: Any) -> ClubTable:
    """Return a club in which Berit has entered her numbers."""
    table = ClubTable(client)
    for name in ("Berit Borg", "Cesar"):
        table.join(name)
    table.issue("berit", "play", "self", member=2)
    table.issue("cesar", "play", "self", member=3)
    for scope in ("treasury", "keys", "audit", "read"):
        table.issue(scope, scope)
    table.done("fee", member=2, amount=100)
    table.done("set_payee", "berit", member=2, **BERIT)
    return table


@pytest.fixture(scope="module")
def club(client: Any) -> ClubTable:
    """Return a club that tests only read."""
    return berits(client)


@pytest.fixture
def own(client: Any) -> ClubTable:
    """Return a club that a test may change."""
    return berits(client)


def numbers(club: ClubTable, who: str = "founder", member: int = 2) -> tuple[Any, Any]:
    body = club.get("/members", who).json()["items"][member - 1]
    return body["swish"], body["iban"]


def test_the_sender_reads_the_numbers_in_the_form_in_which_they_are_kept(club: ClubTable) -> None:
    (said,) = club.done("set_payee", "berit", member=2, **BERIT)["events"]
    assert said["event"] == ({"topic": "payee/set", "member": 2, "swish": SWISH, "iban": IBAN})


def test_without_member_they_are_those_of_the_member_of_the_key(own: ClubTable) -> None:
    (recorded,) = own.done("set_payee", "berit", swish="0700000001")["events"]
    assert recorded["event"] == {"topic": "payee/set", "member": 2, "swish": "0700000001"}
    own.done("set_payee", iban=IBAN)
    assert (numbers(own), numbers(own, member=1)) == (("0700000001", None), (None, IBAN))
    assert own.get().json()["iban"] is None, "the club's are set by a different act"


@pytest.mark.parametrize("who", ["founder", "berit", "keys"])
def test_a_member_that_is_null_is_refused(club: ClubTable, who: str) -> None:
    version = club.get().json()["version"]
    refused = club.act("set_payee", who, member=None, swish=SWISH)
    assert (refused.status_code, refused.json()["type"]) == (400, "/problems/unreadable")
    (error,) = refused.json()["errors"]
    assert error["pointer"] == "/member"
    assert error["detail"] == "A whole number from 1 to 10000 belongs here; this is `null`."
    assert club.get().json()["version"] == version


def test_the_key_of_a_program_names_the_member(club: ClubTable) -> None:
    """A caller without the scope gets 403 first, also if the number is wrong."""
    version = club.get().json()["version"]
    for number in (SWISH, "nonsense"):
        refused = club.act("set_payee", "keys", swish=number)
        assert (refused.status_code, refused.json()["type"]) == (422, "/problems/payee-not-named")
        assert refused.json()["facts"] == {"field": "/member"}
        for who in ("read", "treasury", "audit"):
            assert club.act("set_payee", who, swish=number).status_code == 403
    assert club.get().json()["version"] == version


@pytest.mark.parametrize("who", ["founder", "berit", "treasury", "keys"])
def test_a_key_that_needs_the_payment_numbers_reads_them(club: ClubTable, who: str) -> None:
    assert numbers(club, who) == (SWISH, IBAN)


@pytest.mark.parametrize("who", ["cesar", "audit", "read"])
def test_other_callers_are_shown_no_payment_numbers(club: ClubTable, who: str) -> None:
    answer = club.get("/members", who)
    assert numbers(club, who) == (None, None)
    assert SWISH not in answer.text
    assert "Berit Borg" in answer.text


@pytest.mark.parametrize("who", ["cesar", "audit", "read"])
def test_to_others_it_is_the_same_whatever_they_are(own: ClubTable, who: str) -> None:
    """Other callers do not even see whether numbers exist: they get the same bytes, except the version."""

    def view() -> Any:
        return {**own.get("/members", who).json(), "version": 0}

    before = view()
    own.done("set_payee", "berit", member=2, swish="0700000001")
    changed = view()
    own.done("set_payee", "berit", member=2)
    assert before == changed == view()


def test_only_the_member_or_a_holder_of_the_scope_keys_enters_payment_numbers(own: ClubTable) -> None:
    for who in ("cesar", "treasury", "audit", "read"):
        refused = own.act("set_payee", who, member=2, swish=SWISH)
        assert (refused.status_code, refused.json()["type"]) == (403, "/problems/scope-missing")
    assert own.act("set_club_payee", "berit", swish=SWISH).status_code == 403, "the club's are not hers"
    waits = own.done("set_payee", "keys", member=2, swish="1231234567")["proposal"]
    own.done("confirm", proposal=waits)
    assert numbers(own) == ("1231234567", None)


def test_the_club_is_paid_by_numbers_that_all_its_keys_read(own: ClubTable) -> None:
    own.done("set_club_payee", swish="123 123 45 67")
    assert own.get("/members").json()["items"][0]["swish"] is None
    for who in ("cesar", "audit"):
        body = own.get("", who).json()
        assert (body["swish"], body["iban"]) == ("1231234567", None)


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ({"swish": "08-123 45 67"}, "bad-swish-number"),
        ({"swish": "1241234567"}, "bad-swish-number"),
        ({"iban": "SE45 5000"}, "bad-iban"),
        ({"iban": "US64SVBKUS6S3300958879"}, "bad-iban"),
        ({"iban": "SE4550000000058398257467"}, "wrong-check-digits"),
        ({"swish": SWISH, "iban": "SE4550000000058398257467"}, "wrong-check-digits"),
    ],
)
def test_a_number_that_cannot_be_right(club: ClubTable, numbers: dict[str, str], code: str) -> None:
    version = club.get().json()["version"]
    refused = club.act("set_payee", "berit", member=2, **numbers)
    assert (refused.status_code, refused.json()["type"]) == (422, f"/problems/{code}")
    assert not any(number in refused.text for number in numbers.values()), "a wrong number may belong to a person"
    assert club.get().json()["version"] == version


def test_a_repeat_is_answered_as_the_first_was(own: ClubTable) -> None:
    first, again = (own.act("set_payee", "berit", {"Idempotency-Key": "n"}, member=2, **BERIT) for _ in range(2))
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    other = own.act("set_payee", "berit", {"Idempotency-Key": "n"}, member=2, swish=SWISH)
    assert other.json()["type"] == "/problems/key-reused"
    assert numbers(own) == (SWISH, IBAN)


def test_operators_are_shown_no_payment_number(sqlite_url: str) -> None:
    with client_of(sqlite_url, operator_key_sha256=hashed(OPERATOR)) as client:
        club = ClubTable(client)
        club.done("set_club_payee", swish=SWISH)
        club.done("set_payee", member=1, iban=IBAN)
        for path in ("", "/members", "/plan", "/export/json?names=true"):
            answer = club.get(path, OPERATOR)
            assert not any(number in answer.text for number in (SWISH, IBAN)), path


@pytest.mark.parametrize("kind", ["hledger", "beancount", "sie", "csv", "json"])
def test_files_have_no_numbers(club: ClubTable, kind: str) -> None:
    for names in ("true", "false"):
        body = club.get(f"/export/{kind}?names={names}").content
        assert not any(number.encode() in body for number in (SWISH, IBAN))


def test_a_number_that_is_gone_without_an_erasure_is_found(sqlite_url: str) -> None:
    """A number that was replaced is rightly deleted."""
    with client_of(sqlite_url) as client:
        club = ClubTable(client)
        for number in (SWISH, "0707654321"):
            club.done("set_payee", member=1, swish=number)
    said: list[str] = []
    assert verify(sqlite_url, club.id, said.append, said.append) == 0
    with closing(sqlite3.connect(names_file(sqlite_url))) as file, file:
        file.execute("DELETE FROM names WHERE kind = 'number'")
    assert verify(sqlite_url, club.id, said.append, said.append) == 1
    assert "a payment number is missing" in " ".join(said)


def everywhere(url: str, folder: Path, text: str) -> list[str]:
    """Return the tables, or the files of the data folder, that contain a text."""
    return tables_with(url, text) if url.startswith("postgres") else files_with(folder, text)


def test_no_byte_of_a_number_is_left_that_was_replaced_or_erased(store_url: str, tmp_path: Path) -> None:
    """The service runs, so its write-ahead logs have no copy either. Event rows never had one."""
    with client_of(store_url) as client:
        club = ClubTable(client)
        berit = club.join("Berit")
        club.done("set_payee", member=berit, swish=SWISH, iban=IBAN)
        club.done("set_payee", member=1, swish="0709999999")
        kept = ["names"] if store_url.startswith("postgres") else ["knacka-names.db"]
        assert everywhere(store_url, tmp_path, SWISH) == everywhere(store_url, tmp_path, IBAN) == kept
        club.done("set_payee", member=berit, swish="0707654321")
        assert everywhere(store_url, tmp_path, SWISH) == everywhere(store_url, tmp_path, IBAN) == []
        club.done("leave", member=berit)
        assert everywhere(store_url, tmp_path, "0707654321") == kept
        club.done("erase", member=berit)
        assert everywhere(store_url, tmp_path, "0707654321") == []
        assert everywhere(store_url, tmp_path, "0709999999") == kept
        assert numbers(club, member=berit) == (None, None)
        assert numbers(club, member=1) == ("0709999999", None)
