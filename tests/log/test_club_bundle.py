"""The bundle of a closing: its readers, and the calculation of its digest from its rows."""

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import msgspec
import pytest

from api.access.keys import make_key_text
from api.access.tokens import hash_of
from api.log import club_bundle
from api.runtime.service import Service
from projections.cursors import cursor_of
from referee.clubs.commands import IssueKey
from referee.log.notes import checkpoint_in
from referee.store.clock import utc_now
from referee.store.command import Command
from tests.api.money.test_stakes import Club
from tests.log.bundle_checks import KEY, SOON, Audited, audited, checked, followed, sign, won
from tests.support.service_in_memory import Client, client_of


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('signed')}/knacka.db"
    with client_of(url, log_key=KEY.private_text, log_seconds=3600) as client:
        yield client


@pytest.fixture(scope="module")
def books(client: Client) -> Audited:
    found = audited(client)
    sign(client)
    return found


def problem(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].removeprefix("/problems/")


def topics_in(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [row["topic"] for row in answer.json()["rows"]]


def test_a_stranger_makes_the_digest_again_from_nothing_but_the_bundle(books: Audited, tmp_path: Path) -> None:
    """The stranger has only a verify.py and a key of the log, noted earlier."""
    for closing in (1, 2):
        answer = books.club.get(f"/bundle?closing={closing}", "audit")
        code, lines = checked(tmp_path, answer.content)
        assert (code, lines[-1]) == (0, "entries: every entry (4) adds up and agrees with the rows and the closing")


MONEY = ("match/opened", "match/won", "money/", "books/", "protocol/")


def test_it_has_all_rows_from_closing_to_closing_and_the_ends_of_the_matches(books: Audited) -> None:
    first, second = (books.club.get(f"/bundle?closing={closing}", "audit") for closing in (1, 2))
    told = [[topic for topic in topics_in(one) if topic.startswith(MONEY)] for one in (first, second)]
    matches = ["match/opened", "match/won"]
    assert told[0] == ["money/posted", *matches, *matches, "money/posted", "books/closed"]
    struck = [*matches, "books/closed", "protocol/corrected"]
    assert told[1] == [*struck, *matches, "money/posted", "money/posted", "books/closed"]
    for closing, answer in ((1, first), (2, second)):
        bundle = answer.json()
        assert bundle["about"] == {"kind": "closing", "id": books.club.id, "closing": closing}
        (of_club,) = [one["ranges"] for one in bundle["aggregates"] if one["id"] == books.club.id]
        assert len(of_club) == 1, "all rows of the club from the closing before, or from the first"
    for after, answer in ((0, first), (4, second)):
        journal = books.club.get(f"/journal?cursor={cursor_of(after)}&limit=4").json()["items"]
        told = answer.json()["entries"]
        assert told == [{name: entry[name] for name in told[0]} for entry in journal]


def test_its_settlements_are_those_of_the_matches(client: Client, books: Audited) -> None:
    match = books.matches[1]
    bundle = match.get(client, "/bundle", match.tokens[2]).json()
    told = match.get(client, "/settlement", match.tokens[2]).json()
    amounts = [seat["amount"] for seat in told["seats"]]
    (settled,) = bundle["settlements"]
    assert settled == {
        "match": match.id,
        "event": bundle["rows"][-1]["version"],
        **{name: told[name] for name in ("currency", "unit", "pot")},
        "amounts": amounts,
    }
    assert settled in books.club.get("/bundle?closing=1", "audit").json()["settlements"]


def test_a_treasury_key_gets_no_bundle_with_rulings(books: Audited) -> None:
    """The row of a correction contains the officials' request."""
    assert books.club.get("/bundle?closing=1", "treasury").status_code == 200
    assert problem(books.club.get("/bundle?closing=2", "treasury")) == (403, "scope-missing")
    assert problem(books.club.get("/bundle?closing=1", "play")) == (403, "scope-missing")


def test_a_treasury_key_gets_no_bundle_with_private_matches(client: Client, books: Audited) -> None:
    won(books.club, visibility="private")
    followed(client)
    closing = books.club.done("close_books", label="private")["closing"]
    sign(client)
    assert problem(books.club.get(f"/bundle?closing={closing}", "treasury")) == (403, "scope-missing")
    assert books.club.get(f"/bundle?closing={closing}", "audit").status_code == 200


def test_a_closing_that_there_is_not(books: Audited) -> None:
    for closing in (0, 99):
        assert problem(books.club.get(f"/bundle?closing={closing}", "audit")) == (404, "no-such-closing")
    assert books.club.get("/bundle", "audit").status_code == 400


def test_one_that_is_too_large(books: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(club_bundle, "ENTRIES_MAX", 3)
    answer = books.club.get("/bundle?closing=1", "audit")
    assert problem(answer) == (409, "bundle-too-large")
    assert answer.json()["facts"] == {"count": 4, "most": 3}


def test_a_closing_is_signed_without_waiting_for_its_time(client: Client, books: Audited) -> None:
    """Once an hour else."""
    sign(client)
    before = checkpoint_in(client.get("/v1/log/checkpoint").text).size
    books.club.done("deposit", member=3, amount=100, via="cash")
    closing = books.club.done("close_books", label="soon")["closing"]
    until = time.monotonic() + SOON
    while (answer := books.club.get(f"/bundle?closing={closing}", "audit")).status_code != 200:
        assert problem(answer) == (409, "not-signed-yet")
        assert time.monotonic() < until
        time.sleep(0.01)
    assert checkpoint_in(answer.json()["checkpoint"]).size > before


def test_until_then_it_is_not_signed_yet(sqlite_url: str) -> None:
    with client_of(sqlite_url, log_key=KEY.private_text, log_seconds=3600) as client:
        app: Any = client.app
        service: Service = app.state.service
        assert service.signer is not None
        service.signer.close()
        club = audited(client).club
        assert problem(club.get("/bundle?closing=2", "audit")) == (404, "log-unsigned")
        sign(client)
        assert club.get("/bundle?closing=2", "audit").status_code == 200
        club.done("deposit", member=3, amount=100, via="cash")
        club.done("close_books", label="late")
        assert problem(club.get("/bundle?closing=3", "audit")) == (409, "not-signed-yet")


def test_statements_name_the_checkpoint(client: Client, books: Audited) -> None:
    sign(client)
    _, size, root, *_ = client.get("/v1/log/checkpoint").text.split("\n")
    told = books.club.get("/accounts/member:2/statement").json()
    assert told["checkpoint"] == {"size": int(size), "root": root}
    page = books.club.get("/accounts/member:2/statement", Accept="text/html").text
    assert f"{size} rows, root {root}" in page


def test_a_party_gets_no_entries_of_the_club(client: Client) -> None:
    """Entries rest on rows of the club; a party gets only the settlement of the match."""
    books = audited(client)
    club, match = books.club, books.matches[1]
    club.issue("second", "treasury", member=3)
    number = club.done("reverse", entry=3)["proposal"]
    club.done("confirm", "second", proposal=number)
    sign(client)
    bundle = match.get(client, "/bundle", match.tokens[0]).json()
    assert (len(bundle["settlements"]), bundle["entries"]) == (1, [])


def test_a_correction_is_for_auditors_and_the_parties_learn_that_there_is_a_later_row(
    client: Client, books: Audited, tmp_path: Path
) -> None:
    """The correction lets the match go on, so the auditor's key is one that no player gave: the operator did."""
    match, key = books.matches[0], auditors_key(client, books)
    party, auditor = (match.get(client, "/bundle", one) for one in (match.tokens[0], key))
    assert topics_in(auditor)[-1] == "protocol/corrected"
    assert (len(party.json()["settlements"]), auditor.json()["settlements"]) == (1, [])
    assert checked(tmp_path, auditor.content).code == 0
    code, lines = checked(tmp_path, party.content)
    assert (code, lines[-1].endswith("; the log has 1 more")) == (3, True), lines


def auditors_key(client: Client, books: Audited) -> str:
    """Return a new key of the club with `audit`, which the operator issues for a program."""
    app: Any = client.app
    desk, club = app.state.service.desk, UUID(books.club.id)
    key = make_key_text(club, f"k{len(desk.get(club).state.keys) + 1}")
    until = utc_now() + timedelta(days=30)
    issue = IssueKey(scopes=("audit",), expires_at=until, hash=hash_of(key), app="Auditor")
    desk.submit(Command(id=club, actor="operator", request=issue)).result(30)
    return key


def changed(answer: httpx.Response, edit: Any) -> bytes:
    """Return the bundle with one change."""
    read = msgspec.json.decode(answer.content)
    edit(read)
    return msgspec.json.encode(read)


EDITS: dict[str, Any] = {
    "other amounts, which add up": lambda read: [one.update(amount=2 * one["amount"]) for one in posted(read)],
    "amounts that do not add up": lambda read: posted(read)[0].update(amount=1),
    "another member": lambda read: posted(read)[1].update(account="member:1"),
    "another date": lambda read: read["entries"][1].update(date="2020-01-01"),
    "another number": lambda read: read["entries"][1].update(number=7),
    "the last one left out": lambda read: read["entries"].pop(),
    "another cause": lambda read: read["entries"][1].update(cause=read["entries"][2]["cause"]),
    "no entries": lambda read: read.update(entries=None),
    "no settlements": lambda read: read.update(settlements=None),
    "another settlement": lambda read: read["settlements"][0].update(amounts=[100, -200, 100]),
    "the settlement of another match": lambda read: read["settlements"].reverse(),
    "a settlement with decimals": lambda read: read["settlements"][0].update(unit=100.0),
    "true for a number": lambda read: read["entries"][0].update(number=True),
}


def posted(read: Any) -> Any:
    return read["entries"][0]["postings"]


@pytest.mark.parametrize("how", EDITS)
def test_an_edited_amount_in_a_bundle_is_found(books: Audited, tmp_path: Path, how: str) -> None:
    answer = books.club.get("/bundle?closing=1", "audit")
    code, lines = checked(tmp_path, changed(answer, EDITS[how]))
    assert (code, lines[-1].startswith("NOT PROVED: ")) == (1, True), lines
    assert not lines[-1].startswith("NOT PROVED: the file is not"), "the edit, not its form, must be found"


def test_rows_of_another_club_are_not_accepted_in_a_closing(client: Client, books: Audited, tmp_path: Path) -> None:
    """The rows are signed, and the matches have these settlements, but no closing contains them."""
    other = audited(client)
    sign(client)
    own, bundle = (msgspec.json.decode(one.club.get("/bundle?closing=1", "audit").content) for one in (books, other))
    match = next(one for one in own["aggregates"] if one["id"] != books.club.id)
    rows = [row for row in own["rows"] if row["id"] == match["id"]]
    bundle["rows"] = sorted([*rows, *bundle["rows"]], key=lambda row: int(row["index"]))
    order = list(dict.fromkeys(row["id"] for row in bundle["rows"]))
    bundle["aggregates"] = sorted([match, *bundle["aggregates"]], key=lambda one: order.index(one["id"]))
    bundle["settlements"] = [*own["settlements"][:1], *bundle["settlements"]]
    match["statement"] = None
    code, lines = checked(tmp_path, msgspec.json.encode(bundle))
    assert (code, lines[-1]) == (1, f"NOT PROVED: '{match['id']}' is not a match of the club")


def test_a_match_agreed_to_late_is_proved_with_its_closing(tmp_path: Path) -> None:
    """Three matches are over; one counts in each closing, and one still waits."""
    url = f"sqlite:///{tmp_path}/knacka.db"
    with client_of(url, log_key=KEY.private_text, log_seconds=3600) as client:
        club = Club(client)
        matches = [club.match() for _ in range(3)]
        for match in matches:
            match.ends()
        for closing, match in enumerate(matches[:2], 1):
            match.agrees(0, 1, 2)
            club.done("close_books", label=f"closing {closing}")
            sign(client)
        for closing in (1, 2):
            answer = club.get(f"/bundle?closing={closing}")
            told = [
                topic for topic in topics_in(answer) if topic.startswith(("match/opened", "match/won", "stakes/"))
            ]
            assert told == ["match/opened", "match/won", *["stakes/agreed"] * 3]
            assert [one["kind"] for one in answer.json()["entries"]] == ["match"]
            code, lines = checked(tmp_path, answer.content)
            assert code == 0, lines
        for match in matches:
            answer = client.get(f"{match.path}/bundle", headers=club.bearer("anna"))
            assert len(answer.json()["settlements"]) == 1
            code, lines = checked(tmp_path, answer.content)
            assert code == 0, lines
