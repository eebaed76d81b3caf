"""Provoke each problem that the description names."""

import re
import sys
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from api.access.codes import CODES
from api.http.problems import Problem, as_sent
from api.http.request_ids import RequestIds
from tests.conformance.club_examples import Club
from tests.conformance.recorded import (
    EXAMPLE_ID,
    OPERATIONS,
    Heard,
    Recording,
    Watched,
)

SAID = {
    429: Problem("slow_down", policy="act", per_minute=600),
    500: Problem("internal"),
    503: Problem("busy"),
}
AS_MANY = {
    "open_match": Problem("quota_reached", what="matches_per_hour", most=60),
    "make_official_token": Problem("quota_reached", what="matches_per_hour", most=60),
    "found_club": Problem("quota_reached", what="clubs_per_day", most=10),
    "stream_events": Problem("quota_reached", what="streams", most=128),
}
"""The 403 of calls that no caller is refused for lack of rights: a quota."""
IDS = RequestIds(EXAMPLE_ID.encode(), None)
"""The ids in problems that are made, as in those that are provoked."""
OF_CLUBS = {("open_match", 404), ("open_match", 409)}
"""Operations and statuses that only a club's match can provoke."""
NO_CODE = "0123456789abcdef.svg"
"""A picture of a payment that does not exist."""
NO_INVITATION = CODES.written(UUID(int=0), "", bytes(16))
"""A code without an invitation."""
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def provoked(
    client: Recording, usual: Watched, heard: Heard, over: Watched, ended: str, club: Club
) -> Iterator[tuple[str, Any]]:
    """Yield each problem that the description names, with its operation. Provoke it if possible, otherwise make it.

    ``ended`` is the code of a redeemed invitation."""
    for (method, template), operation in OPERATIONS.items():
        going = heard if re.search("/knocks/{case}/|/proof", template) else usual
        given = {"match": going.path.rsplit("/", 1)[1], "ruleset": "kalabrias", "rule_id": "E1"}
        theirs = {"invitation": ended, "club": club.id, "account": "member:2", "kind": "csv", "code": NO_CODE}
        path = template.format(**given, **theirs, deal=1, case=1, event=1)
        for status in (int(code) for code in operation["responses"] if int(code) >= 400):
            too_many = AS_MANY.get(operation["operationId"]) if status == 403 else None
            if too_many is not None or status in SAID:  # needs a failed store or different settings: not provoked
                problem = too_many or SAID[status]
                if status == 503 and operation["operationId"] == "health_ready":
                    problem = Problem("not_ready", reasons=[{"code": "store_silent"}])
                _, _, said = as_sent(problem, path, IDS, (), None)
            elif of_clubs(template, operation) or (operation["operationId"], status) in OF_CLUBS:
                said = club.provoked(method, template, status, UNKNOWN)
            elif "{invitation}" in template:
                said = _provoke_invited(client, method, path, status, going)
            else:
                said = _provoke(client, method, path, status, going, over)
            body = msgspec.json.decode(said)
            if not isinstance(body, dict) or body.get("status") != status:
                print(f"{method} {template} {status}: {str(body)[:300]}", file=sys.stderr)
                continue
            yield operation["operationId"], body


def of_clubs(template: str, operation: Any) -> bool:
    """Return whether an operation is about clubs."""
    return "{club}" in template or operation["tags"][0] in ("Clubs", "Money")


def _shown(client: Recording, match: Watched | Heard) -> dict[str, Any]:
    _, said = client.raw("GET", match.path)
    shown: dict[str, Any] = msgspec.json.decode(said)
    return shown


def _provoke_invited(client: Recording, method: str, path: str, status: int, going: Watched | Heard) -> bytes:
    """Return the answer to a call with an invitation's code that fails with this status."""
    headers: dict[str, str] = {}
    match status:
        case 400:
            path += "?nonsense=1"
        case 401:
            headers = {"Authorization": "Basic a25hY2s="}
        case 404:
            path = f"/v1/invitations/{NO_INVITATION}"
            client.stand_ins[NO_INVITATION] = NO_INVITATION
        case 406:
            headers = {"Accept": "image/png"}
        case 422:  # the same key for two codes
            headers = {"Idempotency_Key": "one-key-for-two-codes"}
            for _ in range(2):
                _, made = client.raw(
                    "POST", f"{going.path}/invitations", going.tokens["official"], b'{"role": "watcher"}'
                )
                code = msgspec.json.decode(made)["code"]
                client.stand_ins[code], path = NO_INVITATION, f"/v1/invitations/{code}"
                _, said = client.raw(method, path, **headers)
            return said
    _, said = client.raw(method, path, content=b" " * 2_000_000 if status == 413 else None, **headers)
    return said


def _provoke(client: Recording, method: str, path: str, status: int, going: Watched | Heard, over: Watched) -> bytes:
    seat, other = going.tokens[0], going.tokens[1]
    call = path.rsplit("/", 1)[1]
    bodies = {
        "acts": {"act": "score", "seat": 0},
        "knocks": {"seat": 0, "accused": 1},
        "matches": {"ruleset": "kalabrias", "players": [{"name": "Anna"}]},
        "batch": {"acts": [{"act": "score", "seat": 0}]},
        "tokens": {"seat": 1},
        "invitations": {"seat": 0},
        "statements": {"seat": 0, "agrees": True},
        "withdrawal": {"seat": 0},
        "appeal": {"seat": 0},
        "ruling": {"verdict": "dismissed", "standard": "undetermined", "rule": "J4"},
    }
    content = msgspec.json.encode(bodies[call]) if call in bodies and method == "POST" else None
    if call in ("tokens", "invitations", "ruling") and status != 403:
        seat = going.tokens["official"]
    ended = path.replace(going.path, over.path)
    needed = {"replay": "at=1&", "consistency": "from=1&"}.get(call, "")
    asked: dict[int, tuple[str, str, bytes | None, dict[str, str]]] = {
        400: (f"{path}?{needed}{'limit=0' if call == 'matches' else 'min_version=-1'}", seat, content, {}),
        401: (f"{path}?{needed}", "", content, {"Authorization": "Basic QW5uYTo="}),
        403: (path, other, content, {}),
        404: (path.replace(going.path, f"/v1/matches/{UNKNOWN}") + f"?{needed}", seat, content, {}),
        406: (f"{path}?{needed}", seat, content, {"Accept": "image/png"}),
        409: (f"{path}?{needed}min_version=999999999", seat, None, {}),
        412: (path, seat, content, {"If_Match": '"99"'}),
        413: (path, seat, b" " * 2_000_000, {}),
        415: (path, seat, content, {"Content_Type": "text/plain"}),
        422: (path, seat, content, {}),
    }
    url, token, sent, headers = asked[status]
    if call == "matches" and method == "POST":
        token = ""
    if content is not None and status == 400:
        url, sent = path, b'{"act": "play", "card": "XX"}'
    if method == "POST" and status == 409:
        url, token, sent = ended, over.tokens["official" if call in ("tokens", "invitations") else 0], content
    if call == "invitations" and status == 409:
        sent = b'{"role": "official"}'
    if method == "POST" and status == 422:
        sent = {
            "acts": msgspec.json.encode({"act": "deal", "seat": 0, "counts": [1]}),
            "batch": msgspec.json.encode({"acts": [{"act": "void", "reason": "coffee\u0085"}]}),
            "knocks": msgspec.json.encode({"seat": 0, "accused": 7}),
            "tokens": msgspec.json.encode({"seat": 7}),
            "invitations": msgspec.json.encode({"seat": 7}),
        }.get(call, content)
    if call == "bundle" and status == 403:
        token = ""
    if call == "proof" and status == 409:
        url = f"{going.path}/events/{_shown(client, going)['version']}/proof"
    if call == "file" and status == 403:
        token = going.tokens[2]
    if isinstance(going, Heard) and status == 409 and method == "POST":
        url, token = path.replace("/knocks/1/", "/knocks/2/"), seat
    if isinstance(going, Heard) and status == 422:
        headers = {"Idempotency_Key": "k1"}
    if call == "stream" and status in (400, 409):
        url = f"{path}?after={-1 if status == 400 else 100_000}"
    if call == "legal-acts" and status in (403, 422):
        url, token = f"{path}?seat={1 if status == 403 else 7}", seat if status == 403 else going.tokens["official"]
    if call in ("matches", "cases") and status == 422 and method == "GET":
        url = f"{path}?ruleset=whist"
    if status == 404 and path.startswith("/v1/rulesets"):
        url = path.replace("kalabrias", "whist") if call != "E1" else path.replace("E1", "E99")
    if status == 401 and not path.startswith(going.path):  # needs no token, but refuses a malformed one
        token, headers = "", {"Authorization": "Basic a25hY2s="}
    if status == 400 and not path.startswith(going.path) and call != "matches":
        url = f"{path}?nonsense=1"
    _, said = client.raw(method, url, token, sent, **headers)
    return said
