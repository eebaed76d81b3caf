"""The audit of a club's books finds nothing in an unchanged store. It finds each change, at its place and by the
checks for it."""

import re
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from msgspec.structs import replace

from api.money.audit_page import page
from api.money.audit_report import audit_books
from api.money.audit_texts import WORDS
from api.runtime.service import Service
from projections.audit.findings import CHECKS
from projections.journal import Author
from referee.sentences import Language
from tests.conformance.description_check import Description
from tests.log.bundle_checks import KEY, followed
from tests.support.audited_club import Copy, Kept, Played, filled, found, not_found
from tests.support.club_client import ClubTable
from tests.support.edited_stores import Editor
from tests.support.paths import ROOT
from tests.support.service_in_memory import client_of

Place = tuple[Path, Kept]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Return the folder of a store, and its contents."""
    place = tmp_path_factory.mktemp("audited")
    with client_of(f"sqlite:///{place}/knacka.db", log_key=KEY.private_text, log_seconds=86_400) as client:
        kept = filled(client)
    return place, kept


@pytest.fixture
def copy(original: Place, tmp_path: Path) -> Copy:
    return Copy(original[0], tmp_path / "copy", original[1])


@pytest.mark.parametrize(("language", "said"), [("en", "seat 2, match"), ("sv", "plats 2, parti")])
def test_the_page_has_the_match_in_which_a_seat_acted(copy: Copy, language: Language, said: str) -> None:
    audit = copy.audit()
    (match,) = {one.by.match for one in audit.reversals} - {None}
    seat = Author(actor="seat:2", member=None, match=match)
    by_seat = replace(audit, reversals=(replace(audit.reversals[0], by=seat),))
    text = page(by_seat, language).decode()
    assert f"<td>{said} {match}</td>" in text


def test_an_honest_club(copy: Copy) -> None:
    audit = copy.audit()
    assert found(audit) == {}
    assert audit.ok
    assert [one.check for one in audit.checks] == list(CHECKS)
    assert [one.match for one in audit.open_matches] == [str(copy.kept.open)]
    assert [one.draft.kind for one in audit.proposals] == ["pay"]
    assert [one.by.actor for one in audit.reversals] == ["official", "key:k1", "key:k1"]
    assert [(one.key, one.member, one.app) for one in audit.keys] == [
        ("k1", 1, None),
        ("k2", 2, None),
        ("k3", 3, None),
        ("k4", None, "auditor"),
    ]
    assert (audit.entry, audit.closed_through, audit.after_closing) == (13, 11, 2)
    assert {one.currency: 0 for one in audit.trial} == {"SEK": sum(one.books for one in audit.trial)}
    assert all(one.books == one.rows for one in audit.trial)


# Changed books

POSTINGS, ENTRIES = "book_ledger_3_postings", "book_ledger_3_entries"
IN_THE_BOOKS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "an amount": (
        f"UPDATE {POSTINGS} SET amount = amount + 1 WHERE number = 13 AND account = 'cash'",
        {
            "entries_balance": {"entry": 13, "stands": "0.01", "should": "0.00"},
            "running_balances": {"entry": 13, "account": "cash"},
            "settlements": {"entry": 13, "stands": "cash 5.01 SEK, member:3 -5.00 SEK"},
        },
    ),
    "both amounts": (
        f"UPDATE {POSTINGS} SET amount = 2 * amount WHERE number = 13",
        {"running_balances": {"entry": 13}, "settlements": {"entry": 13}},
    ),
    "the currency of a posting": (
        f"UPDATE {POSTINGS} SET currency = 'EUR' WHERE number = 13 AND account = 'cash'",
        {
            "entries_balance": {"entry": 13, "stands": "EUR", "should": "SEK"},
            "running_balances": {"entry": 13},
            "settlements": {"entry": 13},
        },
    ),
    "what an entry is": (
        f"UPDATE {ENTRIES} SET kind = 'fee' WHERE number = 13",
        {"settlements": {"entry": 13}},
    ),
    "whose it was": (
        f'UPDATE {ENTRIES} SET "by" = \'"operator"\' WHERE number = 2',
        {"settlements": {"entry": 2}},
    ),
    "the evening": (f"UPDATE {ENTRIES} SET evening = NULL WHERE number = 2", {"settlements": {"entry": 2}}),
    "a date": (
        f"UPDATE {ENTRIES} SET date = '1999-12-31' WHERE number = 5",
        {"numbers": {"entry": 5, "stands": "1999-12-31"}},
    ),
    "the event of an entry": (
        f"UPDATE {ENTRIES} SET cause = replace(cause, '/', '/9') WHERE number = 5",
        {"numbers": {"entry": 5}},
    ),
    "a number": (
        f"UPDATE {ENTRIES} SET number = 15 WHERE number = 13",
        {"numbers": {"entry": 15, "stands": "15", "should": "13"}, "settlements": {"entry": 15}},
    ),
    "the last entry is gone": (
        f"DELETE FROM {ENTRIES} WHERE number = 13",
        {"numbers": {"entry": 13}},
    ),
    "an entry is gone": (
        f"DELETE FROM {ENTRIES} WHERE number = 4",
        {"numbers": {"entry": 5, "should": "4"}, "running_balances": {}},
    ),
    "a running balance": (
        f"UPDATE {POSTINGS} SET balance = 7 WHERE number = 13 AND account = 'cash'",
        {"running_balances": {"entry": 13, "account": "cash", "stands": "0.07"}},
    ),
    "what stands on an account": (
        "UPDATE book_ledger_3_balances SET balance = 7 WHERE account = 'cash'",
        {"running_balances": {"account": "cash", "stands": "0.07 SEK"}},
    ),
    "a digest": (
        "UPDATE book_ledger_3_closings SET digest = 'e' WHERE closing = 1",
        {"closings": {"closing": 1, "stands": "e"}},
    ),
    "a closing is gone": ("DELETE FROM book_ledger_3_closings WHERE closing = 2", {"closings": {"closing": 2}}),
    "what is entered of a match": (
        "UPDATE book_ledger_3_matches SET money = replace(money, 'SEK', 'EUR')",
        {"settlements": {"code": "books_keep"}},
    ),
    "how far the books are": (
        "UPDATE book_ledger_3_clubs SET keeping = replace(keeping, '\"through\":11', '\"through\":10')",
        {"settlements": {"code": "books_keep"}},
    ),
    "which entry is the last": (
        "UPDATE book_ledger_3_clubs SET keeping = replace(keeping, '\"last\":13', '\"last\":99')",
        {"settlements": {"code": "books_keep"}},
    ),
    "matches are gone": (
        "DELETE FROM book_ledger_3_matches",
        {"settlements": {"code": "books_at", "stands": "0"}},
    ),
    "a leaf of the log": (
        "UPDATE book_log_tiles SET hashes = zeroblob(length(hashes))",
        {"log": {"leaf": 0, "event": 1}},
    ),
    "a balance that is no number": (
        "UPDATE book_ledger_3_clubs SET keeping = '[]'",
        {"running_balances": {"code": "books_unreadable"}, "settlements": {"code": "books_unreadable"}},
    ),
}


@pytest.mark.parametrize("what", IN_THE_BOOKS)
def test_each_change_of_the_books_is_found_in_its_place(copy: Copy, what: str) -> None:
    statement, expected = IN_THE_BOOKS[what]
    copy.ledger(statement)
    differences = found(copy.audit())
    assert differences.keys() == expected.keys(), differences
    for check, fields in expected.items():
        first = differences[check][0]
        assert {name: getattr(first, name) for name in fields} == fields
        assert len(first.text) > 20


# Changed rows


def test_a_row_that_was_changed(copy: Copy) -> None:
    """The hash of a changed row differs from the one in the next row and in the log."""
    copy.edit(copy.kept.won, 2, lambda state: state.replace(b'"at":"20', b'"at":"21'))
    differences = found(copy.audit())
    assert differences.keys() == {"chain", "log"}
    (chain,), (log, root) = differences["chain"], differences["log"]
    assert (chain.code, chain.aggregate, chain.event) == ("chain_broken", str(copy.kept.won), 3)
    assert (log.code, log.aggregate, log.event) == ("row_otherwise", str(copy.kept.won), 2)
    assert root.code == "checkpoint_root"


def test_the_last_row_of_a_match_is_gone(copy: Copy) -> None:
    last = copy.kept.ends[copy.kept.open]
    copy.delete(copy.kept.open, last, last)
    differences = found(copy.audit())
    assert differences.keys() == {"chain", "log"}
    assert [(one.code, one.event) for one in differences["chain"]] == [("rows_end", last)]
    assert [one.code for one in differences["log"]] == ["leaf_without_row", "checkpoint_root"]


def test_a_rewritten_settlement_of_a_match_is_found(copy: Copy) -> None:
    """An editor who lacks only the key of the log can hide the change from the chain and the books."""
    number = copy.number_of(copy.kept.won, "match/won")
    copy.rewritten(copy.kept.won, number, settlement=[-200, 300, -100])
    differences = found(copy.audit())
    assert differences.keys() == {"settlements", "derivations", "closings", "log"}
    (said,) = differences["derivations"]
    assert (said.code, said.aggregate, said.event) == ("settlement_said", str(copy.kept.won), number)
    assert (said.stands, said.should) == ("[-200, 300, -100]", "[-100, 200, -100]")
    assert differences["settlements"][0].entry == 3
    assert [one.closing for one in differences["closings"]] == [1, 2]
    assert [one.code for one in differences["log"]] == ["checkpoint_root"]


def test_a_line_of_a_protocol(copy: Copy) -> None:
    number = copy.number_of(copy.kept.won, "deal/scored")
    copy.rewritten(copy.kept.won, number, points=[9, 9, 9])
    differences = found(copy.audit())
    assert differences.keys() == {"derivations", "log"}
    assert [one.code for one in differences["derivations"]] == ["line_sum", "points_said"]
    assert differences["derivations"][0].event == number


def test_a_posting_by_one_person_that_needed_two_is_found(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "money/posted", 3)
    copy.rewritten(copy.kept.club, number, at="", actor="key:k1")
    differences = found(copy.audit())
    assert differences.keys() == {"two_persons", "log"}
    (one,) = differences["two_persons"]
    assert (one.code, one.event, one.stands) == ("one_person", number, "key:k1, key:k1")


def test_a_match_taken_back_by_one_alone(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "money/posted", 4)
    copy.rewritten(copy.kept.club, number, at="", actor="key:k2")
    assert [one.code for one in found(copy.audit())["two_persons"]] == ["no_treasurer"]


def test_a_closing_that_says_something_else(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "books/closed", 1)
    copy.rewritten(copy.kept.club, number, digest="0" * 64)
    differences = found(copy.audit())
    assert differences.keys() == {"closings", "log"}
    assert [(one.code, one.closing) for one in differences["closings"]] == [("closing_digest", 2)]


def test_an_amount_that_no_database_holds(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "money/posted", 1)
    copy.edit(copy.kept.club, number, lambda state: state.replace(b"60000", b"6" + b"0" * 30))
    differences = found(copy.audit())
    assert {"chain", "log", "settlements"} <= differences.keys()
    assert "not_entered" in [one.code for one in differences["settlements"]]


def test_rewritten_points_before_the_first_line_are_found(copy: Copy) -> None:
    number = copy.number_of(copy.kept.won, "deal/scored")
    ((state,),) = copy.run(
        "SELECT state FROM {events} WHERE originator_id = ? AND originator_version = ?", copy.kept.won, number
    )
    line = msgspec.json.decode(state)["event"]
    more = {name: [points + 1 for points in line[name]] for name in ("before", "points")}
    copy.rewritten(copy.kept.won, number, **more)
    assert [one.code for one in found(copy.audit())["derivations"]] == ["line_before", "points_said"]


def test_the_balances_of_a_closing(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "books/closed", 1)
    copy.rewritten(copy.kept.club, number, trial=[])
    differences = found(copy.audit())
    assert differences.keys() == {"closings", "log"}
    assert [(one.code, one.closing) for one in differences["closings"]] == [("closing_trial", 2)]


def test_a_rewritten_proposer_is_found(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "money/posted", 3)
    copy.rewritten(copy.kept.club, number, by="key:k2")
    assert [one.code for one in found(copy.audit())["two_persons"]] == ["not_proposed"]


@pytest.mark.parametrize("cause", ["at the end", "nonsense"])
def test_an_entry_that_someone_has_made_up(copy: Copy, cause: str) -> None:
    """The audit finds an invented entry with its event. An entry after the rows that were read needs a later
    event."""
    cause = f"{copy.kept.club}/{copy.kept.ends[copy.kept.club]}" if cause == "at the end" else cause
    copy.ledger(
        f'INSERT INTO {ENTRIES} SELECT club, 14, date, kind, currency, ?, evening, reverses, reversed_by, "by" '
        f"FROM {ENTRIES} WHERE number = 13",
        cause,
    )
    copy.ledger(
        f"INSERT INTO {POSTINGS} SELECT club, 14, account, currency, amount, balance + amount "
        f"FROM {POSTINGS} WHERE number = 13"
    )
    copy.ledger("UPDATE book_ledger_3_clubs SET keeping = replace(keeping, '\"last\":13', '\"last\":14')")
    differences = found(copy.audit())
    assert [(one.code, one.entry, one.stands) for one in differences["numbers"]] == [("entry_extra", 14, cause)]


@pytest.mark.parametrize(
    "change",
    [
        f"UPDATE {POSTINGS} SET account = '<b>' WHERE account = 'cash'",
        f"UPDATE {POSTINGS} SET balance = 'x'",
        f"UPDATE {ENTRIES} SET number = 0 WHERE number = 1",
        "UPDATE book_ledger_3_clubs SET keeping = replace(keeping, '\"through\":11', '\"through\":99')",
    ],
)
def test_a_report_of_any_difference_matches_the_description(copy: Copy, change: str) -> None:
    copy.ledger(change)
    audit = copy.audit()
    assert not audit.ok
    Description().shape("Audit", msgspec.json.decode(msgspec.json.encode(audit)))


def test_a_report_of_missing_entries_matches_the_description(copy: Copy) -> None:
    """The closing exists, but the entries that it closed do not."""
    for number in (0, 1):
        event = copy.number_of(copy.kept.club, "money/posted", number)
        copy.edit(copy.kept.club, event, lambda state: b"{}")
    Description().shape("Audit", msgspec.json.decode(msgspec.json.encode(copy.audit())))


def test_more_than_was_proposed(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "money/posted", 3)
    postings = [{"account": "cash", "amount": -9000}, {"account": "member:2", "amount": 9000}]
    copy.rewritten(copy.kept.club, number, postings=postings)
    (one,) = found(copy.audit())["two_persons"]
    assert (one.code, one.event) == ("proposed_otherwise", number)
    assert one.stands == "payout, cash -90.00 SEK, member:2 90.00 SEK"


def test_a_payment_that_the_other_has_not_confirmed(copy: Copy) -> None:
    """Neither the sender nor a stranger confirms a payment, and no payment is posted without a proposal."""
    number = copy.number_of(copy.kept.club, "money/posted", -2)
    for by, code in (("key:k2", "one_person"), ("key:k4", "no_treasurer"), ("official", "no_treasurer")):
        copy.rewritten(copy.kept.club, number, at="", actor=by)
        assert [one.code for one in found(copy.audit())["two_persons"]] == [code]
    copy.rewritten(copy.kept.club, number, at="", actor="key:k1")
    assert found(copy.audit()).keys() == {"log"}, "a treasurer who is neither may"
    copy.rewritten(copy.kept.club, number, proposal=None)
    assert [one.code for one in found(copy.audit())["two_persons"]] == ["not_proposed"]


def test_a_row_between_two_others_is_gone(copy: Copy) -> None:
    copy.delete(copy.kept.won, 2, 2)
    differences = found(copy.audit())
    assert differences.keys() == {"chain", "log"}
    assert [(one.code, one.event) for one in differences["chain"]] == [("row_gap", 3), ("chain_broken", 3)]


# Names


def test_a_name_is_another(copy: Copy) -> None:
    copy.names("UPDATE names SET text = '\"Nobody\"' WHERE text LIKE '%Cesar%'")
    differences = found(copy.audit())
    assert differences.keys() == {"names"}
    assert [(one.code, one.aggregate) for one in differences["names"]] == [("text_exchanged", str(copy.kept.club))]


@pytest.mark.parametrize("column", ["member = 1", "kind = 'text'", "club = '00000000000000000000000000000007'"])
def test_a_name_is_moved(copy: Copy, column: str) -> None:
    """A name is assigned to another member, whose erasure would delete it."""
    copy.names(f"UPDATE names SET {column} WHERE text LIKE '%Cesar%'")
    assert "names" in found(copy.audit())


def test_a_name_is_gone(copy: Copy) -> None:
    copy.names("DELETE FROM names WHERE text LIKE '%Cesar%'")
    (one,) = found(copy.audit())["names"]
    assert (one.code, one.member) == ("text_missing", 3)


def test_a_number_that_was_not_replaced_is_gone(copy: Copy) -> None:
    """A number that was not replaced is missing. The number that was replaced is rightly deleted."""
    copy.names("DELETE FROM names WHERE text LIKE '%0701740606%'")
    (one,) = found(copy.audit())["names"]
    assert (one.code, one.member) == ("text_missing", 2)


def test_a_remaining_name_of_an_erased_member_is_found(copy: Copy) -> None:
    number = copy.number_of(copy.kept.club, "member/joined", 3)
    ((state,),) = copy.run(
        "SELECT state FROM {events} WHERE originator_id = ? AND originator_version = ?", copy.kept.club, number
    )
    ref = state[state.index(b"hmac:") :][:69].decode()
    copy.names(
        "INSERT INTO names (ref, club, kind, at, puts, salt, text) "
        "VALUES (?, ?, 'name', '2026-11-22 10:00:00', 1, x'00', '\"Dag\"')",
        ref,
        copy.kept.club.hex,
    )
    assert ("name_left", 4) in [(one.code, one.member) for one in found(copy.audit())["names"]]


# Any edit


def test_whatever_is_changed_in_one_place_is_found(original: Place, tmp_path: Path) -> None:
    """A flipped bit, a deleted row, two swapped rows; `make soak` tries more."""
    assert not_found(*original, 100, 1, tmp_path) == []


def test_all_that_can_be_found_has_a_sentence() -> None:
    """The sources name each code after its check."""
    sources = [file.read_text() for file in (ROOT / "projections" / "audit").glob("*.py")]
    pattern = r'(?:findings\.add\(\s*(?:check|"[a-z_]+")|_report\(own, [a-z_.]+), "([a-z_]+)"'
    codes = {code for source in sources for code in re.findall(pattern, source)}
    assert codes == WORDS.differences.keys()
    assert set(CHECKS) == WORDS.checks.keys()


# Over HTTP


def test_a_key_that_audits_reads_the_audit(lone_client: Any) -> None:
    club, _ = filled_on(lone_client)
    response = club.get("/audit", "auditor")
    assert response.status_code == 200, response.text
    assert response.json()["ok"] is True, response.json()
    assert response.headers["content-language"] == "en"
    Description().answered("GET", f"{club.path}/audit", 200, dict(response.headers), response.content)
    assert [(one["name"], one["app"]) for one in response.json()["keys"]] == [
        ("Anna Åkesson-Ödmårk", None),
        ("Berit <b>Borg</b>", None),
        (None, "auditor"),
    ]
    assert club.get("/audit", "auditor", **{"If-None-Match": response.headers["etag"]}).status_code == 304
    assert club.get("/audit", "berit").json()["type"] == "/problems/scope-missing"
    assert ClubTable(lone_client).get("/audit", club.keys["auditor"]).status_code == 404


def filled_on(client: Any) -> tuple[ClubTable, str]:
    """Fill a club with a match; return both."""
    club = ClubTable(client)
    for name in ("Berit <b>Borg</b>", "Cesar"):
        club.join(name)
    club.issue("berit", "play", "self", member=2)
    club.issue("auditor", "audit")
    club.done("open_evening", on="2026-11-22", season="2026/27")
    club.done("set", name="<i>Knackarna</i>")
    match = Played(club)
    match.ends()
    return club, match.id


def test_each_difference_is_explained_in_a_sentence(own_client: Any, store_url: str) -> None:
    """A change is reported while the service runs, on SQLite and PostgreSQL."""
    club, match = filled_on(own_client)
    assert club.get("/audit", "auditor").json()["ok"] is True
    editor = Editor(store_url)
    editor.run(f"UPDATE {POSTINGS} SET amount = 5, balance = 5 WHERE number = 1 AND amount > 0", books=True)
    editor.edit(UUID(match), 2, lambda state: state.replace(b'"at":"20', b'"at":"21'))
    body = club.get("/audit", "auditor").json()
    assert not body["ok"]
    wrong = {one["check"]: one["differences"] for one in body["checks"] if not one["ok"]}
    assert wrong.keys() == {"entries_balance", "settlements", "chain", "log"}
    assert wrong["chain"][0]["text"].startswith(f"{match[0].upper()}{match[1:]}, event 3: the row has ")
    assert wrong["entries_balance"][0]["text"] == "Entry 1: the postings add up to -1.90; they should add up to 0.00."
    body = club.get("/audit", "auditor", **{"Accept-Language": "sv"}).json()
    wrong = {one["check"]: one["differences"] for one in body["checks"]}
    assert wrong["entries_balance"][0]["text"] == "Post 1: raderna ger tillsammans -1.90; de ska ge 0.00."


def test_the_page(own_client: Any, store_url: str) -> None:
    club, _ = filled_on(own_client)
    assert club.get("/audit", "auditor").json()["ok"] is True
    Editor(store_url).run(f"UPDATE {ENTRIES} SET kind = '<b>' WHERE number = 1", books=True)
    for language, word in (("en", "Trial balance"), ("sv", "Saldobalans")):
        page = club.get("/audit", "auditor", Accept="text/html", **{"Accept-Language": language})
        assert page.headers["content-type"].startswith("text/html")
        assert page.headers["content-language"] == language
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert word in page.text
        assert "&lt;i&gt;Knackarna&lt;/i&gt;" in page.text
        assert "&lt;b&gt;" in page.text
        assert not [tag for tag in ("<b>", "<i>", "<script") if tag in page.text]


def test_a_pot_that_gave_what_it_had_not(lone_client: Any) -> None:
    """A match began with a pot from before the books. The contents of the pot must be entered first."""
    club, _ = filled_on(lone_client)
    opening = {"points": [0, 0, 0], "pot": 300}
    rams: dict[str, Any] = {"ruleset": "rams-english", "opening": opening, "adjudication": None}
    Played(club, **rams).done("close", None)
    body = club.get("/audit").json()
    assert [one["check"] for one in body["checks"] if not one["ok"]] == ["pot_not_negative"]
    club.done("opening", account="pot", amount=-600)
    Played(club, **rams).done("close", None)
    again = club.get("/audit").json()
    assert [one["count"] for one in again["checks"] if not one["ok"]] == [1]


def test_it_is_of_one_moment_while_the_club_goes_on(own_client: Any) -> None:
    club, _ = filled_on(own_client)
    going, versions = threading.Event(), []

    def pays() -> None:
        while not going.is_set():
            club.done("deposit", member=2, amount=100, via="cash")
            club.done("close_books", label="2026")

    payer = threading.Thread(target=pays)
    payer.start()
    try:
        for _ in range(5):
            body = club.get("/audit", "auditor").json()
            assert body["ok"], body["checks"]
            assert body["entry"] - body["closed_through"] == body["after_closing"] <= 2
            versions.append(body["version"])
    finally:
        going.set()
        payer.join()
    assert versions == sorted(versions)


def test_data_deleted_during_the_audit_is_no_difference(lone_client: Any) -> None:
    """A number is replaced and a member is erased after the last row that the audit reads."""
    club = ClubTable(lone_client)
    for name in ("Berit", "Cesar"):
        club.join(name)
    club.done("set_payee", member=2, swish="0701740605")
    club.done("leave", member=3)
    service: Service = lone_client.app.state.service
    to = service.projections.head()
    club.done("set_payee", member=2, swish="0701740606")
    club.done("erase", member=3)
    followed(lone_client)
    audit_of_club = audit_books(service.projections, service.names, UUID(club.id), to, None, str, {})
    assert (audit_of_club.ok, audit_of_club.version) == (True, 7), found(audit_of_club)


def test_only_the_log_position_of_a_row_of_another_club_is_shown(own_client: Any, store_url: str) -> None:
    club, _ = filled_on(own_client)
    other = ClubTable(own_client)
    assert club.get("/audit", "auditor").json()["ok"] is True
    Editor(store_url).edit(UUID(other.id), 2, lambda state: state.replace(b'"at":"20', b'"at":"21'))
    response = club.get("/audit", "auditor")
    wrong = {one["check"]: one["differences"] for one in response.json()["checks"] if not one["ok"]}
    assert wrong.keys() == {"log"}
    assert [(one["code"], one["aggregate"]) for one in wrong["log"]] == [("row_otherwise", None)]
    assert other.id not in response.text
