"""The rights of every credential in every call, with every visibility.

:data:`TABLE` is for a match that the caller may see; :data:`SEES` says which matches that is. For any other match the
caller gets the answer for an unknown id, with the same bytes.
"""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import httpx
import pytest
from msgspec.structs import replace

from api.access.codes import CODES
from api.access.keys import make_key_text
from api.http.problems import TEXTS
from api.runtime.service import Service
from referee.acts import Bid, Deal, Knock
from referee.events import MatchOpened, Stakes
from referee.store.clock import utc_now
from referee.store.desk import Desk
from tests.log.bundle_checks import KEY, sign
from tests.support.service_in_memory import Client, client_of
from tests.support.stored_clubs import Club, Placed, hashed

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
bundle    yes  yes   yes      match  match   yes        yes   match match match yes   match  match    token   match
list      yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     yes
list_mine yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     who
anybody   yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     yes
token     yes  yes   yes      yes    yes     yes        yes   yes   yes   yes   yes   yes    yes      yes     yes
"""
"""Answer to each credential that may see the match, or to calls without a match. :data:`WORDS` explains the words."""

CLUB_TABLE = """
           token all   open  keys  own   own_open others operator stranger nobody treasury audit all_own member self
club_look  half  yes   yes   yes   yes   yes      yes    yes      -        key    yes      yes   yes     yes    yes
club_keys  half  yes   scope yes   scope scope    scope  yes      -        key    scope    scope yes     scope  scope
club_do    half  yes   scope yes   scope scope    scope  yes      -        key    scope    scope yes     scope  scope
club_open  half  yes   yes   scope scope yes      scope  yes      -        key    scope    scope yes     scope  scope
club_self  half  yes   scope yes   yes   scope    scope  yes      -        key    scope    scope yes     scope  scope
club_money half  yes   scope scope scope scope    scope  yes      -        key    yes      scope yes     scope  scope
club_pay   half  other scope scope yes   scope    scope  other    -        key    scope    scope yes     other  other
club_books half  yes   scope scope scope yes      scope  yes      -        key    yes      yes   yes     scope  scope
club_own   half  yes   scope scope yes   yes      scope  yes      -        key    yes      yes   yes     scope  scope
club_waits half  yes   scope yes   yes   yes      scope  yes      -        key    yes      yes   yes     yes    scope
club_mine  half  yes   scope scope yes   yes      scope  yes      -        key    yes      yes   yes     yes    scope
own_key    half  yes   yes   yes   yes   yes      yes    half     yes      key    yes      yes   yes     yes    yes
found      found found found found found found    found  yes      found    yes    found    found found   found  found
"""
"""Answer to each credential in calls about a club; ``-``: the answer for an unknown club."""

COLUMNS, *LINES = (line.split() for line in TABLE.strip().splitlines())
CLUB_COLUMNS, *CLUB_LINES = (line.split() for line in CLUB_TABLE.strip().splitlines())

WORDS = {
    "yes": None,
    "who": "token_missing",
    "token": "token_unknown",
    "seat": "not_your_seat",
    "play": "for_seats",
    "rule": "for_officials",
    "party": "for_parties",
    "match": "for_the_match",
    "looks": "only_looks_on",
    "scope": "scope_missing",
    "half": "key_malformed",
    "key": "key_missing",
    "found": "founding_needs_key",
    "other": "payment_of_others",
    "-": "no_such_club",
}
"""Code of the problem by word; ``None``: the caller has the right, even if the match's state does not allow the
act."""

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
    "key: self": "others",
    "key of another club": "stranger",
    "token of another match": "unknown",
    "operator": "unknown",
    "nobody": "nobody",
}
"""Column in :data:`TABLE` of each credential."""

CLUB_HOLDERS = {
    **dict.fromkeys(HOLDERS, "others"),
    **dict.fromkeys(("seat 0", "seat 2", "official", "second official", "scribe", "watcher"), "token"),
    "token of another match": "token",
    "key: all scopes": "all",
    "key: all scopes, of who sits": "all_own",
    "key: treasury": "treasury",
    "key: audit": "audit",
    "key: open": "open",
    "key: keys": "keys",
    "key: self": "self",
    "key: play, of who sits": "own",
    "key: play, of who does not": "member",
    "key: all but play, of who sits": "own_open",
    "key of another club": "stranger",
    "operator": "operator",
    "nobody": "nobody",
}
"""Column in :data:`CLUB_TABLE` of each credential; member 2 plays in the match."""

NO_GOOD = {"expired": "key_expired", "revoked": "key_revoked", "half": "key_malformed", "made up": "key_unknown"}
"""Invalid keys, with the problem in calls that identify the caller."""
TOLD_ANYBODY = {"half"}
"""Invalid keys that are refused even in calls that do not identify the caller."""
OPERATOR = "the key of whoever runs the service"


NO_INVITATION = CODES.make_text(UUID(int=0), "", bytes(16))
"""A code without an invitation. Any caller may read the purpose of a code."""


class Call(NamedTuple):
    """A request of a call, and its row in :data:`TABLE`."""

    row: str
    path: str
    body: Any = None
    method: str = "GET"


def post(row: str, path: str, body: Any = None) -> Call:
    return Call(row, path, body, "POST")


BID = {"act": "bid", "seat": 0, "bid": "pass"}
RULING = {"verdict": "dismissed", "standard": "balance_of_probabilities", "rule": "B42", "reason": "No"}
EVENING = {"act": "open_evening", "on": "2026-11-22", "season": "2026/27"}
CLUB = {"name": "Korten", "currencies": ["SEK"], "timezone": "Europe/Stockholm", "founder": {"name": "Ada"}}
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
    "get_settlement": Call("look", "{match}/settlement"),
    "get_event_proof": Call("look", "{match}/events/1/proof"),
    "get_bundle": Call("bundle", "{match}/bundle"),
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
    "invite": post("reissue", "{match}/invitations", {"role": "watcher"}),
    "get_invitation": Call("anybody", f"/v1/invitations/{NO_INVITATION}"),
    "redeem_invitation": post("anybody", f"/v1/invitations/{NO_INVITATION}"),
    "get_case_file": Call("read_file", "{match}/knocks/1/file"),
    "list_matches": Call("list", "/v1/matches?limit=1"),
    "list_cases": Call("list_mine", "/v1/cases"),
    "get_log": Call("anybody", "/v1/log"),
    "get_checkpoint": Call("anybody", "/v1/log/checkpoint"),
    "get_consistency": Call("anybody", "/v1/log/consistency?from=1"),
    "open_match": post("anybody", "/v1/matches", OPENING),
    "make_official_token": post("token", "/v1/official-tokens"),
    "list_rulesets": Call("anybody", "/v1/rulesets"),
    "get_ruleset": Call("anybody", "/v1/rulesets/kalabrias"),
    "list_rules": Call("anybody", "/v1/rulesets/kalabrias/rules"),
    "get_rule": Call("anybody", "/v1/rulesets/kalabrias/rules/E1"),
    "health_live": Call("anybody", "/health/live"),
    "health_ready": Call("anybody", "/health/ready"),
    "get_club": Call("club_look", "{club}"),
    "list_members": Call("club_look", "{club}/members"),
    "list_evenings": Call("club_look", "{club}/evenings"),
    "get_standings": Call("club_look", "{club}/standings"),
    "list_keys": Call("club_keys", "{club}/keys"),
    "send_club_act": post("club_do", "{club}/acts", {"act": "join", "name": "Ture"}),
    "send_club_act, evening": post("club_open", "{club}/acts", EVENING),
    "send_club_act, own name": post("club_self", "{club}/acts", {"act": "rename", "member": 2, "name": "Bo"}),
    "send_club_act, own number": post(
        "club_self", "{club}/acts", {"act": "set_payee", "member": 2, "swish": "0701234567"}
    ),
    "send_club_act, fee": post("club_money", "{club}/acts", {"act": "fee", "member": 3, "amount": 100}),
    "send_club_act, payment": post("club_pay", "{club}/acts", {"act": "pay", "payer": 2, "payee": 3, "amount": 100}),
    "list_accounts": Call("club_books", "{club}/accounts"),
    "get_audit": Call("club_books", "{club}/audit"),
    "get_statement": Call("club_books", "{club}/accounts/member:3/statement"),
    "get_statement, own": Call("club_own", "{club}/accounts/member:2/statement"),
    "list_entries": Call("club_books", "{club}/journal"),
    "list_proposals": Call("club_waits", "{club}/proposals"),
    "list_closings": Call("club_books", "{club}/closings"),
    "get_plan": Call("club_mine", "{club}/plan"),
    "get_payment_code": Call("club_mine", "{club}/plan/0123456789abcdef"),
    "get_club_bundle": Call("club_books", "{club}/bundle?closing=1"),
    "get_export": Call("club_books", "{club}/export/json"),
    "get_key": Call("own_key", "/v1/key"),
    "found_club": post("found", "/v1/clubs", CLUB),
}
"""Requests by operation id; an operation with several requests has a suffix for each."""
DONE = {200, 201, 204, 409, 422}
"""Statuses of a call that the caller may send. The state of the match may still refuse it."""
NONE = ("no-such-pot", "not-for-money", "no-such-payment", "no-such-closing", "no-such-invitation")
HAS_NONE = {f"/problems/{one}" for one in NONE}
NOT_YET = {"get_pot": 404, "appeal_ruling": 409, "send_acts": 200, "rule_on_case": 200}
NOT_YET |= {"get_deal": 409, "issue_token": 409}
"""Status of the other operations during a deal with a pending case. A batch and a preview create nothing. A club's
match gives tokens of seats only by invitation."""

EXPECTED = {row: dict(zip(COLUMNS, words, strict=True)) for row, *words in LINES}
OF_CLUBS = {row: dict(zip(CLUB_COLUMNS, words, strict=True)) for row, *words in CLUB_LINES}
OF_MATCHES = [name for name, call in CALLS.items() if call.row in EXPECTED]


class World(NamedTuple):
    """A service with a match of each visibility, and the credentials of each holder."""

    client: Client
    desk: Desk
    club: UUID
    opened: MatchOpened
    matches: dict[str, Placed]
    keys: dict[str, str]

    def shown(self, holder: str, match: Placed) -> str | None:
        """Return the credential of a holder for this match."""
        own: dict[str, Any] = {"seat 0": 0, "seat 2": 2, "second official": "official:2"}
        if holder == "nobody":
            return None
        if holder == "operator":
            return OPERATOR
        if holder == "token of another match":
            return next(one for one in self.matches.values() if one is not match).tokens[0]
        return self.keys.get(holder) or match.tokens[own.get(holder, holder)]

    def ask(self, call: Call, one: UUID, shown: str | None) -> httpx.Response:
        """Send one request of a call about this match or club; return the answer."""
        headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
        at = call.path.format(match=f"/v1/matches/{one}", club=f"/v1/clubs/{one}")
        return self.client.request(call.method, at, json=call.body, headers=headers)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    url = f"sqlite:///{tmp_path_factory.mktemp('access')}/knacka.db"
    with client_of(url, operator_key_sha256=hashed(OPERATOR), log_key=KEY.private_text, log_seconds=3600) as client:
        app: Any = client.app
        service: Service = app.state.service
        keys, club = _keys(service)
        opened = club.opened("public", stakes=Stakes(currency="SEK", unit=100))
        nobodys = replace(opened, club=None, evening=None, members=(), players=("A", "B", "C", "D"))
        matches = {"no club": nobodys, "public": opened}
        matches |= {"club": replace(opened, visibility="club"), "private": replace(opened, visibility="private")}
        lie = {visibility: placed(service.desk, one) for visibility, one in matches.items()}
        sign(client)
        yield World(client, service.desk, club.id, opened, lie, keys)


def placed(desk: Desk, opened: MatchOpened) -> Placed:
    """Place a match in which seat 0 bids next and has knocked against seat 1."""
    match = Placed(desk, opened)
    match.act(Deal(seat=0, counts=(6, 6, 6, 6)))
    match.act(Bid(seat=1, bid="2"))
    for seat in (2, 3):
        match.act(Bid(seat=seat, bid="pass"))
    match.do("seat:0", Knock(seat=0, accused=1, offence="revoke"))
    return match


def _keys(service: Service) -> tuple[dict[str, str], Club]:
    """Return keys made by a desk whose clock is two days behind, as if by a different process."""
    desk = Desk(service.referee, clock=lambda: utc_now() - timedelta(days=2))
    club, other = Club(desk), Club(desk)
    keys = {
        "key: all scopes": club.founder,
        "key: officiate": club.key("officiate"),
        "key: play, of who sits": club.key("play", "self", member=2),
        "key: all scopes, of who sits": club.key(member=2),
        "key: all but play, of who sits": club.key("open", "officiate", "audit", "read", member=2),
        "key: play, of who does not": club.key("play", "self", member=6),
        "key of another club": other.founder,
        "expired": club.key(lasts=-timedelta(days=1)),
        "revoked": club.key(),
        "half": club.founder[:-7],
        "made up": make_key_text(club.id, "k3"),
    }
    keys |= {f"key: {scope}": club.key(scope) for scope in ("open", "audit", "treasury", "read", "keys", "self")}
    club.revoke(keys["revoked"])
    desk.close()
    return keys, club


def operations(client: Client) -> set[str]:
    """Return the operation ids of all calls."""
    schema = client.app.openapi_schema.to_schema()
    of_paths = [item for path in schema["paths"].values() for item in path.values() if isinstance(item, dict)]
    return {item["operationId"] for item in of_paths if "operationId" in item}


def test_every_call_has_its_line(world: World) -> None:
    listed = {name.partition(",")[0] for name in CALLS}
    assert operations(world.client) == listed, "CALLS needs a line for each call, with its row of TABLE"


def test_every_holder_has_a_column() -> None:
    assert set(HOLDERS.values()) == set(COLUMNS)
    assert set(CLUB_HOLDERS.values()) == set(CLUB_COLUMNS)
    assert {call.row for call in CALLS.values()} == EXPECTED.keys() | OF_CLUBS.keys()


@pytest.mark.parametrize("visibility", SEES)
@pytest.mark.parametrize("operation", OF_MATCHES)
def test_each_holder_gets_the_answer_of_the_table(world: World, operation: str, visibility: str) -> None:
    for holder in HOLDERS:
        it_is_as_the_table_says(world, operation, visibility, holder)


def it_is_as_the_table_says(world: World, operation: str, visibility: str, holder: str) -> None:
    call, match, column = CALLS[operation], world.matches[visibility], HOLDERS[holder]
    if visibility == "no club" and holder.startswith("key"):
        column = "stranger"
    answer = world.ask(call, match.id, world.shown(holder, match))
    expected = EXPECTED[call.row][column]
    if "{match}" in call.path and column not in SEES[visibility] and expected != "who":
        assert answer.status_code == 404
        assert same(answer, world.ask(call, uuid4(), world.shown(holder, match)))
    else:
        is_told(answer, WORDS[expected], call)


@pytest.mark.parametrize("operation", [name for name in CALLS if name not in OF_MATCHES])
def test_each_key_of_a_club_gets_the_answer_of_the_table(world: World, operation: str) -> None:
    call, match = CALLS[operation], world.matches["club"]
    for holder, column in CLUB_HOLDERS.items():
        shown, expected = world.shown(holder, match), OF_CLUBS[call.row][column]
        answer = world.ask(call, world.club, shown)
        is_told(answer, WORDS[expected], call)
        if expected == "-":
            assert same(answer, world.ask(call, uuid4(), shown))
            assert same(answer, world.ask(call, match.id, shown)), "a match is no club"


@pytest.mark.parametrize("key", NO_GOOD)
@pytest.mark.parametrize("operation", CALLS)
def test_a_key_that_is_none(world: World, operation: str, key: str) -> None:
    call = CALLS[operation]
    nobody_asks = call.row == "anybody" and key not in TOLD_ANYBODY
    found = call.row == "found"
    for one in (*(match.id for match in world.matches.values()), world.club):
        answer = world.ask(call, one, world.keys[key])
        is_told(answer, None if nobody_asks else WORDS["found"] if found else NO_GOOD[key], call)


def is_told(answer: httpx.Response, code: str | None, call: Call) -> None:
    """Assert that the answer is this problem, or a success without a code."""
    if code is None:
        assert answer.status_code in DONE or answer.json()["type"] in HAS_NONE, answer.text
        return
    assert answer.status_code == (TEXTS[code].status if code in TEXTS else 403), answer.text
    if call.method != "HEAD":
        assert answer.json()["type"] == f"/problems/{code.replace('_', '-')}"


def same(one: httpx.Response, other: httpx.Response) -> bool:
    """Return whether two answers have the same bytes, except the requested id in ``instance``."""

    def view(answer: httpx.Response) -> tuple[Any, ...]:
        headers = [(name, value) for name, value in answer.headers.multi_items() if name != "date"]
        return answer.status_code, headers, re.sub(rb"/v1/(matches|clubs)/[0-9a-f-]{36}", b"", answer.content)

    return view(one) == view(other)


@pytest.mark.parametrize("operation", [name for name in OF_MATCHES if "{match}" in CALLS[name].path])
def test_each_call_is_a_real_one(world: World, operation: str) -> None:
    """The first credential with the right succeeds with it in a match whose state allows the call."""
    call, match = CALLS[operation], placed(world.desk, world.opened)
    who = next(holder for holder, column in HOLDERS.items() if EXPECTED[call.row][column] == "yes")
    sign(world.client)
    answer = world.ask(call, match.id, world.shown(who, match))
    assert answer.status_code == NOT_YET.get(operation, 201 if call.method == "POST" else 200), answer.text
