"""Hints in the description for generators of clients, which read more into it than JSON Schema says."""

import re
from typing import Any

from api.http.schemas import Plain

PYTHON_END = r"$(?!\n)"
"""The end of a text in a pattern of Python. In a JSON Schema ``$`` is that end, and Go's patterns have no lookahead."""


def add_hints(schemas: Plain) -> Plain:
    """Return the named schemas with hints for generators.

    Go has one name space for the values of all enumerations, so each value gets a name that begins with the name of
    its schema. Go decodes a union by trying each variant and ignores ``const``, but not ``pattern``.
    """
    return {
        name: {**_hinted(schema), **({"x-enum-varnames": _constants(name, schema["enum"])} if "enum" in schema else {})}
        for name, schema in schemas.items()
    }


def _constants(name: str, values: list[str]) -> list[str]:
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return [re.sub(r"[\W_]+", "_", f"{prefix}_{value}").upper() for value in values]


def _hinted(value: Any) -> Any:
    if isinstance(value, list):
        return [_hinted(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    hinted = {name: _hinted(inner) for name, inner in value.items()}
    if isinstance(constant := value.get("const"), str):
        hinted["pattern"] = f"^{constant}$"
    elif isinstance(pattern := value.get("pattern"), str):
        hinted["pattern"] = pattern.replace(PYTHON_END, "$")
    return hinted
