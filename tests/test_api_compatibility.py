"""Released calls and fields stay: openapi/guides/promise.md."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.description_check import resolved
from tests.support.api_compatibility import broken

OPENAPI = Path(__file__).parents[1] / "openapi"
NOW: dict[str, Any] = json.loads((OPENAPI / "openapi.json").read_text("utf-8"))
MATCH, ACTS, LEGAL = ("/v1/matches/{match}", "/v1/matches/{match}/acts", "/v1/matches/{match}/legal-acts")

Change = Callable[[dict[str, Any]], object]


def test_released_descriptions_are_kept() -> None:
    """Before the first release, the tests below show that a breach would be found."""
    for released in (OPENAPI / "released").glob("*.json"):
        assert broken(json.loads(released.read_text("utf-8")), NOW) == [], released.name


def _schema(api: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = api["components"]["schemas"][name]
    return found


def _topics(api: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = _schema(api, "Event")["discriminator"]["mapping"]
    return found


def _more_to_ask(api: dict[str, Any]) -> None:
    _schema(api, "KalabriasOptions")["properties"].update(more={"type": "boolean"})


def _parameter(api: dict[str, Any], path: str, name: str) -> dict[str, Any]:
    told = (resolved(api, one) for one in api["paths"][path]["get"]["parameters"])
    return next(one for one in told if one["name"] == name)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda api: api["paths"].pop(LEGAL), f"GET {LEGAL} is gone"),
        (lambda api: api["paths"][MATCH].pop("get"), f"GET {MATCH} is gone"),
        (lambda api: api["paths"][MATCH]["get"].update(operationId="look"), f"GET {MATCH} is called look"),
        (lambda api: api["paths"][LEGAL]["get"].pop("parameters"), f"GET {LEGAL}: parameter seat is gone"),
        (lambda api: _parameter(api, LEGAL, "seat").update(required=True), "parameter seat has become required"),
        (lambda api: _parameter(api, LEGAL, "seat")["schema"].update(maximum=3), "seat: maximum is 3"),
        (lambda api: api["paths"][ACTS]["post"]["responses"].pop("201"), "201 is gone"),
        (lambda api: api["paths"][ACTS]["post"]["responses"]["201"]["headers"].pop("ETag"), "header ETag is gone"),
        (lambda api: _schema(api, "ActDone")["properties"].pop("version"), "version is gone"),
        (lambda api: _schema(api, "ActDone").update(required=["events"]), "version may be missing"),
        (lambda api: _schema(api, "ActDone")["properties"].update(version={"type": "string"}), "is string"),
        (lambda api: _schema(api, "Play")["properties"].update(card={"type": "integer"}), "card was string"),
        (lambda api: _schema(api, "Play")["required"].append("why"), "why has become required"),
        (lambda api: _schema(api, "Play")["properties"].pop("card"), "card is gone"),
        (lambda api: _schema(api, "Verdict")["enum"].append("more"), "verdict may be more"),
        (lambda api: _schema(api, "Phase")["enum"].append("more"), "phase may be more"),
        (lambda api: _topics(api).update(more=_topics(api)["card/played"]), "may be more, and there is nothing"),
    ],
)
def test_a_breaking_change_is_named(change: Change, says: str) -> None:
    later = copy.deepcopy(NOW)
    change(later)
    found = broken(NOW, later)
    assert any(says in line for line in found), found


@pytest.mark.parametrize(
    "change",
    [
        lambda api: None,
        lambda api: api["paths"].update({"/v1/more": api["paths"][LEGAL]}),
        lambda api: api["paths"][LEGAL]["get"]["parameters"].append(
            {"name": "more", "in": "query", "schema": {"type": "string"}}
        ),
        lambda api: _schema(api, "ActDone")["properties"].update(more={"type": "string"}),
        lambda api: _schema(api, "ActDone")["required"].append("more"),
        lambda api: _schema(api, "Play")["properties"].update(more={"type": "string"}),
        lambda api: _schema(api, "ProblemType")["enum"].append("/problems/more"),
        lambda api: (_more_to_ask(api), _schema(api, "Phase")["enum"].append("more")),
        lambda api: (_more_to_ask(api), _topics(api).update(more=_topics(api)["card/played"])),
    ],
)
def test_a_compatible_change_is_no_breach(change: Change) -> None:
    later = copy.deepcopy(NOW)
    change(later)
    assert broken(NOW, later) == []
