"""Keys of a club and the texts of its matches: holders see the texts, and their own texts are stored as theirs."""

from datetime import date, timedelta

import pytest

from api.access.keys import make_key_text
from api.access.tokens import hash_of
from referee.clubs.commands import IssueKey, OpenEvening
from referee.clubs.facts import Scope
from referee.store.clock import utc_now
from tests.api.cases.test_cases import ANNA, RULING, ask, case, finish
from tests.api.personal_data.test_texts import NOTE, REASON, REVOKE
from tests.support.club_with_names import MEMBERS, Club, ClubTable
from tests.support.service_in_memory import Client
from tests.support.stored_names import is_ref


def key_of(club: Club, *scopes: Scope, member: int | None = None) -> str:
    keys = len(club.service.desk.get(club.id).state.keys)
    key = make_key_text(club.id, f"k{keys + 1}")
    app = "Board" if member is None else None
    until = utc_now() + timedelta(days=30)
    issued = IssueKey(scopes=scopes, expires_at=until, hash=hash_of(key), member=member, app=app)
    club.do(issued, "key:k1" if member is None else "operator")  # the operator may issue the key of any member
    return key


@pytest.mark.parametrize("scope", ["read", "treasury", "officiate"])
def test_every_key_of_the_club_reads_them_and_no_other_club_s(client: Client, scope: Scope) -> None:
    club, stranger = Club(client), Club(client)
    table = ClubTable(club)
    table.done("deal", 0, counts=[6, 6, 6])
    ask(table, "", ANNA, REVOKE)
    finish(table)
    table.tokens |= {"key": key_of(club, scope), "stranger": key_of(stranger, scope)}
    assert case(table, 1, "key")["note"] == NOTE
    assert [one["name"] for one in table.get("", "key").json()["players"]] == list(MEMBERS)
    assert is_ref(case(table, 1, "stranger")["note"])
    assert table.get("", "stranger").json()["players"][0]["name"] == "M1"
    listed = {}
    for who in ("key", "stranger", None):
        page = f"/v1/matches?fresh=true&club={club.id}"
        (one,) = table.client.get(page, headers=table.bearer(who)).json()["items"]
        listed[who] = one["players"]
    assert listed == {"key": list(MEMBERS), "stranger": ["M1", "M2", "M3"], None: ["M1", "M2", "M3"]}
    ticket = table.post("/tickets", None, "key").json()["ticket"]
    assert table.client.head(f"{table.path}/events/stream?ticket={ticket}").status_code == 200


def test_reasons_of_an_official_with_a_key_are_erased_with_the_official(client: Client) -> None:
    club = Club(client, (*MEMBERS, "David Domare"))
    table = ClubTable(club)
    table.done("deal", 0, counts=[6, 6, 6])
    ask(table, "", ANNA, REVOKE)
    table.tokens["david"] = key_of(club, "officiate", member=4)
    ask(table, "/1/ruling", "david", RULING | {"reason": REASON})
    assert case(table, 1, "official")["rulings"][0]["reason"] == REASON
    assert club.erase(4) == (1, 0)
    told_of = case(table, 1, "official")
    assert is_ref(told_of["rulings"][0]["reason"])
    assert told_of["note"] == NOTE


def test_the_key_that_opens_a_match_reads_the_names_of_the_players(client: Client) -> None:
    club = Club(client)
    club.do(OpenEvening(on=date(2026, 11, 22), season="2026/27"))
    body = {
        "ruleset": "rodskagg-kortoxen",
        "club": str(club.id),
        "evening": 1,
        "players": [{"member": member} for member in (3, 1, 2)],
    }
    key = {"Authorization": f"Bearer {key_of(club, 'open')}"}
    answer = client.post("/v1/matches", json=body, headers=key)
    assert answer.status_code == 201, answer.text
    assert [seat["name"] for seat in answer.json()["seats"]] == [MEMBERS[2], MEMBERS[0], MEMBERS[1]]
    shown = client.get(f"/v1/matches/{answer.json()['id']}", headers=key)
    assert [one["name"] for one in shown.json()["players"]] == [MEMBERS[2], MEMBERS[0], MEMBERS[1]]
