"""Provoke each problem that the description names."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import msgspec

from api.access.codes import CODES
from api.http.problems import Problem, problem_answer
from api.http.request_ids import RequestIds
from tests.conformance.club_examples import WRONG_HEADERS, Club
from tests.conformance.recorded_calls import (
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
NO_PAYMENT = "0123456789abcdef"
"""A payment that does not exist."""
NO_INVITATION = CODES.make_text(UUID(int=0), "", bytes(16))
"""A code without an invitation."""
UNKNOWN = "00000000-0000-4000-8000-000000000000"


class WrongAnswers(Exception):
    """Answers have other statuses than the problems that they should show. The message has a line for each."""


def provoked(
    client: Recording, usual: Watched, heard: Heard, over: Watched, ended: str, club: Club
) -> Iterator[tuple[str, Any]]:
    """Yield each problem that the description names, with its operation. Provoke it if possible, otherwise make it.

    ``ended`` is the code of a redeemed invitation. Raises WrongAnswers at the end.
    """
    wrong = []
    for (method, template), operation in OPERATIONS.items():
        going = heard if re.search("/knocks/{knock}/|/proof", template) else usual
        given = {"match": going.path.rsplit("/", 1)[1], "ruleset": "kalabrias", "rule_id": "E1"}
        theirs = {"invitation": ended, "club": club.id, "account": "member:2", "kind": "csv", "payment": NO_PAYMENT}
        path = template.format(**given, **theirs, deal=1, knock=1, event=1)
        for status in (int(code) for code in operation["responses"] if int(code) >= 400):
            too_many = AS_MANY.get(operation["operationId"]) if status == 403 else None
            if too_many is not None or status in SAID:  # needs a failed store or different settings: not provoked
                problem = too_many or SAID[status]
                if status == 503 and operation["operationId"] == "health_ready":
                    problem = Problem("not_ready", reasons=[{"code": "store_silent"}])
                _, _, said = problem_answer(problem, path, IDS, (), None)
            elif of_clubs(template, operation) or (operation["operationId"], status) in OF_CLUBS:
                said = club.provoked(method, template, status, UNKNOWN)
            elif "{invitation}" in template:
                said = _provoke_invited(client, method, path, status, going)
            else:
                said = _provoke(client, method, path, status, going, over)
            body = msgspec.json.decode(said)
            if not isinstance(body, dict) or body.get("status") != status:
                wrong.append(f"{method} {template} should answer {status}, and answers: {str(body)[:300]}")
                continue
            yield operation["operationId"], body
    if wrong:
        raise WrongAnswers("\n".join(wrong))


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
                _, said = client.raw(method, path, "", None, **headers)
            return said
    content = b" " * 2_000_000 if status == 413 else None
    _, said = client.raw(method, path, "", content, **headers)
    return said


BODIES: dict[str, dict[str, Any]] = {
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
"""The usual body of each call."""
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "acts": {"act": "deal", "seat": 0, "counts": [1]},
    "batch": {"acts": [{"act": "void", "reason": "coffee\u0085"}]},
    "knocks": {"seat": 0, "accused": 7},
    "tokens": {"seat": 7},
    "invitations": {"seat": 7},
}
"""Bodies of calls that are readable but wrong."""


def _provoke(client: Recording, method: str, path: str, status: int, going: Watched | Heard, over: Watched) -> bytes:
    """Return the answer to a call about a match, or without one, that fails with this status."""
    call = path.rsplit("/", 1)[1]
    content = msgspec.json.encode(BODIES[call]) if call in BODIES and method == "POST" else None
    if status == 409 and call == "proof":
        url = f"{going.path}/events/{_shown(client, going)['version']}/proof"
    else:
        url = _wrong_url(method, path, status, going, over)
    token = _wrong_credential(method, call, status, going, over)
    headers = dict(WRONG_HEADERS.get(status, {}))
    if status == 401 and not path.startswith(going.path):  # needs no token, but refuses a malformed one
        headers = {"Authorization": "Basic a25hY2s="}
    if status == 422 and isinstance(going, Heard):
        headers = {"Idempotency_Key": "k1"}
    _, said = client.raw(method, url, token, _wrong_body(method, call, status, content), **headers)
    return said


def _wrong_url(method: str, path: str, status: int, going: Watched | Heard, over: Watched) -> str:
    call = path.rsplit("/", 1)[1]
    needed = {"replay": "at=1&", "consistency": "from=1&"}.get(call, "")
    match status:
        case 400:
            return _unreadable_url(method, path, needed, going)
        case 404 if path.startswith("/v1/rulesets"):
            return path.replace("E1", "E99") if call == "E1" else path.replace("kalabrias", "whist")
        case 404:
            return path.replace(going.path, f"/v1/matches/{UNKNOWN}") + f"?{needed}"
        case 401 | 406:
            return f"{path}?{needed}"
        case 409 if call == "stream":
            return f"{path}?after=100000"
        case 409 if method == "POST":
            heard = isinstance(going, Heard)
            return path.replace("/knocks/1/", "/knocks/2/") if heard else path.replace(going.path, over.path)
        case 409:
            return f"{path}?{needed}min_version=999999999"
        case 403 | 422 if call == "legal-acts":
            return f"{path}?seat={1 if status == 403 else 7}"
        case 422 if call in ("matches", "cases") and method == "GET":
            return f"{path}?ruleset=whist"
    return path


def _unreadable_url(method: str, path: str, needed: str, going: Watched | Heard) -> str:
    call = path.rsplit("/", 1)[1]
    if not path.startswith(going.path) and call != "matches":
        return f"{path}?nonsense=1"
    if call == "stream":
        return f"{path}?after=-1"
    if method == "POST" and call in BODIES:  # its body is unreadable
        return path
    return f"{path}?{needed}{'limit=0' if call == 'matches' else 'min_version=-1'}"


def _wrong_credential(method: str, call: str, status: int, going: Watched | Heard, over: Watched) -> str:
    of_officials = call in ("tokens", "invitations", "ruling") and status != 403
    seat = going.tokens["official" if of_officials else 0]
    if call == "legal-acts" and status in (403, 422):
        return seat if status == 403 else going.tokens["official"]
    if method == "POST" and status == 409:
        ended = over.tokens["official" if call in ("tokens", "invitations") else 0]
        return seat if isinstance(going, Heard) else ended
    if status == 401 or (call == "matches" and method == "POST"):
        return ""
    if status == 403:
        return {"bundle": "", "file": going.tokens[2]}.get(call, going.tokens[1])
    return seat


def _wrong_body(method: str, call: str, status: int, content: bytes | None) -> bytes | None:
    match status:
        case 400 if content is not None:
            return b'{"act": "play", "card": "XX"}'
        case 409 if call == "invitations":
            return b'{"role": "official"}'
        case 409 if method != "POST":
            return None
        case 413:
            return b" " * 2_000_000
        case 422 if method == "POST" and call in IMPOSSIBLE:
            return msgspec.json.encode(IMPOSSIBLE[call])
    return content
