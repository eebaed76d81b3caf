"""Bundles of a club's matches: their readers, and the absence of names."""

import json
from base64 import b64decode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.access.keys import make_key_text
from api.access.tokens import hash_of
from referee.clubs.commands import IssueKey
from tests.api.cases.test_cases import finish
from tests.log.bundle_checks import KEY, checked, sign
from tests.support.club_with_names import MEMBERS, Club, ClubTable
from tests.support.service_in_memory import Client, client_of

NOTE = "She had a heart and said no"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    url = f"sqlite:///{tmp_path_factory.mktemp('signed')}/knacka.db"
    with client_of(url, log_key=KEY.private_text, log_seconds=3600) as client:
        yield client


@pytest.fixture(scope="module")
def club(client: Client) -> Club:
    return Club(client)


def scored(club: Club, offence: str = "misdeal") -> ClubTable:
    """Return a match of the club: in its first deal, which is over, a seat has knocked, and the log is signed."""
    table = ClubTable(club)
    table.done("deal", 0, counts=[6, 6, 6])
    noted = {"seat": 0, "accused": 1, "offence": offence, "note": NOTE}
    assert table.post("/knocks", noted, 0).status_code == 201
    finish(table)
    sign(club.client)
    return table


def auditor(club: Club) -> str:
    """Return a key of the club with the scope to audit. The operator issues it, for the founder plays."""
    keys = club.service.desk.get(club.id).state.keys
    key = make_key_text(club.id, f"k{len(keys) + 1}")
    until = datetime.now(UTC) + timedelta(days=30)
    request = IssueKey(scopes=("audit",), expires_at=until, member=None, app="audit", hash=hash_of(key))
    club.do(request, "operator")
    return key


def states_in(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return [b64decode(row["state"]).decode() for row in answer.json()["rows"]]


def topics_in(answer: httpx.Response) -> list[Any]:
    assert answer.status_code == 200, answer.text
    return [row["topic"] for row in answer.json()["rows"]]


def test_a_bundle_has_no_names_or_texts_and_survives_an_erasure(club: Club, tmp_path: Path) -> None:
    table = scored(club)
    before = table.get("/bundle", "official")
    states = "".join(states_in(before))
    assert '"M1"' in states
    assert '"hmac:' in states
    assert not [text for text in (NOTE, *MEMBERS) if json.dumps(text)[1:-1] in states or text in states]
    club.erase(3)
    after = table.get("/bundle", "official")
    assert after.content == before.content
    assert checked(tmp_path, after.content).code == 0


def test_the_clubs_auditor_gets_what_is_over_and_those_who_look_on_nothing(club: Club, client: Client) -> None:
    table, key = scored(club), auditor(club)

    def asked(path: str, shown: str) -> httpx.Response:
        return client.get(f"{table.path}{path}", headers={"Authorization": f"Bearer {shown}"})

    assert asked("/bundle", key).content == table.get("/bundle", "official").content
    assert topics_in(asked("/bundle", key))[-1] == "deal/scored"
    table.done("deal", table.get().json()["to_act"][0], counts=[6, 6, 6])
    last = table.version()
    sign(client)
    late = asked(f"/events/{last}/proof", key)
    assert (late.status_code, late.json()["type"]) == (409, "/problems/not-open-yet")
    assert table.get(f"/events/{last}/proof", "official").status_code == 200
    assert topics_in(asked("/bundle", key))[-1] == "deal/scored"
    assert table.get("/bundle").json()["type"] == "/problems/for-the-match"


def test_a_statement_during_the_next_deal_is_in_no_bundle_until_that_deal_is_over(club: Club, client: Client) -> None:
    table, key = scored(club, "revoke"), auditor(club)
    table.done("deal", table.get().json()["to_act"][0], counts=[6, 6, 6])
    said = {"seat": 1, "agrees": False}
    assert table.post("/knocks/1/statements", said, 1).status_code == 201
    sign(client)
    audited = client.get(f"{table.path}/bundle", headers={"Authorization": f"Bearer {key}"})
    official = table.get("/bundle", "official")
    assert topics_in(official)[-1] == "deal/scored", "no caller gets rows of a deal under way"
    assert topics_in(audited) == topics_in(official)
