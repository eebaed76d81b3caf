"""Find the promises of a released API description that a later one breaks.

``broken(old, new)`` lists them: every request that was allowed must still be accepted, and every answer must still be
readable by clients of the old description. New calls, optional fields of requests, fields of answers and codes of
problems are allowed. So are new values of other enumerations in answers, if more can be requested.
"""

from collections.abc import Iterator
from functools import cached_property
from operator import gt, lt
from typing import Any

from tests.conformance.description_check import resolved

Json = dict[str, Any]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch")
AT_ANY_TIME = "#/components/schemas/ProblemType"
"""The enumeration that may always grow: a client that does not know a code uses the status."""
LEAST, MOST = ("minimum", "minLength", "minItems"), ("maximum", "maxLength", "maxItems")


def broken(old: Json, new: Json) -> list[str]:
    """Return a line for each broken promise."""
    return sorted(set(_Pair(old, new).calls()))


class _Pair:
    def __init__(self, old: Json, new: Json) -> None:
        self._old, self._new = old, new
        self._under_way: set[tuple[str, str, bool]] = set()

    def calls(self) -> Iterator[str]:
        for path, methods in self._old["paths"].items():
            for method in methods.keys() & METHODS:
                call = self._new["paths"].get(path, {}).get(method)
                name = f"{method.upper()} {path}"
                if call is None:
                    yield f"{name} is gone"
                else:
                    yield from self._call(name, methods[method], call)

    def _call(self, name: str, old: Json, new: Json) -> Iterator[str]:
        if old["operationId"] != new["operationId"]:
            yield f"{name} is called {new['operationId']}"
        yield from self._asked(name, old, new)
        for status in old["responses"]:
            if status not in new["responses"]:
                yield f"{name}: {status} is gone"
                continue
            answer = resolved(self._old, old["responses"][status])
            there = resolved(self._new, new["responses"][status])
            gone = answer.get("headers", {}).keys() - there.get("headers", {}).keys()
            yield from (f"{name}: {status}: header {header} is gone" for header in gone)
            yield from self._content(f"{name}: {status}", answer, there, sent=False)

    @cached_property
    def _there_is_more_to_ask(self) -> bool:
        """Return whether a request is possible now that was not before: then the old description as the later one
        would be broken."""
        return any(_Pair(self._new, self._old).all_that_is_asked())

    def all_that_is_asked(self) -> Iterator[str]:
        """Yield the requests that are no longer possible."""
        for path, methods in self._old["paths"].items():
            for method in methods.keys() & METHODS:
                call = self._new["paths"].get(path, {}).get(method)
                name = f"{method.upper()} {path}"
                yield from [f"{name} is gone"] if call is None else self._asked(name, methods[method], call)

    def _asked(self, name: str, old: Json, new: Json) -> Iterator[str]:
        was, now = (_parameters(*pair) for pair in ((self._old, old), (self._new, new)))
        yield from (f"{name}: parameter {key[0]} is gone" for key in was.keys() - now.keys())
        for key, parameter in now.items():
            if parameter.get("required") and not was.get(key, {}).get("required"):
                yield f"{name}: parameter {key[0]} has become required"
            if key in was:
                yield from self._schema(f"{name}: {key[0]}", was[key]["schema"], parameter["schema"], sent=True)
        body, before = (call.get("requestBody", {}) for call in (new, old))
        if body.get("required") and not before.get("required"):
            yield f"{name}: a body has become required"
        yield from self._content(f"{name}: body", before, body, sent=True)

    def _content(self, where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
        for media_type, was in old.get("content", {}).items():
            now = new.get("content", {}).get(media_type)
            if now is None:
                yield f"{where}: {media_type} is gone"
            else:
                yield from self._schema(where, was.get("schema", {}), now.get("schema", {}), sent=sent)

    def _schema(self, where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
        pair = (old.get("$ref", ""), new.get("$ref", ""), sent)
        if all(pair[:2]):
            if pair in self._under_way:
                return
            self._under_way.add(pair)
        may_grow = sent or old.get("$ref") == AT_ANY_TIME
        old, new = resolved(self._old, old), resolved(self._new, new)
        more = set() if may_grow or not _named_in(old) else _named_in(new) - _named_in(old)
        if more and not self._there_is_more_to_ask:
            yield from (f"{where} may be {one}, and there is nothing more to ask for" for one in more)
        if "oneOf" in old or "anyOf" in old or "oneOf" in new or "anyOf" in new:
            yield from self._members(where, old, new, sent=sent)
            return
        yield from _values(where, old, new, sent=sent)
        if sent:
            yield from _bounds(where, old, new)
        was, now = old.get("properties", {}), new.get("properties", {})
        yield from (f"{where}.{name} is gone" for name in was.keys() - now.keys())
        must, had = (set(one.get("required", ())) for one in ((new, old) if sent else (old, new)))
        word = "has become required" if sent else "may be missing"
        yield from (f"{where}.{name} {word}" for name in must - had)
        for name in was.keys() & now.keys():
            yield from self._schema(f"{where}.{name}", was[name], now[name], sent=sent)
        for word in ("items", "additionalProperties"):
            if isinstance(old.get(word), dict) and isinstance(new.get(word), dict):
                yield from self._schema(f"{where}[]", old[word], new[word], sent=sent)

    def _members(self, where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
        """Yield the broken promises of a union: each old member must remain, and answers must not have a new kind of
        value."""
        was = {_name_of(self._old, one): one for one in _members(old)}
        now = {_name_of(self._new, one): one for one in _members(new)}
        if sent:
            yield from (f"{where}: {name} is gone" for name in was.keys() - now.keys())
        else:
            kinds = {_kind(self._new, one) for one in now.values()} - {_kind(self._old, one) for one in was.values()}
            yield from (f"{where} may be {kind}" for kind in kinds)
        for name in was.keys() & now.keys():
            yield from self._schema(f"{where}({name})", was[name], now[name], sent=sent)


def _parameters(root: Json, call: Json) -> dict[tuple[str, str], Json]:
    """Return the parameters by name and place."""
    found = (resolved(root, one) for one in call.get("parameters", ()))
    return {(one["name"], one["in"]): one for one in found}


def _members(schema: Json) -> list[Json]:
    found: list[Json] = schema.get("oneOf") or schema.get("anyOf") or [schema]
    return found


def _kind(root: Json, schema: Json) -> str:
    return str(resolved(root, schema).get("type", "object"))


def _name_of(root: Json, schema: Json) -> str:
    return str(schema["$ref"]).rpartition("/")[2] if "$ref" in schema else _kind(root, schema)


def _values(where: str, old: Json, new: Json, *, sent: bool) -> Iterator[str]:
    was, now = (set(_types(one)) for one in (old, new))
    if was and now and not (was <= now if sent else now <= was):
        yield f"{where} was {'/'.join(sorted(was))} and is {'/'.join(sorted(now))}"
    if "const" in new and new["const"] != old.get("const"):
        yield f"{where} may only be {new['const']}"
    if sent and "enum" in new:
        gone = [one for one in old.get("enum", ["all that it was"]) if one not in new["enum"]]
        yield from (f"{where} may not be {one}" for one in gone)


def _named_in(schema: Json) -> set[Any]:
    """Return the enumerated values, or the tags of a union's members."""
    one = [schema["const"]] if "const" in schema else []
    return {*schema.get("enum", one), *schema.get("discriminator", {}).get("mapping", ())}


def _types(schema: Json) -> list[str]:
    kind = schema.get("type", [])
    kinds = [kind] if isinstance(kind, str) else kind
    return [*kinds, "integer"] if "number" in kinds else kinds


def _bounds(where: str, old: Json, new: Json) -> Iterator[str]:
    for words, narrower in ((LEAST, gt), (MOST, lt)):
        for word in words:
            if word in new and (word not in old or narrower(new[word], old[word])):
                yield f"{where}: {word} is {new[word]}"
    if "pattern" in new and new["pattern"] != old.get("pattern"):
        yield f"{where}: pattern is {new['pattern']}"
