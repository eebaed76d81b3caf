"""Adds hints for generators of clients to the API description."""

import re
from collections import Counter
from typing import Any

from api.http.schemas import REFS, Plain

PYTHON_END = r"$(?!\n)"
"""End of a text in a Python pattern. JSON Schema gets ``$``, because Go supports no lookahead."""


def add_hints(schemas: Plain) -> Plain:
    """Return the named schemas with hints for generators.

    Go's enumerations share one name space, so those with a common value get constant names with the schema's name as
    prefix. Go's generator finds the variant of a union by ``pattern``, not ``const``, so constants get a pattern. The
    generator fails at the pattern of a nullable text, so a format replaces it.
    """
    texts = {f"{REFS}{name}": (name, schema) for name, schema in schemas.items() if "pattern" in schema}

    def hinted(value: Any) -> Any:
        if isinstance(value, list):
            return [hinted(inner) for inner in value]
        if not isinstance(value, dict):
            return value
        value = {name: hinted(inner) for name, inner in value.items()}
        if isinstance(constant := value.get("const"), str):
            return value | {"pattern": f"^{constant}$"}
        match value:
            case {"anyOf": [{"$ref": ref}, {"type": "null"}]} if ref in texts:
                name, text = texts[ref]
                value = {**text, **value, "type": ["string", "null"], "format": _kebab(name)}
                del value["anyOf"], value["pattern"]
            case {"type": ["string", "null"], "pattern": _}:
                value = {"format": "text", **value}
                del value["pattern"]
        return value

    named: Plain = {name: hinted(schema) for name, schema in schemas.items()}
    owners = Counter(value for schema in named.values() for value in schema.get("enum", ()))
    for name, schema in named.items():
        if any(owners[value] > 1 for value in schema.get("enum", ())):
            schema["x-enum-varnames"] = [_go_constant(f"{_kebab(name)}_{value}") for value in schema["enum"]]
    return named


def written_pattern(pattern: str) -> str:
    """Return a Python pattern as JSON Schema writes it, with line ends escaped."""
    return pattern.replace(PYTHON_END, "$").replace("\n", r"\n")


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def _go_constant(text: str) -> str:
    return re.sub(r"[\W_]+", "_", text).upper()
