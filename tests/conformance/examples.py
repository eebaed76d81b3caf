"""The examples of the description, taken from conformance matches played over HTTP.

``python -m tests.conformance.examples`` writes them anew into ``api/http/examples.json``: by operation what was sent
(``request``) and what was answered, by status and media type, each by a name. Long lists are cut short. What is new
each time that a match is played, its id, tokens, times and hashes, is replaced by what follows from which match it
is: as long as the same goes over HTTP, the file stays the same.
"""

import json
import re
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.client import HTTPResponse
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

import msgspec

from api.access.tickets import TICKET_SECONDS
from api.http.problems import MEDIA_TYPE, Problem, as_sent
from tests.api.serving import ROOT, served
from tests.conformance import proved
from tests.conformance.replay import matches, play
from tests.conformance.test_over_http import NDJSON, RULESETS, Client, OverHttp

TARGET = ROOT / "api" / "http" / "examples.json"
DESCRIPTION = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))
OPERATIONS = {
    (method.upper(), path): operation
    for path, calls in DESCRIPTION["paths"].items()
    for method, operation in calls.items()
}
NAMES = ("Anna", "Berit", "Cesar", "David", "Elsa", "Folke", "Greta", "Hugo")
LISTS_MAX = 2
"""So many of a list are shown."""
LOOK_AFTER = 12
"""Acts after which a match is looked at while it goes on."""
JSON = "application/json"
BEGUN = datetime(2026, 1, 2, 18, tzinfo=UTC)
"""When each match was opened, by the clock that stands in for ours; an event comes a second after the one before."""
FRESH = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\dT[0-9:.]+Z"
    r"|\b[0-9a-f]{64}\b"
    r'|(?<=")[A-Za-z0-9_-]{43}(?=\\?")'
)
"""What is not the same when it is done again: ids, times, hashes and tokens."""


def moment(seconds: int) -> str:
    """So long after the match was opened."""
    return (BEGUN + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def token(name: str) -> str:
    """One that looks as if it were drawn."""
    return urlsafe_b64encode(sha256(name.encode()).digest()).decode().rstrip("=")


def short(value: Any) -> Any:
    """The same with its long lists cut: what a caller lists, and what stands in pages."""
    if isinstance(value, list):
        return value[:LISTS_MAX]
    if isinstance(value, dict):
        lists = ("cases", "events", "facts", "lines", "matches", "prices", "readings", "rules", "timeline", "tricks")
        return {
            name: inner[:LISTS_MAX]
            if name in lists and isinstance(inner, list) and inner and isinstance(inner[0], dict)
            else inner
            for name, inner in value.items()
        }
    return value


class Kept:
    """What is kept of what went to and fro, by operation."""

    def __init__(self) -> None:
        self.requests: dict[str, dict[str, Any]] = {}
        self.answers: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}

    def request(self, operation: str, name: str, body: Any) -> bool:
        """Keeps the first of a name; whether this is it."""
        kept = self.requests.setdefault(operation, {})
        return kept.setdefault(name, body) is body

    def answer(self, operation: str, status: int, media_type: str, name: str, body: Any) -> None:
        """Keeps the first of a name."""
        by_status = self.answers.setdefault(operation, {}).setdefault(str(status), {})
        by_status.setdefault(media_type, {}).setdefault(name, body)


class Recording(Client):
    """Keeps what it sends, where the service takes it, and what comes back."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.kept = Kept()
        self.name = ""
        """Of the next answer, where its request does not give one."""
        self.stand_ins: dict[str, str] = {}
        """By what was answered what is written in its place."""

    def ask(
        self, method: str, path: str, token: str = "", body: Any = None, **headers: str
    ) -> tuple[HTTPResponse, Any]:
        answer, said = self.raw(method, path, token, None if body is None else msgspec.json.encode(body), **headers)
        told = msgspec.json.decode(said)
        if answer.status < 300:
            self.keep(method, path, answer.status, JSON, told, body)
        return answer, told

    def keep(self, method: str, path: str, status: int, media_type: str, told: Any, body: Any = None) -> None:
        operation = operation_of(method, path)["operationId"]
        name = self.name
        if body is not None:
            named = body.get("act") or body.get("offence") or body.get("ruleset")
            name = named or ("any offence" if operation == "send_knock" else self.name)
            if not self.kept.request(operation, name, body):
                return
        self.kept.answer(operation, status, media_type, name, short(told))

    def raw(
        self, method: str, path: str, token: str = "", content: bytes | None = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        """The answer and its bytes."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if content is not None:
            sent.setdefault("Content-Type", JSON)
        self._connection.request(method, path, content, sent)
        answer = self._connection.getresponse()
        return answer, answer.read()


def operation_of(method: str, path: str) -> Any:
    """The operation that a path belongs to."""
    path = path.partition("?")[0]
    for (called, template), operation in OPERATIONS.items():
        if called == method and re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path):
            return operation
    raise LookupError(path)


class Placed:
    """A match among all, whose id, tokens, times and hashes stand-ins are written for."""

    client: Recording
    place: str
    """Which of all matches it is."""
    path: str
    tokens: dict[Any, str]

    def stand_in(self) -> None:
        """Finds stand-ins for its id and its tokens."""
        own_id = UUID(bytes=sha256(self.place.encode()).digest()[:16], version=4)
        self.client.stand_ins[self.path.rpartition("/")[2]] = str(own_id)
        for who, own in self.tokens.items():
            self.stands_for(own, who)

    def stands_for(self, own: str, who: int | str) -> None:
        """Keeps a token from being written as it was given."""
        self.client.stand_ins[own] = token(f"{self.place} {who}")

    def replace_what_is_fresh(self) -> None:
        """Finds stand-ins for times and hashes: they follow from the number of the event."""
        _, said = self.client.raw("GET", f"{self.path}/events", self.tokens["official"], Accept=NDJSON)
        for event in map(msgspec.json.decode, said.splitlines()):
            number, told = event["number"], event["event"]
            self.client.stand_ins.setdefault(event["prev"], event["prev"])  # of the first: it follows none
            self.client.stand_ins.setdefault(event["at"], moment(number - 1))
            self.client.stand_ins[event["hash"]] = sha256(f"{self.place} {number}".encode()).hexdigest()
            for name in ("appeal_until", "until"):
                if told.get(name):
                    spent = datetime.fromisoformat(told[name]) - datetime.fromisoformat(event["at"])
                    self.client.stand_ins[told[name]] = moment(number - 1 + round(spent.total_seconds()))
            if commitment := told.get("commitment"):
                self.client.stand_ins[commitment] = sha256(f"{self.place} {number} seed".encode()).hexdigest()


class Opened(Placed):
    """A match opened for what conformance matches do not have."""

    def __init__(self, client: Recording, what_for: str, opening: dict[str, Any]) -> None:
        client.name = what_for
        _, opened = client.ask("POST", "/v1/matches", "", opening)
        self.client, self.path, self.place = client, f"/v1/matches/{opened['id']}", what_for
        self.tokens = {seat["seat"]: seat["token"] for seat in opened["seats"]}
        self.tokens |= {one["actor"]: one["token"] for one in opened["officials"]}
        self.tokens["official"] = opened["official_token"]
        self.stand_in()

    def ask(self, call: str, who: int | str, body: Any, **headers: str) -> Any:
        """What a call of it that writes is answered with."""
        answer, said = self.client.ask("POST", f"{self.path}/{call}", self.tokens[who], body, **headers)
        assert answer.status < 300, said
        return said


class Watched(Placed, OverHttp):
    """A match that is looked at while it goes on."""

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
        """Reads the match as seat 0, the official and a spectator have it."""
        self.client.name = self.ruleset
        for call in ("", f"/replay?at={self._version - 3}", "/legal-acts?seat=0"):
            self.client.ask("GET", self.path + call, self.tokens[0])
        self.client.name = "the official"
        self.client.ask("GET", f"{self.path}/events?after={self._version - 3}", self.tokens["official"])
        self.client.name = "a spectator"
        self.client.ask("GET", f"{self.path}/events?after=1&limit={LISTS_MAX}")
        self.client.name = self.ruleset


def new_in(given: dict[str, Any], kept: Kept) -> bool:
    """Whether a match has an act or a knock that none before it had."""
    acts, knocks = kept.requests.get("send_act", {}), kept.requests.get("send_knock", {})
    return any(
        step["expect"] == "ok"
        and (
            (step["call"] == "acts" and step["body"]["act"] not in acts)
            or (step["call"] == "knocks" and step["body"].get("offence", "any offence") not in knocks)
        )
        for step in given["steps"]
    )


def play_all(client: Recording) -> dict[str, Watched]:
    """Plays matches until each act has been sent; gives the last of each ruleset."""
    played: dict[str, Watched] = {}
    for ruleset in RULESETS:
        for given in matches(ruleset):
            if ruleset in played and not new_in(given, client.kept):
                continue
            match = played[ruleset] = Watched(client, given)
            faults = play(match, given)
            assert not faults, faults
            match.replace_what_is_fresh()
    return played


def read_all(client: Recording, played: dict[str, Watched]) -> None:
    """Reads everything else that can be read."""
    client.name = "example"
    for path in ("/v1/rulesets", "/v1/matches", "/health/live", "/health/ready"):
        client.ask("GET", path)
    client.ask("GET", "/v1/rulesets/rodskagg-alga")
    client.ask("GET", "/v1/rulesets/rodskagg-alga/rules")
    client.ask("GET", "/v1/rulesets/rodskagg-alga/rules/A17")
    for ruleset, match in played.items():
        client.name = ruleset
        _, protocol = client.ask("GET", f"{match.path}/protocol")
        if protocol["lines"]:
            if ruleset in ("kalabrias", "rodskagg-kortoxen"):
                client.ask("GET", f"{match.path}/deals/{protocol['lines'][0]['deal']}")
            texts = {"deals/1": "text/plain", "protocol": "text/csv", "events": "application/x-ndjson"}
            for call, media_type in texts.items():
                answer, said = client.raw("GET", f"{match.path}/{call}", Accept=media_type)
                if answer.status == 200:
                    lines = said.decode().splitlines(keepends=True)
                    text = "".join(lines if call == "deals/1" else lines[:LISTS_MAX])
                    client.name = "example"
                    client.keep("GET", f"{match.path}/{call}", 200, media_type, text)
    rams = played["rams-english"]
    client.ask("GET", f"{rams.path}/pot")
    _, said = client.raw("GET", f"{rams.path}/pot", Accept="text/csv")
    client.keep("GET", f"{rams.path}/pot", 200, "text/csv", said.decode())
    for match in played.values():
        _, cases = client.ask("GET", f"{match.path}/knocks")
        if cases:
            client.ask("GET", f"{match.path}/knocks/1")
            break


def stream(client: Recording, match: Watched) -> None:
    """How a stream begins, with one event, as it is sent."""
    at = match._version - 2
    _, said = client.raw("GET", f"{match.path}/events/stream?after={at}")
    begun, sent, *_ = said.decode().split("\n\n")
    fields = dict(line.split(": ", 1) for line in sent.splitlines())
    client.name = fields["event"]
    client.keep("GET", f"{match.path}/events/stream", 200, "text/event-stream", f"{begun}\n\n{sent}\n\n")


def write(client: Recording, match: Watched, given: dict[str, Any]) -> None:
    """What conformance matches do not do: several acts at once, and what tokens are for."""
    first = next(step for step in given["steps"] if step["call"] == "acts" and step["expect"] == "ok")
    client.name = "the second is refused"
    acts = {"acts": [first["body"], {"act": "score", "seat": first["body"]["seat"]}]}
    client.ask("POST", f"{match.path}/acts/batch", match.tokens[first["body"]["seat"]], acts)
    client.name = "example"
    _, ticket = client.ask("POST", f"{match.path}/tickets", match.tokens[0])
    match.stands_for(ticket["ticket"], "ticket")
    client.stand_ins[ticket["expires"]] = moment(TICKET_SECONDS)
    _, issued = client.ask("POST", f"{match.path}/tokens", match.tokens["official"], {"seat": 1})
    match.stands_for(issued["token"], "issued")
    client.ask(
        "POST", f"{match.path}/acts", match.tokens["official"], {"act": "abandon", "reason": "Berit had to leave"}
    )


SHEET = {
    "act": "result",
    "bids": [[0, 2], [1, "pass"], [2, 3], [3, "pass"]],
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": [[3, "fold"], [1, "play"]],
}
"""Example B-X1."""
KORTOXEN = {"ruleset": "rodskagg-kortoxen", "players": [{"name": name} for name in NAMES[:4]], "first_dealer": 3}


def tally(client: Recording) -> Opened:
    """A deal from its score sheet, and the next as far as a trick."""
    match = Opened(client, "a tally", {**KORTOXEN, "dealing": "tally"})
    bids = [{"act": "bid", "seat": seat, "bid": 1 if seat == 1 else "pass"} for seat in (1, 2, 3, 0)]
    for act in (SHEET, {"act": "deal", "seat": 0}, *bids, {"act": "trick", "seat": 2}):
        match.ask("acts", 0, act)
    return match


def add(client: Recording) -> Opened:
    """What only a match does whose shuffle can be checked."""
    players = [{"name": name} for name in NAMES[:2]]
    opening = {"ruleset": "kalabrias", "players": players, "first_dealer": 0, "shuffle": "committed"}
    match = Opened(client, "a fair shuffle", opening)
    match.ask("acts", 0, {"act": "entropy", "seat": 0, "hex": "5f0c3a91d2e84b7706b1a4c9e3d85f20"})
    return match


class Heard(Opened):
    """A match with officials, where three knocks have opened cases: one waits, one was withdrawn, one is ruled on."""

    def __init__(self, client: Recording) -> None:
        officials = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
        opening = {"options": {"deal_ritual": False}, "dealing": "table", "enforcement": "penalise"}
        super().__init__(client, "with officials", {**KORTOXEN, **opening, "adjudication": officials})
        self.ask("acts", 3, {"act": "deal", "seat": 3, "counts": [6] * 4})
        knock = {"seat": 0, "accused": 1, "offence": "led_out_of_turn", "note": "He led before me"}
        for key in ("k1", "k2", "k3"):
            self.ask("knocks", 0, knock, Idempotency_Key=key)
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


def take_back(client: Recording) -> Opened:
    """What only a match does where the last act can be taken back."""
    players = [{"name": name} for name in NAMES[:3]]
    opening = {"ruleset": "rams-english", "players": players, "first_dealer": 0, "adjudication": {"take_back": True}}
    match = Opened(client, "the last act can be taken back", opening)
    match.ask("acts", 0, {"act": "deal", "seat": 0})
    match.ask("acts", 1, {"act": "bid", "seat": 1, "bid": "join"})
    match.ask("acts", 1, {"act": "take_back", "seat": 1})
    client.ask("POST", f"{match.path}/acts", match.tokens[0], {"act": "bid", "seat": 0, "bid": "join"})
    client.name = "out of turn"
    client.ask("GET", f"{match.path}/attempts", match.tokens["official"])
    return match


SAID = {
    429: Problem("slow_down", per_minute=600),
    500: Problem("internal"),
    503: Problem("store_away"),
}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def provoked(client: Recording, usual: Watched, heard: Heard, over: Watched) -> Iterator[tuple[str, int, Any]]:
    """By operation and status, each problem that the description names, made to happen where it can be."""
    for (method, template), operation in OPERATIONS.items():
        going = heard if re.search("/knocks/{case}/|/proof", template) else usual
        numbers = {"deal": 1, "case": 1, "event": 1}
        path = template.format(match=going.path.rsplit("/", 1)[1], ruleset="kalabrias", rule_id="E1", **numbers)
        for status in (int(code) for code in operation["responses"] if int(code) >= 400):
            if status in SAID:  # as it would be answered while the store is away, or by another setting
                problem = SAID[status]
                if status == 503 and operation["operationId"] == "health_ready":
                    problem = Problem("not_ready", reasons=[{"code": "store_silent"}])
                _, _, said = as_sent(problem, path, (), None)
            else:
                said = _provoke(client, method, path, status, going, over)
            told = msgspec.json.decode(said)
            if not isinstance(told, dict) or told.get("status") != status:
                print(f"{method} {template} {status}: {str(told)[:300]}", file=sys.stderr)
                continue
            yield operation["operationId"], status, told


def _version_of(client: Recording, match: Placed) -> int:
    _, shown = client.raw("GET", match.path)
    version: int = msgspec.json.decode(shown)["version"]
    return version


def _provoke(client: Recording, method: str, path: str, status: int, going: Watched | Heard, over: Watched) -> bytes:
    seat, other = going.tokens[0], going.tokens[1]
    call = path.rsplit("/", 1)[1]
    bodies = {
        "acts": {"act": "score", "seat": 0},
        "knocks": {"seat": 0, "accused": 1},
        "matches": {"ruleset": "kalabrias", "players": [{"name": "Anna"}]},
        "batch": {"acts": [{"act": "score", "seat": 0}]},
        "tokens": {"seat": 1},
        "statements": {"seat": 0, "agrees": True},
        "withdrawal": {"seat": 0},
        "appeal": {"seat": 0},
        "ruling": {"verdict": "dismissed", "standard": "undetermined", "rule": "J4"},
    }
    content = msgspec.json.encode(bodies[call]) if call in bodies and method == "POST" else None
    if call in ("tokens", "ruling") and status != 403:
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
        url, token, sent = ended, over.tokens["official" if call == "tokens" else 0], content
    if method == "POST" and status == 422:
        sent = {
            "acts": msgspec.json.encode({"act": "deal", "seat": 0, "counts": [1]}),
            "batch": msgspec.json.encode({"acts": [{"act": "void", "reason": "coffee\u0085"}]}),
            "knocks": msgspec.json.encode({"seat": 0, "accused": 7}),
            "tokens": msgspec.json.encode({"seat": 7}),
        }.get(call, content)
    if call == "bundle" and status == 403:
        token = ""
    if call == "bundle" and status == 409:
        _, shown = client.raw("GET", going.path)
        url, token = f"{path}?deal={msgspec.json.decode(shown)['deal']}", going.tokens["official"]
    if call == "proof" and status == 409:
        url = f"{going.path}/events/{_version_of(client, going)}/proof"
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
    if status == 401 and not path.startswith(going.path):  # no token is needed here, but what is sent has to be one
        token, headers = "", {"Authorization": "Basic a25hY2s="}
    if status == 400 and not path.startswith(going.path) and call != "matches":
        url = f"{path}?nonsense=1"
    _, said = client.raw(method, url, token, sent, **headers)
    return said


def examples() -> str:
    """The file, as it is now."""
    with TemporaryDirectory() as path, served(f"sqlite:///{path}/knacka.db", wait_seconds=0.01) as address:
        client = Recording(address)
        played = play_all(client)
        read_all(client, played)
        stream(client, next(match for match in played.values() if match.end()))
        given = next(matches("rodskagg-kortoxen"))
        going = Watched(client, {**given, "enforcement": "refuse"}, "going on")
        written = Watched(client, given, "written to")
        write(client, written, given)
        over = next(match for match in played.values() if match.end())
        others = [going, written, tally(client), add(client), take_back(client), heard := Heard(client)]
        problems = list(provoked(client, going, heard, over))
        for match in others:
            match.replace_what_is_fresh()
        client.close()
    kept = client.kept
    client.stand_ins[str(proved.MATCH)] = str(proved.MATCH)
    for operation, (media_type, said) in proved.answers(BEGUN).items():
        kept.answer(operation, 200, media_type, "example", said)
    for operation, status, told in problems:
        kept.answer(operation, status, MEDIA_TYPE, told["type"].rpartition("/")[2], told)
    names = sorted({*kept.requests, *kept.answers})
    told = {name: {"request": kept.requests.get(name, {}), "answers": kept.answers.get(name, {})} for name in names}
    text = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    others = dict.fromkeys(one for one in FRESH.findall(text) if one not in client.stand_ins)
    for place, time in enumerate(sorted(one for one in others if one[10:11] == "T")):
        client.stand_ins[time] = moment(30 * 60 * place)  # of what was looked at, or tried, and is no event
    for place, known in enumerate(one for one in others if len(one) == 64):
        client.stand_ins[known] = sha256(f"beside the matches {place}".encode()).hexdigest()
    return FRESH.sub(lambda found: UNKNOWN if found[0] == UNKNOWN else client.stand_ins[found[0]], text)


def main() -> None:
    """Writes the file."""
    TARGET.write_text(examples(), "utf-8")


if __name__ == "__main__":
    main()
