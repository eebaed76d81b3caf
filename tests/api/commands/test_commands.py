"""The operators' commands about clubs, while a service runs on the same store."""

import re
import time
from collections.abc import Iterator
from contextlib import nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.cli import main
from api.personal_data.names import Names
from referee.store.store import construct
from tests.api.clubs.test_clubs import names_kept
from tests.api.http.test_problems import problem
from tests.api.personal_data.test_erasing import Evening, Noted
from tests.api.personal_data.test_names import sql
from tests.support.club_client import ClubTable, found
from tests.support.databases import Postgres, empty_database
from tests.support.match_client import Table
from tests.support.running_service import knacka, running
from tests.support.service_in_memory import client_of
from tests.support.unfinished_erasure import put_on_record

KNOWN_SECONDS = 2.0
"""Seconds after which a service knows the acts of a different process."""
KEY = re.compile(r"^knk_\w+$", re.M)


class Operator:
    """An operator at the command line."""

    def __init__(self, url: str) -> None:
        self.url = url

    def done(self, *arguments: str) -> str:
        ran = knacka(*arguments, KNACKA_DATABASE_URL=self.url)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def refused(self, *arguments: str, code: int = 1) -> str:
        ran = knacka(*arguments, KNACKA_DATABASE_URL=self.url)
        assert (ran.returncode, ran.stdout) == (code, ""), ran.stdout + ran.stderr
        assert "Traceback" not in ran.stderr
        return ran.stderr

    def key(self, *arguments: str) -> str:
        """Return the key that a command prints once."""
        return KEY.findall(self.done("key", *arguments))[0]


def within_seconds(client: httpx.Client, key: str, status: int) -> httpx.Response:
    """Read ``/v1/key`` until the service answers with this status; return the answer."""
    until = time.monotonic() + KNOWN_SECONDS
    while True:
        answer = client.get("/v1/key", headers={"Authorization": f"Bearer {key}"})
        if answer.status_code == status:
            return answer
        assert time.monotonic() < until, f"after {KNOWN_SECONDS} s it is {answer.status_code}: {answer.text}"
        time.sleep(0.05)


@pytest.fixture
def operator(store_url: str) -> Operator:
    return Operator(store_url)


@pytest.fixture
def service(store_url: str) -> Iterator[httpx.Client]:
    with running(store_url) as process, httpx.Client(base_url=process.address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """Yield the URL of a store in which each test has a club of its own."""
    with empty_database(postgres) if request.param == "postgresql" else nullcontext() as url:
        yield url or f"sqlite:///{tmp_path_factory.mktemp('shared')}/knacka.db"


@pytest.fixture(scope="module")
def shared_operator(shared: str) -> Operator:
    """Return the operator of the shared store."""
    return Operator(shared)


@pytest.fixture(scope="module")
def shared_service(shared: str) -> Iterator[httpx.Client]:
    """Yield a client of the service on the shared store."""
    with running(shared) as process, httpx.Client(base_url=process.address, timeout=30) as client:
        yield client


FOUNDING = ("--name", "Knackarna", "--founder", "Anna", "--currency", "SEK", "--timezone", "Europe/Stockholm")


class TestClubs:
    def test_a_club_that_the_operator_founds_belongs_to_the_service_at_once(
        self, operator: Operator, service: httpx.Client
    ) -> None:
        made = operator.done("club", "found", *FOUNDING)
        club_id = made.split()[1].rstrip(":")
        key = KEY.findall(made)[0]
        answer = service.get(f"/v1/clubs/{club_id}", headers={"Authorization": f"Bearer {key}"})
        assert (answer.status_code, answer.json()["name"], answer.json()["members"]) == (200, "Knackarna", 1)
        assert within_seconds(service, key, 200).json()["member"] == 1
        assert operator.done("club", "list") == f"{club_id}\t1\tKnackarna\n"
        shown = operator.done("club", "show", club_id)
        assert "member 1: Anna\n" in shown
        assert "key k1: member 1: open, play," in shown
        assert key not in shown
        with construct(operator.url) as referee:
            assert {row.actor for row in referee.history(UUID(club_id))} == {"operator"}

    def test_in_a_store_that_is_made_by_it(self, operator: Operator) -> None:
        operator.done("club", "found", *FOUNDING)
        assert "0 matches and 1 club: 3 events" in operator.done("verify")

    def test_an_unknown_timezone_or_currency_is_refused(self, operator: Operator) -> None:
        for zone in ("Europe/Stockhol", "localtime"):
            assert "unknown timezone" in operator.refused("club", "found", *FOUNDING[:-1], zone)
        assert "JPY" in operator.refused("club", "found", *FOUNDING, "--currency", "JPY")

    def test_a_missing_store_is_refused_and_not_made(self, tmp_path: Path) -> None:
        away = Operator(f"sqlite:///{tmp_path}/away.db")
        assert "there is no store" in away.refused("club", "list")
        assert not list(tmp_path.glob("away*")), "nothing is made by a look"

    def test_a_match_is_no_club(self, shared_operator: Operator, shared_service: httpx.Client) -> None:
        table = Table(shared_service)
        assert "there is no club" in shared_operator.refused("club", "show", table.id)
        assert "there is no club" in shared_operator.refused(
            "key", "issue", table.id, "--app", "Board", "--scopes", "read"
        )
        assert "there is no club" in shared_operator.refused("erase", table.id, "1")


class TestKeys:
    def test_it_is_the_way_back_in_when_the_last_key_for_keys_has_ended(
        self, shared_operator: Operator, shared_service: httpx.Client
    ) -> None:
        club = ClubTable(shared_service)
        club.done("revoke_key", key="k1")
        problem(club.act("join", name="Bo"), 401, "key-revoked")
        club.keys["back"] = shared_operator.key(
            "issue", club.id, "--member", "1", "--scopes", "keys,read", "--days", "7"
        )
        body = within_seconds(shared_service, club.keys["back"], 200).json()
        assert (body["key"], body["scopes"], body["member"]) == ("k2", ["read", "keys"], 1)
        assert club.act("join", "back", name="Bo").status_code == 201

    def test_a_service_with_the_club_in_memory_knows_new_keys_within_two_seconds(
        self, shared_operator: Operator, shared_service: httpx.Client
    ) -> None:
        club = ClubTable(shared_service)
        board = shared_operator.key("issue", club.id, "--app", "Board", "--scopes", "all")
        assert within_seconds(shared_service, board, 200).json()["key"] == "k2"
        another = shared_operator.key("rotate", club.id, "k2", "--overlap-seconds", "3600")
        assert within_seconds(shared_service, another, 200).json()["key"] == "k2"
        assert within_seconds(shared_service, board, 200).json()["key"] == "k2", "so long both are good"
        shared_operator.key("rotate", club.id, "k2")
        problem(within_seconds(shared_service, another, 401), 401, "key-expired")
        shared_operator.done("key", "revoke", club.id, "k1")
        problem(within_seconds(shared_service, club.keys["founder"], 401), 401, "key-revoked")
        assert "key k1: member 1: " in (shown := shared_operator.done("club", "show", club.id))
        assert shown.count("revoked") == 1

    def test_secrets_are_nowhere_stored(self, operator: Operator, service: httpx.Client, tmp_path: Path) -> None:
        club = ClubTable(service)
        secret = operator.key("issue", club.id, "--app", "Board", "--scopes", "read")
        with construct(operator.url) as referee:
            states = b"".join(row.state for row in referee.rows(UUID(club.id)))
        assert sha256(secret.encode()).hexdigest().encode() in states
        assert secret.encode() not in states
        assert not [file for file in tmp_path.glob("*.db*") if secret.encode() in file.read_bytes()]

    def test_an_invalid_key_command_is_refused(self, shared_operator: Operator, shared_service: httpx.Client) -> None:
        club = ClubTable(shared_service)
        issue = ("key", "issue", club.id)
        assert "member 9" in shared_operator.refused(*issue, "--member", "9", "--scopes", "all").lower()
        assert "--scopes: unknown scope 'rule'" in shared_operator.refused(
            *issue, "--app", "B", "--scopes", "rule", code=2
        )
        assert "--days" in shared_operator.refused(*issue, "--app", "B", "--scopes", "all", "--days", "401", code=2)
        assert "required" in shared_operator.refused(*issue, "--scopes", "all", code=2)
        assert "k9" in shared_operator.refused("key", "revoke", club.id, "k9")
        shared_operator.done("key", "revoke", club.id, "k1")
        assert "k1" in shared_operator.refused("key", "revoke", club.id, "k1")
        assert "k1" in shared_operator.refused("key", "rotate", club.id, "k1")
        assert shared_operator.done("club", "show", club.id).count("\nkey ") == 1, "nothing else was made"

    def test_the_key_of_the_operator_is_valid_if_the_setting_has_its_sha_256(self, store_url: str) -> None:
        said = knacka("key", "operator").stdout.splitlines()
        key, (name, _, value) = said[1], said[3].partition("=")
        assert sha256(key.encode()).hexdigest() == value
        settings = {name: value, "KNACKA_ANYBODY_FOUNDS": "false"}
        with running(store_url, **settings) as process, httpx.Client(base_url=process.address) as client:
            problem(found(client), 401, "founding-needs-key")
            assert found(client, Authorization=f"Bearer {key}").status_code == 201


class TestErasing:
    NAME = "Bosse Brännström-Ödmårk"

    def left(self, service: httpx.Client) -> tuple[ClubTable, int]:
        club = ClubTable(service)
        number = club.join(self.NAME)
        club.done("leave", member=number)
        return club, number

    def test_nothing_is_left_of_the_name_while_the_service_runs(
        self, operator: Operator, service: httpx.Client, tmp_path: Path
    ) -> None:
        club, number = self.left(service)
        said = operator.done("erase", club.id, str(number))
        assert said == f"member {number} is erased: 0 texts deleted, 0 changed\n"
        until = time.monotonic() + KNOWN_SECONDS
        while self.NAME in club.names():
            assert time.monotonic() < until
            time.sleep(0.05)
        assert names_kept(operator.url) == ["Anna Åkesson-Ödmårk"]
        assert not [file for file in tmp_path.glob("*.db*") if self.NAME.encode() in file.read_bytes()]
        problem(club.act("erase", member=number), 409, "member-erased")
        assert f"member {number}: erased" in operator.done("club", "show", club.id)
        operator.done("verify")

    def test_a_preview_lists_the_texts_and_changes_nothing(self, operator: Operator, service: httpx.Client) -> None:
        club = Evening(service)
        match = Noted(club, 1, 2, 3)
        match.note(1, "Bo revoked")
        match.note(2, "I did not")
        match.ends()
        assert "must leave the club" in operator.refused("erase", "--preview", club.id, "2")
        club.done("leave", member=2)
        before = match.texts()
        assert operator.done("erase", "--preview", club.id, "2").splitlines() == [
            "member 2 would be erased: 1 texts deleted, 1 changed",
            f"match {match.id}: + █ revoked",
            f"match {match.id}: - I did not",
        ]
        assert match.texts() == before
        said = operator.done("erase", club.id, "2")
        assert said == "member 2 is erased: 1 texts deleted, 1 changed\n"
        assert operator.done("erase", "--preview", club.id, "2").strip().endswith("no names or texts were left")
        operator.done("verify")

    def test_a_member_with_a_balance_is_not_erased(self, operator: Operator, service: httpx.Client) -> None:
        club = ClubTable(service)
        number = club.join(self.NAME)
        club.done("deposit", member=number, amount=500, via="cash")
        club.done("leave", member=number)
        assert "settle it first" in operator.refused("erase", club.id, str(number))
        assert self.NAME in names_kept(operator.url)
        club.done("payout", member=number, amount=500, via="cash")
        assert "close the books" in operator.refused("erase", club.id, str(number))
        club.done("close_books", label="2026")
        assert "is erased: 0 texts deleted" in operator.done("erase", club.id, str(number))

    def test_it_ends_what_a_crash_has_left_half_done(self, operator: Operator, store_url: str) -> None:
        with client_of(store_url) as client:
            club, number = self.left(client)
        put_on_record(store_url, UUID(club.id), number)
        assert self.NAME in names_kept(store_url)
        assert f"`knacka erase {club.id} {number}`" in knacka("verify", KNACKA_DATABASE_URL=store_url).stdout
        assert "erased before; 1 names and texts that were left" in operator.done("erase", club.id, str(number))
        assert names_kept(store_url) == ["Anna Åkesson-Ödmårk"]
        operator.done("verify")
        assert "no names or texts were left" in operator.done("erase", club.id, str(number)), "and does no harm"

    def test_an_erasure_that_the_club_refuses_is_refused(
        self, shared_operator: Operator, shared_service: httpx.Client
    ) -> None:
        club = ClubTable(shared_service)
        assert "must leave the club" in shared_operator.refused("erase", club.id, "1")
        assert "member" in shared_operator.refused("erase", club.id, "7")
        club.done("set", keep_years=7)
        number = club.join(self.NAME)
        club.done("leave", member=number)
        assert "20" in shared_operator.refused("erase", club.id, str(number))
        assert club.names() == ["Anna Åkesson-Ödmårk", self.NAME]


class TestProof:
    def test_another_name_in_the_place_of_one_is_found(self, operator: Operator, own_client: Any) -> None:
        club = ClubTable(own_client)
        names = Names(operator.url)
        (ref,) = names.put(UUID(club.id), None, ["Bo"], kind="name")
        names.close()
        sql(operator.url, "UPDATE names SET text = '\"Olle\"' WHERE ref = '" + ref + "'")
        ran = knacka("verify", KNACKA_DATABASE_URL=operator.url)
        assert (ran.returncode, f"text {ref}: it was changed or moved" in ran.stdout) == (1, True)

    def test_a_name_that_is_gone_without_an_erasure_is_found(self, operator: Operator, own_client: Any) -> None:
        club = ClubTable(own_client)
        sql(operator.url, "DELETE FROM names")
        ran = knacka("verify", club.id, KNACKA_DATABASE_URL=operator.url)
        assert (ran.returncode, f"club {club.id}: member 1: a name is missing" in ran.stdout) == (1, True)


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--name", "", "length >= 1"),
        ("--name", "x" * 101, "length <= 100"),
        ("--name", "Knack\u202earna", "RIGHT-TO-LEFT OVERRIDE"),
        ("--founder", "\u2800", "no visible character"),
        ("--founder", "Anna\n", "regex"),
        ("--currency", "sek", "regex"),
    ],
)
def test_an_invalid_option_for_a_new_club_is_a_usage_error(
    option: str, value: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = list(FOUNDING)
    given[given.index(option) + 1] = value
    with pytest.raises(SystemExit) as ended:
        main(["club", "found", *given])
    assert ended.value.code == 2
    assert re.search(f"{option}: .*{said}", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("club found", "Stores"),
        ("club list", "Changes nothing"),
        ("club show", "Changes nothing"),
        ("key issue", "stores"),
        ("key rotate", "stores"),
        ("key revoke", "Revokes"),
        ("key operator", "Changes nothing"),
        ("erase", "This cannot be undone"),
        ("backup", "Changes nothing"),
        ("restore", "changes nothing"),
    ],
)
def test_each_says_what_it_changes(command: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    assert says in " ".join(capsys.readouterr().out.split())
