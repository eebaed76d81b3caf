"""The examples of the description, taken from conformance matches played over HTTP.

``python -m tests.conformance.examples`` writes them anew into ``api/http/examples.json``: by operation what was sent
(``request``) and what was answered, by status and media type, each by a name. Long lists are cut short.
"""

import json
import re
import sys
from collections.abc import Iterator
from http.client import HTTPResponse
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from api.http.problems import MEDIA_TYPE, Problem, as_sent
from tests.api.serving import ROOT, served
from tests.conformance.replay import matches, play
from tests.conformance.test_over_http import RULESETS, Client, OverHttp

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


class Watched(OverHttp):
    """A match that is looked at while it goes on."""

    def __init__(self, client: Recording, given: dict[str, Any]) -> None:
        client.name = given["ruleset"]
        super().__init__(client, given)
        self.client, self.ruleset, self.acts = client, given["ruleset"], 0
        self.path, self.tokens = self._path, self._tokens

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
    client.ask("POST", f"{match.path}/tickets", match.tokens[0])
    client.ask("POST", f"{match.path}/tokens", match.tokens["official"], {"seat": 1})
    client.ask(
        "POST", f"{match.path}/acts", match.tokens["official"], {"act": "abandon", "reason": "Berit had to leave"}
    )


TALLY = {
    "ruleset": "rodskagg-kortoxen",
    "dealing": "tally",
    "players": [{"name": name} for name in NAMES[:4]],
    "first_dealer": 3,
}
SHEET = {
    "act": "result",
    "bids": [[0, 2], [1, "pass"], [2, 3], [3, "pass"]],
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": [[3, "fold"], [1, "play"]],
}
"""Example B-X1."""


def tally(client: Recording) -> None:
    """A deal from its score sheet, and the next as far as a trick."""
    _, opened = client.ask("POST", "/v1/matches", "", TALLY)
    path, token = f"/v1/matches/{opened['id']}", opened["seats"][0]["token"]
    bids = [{"act": "bid", "seat": seat, "bid": 1 if seat == 1 else "pass"} for seat in (1, 2, 3, 0)]
    for act in (SHEET, {"act": "deal", "seat": 0}, *bids, {"act": "trick", "seat": 2}):
        client.ask("POST", f"{path}/acts", token, act)


class Heard:
    """A match with officials, where three knocks have opened cases: one waits, one was withdrawn, one is ruled on."""

    def __init__(self, client: Recording) -> None:
        client.name = "with officials"
        opening = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"name": name} for name in NAMES[:4]],
            "options": {"deal_ritual": False},
            "first_dealer": 3,
            "dealing": "table",
            "enforcement": "penalise",
            "adjudication": {"officials": [{"name": "Maja"}, {"name": "Nils"}]},
        }
        answer, opened = client.ask("POST", "/v1/matches", body=opening)
        self.path: str = answer.headers["Location"]
        self.tokens: dict[int | str, str] = {seat["seat"]: seat["token"] for seat in opened["seats"]}
        self.tokens |= {one["actor"]: one["token"] for one in opened["officials"]}
        client.ask("POST", f"{self.path}/acts", self.tokens[3], {"act": "deal", "seat": 3, "counts": [6] * 4})
        knock = {"seat": 0, "accused": 1, "offence": "led_out_of_turn", "note": "He led before me"}
        for key in ("k1", "k2", "k3"):
            client.ask("POST", f"{self.path}/knocks", self.tokens[0], knock, Idempotency_Key=key)
        client.name = "the accused"
        self.ask(client, "1/statements", 1, {"seat": 1, "agrees": False, "events": [2], "text": "It was my turn"})
        client.name = "example"
        self.ask(client, "2/withdrawal", 0, {"seat": 0})
        ruling = {
            "verdict": "upheld",
            "standard": "balance_of_probabilities",
            "rule": "B11",
            "events": [2],
            "reason": "Two of the others saw it",
        }
        client.name = "what would follow"
        self.ask(client, "3/ruling?preview=true", "official", ruling)
        client.name = "upheld"
        self.ask(client, "3/ruling", "official", ruling, Idempotency_Key="k1")
        client.name = "example"
        self.ask(client, "3/appeal", 1, {"seat": 1, "text": "They sat behind me"})
        client.name = "a case"
        client.ask("GET", f"{self.path}/knocks/3", self.tokens["official:2"])
        client.name = "example"
        client.ask("GET", "/v1/cases?fresh=true", self.tokens["official:2"])
        client.name = "a case that was appealed"
        client.ask("GET", f"{self.path}/knocks/3/file", self.tokens["official:2"])
        client.name = "a party, in Swedish"
        page = f"{self.path}/knocks/2/file"
        _, said = client.raw("GET", page, self.tokens[0], Accept="text/html", Accept_Language="sv")
        client.keep("GET", page, 200, "text/html", said.decode())

    def ask(self, client: Recording, call: str, who: int | str, body: Any, **headers: str) -> None:
        """A call of a case."""
        answer, said = client.ask("POST", f"{self.path}/knocks/{call}", self.tokens[who], body, **headers)
        assert answer.status < 300, said


def add(client: Recording) -> None:
    """What only a match does whose shuffle can be checked."""
    opening = {"ruleset": "kalabrias", "players": [{"name": name} for name in NAMES[:2]], "shuffle": "committed"}
    _, made = client.ask("POST", "/v1/matches", "", opening)
    entropy = {"act": "entropy", "seat": 0, "hex": "5f0c3a91d2e84b7706b1a4c9e3d85f20"}
    client.ask("POST", f"/v1/matches/{made['id']}/acts", made["seats"][0]["token"], entropy)


SAID = {
    429: Problem("slow_down", per_minute=600),
    500: Problem("internal"),
    503: Problem("store_away"),
}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def provoked(client: Recording, usual: Watched, heard: Heard, over: Watched) -> Iterator[tuple[str, int, Any]]:
    """By operation and status, each problem that the description names, made to happen where it can be."""
    for (method, template), operation in OPERATIONS.items():
        going = heard if "/knocks/{case}/" in template else usual
        path = template.format(match=going.path.rsplit("/", 1)[1], ruleset="kalabrias", rule_id="E1", deal=1, case=1)
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
    needed = "at=1&" if call == "replay" else ""
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


def main() -> None:
    """Writes the file."""
    with TemporaryDirectory() as path, served(f"sqlite:///{path}/knacka.db") as address:
        client = Recording(address)
        played = play_all(client)
        read_all(client, played)
        stream(client, next(match for match in played.values() if match.end()))
        going = Watched(client, {**next(matches("rodskagg-kortoxen")), "enforcement": "refuse"})
        given = next(matches("rodskagg-kortoxen"))
        write(client, Watched(client, given), given)
        tally(client)
        add(client)
        over = next(match for match in played.values() if match.end())
        problems = list(provoked(client, going, Heard(client), over))
        client.close()
    kept = client.kept
    for operation, status, told in problems:
        kept.answer(operation, status, MEDIA_TYPE, told["type"].rpartition("/")[2], told)
    names = sorted({*kept.requests, *kept.answers})
    written = {
        name: {"request": kept.requests.get(name, {}), "answers": kept.answers.get(name, {})} for name in names
    }
    TARGET.write_text(json.dumps(written, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
