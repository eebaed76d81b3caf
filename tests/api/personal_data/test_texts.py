"""Texts that members of a club write in its matches: shown to callers with the right, and stored only with the
names."""

import json
import logging
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import get_args

import httpx
import msgspec
import pytest
from msgspec import inspect
from msgspec.structs import replace

from api.personal_data.texts import free_texts_of, is_free_text, with_texts_changed
from referee import acts, notation, requests, wire_types
from referee.clubs.commands import Rename
from referee.store.connection import Postgres, parse_store_url
from tests.api.cases.test_cases import ANNA, BERIT, CESAR, RULING, ask, case, finish
from tests.support.club_with_names import MEMBERS, Club, ClubTable, files_with, tables_with
from tests.support.edited_stores import said
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.running_service import served, sse
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_names import changed_refs, is_ref

NOTE, TEXT, REASON = 'She had a ♥ & said "no"', "I had <none>, ask Cesar", "Seen by the kibitzer"
REVOKE = {"seat": ANNA, "accused": BERIT, "offence": "revoke", "note": NOTE}


@pytest.fixture(scope="module")
def club(client: Client) -> Club:
    return Club(client)


@pytest.fixture
def table(club: Club) -> ClubTable:
    table = ClubTable(club)
    table.done("deal", 0, counts=[6, 6, 6])
    return table


# Input: no field is forgotten


def leaves(
    kind: inspect.Type, at: str = "", field_of: type | None = None
) -> Iterator[tuple[str, inspect.Type, bool]]:
    """Yield the texts in a type: the path, the type, and whether it is directly in a field of a struct."""
    bare = kind.type if isinstance(kind, inspect.Metadata) else kind
    match bare:
        case inspect.StrType():
            yield at, kind, field_of is not None
        case inspect.UnionType(types=types):
            for one in types:
                yield from leaves(one, at, field_of)
        case inspect.StructType(cls=cls, fields=fields):
            for field in fields:
                yield from leaves(field.type, f"{at}/{field.name}", cls)
        case inspect.VarTupleType(item_type=item) | inspect.ListType(item_type=item):
            yield from leaves(item, f"{at}/*")
        case inspect.TupleType(item_types=items):
            for item in items:
                yield from leaves(item, f"{at}/*")
        case inspect.DictType(value_type=value):
            yield from leaves(value, f"{at}/*")


REQUESTS: tuple[type[msgspec.Struct], ...] = get_args(requests.Request)


@pytest.mark.parametrize("request_type", REQUESTS, ids=lambda kind: kind.__name__)
def test_every_text_of_a_request_is_free_text_or_has_a_pattern(request_type: type) -> None:
    """The type marks a field for free text. A text field with a different type is found here."""
    for at, kind, in_a_field in leaves(inspect.type_info(request_type)):
        if is_free_text(kind):
            assert in_a_field, f"{request_type.__name__}{at} is not looked for where it stands"
            continue
        schema = kind.extra_json_schema or {} if isinstance(kind, inspect.Metadata) else {}
        bare = kind.type if isinstance(kind, inspect.Metadata) else kind
        assert isinstance(bare, inspect.StrType)
        pattern = bare.pattern or schema.get("pattern")
        assert pattern or schema.get("x-values"), f"{request_type.__name__}{at} may hold anything"
        for words in ("Anna did it", "Jag såg det, säger Bo!", f"hmac:{'0' * 64}"):
            assert pattern is None or not re.fullmatch(pattern, words), f"{request_type.__name__}{at} is free text"


def test_the_texts_of_a_request_are_found_wherever_they_stand() -> None:
    knocks = (
        acts.KnockEntered(seat=0, accused=1, offence="revoke", note="one"),
        acts.KnockEntered(seat=0, accused=1, offence="revoke"),
    )
    result = acts.Result(tricks=(1,), knocks=knocks)
    ruling = requests.Ruling(
        case=1,
        verdict="upheld",
        standard="agreed_facts",
        rule="B42",
        reason="two",
        remedy=requests.RemedySent(result=result),
    )
    assert sorted(free_texts_of(ruling)) == ["one", "two"]
    changed = with_texts_changed(ruling, str.upper)
    assert (changed.reason, changed.remedy.result.knocks[0].note) == ("TWO", "ONE")
    assert replace(changed, reason="two", remedy=ruling.remedy) == ruling
    play = acts.Play(seat=0, card="SA")
    assert with_texts_changed(play, str.upper) is play
    assert free_texts_of(acts.Knock(seat=0, accused=1)) == ()


# Output: the callers who see a text


def test_only_a_caller_with_a_token_of_the_match_is_shown_it(table: ClubTable) -> None:
    opened = ask(table, "", ANNA, REVOKE)
    assert opened["note"] == NOTE
    assert (
        opened["why"]
        == f"Open: {MEMBERS[0]} says that {MEMBERS[1]} revoked. Officials rule on it, or it is agreed (J1)."
    )
    ask(table, "/1/statements", BERIT, {"seat": BERIT, "agrees": False, "text": TEXT})
    ask(table, "/1/ruling", "official", RULING | {"reason": REASON})
    ask(table, "/1/appeal", BERIT, {"seat": BERIT, "text": "He sits behind me"})
    finish(table)
    found = {}
    for who in (ANNA, CESAR, "official", "official:2", None):
        one = case(table, 1, who)
        found[who] = one["note"], one["statements"][0]["text"], one["rulings"][0]["reason"], one["appeals"][0]["text"]
        players = [one["name"] for one in table.get("", who).json()["players"]]
        assert players == (["M1", "M2", "M3"] if who is None else list(MEMBERS))
        assert (MEMBERS[0] in one["why"]) is (who is not None)
    nobody = found.pop(None)
    assert all(map(is_ref, nobody))
    assert set(found.values()) == {(NOTE, TEXT, REASON, "He sits behind me")}


@pytest.fixture
def scored(table: ClubTable) -> ClubTable:
    ask(table, "", ANNA, REVOKE)
    ask(table, "/1/ruling", "official", RULING | {"reason": REASON})
    finish(table)
    return table


def as_json(text: str) -> str:
    """Return a text as it is escaped within JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


PAGES = {
    "/events?": True,
    "/knocks?": True,
    "/knocks/1?": True,
    "/knocks/1/file?": True,
    "/deals/1?": True,
    "/protocol?": False,
    "?": False,
    "/replay?at=3&": False,
}
"""Paths of reads, with whether the answer has notes. All of them have names."""


@pytest.mark.parametrize(("page", "noted"), PAGES.items())
@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_each_answer_has_the_texts_in_their_places(scored: ClubTable, page: str, noted: bool, coding: str) -> None:
    path, headers = f"{page}min_version={scored.version()}", {"Accept-Encoding": coding}
    seen = scored.get(path, "official", **headers)
    assert seen.status_code == 200, seen.text
    assert "hmac:" not in seen.text
    assert (as_json(NOTE) in seen.text) is noted
    assert as_json(MEMBERS[0]) in seen.text
    if "/file" in page:
        return  # a case file needs a credential, and contains the time of its making
    spectator = scored.get(path, None, **headers).text
    assert [one for one in (NOTE, REASON, *MEMBERS) if as_json(one) in spectator] == []
    assert ("hmac:" in spectator) is noted
    head = scored.client.head(scored.path + path, headers=scored.bearer("official") | headers)
    assert head.headers["content-length"] == seen.headers["content-length"]
    assert head.headers["etag"] == seen.headers["etag"]
    again = scored.get(path, "official", **{"If-None-Match": seen.headers["etag"]}, **headers)
    assert (again.status_code, again.headers["etag"]) == (304, seen.headers["etag"])


def test_other_forms_have_them_as_they_write_a_text(scored: ClubTable) -> None:
    page = scored.get("/knocks/1/file", "official", Accept="text/html").text
    assert "She had a ♥ &amp; said &#34;no&#34;" in page
    assert "Cesar &lt;&amp; &#39;Co&#34;" in page
    assert "hmac:" not in page
    lines = scored.get("/events", ANNA, Accept="application/x-ndjson").text.splitlines()
    noted = [one["event"]["text"] for one in map(json.loads, lines) if one["event"]["topic"] == "case/opened"]
    assert noted == [NOTE]
    assert json.loads(lines[0])["event"]["players"] == list(MEMBERS)
    csv = scored.get(f"/protocol?min_version={scored.version()}", ANNA, Accept="text/csv").text
    assert MEMBERS[1] in csv
    assert MEMBERS[1] not in scored.get(f"/protocol?min_version={scored.version()}", Accept="text/csv").text


def test_the_text_of_a_deal_shows_them_to_the_readers_of_its_json(scored: ClubTable) -> None:
    plain = {"Accept": "text/plain"}
    for who in (ANNA, "official"):
        text = scored.get("/deals/1", who, **plain).text
        (knock,) = [line for line in text.splitlines() if line.startswith("knock ")]
        assert knock.endswith(json.dumps(NOTE, ensure_ascii=False))
        assert notation.write(notation.parse(text)) == text
        assert json.dumps(MEMBERS[2]) in text
    spectator = scored.get("/deals/1", None, **plain).text
    assert as_json(NOTE) not in spectator
    assert "hmac:" in spectator


def test_the_list_of_an_official_shows_the_texts_of_their_cases(scored: ClubTable) -> None:
    listed = scored.client.get("/v1/cases?fresh=true", headers=scored.bearer("official")).json()["items"]
    assert [one["note"] for one in listed] == [NOTE]


def test_a_stream_shows_the_texts(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/knacka.db"
    with client_of(url) as client:
        table = ClubTable(Club(client))
        ask(table, "", ANNA, REVOKE)
    with served(url) as address, httpx.Client(base_url=address, timeout=30) as http:
        table.client = http
        for who, told_of in ((ANNA, True), (None, False)):
            with http.stream("GET", f"{table.path}/events/stream", headers=table.bearer(who)) as stream:
                events = [json.loads(one["data"]) for one in islice((e for e in sse(stream) if "id" in e), 2)]
            assert (events[0]["event"]["players"] == list(MEMBERS)) is told_of
            assert (events[1]["event"].get("note") == NOTE) is told_of
        ticket = table.post("/tickets", None, ANNA).json()["ticket"]
        with http.stream("GET", f"{table.path}/events/stream?ticket={ticket}") as stream:
            events = [json.loads(one["data"]) for one in islice((e for e in sse(stream) if "id" in e), 2)]
        assert events[1]["event"]["note"] == NOTE


def test_a_text_of_one_match_is_not_read_by_sending_its_ref_to_another(club: Club, scored: ClubTable) -> None:
    """The sender of an Idempotency-Key or a text reads it unchanged, even if it looks like a reference."""
    ref = case(scored, 1)["note"]
    assert is_ref(ref)
    other = ClubTable(club)
    other.done("deal", 0, counts=[6, 6, 6])
    answer = other.post("/knocks", REVOKE | {"note": ref}, ANNA, **{"Idempotency-Key": ref})
    assert answer.json()["note"] == ref
    events = other.get("/events", ANNA).text
    assert json.dumps(NOTE, ensure_ascii=False) not in events
    assert ref in events


def test_an_erased_player_is_shown_by_number(client: Client) -> None:
    club = Club(client)
    table = ClubTable(club)
    club.erase(2)
    assert [one["name"] for one in table.get("", ANNA).json()["players"]] == [MEMBERS[0], "M2", MEMBERS[2]]


def test_a_renamed_player_is_shown_with_the_new_name(client: Client) -> None:
    club = Club(client)
    table = ClubTable(club, members=(3, 1, 2))
    (ref,) = club.service.names.put(club.id, 2, ["Berit Nilsson"], kind="name")
    before = table.get("", ANNA).headers["etag"]
    club.do(Rename(member=2, name=ref))
    after = table.get("", ANNA, **{"If-None-Match": before})
    assert after.status_code == 200, "the match has not changed, the name has"
    assert [one["name"] for one in after.json()["players"]] == [MEMBERS[2], MEMBERS[0], "Berit Nilsson"]
    dealt = table.post("/acts", {"act": "deal", "seat": 0, "counts": [6, 6, 6]}, 0, **{"If-Match": before})
    assert dealt.status_code == 201, "for an act the version counts"


def test_a_match_of_no_club_keeps_what_it_is_given(client: Client) -> None:
    table = Table(client, adjudication={"officials": [{"name": "Maja"}]})
    table.done("deal", 0, counts=[6, 6, 6])
    ask(table, "", ANNA, REVOKE)
    assert case(table, 1, ANNA)["note"] == NOTE
    assert table.get("", None).json()["players"][0]["name"] == "Anna"


# Repeats and refusals


def test_a_repeat_gives_the_same_answer(table: ClubTable) -> None:
    key = {"Idempotency-Key": "once"}
    first = table.post("/knocks", REVOKE, ANNA, **key)
    again = table.post("/knocks", REVOKE, ANNA, **key)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.content == first.content
    other = table.post("/knocks", REVOKE | {"note": "Something else"}, ANNA, **key)
    assert (other.status_code, other.json()["type"]) == (422, "/problems/key-reused")
    assert case(table, 1, ANNA)["note"] == NOTE


def test_texts_of_refused_requests_are_not_stored(table: ClubTable, club: Club) -> None:
    before = changed_refs(club.service.names)
    count = _count(club)
    for _ in range(2):
        refused = table.post("/acts", {"act": "void", "reason": "A refused reason"}, ANNA)
        assert refused.status_code == 403
        stale = table.post("/knocks", REVOKE, ANNA, **{"If-Match": '"1"', "Idempotency-Key": "k"})
        assert stale.status_code == 412
    assert _count(club) == count
    assert before == []
    ask(table, "", ANNA, REVOKE, **{"Idempotency-Key": "k"})
    assert _count(club) == count + 1


def _count(club: Club) -> int:
    with club.service.names.reader.connect() as connection:
        counted: int = connection.exec_driver_sql("SELECT count(*) FROM names").scalar_one()
    return counted


def test_limits_hold_for_what_is_sent(table: ClubTable) -> None:
    long = "å" * wire_types.NOTE_MAX
    assert ask(table, "", ANNA, REVOKE | {"note": long})["note"] == long
    assert table.post("/knocks", REVOKE | {"note": long + "å"}, ANNA).status_code == 400


# Secrecy


def test_they_are_nowhere_but_among_the_names_and_after_an_erasure_nowhere(
    store_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Searches files with their journals, tables, and the log output. `knacka verify` runs before and after."""
    caplog.set_level(logging.DEBUG)
    texts = (NOTE, TEXT, REASON, "Voided by hand", "Berit ÖDMÅRK did it", "An old knock")
    with client_of(store_url) as client:
        club = Club(client)
        table = ClubTable(club)
        table.done("deal", 0, counts=[6, 6, 6])
        ask(table, "", ANNA, REVOKE)
        ask(table, "/1/statements", BERIT, {"seat": BERIT, "agrees": False, "text": TEXT})
        ask(table, "/1/ruling", "official", RULING | {"reason": REASON})
        ask(table, "", CESAR, {**REVOKE, "seat": CESAR, "note": texts[4]})
        assert table.post("/acts", {"act": "void", "reason": texts[3]}, "official").status_code == 201
        tally = ClubTable(club, dealing="tally", enforcement="penalise", options={})
        knocks = [{"seat": 0, "accused": 1, "offence": "revoke", "upheld": False, "note": texts[5]}]
        sheet = {
            "bids": seats_and("bid", [1, "2"], [2, "pass"], [0, "pass"]),
            "tricks": [1, 2, 0, 1, 1, 1],
            "knocks": knocks,
        }
        answer = tally.post("/acts", {"act": "result", **sheet}, 0)
        assert answer.status_code == 201, answer.text
        for one in (*texts, *MEMBERS):
            assert _places(store_url, tmp_path, one) == ["names"], one
        assert said(store_url)[0] == 0
        assert club.erase(2) == (1, 1), "what she said, and what names her"
        for one in (TEXT, texts[4], MEMBERS[1]):
            assert _places(store_url, tmp_path, one) == [], one
        told_of = case(table, 1, "official")
        assert is_ref(told_of["statements"][0]["text"])
        assert (told_of["note"], told_of["rulings"][0]["reason"]) == (NOTE, REASON)
        assert "M2" in told_of["why"]
    assert said(store_url)[0] == 0
    for one in (TEXT, texts[4], MEMBERS[1]):
        assert _places(store_url, tmp_path, one) == [], one
    assert not [one for one in texts if one in caplog.text]


def _places(url: str, folder: Path, text: str) -> list[str]:
    """Return the places that contain the bytes of a text, plain or escaped for JSON."""
    forms = (text, as_json(text))
    if isinstance(parse_store_url(url), Postgres):
        return sorted({name for one in forms for name in tables_with(url, one)})
    return sorted({name.split("-")[-1].removesuffix(".db") for one in forms for name in files_with(folder, one)})
