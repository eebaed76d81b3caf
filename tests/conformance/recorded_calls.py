"""Play matches over HTTP and record the first request and the first answer of each name."""

import json
import re
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.client import HTTPResponse
from typing import Any
from uuid import UUID

import msgspec

from tests.conformance.test_over_http import NDJSON, RULESETS, Client, OverHttp
from tests.support.paths import ROOT

DESCRIPTION = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))
OPERATIONS = {
    (method.upper(), path): operation
    for path, calls in DESCRIPTION["paths"].items()
    for method, operation in calls.items()
}
NAMES = ("Anna", "Berit", "Cesar", "David", "Elsa", "Folke", "Greta", "Hugo")
LISTS_MAX = 2
"""Elements shown of a list."""
LONG = 2000
"""Characters of JSON above which only one element of a list is shown."""
ENOUGH = {
    "get_protocol": RULESETS,
    "list_legal_acts": ("kalabrias", "rodskagg-kortoxen"),
    "open_match": ("rodskagg-kortoxen",),
    "replay_match": ("rodskagg-kortoxen",),
    "send_act": ("bid", "close", "deal", "play", "score"),
    "send_knock": ("any offence", "led_out_of_turn"),
}
"""Names of the JSON answers that are kept, by operation. The other answers have the same fields."""
LOOK_AFTER = 12
"""Acts after which an unfinished match is read."""
JSON = "application/json"
BEGUN = datetime(2026, 1, 2, 18, tzinfo=UTC)
"""Opening time of each match by the stand-in clock, which gives each event one second."""


def moment(seconds: int) -> str:
    """Return the time this many seconds after the opening of a match."""
    return (BEGUN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def token(name: str) -> str:
    """Return a token calculated from a name; it looks random."""
    return urlsafe_b64encode(sha256(name.encode()).digest()).decode().rstrip("=")


def short(value: Any) -> Any:
    """Return a value with its long lists cut: lists at the top, and the listed elements of pages."""
    if isinstance(value, list):
        return value[: 1 if len(json.dumps(value[:1])) > LONG else LISTS_MAX]
    if isinstance(value, dict):
        lists = ("cases", "events", "facts", "keys", "lines", "matches")
        more = ("prices", "readings", "rules", "timeline", "tricks")
        return {
            name: inner[:LISTS_MAX]
            if name in (*lists, *more) and isinstance(inner, list) and inner and isinstance(inner[0], dict)
            else inner
            for name, inner in value.items()
        }
    return value


EXAMPLE_ID = "example-request-id"
"""The id of each recorded request, which problems show."""


class Kept:
    """The recorded requests, answers and problems, by operation."""

    def __init__(self) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
        self.named: dict[str, dict[str, str]] = {}
        self.problems: dict[str, dict[str, Any]] = {}

    def request(self, operation: str, name: str, body: Any) -> bool:
        """Record the first request of a name. Return whether it is this one."""
        kept = self.requests.setdefault(operation, {})
        return kept.setdefault(name, body) is body

    def answer(self, operation: str, status: int, media_type: str, name: str, body: Any) -> None:
        """Record the first answer of a name."""
        if media_type == JSON and name not in ENOUGH.get(operation, (name,)):
            return
        by_status = self.answers.setdefault(operation, {}).setdefault(str(status), {})
        by_status.setdefault(media_type, {}).setdefault(name, body)

    def problem(self, operation: str, body: dict[str, Any]) -> None:
        """Record the first problem of a type, and the type for this operation and status."""
        name = body["type"].rpartition("/")[2]
        self.named.setdefault(operation, {})[str(body["status"])] = name
        self.problems.setdefault(name, body)


class Recording(Client):
    """A client that records accepted requests and their answers."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.kept = Kept()
        self.name = ""
        """Name of the next answer, if its request does not give one."""
        self.stand_ins: dict[str, str] = {}
        """Replacement of each value that differs each time."""

    def ask(
        self, method: str, path: str, token: str = "", body: Any = None, **headers: str
    ) -> tuple[HTTPResponse, Any]:
        answer, said = self.raw(method, path, token, None if body is None else msgspec.json.encode(body), **headers)
        data = msgspec.json.decode(said)
        if answer.status < 300:
            self.keep(method, path, answer.status, JSON, data, body)
        return answer, data

    def keep(self, method: str, path: str, status: int, media_type: str, data: Any, body: Any = None) -> None:
        operation = operation_of(method, path)["operationId"]
        name = self.name
        if body is not None:
            named = body.get("act") or body.get("offence") or body.get("ruleset")
            name = named or ("any offence" if operation == "send_knock" else self.name)
            if not self.kept.request(operation, name, body):
                return
        self.kept.answer(operation, status, media_type, name, short(data))

    def raw(
        self, method: str, path: str, token: str = "", content: bytes | None = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request; return the answer and its body."""
        sent = {"X-Request-Id": EXAMPLE_ID}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if content is not None:
            sent.setdefault("Content-Type", JSON)
        self._connection.request(method, path, content, sent)
        answer = self._connection.getresponse()
        return answer, answer.read()


def operation_of(method: str, path: str) -> Any:
    """Return the operation of a method and path. Raises LookupError if none exists."""
    path = path.partition("?")[0]
    for (called, template), operation in OPERATIONS.items():
        if called == method and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path):
            return operation
    raise LookupError(path)


class Placed:
    """A match with stand-ins for its id, tokens, times and hashes."""

    client: Recording
    place: str
    """Name of the match among all, from which its stand-ins are calculated."""
    path: str
    tokens: dict[Any, str]
    code: str = ""
    """Code of a redeemed invitation."""

    @property
    def official(self) -> str:
        """Credential of the official."""
        return self.tokens["official"]

    @property
    def own_id(self) -> UUID:
        """Stand-in for the match's id."""
        return UUID(bytes=sha256(self.place.encode()).digest()[:16], version=4)

    def stand_in(self) -> None:
        """Add stand-ins for the id and the tokens of the match."""
        self.client.stand_ins[self.path.rpartition("/")[2]] = str(self.own_id)
        for who, own in self.tokens.items():
            self.stands_for(own, who)

    def stands_for(self, own: str, who: int | str) -> None:
        """Add a stand-in for a token."""
        self.client.stand_ins[own] = token(f"{self.place} {who}")

    def replace_what_is_fresh(self) -> None:
        """Add stand-ins for times and hashes, calculated from the numbers of their events."""
        _, said = self.client.raw("GET", f"{self.path}/events", self.official, Accept=NDJSON)
        for event in map(msgspec.json.decode, said.splitlines()):
            number, body = event["number"], event["event"]
            self.client.stand_ins.setdefault(event["prev"], event["prev"])  # the zeros of the first event stay
            self.client.stand_ins.setdefault(event["at"], moment(number - 1))
            self.client.stand_ins[event["hash"]] = sha256(f"{self.place} {number}".encode()).hexdigest()
            for name in ("appeal_until", "until", "expires_at"):
                if body.get(name):
                    spent = datetime.fromisoformat(body[name]) - datetime.fromisoformat(event["at"])
                    self.client.stand_ins[body[name]] = moment(number - 1 + round(spent.total_seconds()))
            if commitment := body.get("commitment"):
                self.client.stand_ins[commitment] = sha256(f"{self.place} {number} seed".encode()).hexdigest()


class Opened(Placed):
    """A match opened for acts that conformance matches lack."""

    def __init__(self, client: Recording, what_for: str, opening: dict[str, Any]) -> None:
        client.name = what_for
        _, opened = client.ask("POST", "/v1/matches", "", opening)
        self.client, self.path, self.place = client, f"/v1/matches/{opened['id']}", what_for
        self.tokens = {seat["seat"]: seat["token"] for seat in opened["seats"]}
        self.tokens |= {one["actor"]: one["token"] for one in opened["officials"]}
        self.tokens["official"] = opened["official_token"]
        self.stand_in()

    def ask(self, call: str, who: int | str, body: Any, **headers: str) -> Any:
        """Send a write; return the body of the answer."""
        answer, said = self.client.ask("POST", f"{self.path}/{call}", self.tokens[who], body, **headers)
        assert answer.status < 300, said
        return said


class OfClub(Placed):
    """A club's match for money. Its opening gives no tokens, so members and officials use keys."""

    def __init__(self, client: Recording, what_for: str, key: str, opening: dict[str, Any]) -> None:
        client.name = what_for
        _, opened = client.ask("POST", "/v1/matches", key, opening)
        self.client, self.path, self.place = client, f"/v1/matches/{opened['id']}", what_for
        self.tokens, self.key = {}, key
        self.stand_in()

    @property
    def official(self) -> str:
        """Credential of the official."""
        return self.key


class Watched(Placed, OverHttp):
    """A conformance match that is read before it is over."""

    def __init__(self, client: Recording, given: dict[str, Any], what_for: str = "") -> None:
        client.name = given["ruleset"]
        super().__init__(client, given)
        self.client, self.ruleset, self.acts = client, given["ruleset"], 0
        self.path, self.tokens = self._path, self._tokens
        self.place = f"{self.ruleset} {given['seed']} {what_for}"
        self.stand_in()

    def act(self, actor: Any, body: dict[str, Any]) -> None:
        super().act(actor, body)
        self.acts += 1
        if self.acts == LOOK_AFTER:
            self.look()

    def look(self) -> None:
        """Read the match as seat 0, as the official and as a spectator."""
        self.client.name = self.ruleset
        for call in ("", f"/replay?at={self._version - 3}", "/legal-acts?seat=0"):
            self.client.ask("GET", self.path + call, self.tokens[0])
        self.client.name = "the official"
        self.client.ask("GET", f"{self.path}/events?after={self._version - 3}", self.tokens["official"])
        self.client.name = "a spectator"
        self.client.ask("GET", f"{self.path}/events?after=1&limit={LISTS_MAX}")
        self.client.name = self.ruleset


NOTES = {
    "led_out_of_turn": "Berit led before me",
    "revoke": "Berit had a heart",
    "exposed_card": "We saw the ten of clubs",
}
"""Note of a knock, by offence."""
KORTOXEN = {"ruleset": "rodskagg-kortoxen", "players": [{"name": name} for name in NAMES[:4]], "first_dealer": 3}


class Heard(Opened):
    """A match with officials and three cases: one is pending, one was withdrawn, one has a ruling."""

    def __init__(self, client: Recording) -> None:
        officials = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
        opening = {"options": {"deal_ritual": False}, "dealing": "table", "enforcement": "penalise"}
        super().__init__(client, "with officials", {**KORTOXEN, **opening, "adjudication": officials})
        self.ask("acts", 3, {"act": "deal", "seat": 3, "counts": [6] * 4})
        knock = {"seat": 0, "accused": 1}
        for key, offence in (("k1", "led_out_of_turn"), ("k2", "revoke"), ("k3", "exposed_card")):
            self.ask("knocks", 0, {**knock, "offence": offence, "note": NOTES[offence]}, Idempotency_Key=key)
        client.name = "the accused"
        self.ask("knocks/1/statements", 1, {"seat": 1, "agrees": False, "events": [2], "text": "It was my turn"})
        client.name = "example"
        self.ask("knocks/2/withdrawal", 0, {"seat": 0})
        ruling = {
            "verdict": "upheld",
            "standard": "balance_of_probabilities",
            "rule": "B11",
            "events": [2],
            "reason": "Two of the others saw it",
        }
        client.name = "what would follow"
        self.ask("knocks/3/ruling?preview=true", "official", ruling)
        client.name = "upheld"
        self.ask("knocks/3/ruling", "official", ruling, Idempotency_Key="k1")
        client.name = "example"
        self.ask("knocks/3/appeal", 1, {"seat": 1, "text": "They sat behind me"})
        client.name = "a case"
        client.ask("GET", f"{self.path}/knocks/3", self.tokens["official:2"])
        client.name = "example"
        client.ask("GET", "/v1/cases?fresh=true", self.tokens["official:2"])
        client.name = "a case that was appealed"
        client.ask("GET", f"{self.path}/knocks/3/file", self.tokens["official:2"])
        client.name = "a party, in Swedish"
        page = f"{self.path}/knocks/2/file"
        _, said = client.raw("GET", page, self.tokens[0], Accept="text/html", Accept_Language="sv")
        client.keep("GET", page, 200, "text/html", said.decode().partition("<style>")[0])
