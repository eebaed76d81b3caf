"""Requirements of client generators and their users on the description. A different test checks that it is up to
date."""

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest

from api.http.schemas import WORDS
from projections import payable
from referee.acts import AnyAct
from referee.games import RULESETS
from referee.store.club import Club
from referee.store.match import Match
from tests.conformance import description_check
from tests.support.field_docs import field_docs
from tests.support.paths import ROOT

CONTRACT = json.loads((ROOT / "openapi" / "openapi.json").read_text("utf-8"))
SCHEMAS: dict[str, Any] = CONTRACT["components"]["schemas"]
HEADERS: dict[str, Any] = CONTRACT["components"]["headers"]
REFS = "#/components/schemas/"
OPERATIONS = {
    operation["operationId"]: operation for calls in CONTRACT["paths"].values() for operation in calls.values()
}

RESERVED = (
    "arguments await break case catch class const continue debugger default delete do else enum eval export extends "
    "false finally for function if implements import in instanceof interface let new null package private protected "
    "public return static super switch this throw true try typeof var void while with yield"
)
"""Words that cannot name a parameter of a function in TypeScript."""


@cache
def validator(schema: str) -> Any:
    """Return the validator of a schema in JSON, with all schemas to which it refers."""
    return jsonschema_rs.Draft202012Validator(
        {**json.loads(schema), "components": CONTRACT["components"]}, validate_formats=True
    )


def faults(schema: Any, value: Any) -> list[str]:
    """Return the errors of a value according to its schema."""
    found = validator(json.dumps(schema)).iter_errors(value)
    return [f"{error.message[:200]} at {list(error.instance_path)}" for error in found]


def parts(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield every object of a schema, with its path."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            yield from parts(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from parts(inner, (*path, str(place)))


def resolved(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of the description, with its reference resolved."""
    return description_check.resolved(CONTRACT, part)


def parameters(operation: dict[str, Any]) -> list[dict[str, Any]]:
    return [resolved(one) for one in operation.get("parameters", ())]


def nullable(part: dict[str, Any]) -> bool:
    """Return whether a value may be null."""
    return "null" in part.get("type", ()) or {"type": "null"} in part.get("anyOf", ())


def bodies() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every body of a request or an answer, with its schema and examples."""
    for name, operation in OPERATIONS.items():
        sent = operation.get("requestBody", {}).get("content", {})
        yield from ((f"{name} {media_type}", body) for media_type, body in sent.items())
        for status, answer in operation["responses"].items():
            for media_type, body in resolved(answer).get("content", {}).items():
                yield f"{name} {status} {media_type}", body


BODIES = dict(bodies())
PATTERNS = [(path, str(part["pattern"])) for path, part in parts(CONTRACT) if "pattern" in part]


def test_the_descriptions_of_fields_are_those_of_the_source() -> None:
    assert (ROOT / "api/http/field_docs.json").read_text("utf-8") == field_docs(), "run: make describe"


class TestEverythingIsSaid:
    def test_every_schema_and_field_has_a_description(self) -> None:
        silent = [name for name, schema in SCHEMAS.items() if not schema.get("description")]
        for name, schema in SCHEMAS.items():
            for path, part in parts(schema):
                fields = part.get("properties", {}) if path[-1:] != ("properties",) else {}
                silent += [
                    f"{name}.{field}" for field, described in fields.items() if not described.get("description")
                ]
        for path, part in parts(CONTRACT["paths"]):
            if "examples" not in path and path[-1:] != ("properties",):
                fields = part.get("properties", {})
                silent += [
                    "/".join((*path, field))
                    for field, described in fields.items()
                    if not described.get("description")
                ]
        assert not silent, f"write a docstring after each of these, then run: make describe\n{silent}"

    def test_every_operation_parameter_and_answer_has_a_description(self) -> None:
        silent = []
        for name, operation in OPERATIONS.items():
            described = {
                name: operation,
                **{f"{name} {one['name']}": one for one in parameters(operation)},
                **{f"{name} {status}": resolved(one) for status, one in operation["responses"].items()},
            }
            for status, answer in operation["responses"].items():
                headers = resolved(answer).get("headers", ())
                described |= {f"{name} {status} {header}": HEADERS[header] for header in headers}
            silent += [where for where, one in described.items() if not one.get("description")]
        assert not silent

    def test_any_call_may_be_answered_503(self) -> None:
        """The service may stop, have too many connections, or lack memory."""
        assert [name for name, operation in OPERATIONS.items() if "503" not in operation["responses"]] == []

    def test_only_ids_of_reads_begin_with_a_verb_of_reading(self) -> None:
        """The ids of reads begin with a verb of reading. Generators make function names of ids, so ids never
        change."""
        reads = {calls["get"]["operationId"] for calls in CONTRACT["paths"].values() if "get" in calls}
        words = ("get_", "health_", "list_", "replay_", "stream_")
        assert {name for name in OPERATIONS if name.startswith(words)} == reads

    def test_no_word_is_kept_for_nothing(self) -> None:
        fields = {field for schema in SCHEMAS.values() for field in schema.get("properties", {})}
        assert WORDS.words.keys() <= fields
        games = [name.removeprefix(prefix) for name in SCHEMAS for prefix in map(camel, RULESETS)]
        types = {*SCHEMAS, *games}
        unused = []
        for kind, words in WORDS.of.items():
            known = {
                field
                for name, schema in SCHEMAS.items()
                if name == kind or name.endswith(kind)
                for field in schema.get("properties", {})
            }
            unused += [f"{kind}.{word}" for word in words if word not in known]
        assert WORDS.of.keys() <= types
        assert not unused


def camel(key: str) -> str:
    return "".join(part.title() for part in key.split("-"))


def reached(*roots: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object of these parts of the description and of their schemas, with its path, except examples."""
    known, waiting = set(), [("", root) for root in roots]
    while waiting:
        name, root = waiting.pop()
        for path, part in parts(root):
            if "examples" in path or path[-1:] == ("properties",):
                continue
            yield "/".join((name, *path)), part
            if (to := part.get("$ref")) is not None and to not in known:
                known.add(to)
                waiting.append((to, resolved(part)))


class TestMoreMayCome:
    """openapi/guides/promise.md: a client that validates answers by this description accepts those of the next
    one."""

    def test_no_answer_is_closed(self) -> None:
        closed = []
        for where, part in reached(*(operation["responses"] for operation in OPERATIONS.values())):
            words = ("additionalProperties", "unevaluatedProperties")
            if "maxProperties" in part or any(part.get(word) is False for word in words):
                closed.append(where)
        assert closed == []

    def test_all_that_is_sent_is(self) -> None:
        """Schemas that only requests have allow no unknown field, because the service refuses unknown fields."""
        sent = [operation["requestBody"] for operation in OPERATIONS.values() if "requestBody" in operation]
        shown = {where for where, _ in reached(*(operation["responses"] for operation in OPERATIONS.values()))}
        found = [
            (where, part) for where, part in reached(*sent) if part.get("type") == "object" and where not in shown
        ]
        assert [where for where, part in found if part.get("additionalProperties") is not False] == []
        assert {"Batch", "Knock", "Player", "KalabriasOptions"} <= {
            where.removesuffix("/").rpartition("/")[2] for where, _ in found
        }


def test_importing_a_call_makes_no_schema() -> None:
    """Schemas are made when the description is first requested."""
    asked = "import api.app, api.http.schemas; print(len(api.http.schemas.named_schemas(())))"
    assert subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, check=True).stdout == b"0\n"


class TestOneContract:
    """A thing has one schema, and the whole fits into a client's memory."""

    def test_the_whole_is_small(self) -> None:
        """A call that does not fit uses a schema that exists, or raises the limit with a reason in the commit."""
        size = (ROOT / "openapi" / "openapi.json").stat().st_size
        assert (size <= BYTES_MAX, len(SCHEMAS) <= SCHEMAS_MAX) == (True, True), (
            f"{size} bytes, {len(SCHEMAS)} schemas"
        )

    def test_a_legal_act_has_the_type_of_an_act_to_send(self) -> None:
        listed = OPERATIONS["list_legal_acts"]["responses"]["200"]["content"]["application/json"]["schema"]
        sent = OPERATIONS["send_act"]["requestBody"]["content"]["application/json"]["schema"]
        assert listed["items"] == sent == {"$ref": REFS + "Act"}

    def test_all_lists_have_pages_of_one_form(self) -> None:
        """A page has `items` and `next`, the `cursor` of the next page. Events have numbers that clients know."""
        taken = {name: {one["name"] for one in parameters(operation)} for name, operation in OPERATIONS.items()}
        assert {name for name, names in taken.items() if "after" in names} == {"list_events", "stream_events"}
        paged = {name for name, names in taken.items() if "limit" in names} - {"list_events"}
        assert {name for name, names in taken.items() if "cursor" in names} == paged
        assert len(paged) == 13, "a new list has pages: raise the number"
        for name in paged:
            page = resolved(OPERATIONS[name]["responses"]["200"]["content"]["application/json"]["schema"])
            assert {"items", "next"} <= set(page["required"]), name
            assert page["properties"]["items"]["type"] == "array", name
            assert page["properties"]["next"]["type"] == ["string", "null"], name

    def test_all_lists_take_the_same_cursor_and_limit(self) -> None:
        """Only pages of closings are smaller, because each closing has a balance of each account."""
        taken = {name: {one["name"]: one for one in parameters(operation)} for name, operation in OPERATIONS.items()}
        cursors = [of["cursor"] for of in taken.values() if "cursor" in of]
        assert all(cursor == cursors[0] for cursor in cursors)
        limits = {name: of["limit"]["schema"] for name, of in taken.items() if "limit" in of}
        least = limits.pop("list_closings")
        assert (least["default"], least["maximum"]) == (20, 100)
        assert {(one["minimum"], one["default"], one["maximum"]) for one in limits.values()} == {(1, 100, 1000)}

    def test_only_a_read_has_an_answer_that_has_not_changed(self) -> None:
        for calls in CONTRACT["paths"].values():
            for method, operation in calls.items():
                sends_tag = "If-None-Match" in {one["name"] for one in parameters(operation)}
                assert ("304" in operation["responses"]) == sends_tag, operation["operationId"]
                assert method == "get" or not sends_tag, operation["operationId"]

    def test_a_list_without_pages_cannot_grow(self) -> None:
        lists = {name for name in OPERATIONS if name.startswith("list_")}
        paged = {name for name in lists if any(one["name"] == "limit" for one in parameters(OPERATIONS[name]))}
        assert lists - paged == {"list_legal_acts", "list_rules", "list_rulesets"}

    def test_a_description_says_null_or_left_out_only_if_the_schema_allows_both(self) -> None:
        for name, schema in SCHEMAS.items():
            for field, part in schema.get("properties", {}).items():
                text, required = part.get("description", "").lower(), field in schema.get("required", ())
                if "null or left out" in text:
                    assert not required, f"{name}.{field}"
                    assert "null" in json.dumps(part), f"{name}.{field}"
                assert not (required and ("; left out" in text or ". left out" in text)), f"{name}.{field}"

    def test_a_field_is_left_out_or_null(self) -> None:
        """Exceptions: a list, which a Java client cannot leave out, and a field whose null has its own meaning."""
        both = {
            f"{name}.{field}"
            for name, schema in SCHEMAS.items()
            for field, part in schema.get("properties", {}).items()
            if field not in schema.get("required", ()) and nullable(part) and "array" not in part.get("type", ())
        }
        assert both == {
            *(f"{game}OpenMatch.adjudication" for game in ("Kalabrias", "RamsEnglish")),
            *(f"Rodskagg{game}OpenMatch.adjudication" for game in ("Alga", "Catsatcards", "Kortoxen")),
            *(f"Detail.{field}" for field in ("announcer", "widow")),
            *(f"More.{field}" for field in ("announcer", "best", "lead", "widow")),
            "Problem.rule",
            "SequencePoints.five",
        }

    def test_an_enumeration_has_one_name(self) -> None:
        values = [json.dumps(schema["enum"]) for schema in SCHEMAS.values() if "enum" in schema]
        assert len(set(values)) == len(values)

    def test_each_enumeration_and_object_has_a_name(self) -> None:
        inline = []
        for name, schema in SCHEMAS.items():
            for path, part in parts(schema):
                if path and path[-1] != "properties" and (isinstance(part.get("enum"), list) or "properties" in part):
                    inline.append("/".join((name, *path)))
        assert inline == []

    def test_required_fields_and_parameters_come_first(self) -> None:
        for name, schema in SCHEMAS.items():
            fields = [field not in schema.get("required", ()) for field in schema.get("properties", ())]
            assert fields == sorted(fields), name
        for name, operation in OPERATIONS.items():
            order = [(one["in"] != "path", not one["required"]) for one in parameters(operation)]
            assert order == sorted(order), name


BYTES_MAX = 750_000
SCHEMAS_MAX = 454


class TestGeneratorsTakeIt:
    def test_no_array_or_default_that_they_choke_on(self) -> None:
        for path, part in parts(SCHEMAS):
            assert part.get("items") is not False, path
            assert "prefixItems" not in part, path
            assert path[-1:] == ("properties",) or "default" not in part, path

    def test_no_pattern_has_a_lookahead_or_the_end_of_a_line(self) -> None:
        assert [one for one in PATTERNS if "(?!" in one[1] or "\n" in one[1]] == []

    def test_a_pattern_of_lines_begins_at_the_start(self) -> None:
        lines = [one for one in PATTERNS if r"\n" in one[1]]
        assert lines
        assert [one for one in lines if not one[1].startswith("^")] == []

    def test_no_parameter_has_a_reserved_word_of_javascript_as_its_name(self) -> None:
        names = {one["name"] for operation in OPERATIONS.values() for one in parameters(operation)}
        assert names.isdisjoint(RESERVED.split())

    def test_any_of_is_for_what_may_be_null(self) -> None:
        for path, part in parts(SCHEMAS):
            assert len([one for one in part.get("anyOf", ()) if one != {"type": "null"}]) < 2, path

    def test_a_body_that_is_not_json_is_text(self) -> None:
        for where, body in BODIES.items():
            assert where.endswith("json") or body["schema"]["type"] == "string", where

    def test_every_enumeration_has_a_type(self) -> None:
        for path, part in parts(SCHEMAS):
            if isinstance(part.get("enum"), list) or "const" in part:
                assert part["type"] in ("string", "integer"), path

    def test_the_alternatives_of_a_schema_can_be_distinguished(self) -> None:
        for path, part in parts(SCHEMAS):
            if "oneOf" not in part:
                continue
            kinds = [resolved(one)["type"] for one in part["oneOf"]]
            if "object" not in kinds:  # plain values, distinguished by type or by enumeration
                words = [word for one in part["oneOf"] for word in resolved(one).get("enum", ())]
                assert len(set(kinds)) == len(kinds) or (
                    set(kinds) == {"string"} and len(set(words)) == len(words)
                ), path
                continue
            field, mapping = part["discriminator"]["propertyName"], part["discriminator"]["mapping"]
            assert sorted(mapping.values()) == sorted(one["$ref"] for one in part["oneOf"]), path
            for value, reference in mapping.items():
                member = SCHEMAS[reference.removeprefix(REFS)]
                assert field in member["required"], reference
                assert member["properties"][field]["const"] == value, reference

    def test_each_act_topic_and_game_has_its_schema(self) -> None:
        names = ("Act", "Event", "ClubEvent", "OpenMatch")
        tags = {name: set(SCHEMAS[name]["discriminator"]["mapping"]) for name in names}
        acts = {str(act.__struct_config__.tag) for act in get_args(AnyAct)}
        assert tags == {
            "Act": acts,
            "Event": {fact.TOPIC for fact in Match.FACTS},
            "ClubEvent": {fact.TOPIC for fact in Club.FACTS},
            "OpenMatch": set(RULESETS),
        }

    def test_references_lead_somewhere(self) -> None:
        references = {part["$ref"] for _, part in parts(CONTRACT) if isinstance(part.get("$ref"), str)}
        kinds = ("headers", "parameters", "responses", "schemas")
        named = CONTRACT["components"]
        assert references == {f"#/components/{kind}/{name}" for kind in kinds for name in named[kind]}

    def test_a_parameter_or_problem_is_described_once(self) -> None:
        """Otherwise the calls would repeat two hundred parameters and three hundred problems."""
        used = [one for operation in OPERATIONS.values() for one in operation.get("parameters", ())]
        again = {one["name"] for one in used if "$ref" not in one and used.count(one) > 1}
        assert again <= CONTRACT["components"]["parameters"].keys()  # parameters with the same name are shared
        for name, operation in OPERATIONS.items():
            problems = {status: one for status, one in operation["responses"].items() if int(status) >= 400}
            assert [status for status, one in problems.items() if one.keys() != {"$ref"}] == [], name
            for status, one in problems.items():
                (example,) = resolved(one)["content"]["application/problem+json"]["examples"].values()
                assert str(example["value"]["status"]) == status, name

    def test_a_header_is_described_once(self) -> None:
        """Otherwise the answers would repeat two thousand headers."""
        for operation in OPERATIONS.values():
            for answer in operation["responses"].values():
                headers_of_answer = resolved(answer).get("headers", {})
                assert headers_of_answer == {
                    name: {"$ref": f"#/components/headers/{name}"} for name in headers_of_answer
                }

    def test_a_spectator_needs_no_token(self) -> None:
        """A call without a security requirement accepts requests with and without a token."""
        assert CONTRACT["security"] == [{}, {"token": []}]
        needing = {name: operation["security"] for name, operation in OPERATIONS.items() if "security" in operation}
        assert {"send_act", "send_knock", "list_legal_acts"} <= needing.keys()
        of_clubs = {name for name, operation in OPERATIONS.items() if operation["tags"][0] in ("Clubs", "Money")}
        of_clubs.add("get_club_bundle")
        assert needing.pop("found_club") == [{}, {"key": []}]
        assert all(needed == [{"key" if name in of_clubs else "token": []}] for name, needed in needing.items())


class TestOptionsAreTiedToTheirGame:
    @pytest.mark.parametrize("ruleset", RULESETS)
    def test_its_own_defaults_fit(self, ruleset: str) -> None:
        options = msgspec.to_builtins(RULESETS[ruleset].options())
        assert options.keys() == SCHEMAS[f"{camel(ruleset)}Options"]["properties"].keys()
        assert faults({"$ref": REFS + "OpenMatch"}, opening(ruleset, options)) == []

    def test_those_of_another_do_not(self) -> None:
        assert faults({"$ref": REFS + "OpenMatch"}, opening("rodskagg-kortoxen", {"deal_ritual": False})) == []
        assert faults({"$ref": REFS + "OpenMatch"}, opening("kalabrias", {"deal_ritual": False}))


def opening(ruleset: str, options: dict[str, Any]) -> dict[str, Any]:
    players = [{"name": name} for name in ("Anna", "Berit", "Cesar")]
    return {"ruleset": ruleset, "players": players, "options": options}


class TestExamples:
    """Examples come from real matches: see ``tests/conformance/examples.py``."""

    def test_the_example_of_a_payment_number_is_such_a_number(self) -> None:
        checks = {"iban": payable.iban, "swish": payable.swish_number}
        found = [
            (name, field, example)
            for name, schema in SCHEMAS.items()
            for field in checks.keys() & schema.get("properties", {}).keys()
            for example in schema["properties"][field].get("examples", ())
            if name != "PaymentPlanned"  # shows the content of a QR code
        ]
        assert {field for _, field, _ in found} == set(checks)
        for _, field, example in found:
            checks[field](example)

    @pytest.mark.parametrize("where", BODIES)
    def test_there_are_some_and_they_fit(self, where: str) -> None:
        examples = BODIES[where].get("examples", {})
        assert examples, (
            "let tests/conformance/examples.py (for a problem: problem_examples.py) send this request, then run: "
            "make describe"
        )
        for name, example in examples.items():
            assert faults(BODIES[where]["schema"], example["value"]) == [], name

    def test_each_act_is_sent(self) -> None:
        sent = OPERATIONS["send_act"]["requestBody"]["content"]["application/json"]["examples"]
        assert {one["value"]["act"] for one in sent.values()} == set(SCHEMAS["Act"]["discriminator"]["mapping"])
