"""The options of a ruleset and the results of its deals as JSON Schemas, for its page and for who sends them."""

import re
from functools import cache
from typing import Any

import msgspec

from api.http.schemas import field_docs, plain_text, with_formats
from referee.games import RULESETS

_RULE = re.compile(r"([A-Z])(?:(\d+)-\1(\d+)|(?:-O)?\d+)(?:, )?")


def _rules_named(description: str) -> list[str]:
    """The ids with which an option's description begins, ranges written out: ``B72, B75-B76: …``."""
    head, colon, _ = description.partition(": ")
    named: list[str] = []
    if colon:
        for found in _RULE.finditer(head):
            letter, first, last = found.groups()
            ids = [f"{letter}{n}" for n in range(int(first), int(last) + 1)] if first else [found[0].rstrip(", ")]
            named += ids
    return named


def _written_out(schema: Any, components: dict[str, Any]) -> Any:
    """The schema with the parts that it refers to in their places."""
    if isinstance(schema, list):
        return [_written_out(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {name: _written_out(part, components) for name, part in schema.items() if name != "$ref"}
    if "prefixItems" in rest:  # what stands where in a pair few readers know; that it is a pair, all do
        rest["items"] = {"anyOf": rest.pop("prefixItems")}
    return {**_written_out(components[schema["$ref"]], components), **rest} if "$ref" in schema else rest


def _by_itself(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The JSON Schema of a type, which refers to nothing."""
    ((top,), components) = msgspec.json.schema_components((kind,), ref_template="{name}")
    schema: dict[str, Any] = _written_out(top, components)
    return schema


@cache
def result_schema(name: str) -> dict[str, Any] | None:
    """What a result tells in a ruleset, as a JSON Schema that stands by itself; ``None`` where there are none."""
    kind = RULESETS[name].result
    if kind is None:
        return None
    schema, docs = _by_itself(kind), field_docs(kind)
    fields = {
        field: {**told, **({"description": docs[field]} if field in docs else {})}
        for field, told in schema["properties"].items()
    }
    about = {"title": f"Result of {name}", "description": plain_text(kind.__doc__ or "")}
    whole: dict[str, Any] = with_formats({**schema, **about, "properties": fields})
    return whole


@cache
def options_schema(name: str) -> dict[str, Any]:
    """The options of a ruleset as a JSON Schema that stands by itself."""
    schema = _by_itself(RULESETS[name].options)
    properties = {}
    for option, described_as in schema["properties"].items():
        properties[option] = {**described_as, "x-rules": _rules_named(described_as.get("description", ""))}
    whole: dict[str, Any] = with_formats({**schema, "title": f"Options of {name}", "properties": properties})
    return whole
