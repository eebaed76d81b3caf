"""Who may see and do what: every holder, every visibility, every call (clubs.md, the table of who may).

:data:`TABLE` is for a match that the caller may see, and :data:`SEES` says who may see which. Who may not is told
what is told of an id that there is not, to the byte.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from msgspec.structs import replace

from api.access.keys import written
from api.http.problems import TEXTS
from api.service import Service
from referee.acts import Bid, Deal, Knock
from referee.store.desk import Desk, utc_now
from tests.api.clubs import Club, Placed
from tests.api.conftest import client_of

TABLE = """
          seat other official scribe watcher officiates plays sits  bench open  audit others stranger unknown nobody
look      yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      token   yes
ask       yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      token   who
act       yes  seat  play     yes    looks   play       yes   scope looks scope scope scope  looks    token   who
say       yes  seat  play     play   looks   play       yes   scope looks scope scope scope  looks    token   who
know      yes  seat  yes      play   looks   yes        yes   scope looks scope scope scope  looks    token   who
rule      rule rule  yes      rule   looks   yes        rule  looks scope scope scope scope  looks    token   who
reissue   rule rule  yes      rule   looks   yes        rule  looks scope yes   scope scope  looks    token   who
read_file yes  party yes      party  party   yes        yes   party party party party party  party    token   who
list      yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     yes
list_mine yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     who
anybody   yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     yes
"""
"""What each is answered who sees the match, or where there is none: the words are those of :data:`WORDS`."""

COLUMNS, *LINES = (line.split() for line in TABLE.strip().splitlines())

WORDS = {
    "yes": None,
    "who": "token_missing",
    "token": "token_unknown",
    "seat": "not_your_seat",
    "play": "for_seats",
    "rule": "for_officials",
    "party": "for_parties",
    "looks": "only_looks_on",
    "scope": "scope_missing",
}
"""By code of the problem; ``None``: the call is answered, be it that the match is in no state for it."""

SEES = {
    "no club": {*COLUMNS},
    "public": {*COLUMNS},
    "club": {*COLUMNS} - {"stranger", "unknown", "nobody"},
    "private": {"seat", "other", "official", "scribe", "watcher", "officiates", "plays", "sits", "open", "audit"},
}

HOLDERS = {
    "seat 0": "seat",
    "seat 2": "other",
    "official": "official",
    "second official": "official",
    "scribe": "scribe",
    "watcher": "watcher",
    "key: all scopes": "officiates",
    "key: officiate": "officiates",
    "key: play, of who sits": "plays",
    "key: all scopes, of who sits": "plays",
    "key: all but play, of who sits": "sits",
    "key: play, of who does not": "bench",
    "key: open": "open",
    "key: audit": "audit",
    "key: treasury": "others",
    "key: read": "others",
    "key: keys": "others",
    "key: hooks": "others",
    "key of another club": "stranger",
    "token of another match": "unknown",
    "nobody": "nobody",
}
"""Each with its column."""

NO_GOOD = {"expired": "key_expired", "revoked": "key_revoked", "half": "key_malformed", "made up": "key_unknown"}
"""Keys that are none (any more): told so wherever anybody asks whose they are."""
TOLD_ANYBODY = {"half"}
"""Those that are told so even where nobody asks."""


class Call(NamedTuple):
    """One request of a call, and its row in :data:`TABLE`."""

    row: str
    path: str
    body: Any = None
    method: str = "GET"


def post(row: str, path: str, body: Any = None) -> Call:
    return Call(row, path, body, "POST")


BID = {"act": "bid", "seat": 0, "bid": "pass"}
RULING = {"verdict": "dismissed", "standard": "balance_of_probabilities", "rule": "B42", "reason": "No"}
OPENING = {"ruleset": "rodskagg-kortoxen", "players": [{"name": name} for name in "ABC"]}
CALLS = {
    "get_match": Call("look", "{match}"),
    "list_events": Call("look", "{match}/events"),
    "stream_events": Call("look", "{match}/events/stream", method="HEAD"),
    "replay_match": Call("look", "{match}/replay?at=1"),
    "list_knocks": Call("look", "{match}/knocks"),
    "get_knock": Call("look", "{match}/knocks/1"),
    "get_deal": Call("look", "{match}/deals/1"),
    "get_protocol": Call("look", "{match}/protocol"),
    "get_pot": Call("look", "{match}/pot"),
    "issue_ticket": post("ask", "{match}/tickets"),
    "list_legal_acts": Call("know", "{match}/legal-acts?seat=0"),
    "send_act": post("act", "{match}/acts", BID),
    "send_acts": post("act", "{match}/acts/batch", {"acts": [BID]}),
    "send_knock": post("act", "{match}/knocks", {"seat": 0, "accused": 1, "offence": "misdeal"}),
    "state_in_case": post("say", "{match}/knocks/1/statements", {"seat": 0, "agrees": True}),
    "appeal_ruling": post("say", "{match}/knocks/1/appeal", {"seat": 0}),
    "withdraw_case": post("say", "{match}/knocks/1/withdrawal", {"seat": 0}),
    "rule_on_case": post("rule", "{match}/knocks/1/ruling?preview=true", RULING),
    "list_attempts": Call("rule", "{match}/attempts"),
    "issue_token": post("reissue", "{match}/tokens", {"seat": 3}),
    "get_case_file": Call("read_file", "{match}/knocks/1/file"),
    "list_matches": Call("list", "/v1/matches?limit=1"),
    "list_cases": Call("list_mine", "/v1/cases"),
    "open_match": post("anybody", "/v1/matches", OPENING),
    "list_rulesets": Call("anybody", "/v1/rulesets"),
    "get_ruleset": Call("anybody", "/v1/rulesets/kalabrias"),
    "list_rules": Call("anybody", "/v1/rulesets/kalabrias/rules"),
    "get_rule": Call("anybody", "/v1/rulesets/kalabrias/rules/E1"),
    "health_live": Call("anybody", "/health/live"),
    "health_ready": Call("anybody", "/health/ready"),
}
"""By operation id."""
DONE = {200, 201, 204, 409, 422}
"""How a call is answered that was let through: the match may be in no state for it."""
HAS_NONE = {"/problems/no-such-pot"}

EXPECTED = {row: dict(zip(COLUMNS, words, strict=True)) for row, *words in LINES}


class World(NamedTuple):
    """A service with a match of each visibility, and what each holder shows."""

    client: TestClient[Litestar]
    matches: dict[str, Placed]
    keys: dict[str, str]

    def shown(self, holder: str, match: Placed) -> str | None:
        """What a holder shows for this match."""
        own: dict[str, Any] = {"seat 0": 0, "seat 2": 2, "second official": "official:2"}
        if holder == "nobody":
            return None
        if holder == "token of another match":
            return next(one for one in self.matches.values() if one is not match).tokens[0]
        return self.keys.get(holder) or match.tokens[own.get(holder, holder)]

    def ask(self, call: Call, path: str, shown: str | None) -> httpx.Response:
        """The answer to one request of a call."""
        headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
        at = call.path.format(match=path)
        return self.client.request(call.method, at, json=call.body, headers=headers)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with client_of(f"sqlite:///{tmp_path_factory.mktemp('access')}/knacka.db") as client:
        app: Any = client.app
        service: Service = app.state.service
        keys, club = _keys(service)
        opened = club.opened("public")
        nobodys = replace(opened, club=None, evening=None, members=(), players=("A", "B", "C", "D"))
        matches = {"no club": nobodys, "public": opened}
        matches |= {"club": replace(opened, visibility="club"), "private": replace(opened, visibility="private")}
        placed = {visibility: Placed(service.desk, one) for visibility, one in matches.items()}
        for match in placed.values():
            match.act(Deal(seat=0, counts=(6, 6, 6, 6)))
            match.act(Bid(seat=1, bid=2))
            match.do(0, Knock(seat=0, accused=1, offence="revoke"))
        yield World(client, placed, keys)


def _keys(service: Service) -> tuple[dict[str, str], Club]:
    """Made by a desk whose clock is two days behind, as if by another process."""
    desk = Desk(service.referee, clock=lambda: utc_now() - timedelta(days=2))
    club, other = Club(desk), Club(desk)
    keys = {
        "key: all scopes": club.founder,
        "key: officiate": club.key("officiate"),
        "key: play, of who sits": club.key("play", member=2),
        "key: all scopes, of who sits": club.key(member=2),
        "key: all but play, of who sits": club.key("open", "officiate", "audit", "read", member=2),
        "key: play, of who does not": club.key("play", member=6),
        "key of another club": other.founder,
        "expired": club.key(lasts=-timedelta(days=1)),
        "revoked": club.key(),
        "half": club.founder[:-7],
        "made up": written(club.id, "k3"),
    }
    keys |= {f"key: {scope}": club.key(scope) for scope in ("open", "audit", "treasury", "read", "keys", "hooks")}
    club.revoke(keys["revoked"])
    desk.close()
    return keys, club


def operations(client: TestClient[Litestar]) -> set[str]:
    """All calls of the interface, by operation id."""
    schema = client.app.openapi_schema.to_schema()
    of_paths = [item for path in schema["paths"].values() for item in path.values() if isinstance(item, dict)]
    return {item["operationId"] for item in of_paths if "operationId" in item}


def test_every_call_has_its_line(world: World) -> None:
    assert operations(world.client) == CALLS.keys()


def test_every_holder_has_a_column() -> None:
    assert set(HOLDERS.values()) == set(COLUMNS)
    assert {call.row for call in CALLS.values()} == EXPECTED.keys()


@pytest.mark.parametrize("visibility", SEES)
@pytest.mark.parametrize("operation", CALLS)
def test_who_may(world: World, operation: str, visibility: str) -> None:
    for holder in HOLDERS:
        it_is_as_the_table_says(world, operation, visibility, holder)


def it_is_as_the_table_says(world: World, operation: str, visibility: str, holder: str) -> None:
    call, match, column = CALLS[operation], world.matches[visibility], HOLDERS[holder]
    if visibility == "no club" and holder.startswith("key"):
        column = "stranger"
    answer = world.ask(call, match.path, world.shown(holder, match))
    expected = EXPECTED[call.row][column]
    if "{match}" in call.path and column not in SEES[visibility] and expected != "who":
        assert answer.status_code == 404
        assert same(answer, world.ask(call, f"/v1/matches/{uuid4()}", world.shown(holder, match)))
    else:
        is_told(answer, WORDS[expected], call)


@pytest.mark.parametrize("key", NO_GOOD)
@pytest.mark.parametrize("operation", CALLS)
def test_a_key_that_is_none(world: World, operation: str, key: str) -> None:
    call = CALLS[operation]
    nobody_asks = call.row == "anybody" and key not in TOLD_ANYBODY
    for match in world.matches.values():
        answer = world.ask(call, match.path, world.keys[key])
        is_told(answer, None if nobody_asks else NO_GOOD[key], call)


def is_told(answer: httpx.Response, code: str | None, call: Call) -> None:
    """That it is answered by this problem, or with what was asked for."""
    if code is None:
        document = answer.json() if answer.content else {}
        assert answer.status_code in DONE or document.get("type") in HAS_NONE, answer.text
        return
    assert answer.status_code == TEXTS[code].status, answer.text
    if call.method != "HEAD":
        assert answer.json()["type"] == f"/problems/{code.replace('_', '-')}"


def same(one: httpx.Response, other: httpx.Response) -> bool:
    """Whether two answers are the same to the byte, but for the id that was asked for."""

    def told(answer: httpx.Response) -> tuple[Any, ...]:
        headers = [(name, value) for name, value in answer.headers.multi_items() if name != "date"]
        return answer.status_code, headers, re.sub(rb"/v1/matches/[0-9a-f-]{36}", b"", answer.content)

    return told(one) == told(other)


@pytest.mark.parametrize("operation", [name for name, call in CALLS.items() if "{match}" in call.path])
def test_each_call_is_a_real_one(world: World, operation: str) -> None:
    """Somebody who may is let through to where it would be done: by a rule, not by the form of the request."""
    match, call = world.matches["club"], CALLS[operation]
    who = next(holder for holder, column in HOLDERS.items() if EXPECTED[call.row][column] == "yes")
    answer = world.ask(call, match.path, world.shown(who, match))
    assert answer.status_code in DONE | {404}
    assert answer.status_code != 422 or answer.json().get("rule") or call.row == "say", answer.text
