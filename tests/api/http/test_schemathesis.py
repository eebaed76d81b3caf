"""Check the service against the description: every operation with all checks, alone and in sequences.

Each generated request is sent three times: without a credential, with a key of a club, and with a token of the match.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote
from uuid import UUID

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase
from schemathesis.pytest.lazy import get_all_tests
from schemathesis.python.asgi import get_client, shutdown_lifespans
from schemathesis.specs.openapi.checks import ignored_auth

from api.app import create_app
from api.http.params import WAIT_MAX
from api.http.protocol import VALUE_MAX
from api.settings import Settings
from referee.clubs.facts import SCOPES
from tests.api.clubs.test_club_matches import Home
from tests.support.match_client import HANDS, Table
from tests.support.paths import ROOT
from tests.support.stored_world_pairs import VISIBILITIES

# The settings here add to the defaults of schemathesis.
POSITIVE = ["2xx", "3xx", "401", "403", "404", "409"]
CONFIG = SchemathesisConfig.from_dict(
    {
        "base-url": "http://testserver",
        "request-timeout": 5.0,
        "checks": {
            # A schema cannot say what the rules of a game allow (422), nor which version a match is at (412).
            "positive_data_acceptance": {"expected-statuses": [*POSITIVE, "412", "422"]},
        },
        "operations": [
            # A stream lasts until its match is over: one event, or a pause without one, is enough.
            {
                "include-name": "GET /v1/matches/{match}/events/stream",
                "max-stream-events": 1,
                "request-timeout": 0.1,
            },
            {
                # The schema allows any text as a cursor, but the service accepts only its own (400).
                "include-name": [
                    "GET /v1/clubs/{club}/accounts",
                    "GET /v1/clubs/{club}/accounts/{account}/statement",
                    "GET /v1/clubs/{club}/closings",
                    "GET /v1/clubs/{club}/evenings",
                    "GET /v1/clubs/{club}/journal",
                    "GET /v1/clubs/{club}/keys",
                    "GET /v1/clubs/{club}/members",
                    "GET /v1/clubs/{club}/proposals",
                    "GET /v1/clubs/{club}/standings",
                    "GET /v1/matches",
                    "GET /v1/matches/{match}/attempts",
                    "GET /v1/matches/{match}/knocks",
                ],
                "checks": {"positive_data_acceptance": {"expected-statuses": [*POSITIVE, "400", "422"]}},
            },
            {
                # Cursors, again. A token that does not belong to an official has no cases.
                "include-name": "GET /v1/cases",
                "checks": {
                    "positive_data_acceptance": {"expected-statuses": [*POSITIVE, "400", "422"]},
                    "ignored_auth": {"enabled": False},
                },
            },
            {
                # A guessable Idempotency-Key is accepted for acts, but not to make keys (400). No schema can say
                # that.
                "include-name": "POST /v1/clubs/{club}/acts",
                "checks": {"positive_data_acceptance": {"expected-statuses": [*POSITIVE, "400", "412", "422"]}},
            },
            {
                # The schema does not define the order in a pair of a result (a seat and its bid) (400).
                "include-name": [
                    "POST /v1/matches/{match}/acts",
                    "POST /v1/matches/{match}/acts/batch",
                    "POST /v1/matches/{match}/knocks",
                    "POST /v1/matches/{match}/knocks/{knock}/ruling",
                ],
                "checks": {"positive_data_acceptance": {"expected-statuses": [*POSITIVE, "400", "412", "422"]}},
            },
        ],
    }
)
QUICK = settings(
    max_examples=int(os.environ.get("CASES", "2")),  # each is sent three times
    derandomize=True,
    stateful_step_count=8,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)

_tokens: dict[str, list[str]] = {}
"""Tokens by match: those of the seats, then the official's, from the openings here."""
_hidden: set[str] = set()
"""Matches that are not public."""
_keys: dict[str, str] = {}
"""A key with all scopes by club, of its founder or of a program."""


class Service:
    """The service under test, started by schemathesis."""

    app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


EVENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"type": "string"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("EventSeen", "StateSeen")]
            },
        },
        "retry": {"type": "string", "pattern": "^[0-9]+$"},
    },
}
"""Schema of an event of a stream. OpenAPI 3.1 cannot describe it: there the whole stream is a text."""


def described() -> dict[str, Any]:
    """Return the description from its file. A different test checks that the file is up to date."""
    contract: dict[str, Any] = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))
    stream = contract["paths"]["/v1/matches/{match}/events/stream"]["get"]["responses"]["200"]
    stream["content"]["text/event-stream"]["itemSchema"] = EVENT
    return contract


contract = schemathesis.openapi.from_dict(described(), config=CONFIG)
contract.app = service = Service()
LABELS = [f"{method.upper()} {path}" for path, calls in contract.raw_schema["paths"].items() for method in calls]


@pytest.fixture(scope="module", autouse=True)
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    path = tmp_path_factory.mktemp("contract")
    service.app = create_app(Settings(database_url=f"sqlite:///{path}/knacka.db"), wait_seconds=0.01)
    with get_client(service) as client:
        for opening in ({}, {"enforcement": "refuse"}, {"dealing": "house"}):
            table = Table(client, **opening)
            _tokens[table.id] = list(table.tokens.values())
            table.done("deal", 0, **({} if opening == {"dealing": "house"} else {"hands": HANDS}))
        table.finish_deal()
        for ruleset in ("rams-english", "kalabrias"):
            table = Table(client, ruleset=ruleset, options={}, dealing="house", enforcement="refuse")
            _tokens[table.id] = list(table.tokens.values())
            table.done("deal", 0)
        for _ in range(2):
            home = Home(client)
            home.issue("Board", *SCOPES)
            _keys[home.id] = home.keys["Board"]
            for visibility in VISIBILITIES:
                made = home.open(visibility=visibility).json()
                _tokens[made["id"]] = tokens_of(made)
                if visibility != "public":
                    _hidden.add(made["id"])
                deal = {"act": "deal", "seat": 0, "hands": HANDS}
                held = {"Authorization": f"Bearer {_tokens[made['id']][0]}"}
                assert client.post(f"/v1/matches/{made['id']}/acts", json=deal, headers=held).status_code == 201
    yield
    shutdown_lifespans()


@contract.hook("after_call")
def remember(context: Any, case: Any, response: Any) -> None:
    """Record the tokens of an opened match, and the key of a founded club."""
    made = response.status_code == 201 and case.operation.definition.raw["operationId"]
    if made == "found_club":
        _keys[response.json()["id"]] = response.json()["key"]["secret"]
    if made == "open_match":
        opened = response.json()
        _tokens[opened["id"]] = tokens_of(opened)
        if opened["visibility"] != "public":
            _hidden.add(opened["id"])


def tokens_of(opened: Any) -> list[str]:
    """Return the tokens of an opened match."""
    return [*(seat["token"] for seat in opened["seats"]), opened["official_token"]]


@contract.hook("map_body")
def whole(context: Any, body: Any) -> Any:
    """Return the body with 2 for each 2.0, which a schema accepts as an integer, but the service refuses."""
    if isinstance(body, dict):
        return {name: whole(context, value) for name, value in body.items()}
    if isinstance(body, list):
        return [whole(context, value) for value in body]
    return int(body) if isinstance(body, float) and body.is_integer() else body


@contract.hook("map_query")
def soon(context: Any, query: Any) -> Any:
    """Return the query with a wait of 0, so that no request waits for a change."""
    if isinstance(query, dict) and str(query.get("wait")).isdecimal() and 0 < int(query["wait"]) <= WAIT_MAX:
        return {**query, "wait": 0}
    return query


def to_what_there_is(case: Any) -> None:
    """Replace three of four random ids by ids of existing matches or clubs."""
    if (case.headers or {}).get("If-Match") == "":
        del case.headers["If-Match"]  # the generated value does not fit the pattern
    if "account" in (case.path_parameters or {}):
        # The example is URL-encoded here (member%3A2), and does not fit the pattern.
        case.path_parameters["account"] = unquote(case.path_parameters["account"])
    for name, known in (("match", list(_tokens)), ("club", list(_keys))):
        try:
            number = UUID((case.path_parameters or {})[name]).int
        except (KeyError, ValueError, TypeError):
            continue
        if number % 4 and case.path_parameters[name] not in known:
            case.path_parameters[name] = known[number % len(known)]


def by_nobody(case: Any) -> str | None:
    """Return no credential."""
    return None


def by_key(case: Any) -> str | None:
    """Return a key with all scopes, of the club in the request, otherwise of a club with matches."""
    club = str((case.path_parameters or {}).get("club"))
    return _keys.get(club) or next(iter(_keys.values()))


def by_token(case: Any) -> str | None:
    """Return the token of the seat in the request, otherwise the official's; of any match if the request names
    none."""
    tokens = _tokens.get(str((case.path_parameters or {}).get("match"))) or next(iter(_tokens.values()))
    seat = case.body.get("seat") if isinstance(case.body, dict) else None
    seated = isinstance(seat, int) and 0 <= seat < len(tokens) - 1
    return tokens[seat] if seated else tokens[-1]


HOLDERS: tuple[Callable[[Any], str | None], ...] = (by_nobody, by_key, by_token)


BOUNDS_EVERY = int(os.environ.get("BOUNDS_EVERY", "10"))
"""Every n-th case at a bound of the schema is sent. They are about ten thousand; ``1`` sends all."""
EVERYBODY_EVERY = 6
"""Every n-th of those cases is sent with each credential."""
_bounds: Counter[str] = Counter()
"""Number of those cases by call."""
_sent: Counter[str] = Counter()


def at_bound(case: Any) -> bool:
    return case.meta is not None and case.meta.phase.name is TestPhase.COVERAGE


@contract.hook("filter_case")
def some_of_all(context: Any, case: Any) -> bool:
    """Return whether a case is sent. Hypothesis would spend time on cases that ``hold`` leaves out."""
    if not at_bound(case):
        return True
    _bounds[case.operation.label] += 1
    return _bounds[case.operation.label] % BOUNDS_EVERY == 1 % BOUNDS_EVERY


def fit(case: Any) -> Callable[[Any], str | None]:
    """Return the function for the credential with the most rights in this call."""
    of_club = "club" in (case.path_parameters or {}) or case.operation.path == "/v1/key"
    return by_key if of_club else by_token


def bearer(case: Any, holder: Callable[[Any], str | None]) -> dict[str, str]:
    """Return the header with the credential; none if the case tests a wrong header."""
    if case.meta is not None and case.meta.is_negative_at(ParameterLocation.HEADER):
        return {}
    shown = holder(case)
    return {} if shown is None else {"Authorization": f"Bearer {shown}"}


def unfit(case: Any) -> list[Any]:
    """Return the checks that do not apply: without a valid credential a private match gives 404, but the check
    expects 401."""
    return [ignored_auth] if (case.path_parameters or {}).get("match") in _hidden else []


def hold(case: Any) -> None:
    """Send a case with the credential that has the right. Send random cases, and some cases at a bound, with each
    credential. Assert that each answer fits the description."""
    if any(len(str(value)) > VALUE_MAX for value in (case.headers or {}).values()):
        return  # HTTP refuses it (431), but here the test calls the app directly
    to_what_there_is(case)
    holders = HOLDERS
    if at_bound(case):
        if _sent[case.operation.label] % EVERYBODY_EVERY:
            holders = (fit(case),)
        _sent[case.operation.label] += 1
    for holder in holders:
        try:
            case.call_and_validate(headers=bearer(case, holder), excluded_checks=unfit(case))
        except Exception as error:
            error.add_note(holder.__name__)
            raise


@pytest.mark.parametrize("label", LABELS)
def test_every_operation(label: str) -> None:
    """The cases are generated here. ``contract.parametrize()`` would generate all cases when tests are collected, in
    every test process. That takes a third of the time of sending them."""
    alone = contract.exclude(lambda context: context.operation.label != label)
    (made,) = get_all_tests(schema=alone, test_func=hold, settings=QUICK, given_kwargs=None)
    _, test = made.ok()
    test()


class OneAfterAnother(contract.as_state_machine()):
    """Sequences of requests that follow the links in the answers."""

    def before_call(self, case: Any) -> None:
        to_what_there_is(case)

    def get_call_kwargs(self, case: Any) -> dict[str, Any]:
        return {"headers": bearer(case, fit(case))}

    def validate_response(self, response: Any, case: Any, additional_checks: Any = None, **kwargs: Any) -> None:
        case.validate_response(response, excluded_checks=unfit(case), transport_kwargs=kwargs)


def test_one_after_another() -> None:
    run_state_machine_as_test(OneAfterAnother, settings=QUICK)
