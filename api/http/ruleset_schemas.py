"""JSON Schemas of the options of a ruleset and the results of its deals."""

import re
from functools import cache
from typing import Any

import msgspec

from api.http.schemas import field_docs, plain_text, with_formats
from referee.games import RULESETS

_RULE = re.compile(r"([A-Z])(?:(\d+)-\1(\d+)|(?:-O)?\d+)(?:, )?")


def _rule_ids_in(description: str) -> list[str]:
    """Return the rule ids before the colon of a description such as ``B72, B75-B76: …``."""
    head, colon, _ = description.partition(": ")
    named: list[str] = []
    if colon:
        for found in _RULE.finditer(head):
            letter, first, last = found.groups()
            ids = [f"{letter}{n}" for n in range(int(first), int(last) + 1)] if first else [found[0].rstrip(", ")]
            named += ids
    return named


def _without_references(schema: Any, components: dict[str, Any]) -> Any:
    if isinstance(schema, list):
        return [_without_references(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {name: _without_references(part, components) for name, part in schema.items() if name != "$ref"}
    if "prefixItems" in rest:  # Few tools support it.
        rest["items"] = {"anyOf": rest.pop("prefixItems")}
    return {**_without_references(components[schema["$ref"]], components), **rest} if "$ref" in schema else rest


def _self_contained_schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    ((top,), components) = msgspec.json.schema_components((kind,), ref_template="{name}")
    schema: dict[str, Any] = _without_references(top, components)
    return schema


@cache
def result_schema(name: str) -> dict[str, Any] | None:
    """Return the JSON Schema of the results of a ruleset's deals; ``None`` if it has no act `result`."""
    kind = RULESETS[name].result
    if kind is None:
        return None
    schema, docs = _self_contained_schema(kind), field_docs(kind)
    fields = {
        field: {**described, **({"description": docs[field]} if field in docs else {})}
        for field, described in schema["properties"].items()
    }
    about = {"title": f"Result of {name}", "description": plain_text(kind.__doc__ or "")}
    whole: dict[str, Any] = with_formats({**schema, **about, "properties": fields})
    return whole


@cache
def options_schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a ruleset's options, with the rule ids of each option as ``x-rules``."""
    schema = _self_contained_schema(RULESETS[name].options)
    properties = {}
    for option, described_as in schema["properties"].items():
        properties[option] = {**described_as, "x-rules": _rule_ids_in(described_as.get("description", ""))}
    whole: dict[str, Any] = with_formats({**schema, "title": f"Options of {name}", "properties": properties})
    return whole
