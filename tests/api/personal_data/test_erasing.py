"""An erasure deletes the texts of a member, and replaces the member's name in the texts of others."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from referee.store.connection import Postgres, parse_store_url
from tests.api.http.test_problems import problem
from tests.support.club_client import ClubTable
from tests.support.club_with_names import files_with, tables_with
from tests.support.match_client import Table
from tests.support.service_in_memory import Client, client_of

ANNA, BO, CESAR, DAG = 1, 2, 3, 4


class Evening(ClubTable):
    """A club of four members and an open evening."""

    def __init__(self, client: Any) -> None:
        super().__init__(client)
        for name in ("Bo", "Cesar Ceder", "Dag Dahl"):
            self.join(name)
        self.done("open_evening", on="2026-11-22", season="2026/27")

    def erased(self, member: int) -> dict[str, Any]:
        """Let a member leave and erase the member; return the answer."""
        self.done("leave", member=member)
        return self.done("erase", member=member)


class Noted(Table):
    """A match of the club at a real table with closed hands, after the deal."""

    def __init__(self, club: ClubTable, *members: int, **opening: Any) -> None:
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"member": member} for member in members],
            "first_dealer": 0,
            "options": {"deal_ritual": False},
            "dealing": "table",
            "enforcement": "penalise",
            "adjudication": {"officials": [{"name": "Maja"}]},
            "club": club.id,
            "evening": 1,
        } | opening
        answer = club.client.post("/v1/matches", json=body, headers=club.bearer("founder"))
        assert answer.status_code == 201, answer.text
        self.client, self.opened, self.club = club.client, answer.json(), club
        self.id, self.path = self.opened["id"], f"/v1/matches/{self.opened['id']}"
        self.tokens = {seat["seat"]: seat["token"] for seat in self.opened["seats"]}
        self.tokens["official"] = self.opened["official_token"]
        self.members = members
        self.done("deal", 0, counts=[6] * len(members))

    def note(self, member: int, text: str) -> None:
        """Knock against the next seat for a revoke as a member, with a note."""
        seat = self.members.index(member)
        knock = {"seat": seat, "accused": (seat + 1) % len(self.members), "offence": "revoke", "note": text}
        answer = self.post("/knocks", knock, seat)
        assert answer.status_code == 201, answer.text

    def ends(self, reason: str = "It is late") -> None:
        """End the match as the official."""
        self.done("abandon", None, reason=reason)

    def texts(self) -> list[str]:
        """Return the notes and reasons of the match in the official's view."""
        rows: list[dict[str, Any]] = self.get("/events", "official").json()["events"]
        events = [one["event"] for one in rows]
        return [event[name] for event in events for name in ("text", "reason") if event.get(name)]


@pytest.fixture
def club(client: Client) -> Evening:
    return Evening(client)


def hidden(texts: list[str]) -> list[str]:
    """Return the texts, with ``hmac:`` for each deleted one."""
    return [re.sub(r"^hmac:[0-9a-f]{64}$", "hmac:", text) for text in texts]


def test_a_note_in_a_match_that_the_member_never_played_stays(club: Evening) -> None:
    match = Noted(club, ANNA, CESAR, DAG)
    match.note(ANNA, "Kortet låg på bordet, och Bo var inte med")
    match.ends()
    club.erased(BO)
    assert match.texts() == ["Kortet låg på bordet, och Bo var inte med", "It is late"]


def test_in_the_texts_of_others_the_name_alone_is_replaced(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo lade kortet på bordet; BO sa inget, och Bosse såg det")
    match.ends("Bo has left")
    club.erased(BO)
    assert match.texts() == ["█ lade kortet på bordet; █ sa inget, och Bosse såg det", "█ has left"]


def test_texts_by_an_erased_member_are_deleted(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(BO, "I saw it")
    match.note(CESAR, "I saw nothing")
    match.ends()
    club.erased(BO)
    assert hidden(match.texts()) == ["hmac:", "I saw nothing", "It is late"]


def test_a_rename_affects_later_texts_only(club: Evening) -> None:
    """A member who is called ``e`` for a moment does not destroy the evidence of others."""
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo har e i namnet, inte Bengt")
    club.done("rename", member=BO, name="Bengt")
    match.note(CESAR, "Bengt, som hette Bo, visade ett kort")
    club.done("rename", member=BO, name="e")
    match.ends("det e sent")
    club.erased(BO)
    assert match.texts() == ["█ har e i namnet, inte Bengt", "█, som hette █, visade ett kort", "det e sent"]


def test_a_match_of_another_club_is_left_alone(club: Evening) -> None:
    other = Evening(club.client)
    match = Noted(other, ANNA, BO, CESAR)
    match.note(ANNA, "Bo revoked")
    match.ends()
    club.erased(BO)
    assert match.texts() == ["Bo revoked", "It is late"]


def test_the_name_of_a_member_who_officiated_by_key_is_removed_from_texts(club: Evening) -> None:
    club.issue("bo", "officiate", member=BO)
    match = Noted(club, ANNA, CESAR, DAG)
    match.note(ANNA, "Bo did not look")
    answer = match.client.post(f"{match.path}/acts", json={"act": "abandon"}, headers=club.bearer("bo"))
    assert answer.status_code == 201, answer.text
    club.erased(BO)
    assert match.texts() == ["█ did not look"]


def test_the_name_of_a_named_official_is_removed_from_texts(club: Evening) -> None:
    match = Noted(club, ANNA, CESAR, DAG, adjudication={"officials": [{"name": "Bo"}]})
    match.note(ANNA, "Bo did not look")
    match.ends()
    club.erased(BO)
    assert match.texts() == ["█ did not look", "It is late"]
    assert hidden(match.get("", "official").json()["adjudication"]["officials"]) == ["hmac:"]


def test_an_official_who_may_be_another_of_that_name_keeps_it(club: Evening) -> None:
    """The text does not show which of the two members is meant."""
    club.join("Bo")
    match = Noted(club, ANNA, CESAR, DAG, adjudication={"officials": [{"name": "Bo"}]})
    match.note(ANNA, "Bo did not look")
    match.ends()
    club.erased(BO)
    assert match.texts() == ["Bo did not look", "It is late"]
    assert match.get("", "official").json()["adjudication"]["officials"] == ["Bo"]


def test_a_member_of_the_same_name_keeps_it(club: Evening) -> None:
    other = club.join("Bo")
    theirs, both = Noted(club, ANNA, other, CESAR), Noted(club, BO, other, CESAR)
    theirs.note(ANNA, "Bo revoked")
    both.note(CESAR, "Bo revoked")
    theirs.ends()
    both.ends()
    club.erased(BO)
    assert theirs.texts() == ["Bo revoked", "It is late"]
    assert both.texts() == ["█ revoked", "It is late"], "it may be the name of either"
    assert club.names()[other - 1] == "Bo"


def test_a_number_of_the_member_is_replaced_however_it_is_written(club: Evening) -> None:
    club.done("set_payee", member=BO, swish="070-174 06 05")
    match = Noted(club, ANNA, CESAR, DAG)
    match.note(ANNA, "Swisha till +46 70 174 06 05 eller 0701740605, inte 0701740606")
    match.ends()
    club.erased(BO)
    assert match.texts()[0] == "Swisha till █ eller █, inte 0701740606"


# The record


def changes_of(answer: dict[str, Any]) -> tuple[int, int]:
    erased: dict[str, int] = answer["erased"]
    return erased["deleted"], erased["changed"]


def test_the_answer_and_the_event_say_how_many_texts_changed(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo revoked")
    match.note(BO, "No")
    match.note(CESAR, "I saw nothing")
    match.ends("Bo has left")
    done = club.erased(BO)
    assert changes_of(done) == (1, 2)
    (event,) = [one["event"] for one in done["events"] if one["event"]["topic"] == "member/erased"]
    assert (event["deleted"], event["changed"]) == (1, 2)
    assert re.fullmatch("[0-9a-f]{64}", event["texts"])


def test_a_repeat_of_the_request_has_the_same_answer(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo revoked")
    match.ends()
    club.done("leave", member=BO)
    key = {"Idempotency-Key": "once"}
    first, again = (club.act("erase", headers=key, member=BO) for _ in range(2))
    assert (again.status_code, again.json()) == (201, first.json())
    assert again.headers["idempotency-replayed"] == "true"


# The preview


def foreseen(club: Evening, member: int, who: str = "founder") -> httpx.Response:
    answer: httpx.Response = club.client.post(
        f"{club.path}/acts?preview=true", json={"act": "erase", "member": member}, headers=club.bearer(who)
    )
    return answer


def test_a_preview_lists_what_would_change_and_changes_nothing(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR)
    match.note(ANNA, "Bo revoked, and Bo knows it")
    match.note(BO, "No")
    match.ends()
    club.done("leave", member=BO)
    before, version = match.texts(), club.get().json()["version"]
    answer = foreseen(club, BO)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert (body["version"], body["member"], body["erased"]) == (version, BO, {"deleted": 1, "changed": 1})
    assert sorted((one["match"], one["deleted"], one["places"]) for one in body["texts"]) == [
        (match.id, False, 2),
        (match.id, True, 0),
    ]
    assert (match.texts(), club.get().json()["version"]) == (before, version)
    assert changes_of(club.done("erase", member=BO)) == (1, 1)


def test_a_preview_is_refused_as_the_act_is(club: Evening) -> None:
    problem(foreseen(club, BO), 409, "member-here")
    problem(foreseen(club, 9), 422, "no-such-member")
    club.issue("reader", "read")
    problem(foreseen(club, BO, "reader"), 403, "scope-missing")


def test_a_preview_names_no_match_that_the_caller_may_not_see(club: Evening) -> None:
    match = Noted(club, ANNA, BO, CESAR, visibility="private")
    match.note(ANNA, "Bo revoked")
    match.ends()
    club.done("leave", member=BO)
    club.issue("secretary", "keys")
    body = foreseen(club, BO, "secretary").json()
    assert (body["erased"], body["texts"]) == ({"deleted": 0, "changed": 1}, [])
    assert [one["match"] for one in foreseen(club, BO).json()["texts"]] == [match.id]


def test_another_act_has_no_preview(club: Evening) -> None:
    answer = club.client.post(
        f"{club.path}/acts?preview=true", json={"act": "join", "name": "Eva"}, headers=club.bearer("founder")
    )
    problem(answer, 422, "no-preview")
    assert len(club.names()) == 4


# Secrecy


def test_no_file_and_no_table_has_the_name(store_url: str, tmp_path: Path) -> None:
    name = "Bodil Brännström-Ödmårk"
    with client_of(store_url) as client:
        club = Evening(client)
        bodil = club.join(name)
        match = Noted(club, ANNA, bodil, CESAR)
        match.note(ANNA, f"{name.upper()} revoked, and bodil  brännström-ödmårk knows it")
        match.note(CESAR, f"Nothing was seen of {name}’s cards")
        match.ends(f"{name}s kort är borta")
        club.erased(bodil)
        assert match.texts() == ["█ revoked, and █ knows it", "Nothing was seen of █’s cards", "█s kort är borta"]
    for one in (name, name.upper(), "bodil  brännström-ödmårk"):
        place = parse_store_url(store_url)
        assert (tables_with(store_url, one) if isinstance(place, Postgres) else files_with(tmp_path, one)) == []
