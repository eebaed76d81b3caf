"""Compare requests and answers with ``openapi/openapi.json``, on which clients rely."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import jsonschema_rs
import msgspec

FILE = Path(__file__).parents[2] / "openapi" / "openapi.json"
WORDS_MAX = 500
GENERAL = {
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-security-policy",
    "content-type",
    "cross-origin-resource-policy",
    "date",
    "referrer-policy",
    "transfer-encoding",
    "vary",
    "x-content-type-options",
}
"""Headers that the description does not name: those of HTTP itself, and those that instruct browsers."""


def resolved(description: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a description, with its reference resolved."""
    while "$ref" in part:
        found: Any = description
        for step in part["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        part = found
    return part


class Undescribed(AssertionError):
    """A request or an answer that does not fit the description."""


class Description:
    """The description. Validators are cached by the ``id()`` of their schemas, so the schemas must not be copied."""

    def __init__(self, text: str | None = None) -> None:
        """Read the description from ``text``; ``None``: the published one."""
        self._all: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8") if text is None else text)
        self._paths = {re.compile(re.sub(r"\{\w+\}", "[^/]+", path)): path for path in self._all["paths"]}
        self._validators: dict[int, Any] = {}

    def operation(self, method: str, path: str) -> dict[str, Any]:
        """Return the operation at this path. A path without parameters has priority. Raise Undescribed if none
        fits."""
        found = [named for pattern, named in self._paths.items() if pattern.fullmatch(path)]
        calls = self._all["paths"][min(found, key=lambda named: named.count("{"))] if found else {}
        if method.lower() not in calls:
            raise Undescribed(f"{method} {path}")
        operation: dict[str, Any] = calls[method.lower()]
        return operation

    def calls(self) -> Iterator[tuple[str, str]]:
        """Yield the method and the path of each call, with ``1`` for each path parameter."""
        for path, calls in self._all["paths"].items():
            yield from ((method.upper(), re.sub(r"\{\w+\}", "1", path)) for method in calls)

    def asked(self, method: str, target: str, body: Any = None) -> None:
        """Raise Undescribed if a request does not fit the description."""
        path, query = urlsplit(target).path, parse_qsl(urlsplit(target).query)
        operation = self.operation(method, path)
        parameters = [resolved(self._all, one) for one in operation.get("parameters", ())]
        known = {one["name"]: one["schema"] for one in parameters if one["in"] == "query"}
        for name, text in query:
            if name not in known:
                raise Undescribed(f"{method} {target}: {name}")
            self._hold(known[name], int(text) if _is_number(known[name]) else text, f"{method} {target}: {name}")
        if body is not None:
            self._hold(operation["requestBody"]["content"]["application/json"]["schema"], body, f"{method} {target}")

    def answered(self, method: str, target: str, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Raise Undescribed if the status, the headers or the body of an answer do not fit the description."""
        path = urlsplit(target).path
        responses, where = self.operation(method, path)["responses"], f"{method} {path}: {status}"
        if str(status) not in responses:
            raise Undescribed(where)
        data = resolved(self._all, responses[str(status)])
        given = {name.lower(): value for name, value in headers.items()}
        if more := given.keys() - {name.lower() for name in data.get("headers", {})} - GENERAL:
            raise Undescribed(f"{where} has {more}")
        for name in data.get("headers", {}):
            one = self._all["components"]["headers"][name]
            if (text := given.get(name.lower())) is not None:
                self._hold(one["schema"], int(text) if _is_number(one["schema"]) else text, f"{where} {name}")
            elif one.get("required"):
                raise Undescribed(f"{where} has no {name}")
        media_type, _, charset = given.get("content-type", "").partition("; charset=")
        if "content" not in data:
            if body:
                raise Undescribed(f"{where} has a body")
            return
        if media_type not in data["content"]:
            raise Undescribed(f"{where} is {media_type}")
        schema = data["content"][media_type]["schema"]
        written = media_type.endswith(("/json", "+json"))
        self._hold(schema, msgspec.json.decode(body) if written else body.decode(charset or "utf-8"), where)

    def shape(self, name: str, body: Any) -> None:
        """Raise Undescribed if a body does not fit the schema of this name."""
        self._hold(self._all["components"]["schemas"][name], body, name)

    def _hold(self, schema: dict[str, Any], body: Any, where: str) -> None:
        validator = self._validators.get(id(schema))
        if validator is None:
            whole = {**schema, "components": self._all["components"]}
            validator = self._validators[id(schema)] = jsonschema_rs.Draft202012Validator(
                whole, validate_formats=True
            )
        if not validator.is_valid(body):
            error = next(iter(validator.iter_errors(body)))
            at = "/".join(map(str, error.instance_path))
            raise Undescribed(f"{where} at {at}: {error.message[:WORDS_MAX]} in {json.dumps(body)[:WORDS_MAX]}")


def _is_number(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "integer"
