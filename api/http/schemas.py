"""Schemas of the types in requests and answers. Each has a name, as generators of clients need.

A field that differs by game is tied to the field ``ruleset`` of its struct (:func:`~referee.value.tied`). A request
with such a field has a schema for each ruleset. An answer has one schema with the fields of all games. Schemas of
requests are closed. Schemas of answers are open for later fields.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec
from msgspec import NODEFAULT, UNSET, Meta, Struct, UnsetType, to_builtins
from msgspec.structs import FieldInfo, fields

from referee.acts import Act
from referee.games import PACKAGES, RULESETS
from referee.ruleset import Ruleset
from referee.sentences import TEXTS
from referee.store.club import Club
from referee.store.match import Match
from referee.value import Value
from referee.visibility import Event
from referee.vocabulary import INSTALLED

Plain = dict[str, Any]
"""Part of the OpenAPI description."""

NULL: Plain = {"type": "null"}
REFS = "#/components/schemas/"
INT32 = 2**31
LENGTHS = {"date-time": len("2026-01-02T03:04:05.123456+00:00"), "date": len("2026-01-02"), "uuid": 36}
"""Maximum characters of a text, by format."""
_VALUES = {"const", "default", "enum", "example", "examples"}
"""Keys of a schema whose values are not schemas."""


class Words(Value, forbid_unknown_fields=True):
    """Descriptions of fields without a docstring: for every type, and for single types."""

    words: dict[str, str]
    of: dict[str, dict[str, str]]
    """Descriptions by type."""


WORDS = msgspec.toml.decode((files("api.http") / "words.toml").read_bytes(), type=Words)


@cache
def _field_docs() -> dict[str, dict[str, str]]:
    docs: dict[str, dict[str, str]] = msgspec.json.decode((files("api.http") / "field_docs.json").read_bytes())
    return docs


def field_docs(cls: type) -> dict[str, str]:
    """Return the descriptions of a class's fields, which ``python -m tests.support.field_docs`` collects."""
    return _field_docs().get(f"{cls.__module__}.{cls.__name__}", {})


_named: dict[str, Plain] = {}
_owners: dict[str, Any] = {}
_refuse_others: set[str] = set()
"""Names of schemas in which the service refuses other fields."""


class Scope(NamedTuple):
    ruleset: str | None = None
    topic: str | None = None


def schema_of(kind: Any) -> Plain:
    """Return the schema of a type; if it has a name, a reference."""
    return _struct(kind, Scope(), alone=True) if _is_struct(kind) else _schema(kind, Scope())


def named_schemas(answers: Any) -> dict[str, Plain]:
    """Return the schemas referred to so far, by name. A schema is closed if the service refuses other fields and no
    part of ``answers`` refers to it."""
    shown = _reached(answers)
    return {
        name: {**schema, "additionalProperties": False} if name in _refuse_others - shown else schema
        for name, schema in _named.items()
    }


def _reached(root: Any) -> set[str]:
    """Return the names of schemas that a part of the description refers to, also through others."""
    found: set[str] = set()
    waiting = [root]
    for part in waiting:
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += [inner for name, inner in part.items() if name not in _VALUES]
            name = str(part.get("$ref", "")).removeprefix(REFS)
            if name in _named and name not in found:
                found.add(name)
                waiting.append(_named[name])
    return found


def plain_text(text: str) -> str:
    """Return a docstring without line breaks, double backticks and roles."""
    return re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", " ".join(text.split()).replace("``", "`"))


def _refer(name: str, owner: Any, make: Callable[[], Plain]) -> Plain:
    """Return a reference to the named schema. At the first call ``make`` makes it."""
    if name not in _owners:
        _owners[name] = owner
        _named[name] = _without_inline(make())
    assert _owners[name] == owner, f"two types are called {name}: {_owners[name]} and {owner}"
    return {"$ref": REFS + name}


# Types


class Placeholder:
    """Base of placeholder types. msgspec writes them as their ``schema``."""

    schema: Plain


def _placeholder(schema: Plain) -> Any:
    return type("Placeholder", (Placeholder,), {"schema": schema})


def _by_msgspec(kind: Any) -> Plain:
    hook: Any = attrgetter("schema")
    return msgspec.json.schema(kind, schema_hook=hook)


def _schema(kind: Any, scope: Scope) -> Plain:
    schema: Plain = _enumerated(_tidy(_by_msgspec(_with_references(kind, scope))))
    return schema


def _with_references(kind: Any, scope: Scope) -> Any:
    """Return the type with placeholders instead of structs, their unions, and tied types."""
    origin, args = get_origin(kind), get_args(kind)
    if _is_struct(kind):
        return _placeholder(_struct(kind, scope))
    if origin is Annotated:
        extra = {name: value for meta in args[1:] for name, value in (meta.extra_json_schema or {}).items()}
        if "x-tied" in extra:
            return _placeholder(_tied(args[0], extra["x-tied"], scope))
        kind = Annotated[_with_references(args[0], scope), *args[1:]]
        return (
            _placeholder(_by_msgspec(kind) | extra) if "pattern" in extra else kind
        )  # ``extra`` has the public pattern
    if origin is Union or origin is UnionType:
        return _union([one for one in args if one is not UnsetType], scope)
    if origin is None or origin is Literal:
        return kind
    if origin is NotRequired:
        return _with_references(args[0], scope)
    return origin[tuple(_with_references(one, scope) for one in args)]


def _union(members: list[Any], scope: Scope) -> Any:
    structs = [one for one in members if _is_struct(one)]
    parts = [_with_references(one, scope) for one in members]
    if len(structs) > 1:
        config = structs[0].__struct_config__
        union = _by_discriminator(
            config.tag_field, {one.__struct_config__.tag: _struct(one, scope) for one in structs}
        )
        return _placeholder(_or_null(union) if NoneType in members else union)
    if any(
        isinstance(part, type) and issubclass(part, Placeholder) for part in parts
    ):  # msgspec allows only None beside
        return _placeholder({"anyOf": list(map(_by_msgspec, parts))})
    return Union[tuple(parts)]  # noqa: UP007


def _tidy(schema: Any) -> Any:
    """Return a schema of msgspec in the form that generators support; if it has a title, a reference."""
    if isinstance(schema, list):
        return [_tidy(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: inner if name in _VALUES else _tidy(inner) for name, inner in schema.items()}
    if (values := schema.pop("x-values", None)) is not None:
        schema["enum"] = sorted(getattr(TEXTS, values))
    elif "enum" in schema and "type" not in schema:
        schema |= _type_and_limits(schema["enum"])
    if "anyOf" in schema:
        schema = _tidy_union(schema.pop("anyOf")) | schema
    if schema.get("type") == "object":
        schema.setdefault("additionalProperties", True)
    if schema.get("format") in LENGTHS:
        schema["maxLength"] = LENGTHS[schema["format"]]
    if "description" in schema:
        schema["description"] = plain_text(schema["description"])
    name = schema.pop("title", None)
    return schema if name is None else _refer(name, schema, lambda: schema)


def with_formats(schema: Any) -> Any:
    """Return the schema with ``int32`` or ``int64``, by its limits, as the ``format`` of each integer."""
    if isinstance(schema, list):
        return [with_formats(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: inner if name in _VALUES else with_formats(inner) for name, inner in schema.items()}
    if schema.get("type") in ("integer", ["integer", "null"]):
        values = schema.get("enum") or (schema.get("minimum"), schema.get("maximum"))
        narrow = all(value is not None and -INT32 <= value < INT32 for value in values)
        schema.setdefault("format", "int32" if narrow else "int64")
    return schema


def _without_inline(schema: Any) -> Any:
    """Return a schema whose parts are in the form of :func:`_enumerated`."""
    if isinstance(schema, list):
        return [_enumerated(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: inner if name in _VALUES else _enumerated(inner) for name, inner in schema.items()}


def _enumerated(schema: Any) -> Any:
    """Return a schema with references to enumerations and objects. An enumeration of one value becomes a constant."""
    if isinstance(schema, dict) and "object" in _kinds(schema) and "properties" not in schema:
        return _free_object(schema)
    if not isinstance(schema, dict) or not isinstance(values := schema.get("enum"), list):
        return _without_inline(schema)
    if len(values) == 1:
        return {"const" if name == "enum" else name: inner for name, inner in schema.items()} | {"const": values[0]}
    name, description = _enumeration_named(frozenset(values))
    whole = {**{key: schema[key] for key in ("type", "enum", "minimum", "maximum") if key in schema}}
    rest = {"description": schema["description"]} if "description" in schema else {}
    return {**_refer(name, whole, lambda: {**whole, "description": description}), **rest}


def _kinds(schema: Plain) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _free_object(schema: Plain) -> Plain:
    """Return a reference to the schema of an object with any fields."""
    values = schema.get("additionalProperties", True)
    name, text = ("JsonObject", "Any JSON object.") if values is True else ("Numbers", "Numbers by name.")
    whole = {"type": "object", "additionalProperties": values}
    named = _refer(name, whole, lambda: {"description": text, **whole})
    rest = {"description": schema["description"]} if "description" in schema else {}
    return {**(_or_null(named) if "null" in _kinds(schema) else named), **rest}


class Enumeration(Value, forbid_unknown_fields=True):
    """An enumeration without a title in the source."""

    values: list[str | int]
    description: str


@cache
def _enumerations() -> dict[frozenset[str | int], tuple[str, str]]:
    """Return the name and description of each enumeration, by its values."""
    kind = dict[str, dict[str, Enumeration]]
    named = msgspec.toml.decode((files("api.http") / "enumerations.toml").read_bytes(), type=kind)["enumerations"]
    return {frozenset(one.values): (name, one.description) for name, one in named.items()}


def _enumeration_named(values: frozenset[str | int]) -> tuple[str, str]:
    """Return the name and description of an enumeration without a title.

    One that only an installed game has, alone or with the values of other games, has a name made of its values.
    """
    known = _enumerations().get(_without_installed(values))
    if known is None and not INSTALLED:
        raise KeyError(values)
    words = re.findall("[A-Za-z0-9]+", " ".join(sorted(map(str, values))))
    return known or (f"OneOf{''.join(map(str.title, words))}", "One of these values.")


def _without_installed(values: frozenset[str | int]) -> frozenset[str | int]:
    """Return the values of an enumeration without the words that installed games add to it."""
    own = {word for words in INSTALLED.values() for word in words.values}
    known = (one for one in _enumerations() if one <= values and values - one <= own)
    return max(known, key=len, default=values)


def _type_and_limits(values: list[Any]) -> Plain:
    if isinstance(values[0], str):
        return {"type": "string"}
    return {"type": "integer", "minimum": min(values), "maximum": max(values)}


def _widest_limits(schemas: list[Plain]) -> Plain:
    resolved = [_resolved(one) for one in schemas]
    bounds: tuple[tuple[str, Callable[..., int]], ...] = (("minimum", min), ("maximum", max))
    return {
        name: widest(one[name] for one in resolved) for name, widest in bounds if all(name in one for one in resolved)
    }


def _resolved(schema: Plain) -> Plain:
    return _named[schema["$ref"].removeprefix(REFS)] if "$ref" in schema else schema


def _tidy_union(parts: list[Plain]) -> Plain:
    some = [part for part in parts if part != NULL]
    if len(some) == 1:
        schema = some[0]
    elif all(part.get("type") in {"integer", "number"} for part in some) and {"type": "number"} in some:
        schema = {"type": "number"}
    elif all(words := [_resolved(part).get("enum") for part in some]):  # they are all enumerations
        schema = {"type": "string", "enum": sorted(word for part in words for word in part or ())}
    else:
        schema = {"oneOf": some}
    return schema if len(some) == len(parts) else _or_null(schema)


def _or_null(schema: Plain) -> Plain:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, NULL]}


def _by_discriminator(field: str, members: Mapping[str, Plain]) -> Plain:
    mapping = {value: member["$ref"] for value, member in members.items()}
    return {"oneOf": list(members.values()), "discriminator": {"propertyName": field, "mapping": mapping}}


# Ties


def camel(key: str) -> str:
    return "".join(part.title() for part in key.split("-"))


def phases_of(rules: Ruleset) -> tuple[str, ...]:
    kinds = (get_origin(phase) or phase for phase in get_args(rules.state))
    return tuple(str(kind.__struct_config__.tag) for kind in kinds)


PHASE = Annotated[
    str,
    Meta(
        title="Phase",
        description="The phase of a match, which says what it waits for. Each game has its own phases.",
        extra_json_schema={"enum": sorted({phase for rules in RULESETS.values() for phase in phases_of(rules)})},
    ),
]


@cache
def _ties() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the types or limits of tied fields: by the field they are tied to, its value, and their own name."""
    return {
        "ruleset": {
            key: {
                "players": {"minItems": rules.players_min, "maxItems": rules.players_max},
                "first_dealer": {"minimum": 0, "maximum": rules.players_max - 1},
                "options": rules.options,
                "resolved": rules.options,
                "more": rules.more,
                "detail": rules.detail,
            }
            for key, rules in RULESETS.items()
        },
    }


EVENTS: dict[str, tuple[str, str, Any]] = {
    "match": ("Event", "An event of a match. `topic` is its kind, which decides the other fields.", Match),
    "club": ("ClubEvent", "An event of a club. `topic` is its kind, which decides the other fields.", Club),
}
"""Name and description of the schema of all events, by kind of aggregate."""


def _event(of: str) -> Plain:
    """Return a reference to the schema of all events of a match or a club."""
    name, description, aggregate = EVENTS[of]

    def make() -> Plain:
        facts = {fact.TOPIC: fact for fact in sorted(aggregate.FACTS, key=lambda fact: fact.TOPIC)}
        members = {topic: _variant(fact, Scope(topic=topic)) for topic, fact in facts.items()}
        return {"description": description, **_by_discriminator("topic", members)}

    return _refer(name, (Event, of), make)


def _tie(part: Any) -> tuple[str, str] | None:
    """Return the arguments of :func:`~referee.value.tied` if this part of a type is a tie."""
    extra = part.extra_json_schema if isinstance(part, Meta) else None
    return None if extra is None else extra.get("x-tied")


def _tied(kind: Any, tie: tuple[str, str], scope: Scope) -> Plain:
    """Return the schema of a tied field: for the scope's ruleset, else for all."""
    by, what = tie
    if by == "topic":
        return _event(what)
    here = getattr(scope, by)

    def tied(other: Any) -> Plain:
        return {**_schema(kind, scope), **other} if isinstance(other, dict) else _schema(other, scope)

    if here is None and what == "phase":
        return _schema(PHASE, scope)
    if here is not None:
        return tied(_ties()[by][here][what])
    title, description = _MERGED[what]
    every = [_object_schema(kinds[what], scope, "", alone=True) for kinds in _ties()[by].values() if what in kinds]
    return _refer(title, (by, what), lambda: {"description": description, **_merged(every)})


_MERGED = {
    "resolved": ("Options", "The options of a match, defaults included. Each game has its own."),
    "more": ("More", "Fields of a state that only some games have."),
    "detail": ("Detail", "Fields of a scored deal that only some games have."),
}
"""Names and descriptions of the schemas that answers have for all rulesets together."""


def _merged(structs: list[Plain]) -> Plain:
    """Return one object with the fields of all these structs, none required. ``oneOf`` would refuse shared fields."""
    by_name: dict[str, list[Plain]] = {}
    for struct in structs:
        for name, schema in struct["properties"].items():
            by_name.setdefault(name, []).append(schema)
    return {"type": "object", "properties": {name: _common(schemas) for name, schemas in by_name.items()}}


def _common(schemas: list[Plain]) -> Plain:
    """Return a schema that allows what any of these allows."""
    description, bare = schemas[0]["description"], [{**one, "description": ""} for one in schemas]
    if all(one == bare[0] for one in bare):
        return schemas[0]
    resolved = [_resolved(one) for one in schemas]
    if all("enum" in one for one in resolved):
        values = sorted({value for one in resolved for value in one["enum"]})
        return {**_enumerated({"type": resolved[0]["type"], "enum": values}), "description": description}
    if resolved[0].get("type") in ("integer", "number") and all(
        one["type"] == resolved[0]["type"] for one in resolved
    ):
        return {"type": resolved[0]["type"], **_widest_limits(resolved), "description": description}
    each = [{name: inner for name, inner in one.items() if name != "description"} for one in schemas]
    return {"anyOf": [one for place, one in enumerate(each) if one not in each[:place]], "description": description}


def _parts_of_fields(cls: type) -> Iterator[Any]:
    waiting = [field.type for field in _fields(cls)]
    for part in waiting:
        yield part
        waiting += get_args(part)


@cache
def _ties_of(cls: type) -> frozenset[tuple[str, str]]:
    return frozenset(filter(None, map(_tie, _parts_of_fields(cls))))


@cache
def _tied_to(cls: type) -> frozenset[str]:
    """Return the fields that this struct, or structs in it, are tied to."""
    found = {by for by, _ in _ties_of(cls)}
    for inner in filter(_is_struct, _parts_of_fields(cls)):
        found |= _tied_to(inner) - {field.name for field in _fields(inner)}
    return frozenset(found)


# Structs


def _is_struct(kind: Any) -> bool:
    return is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, Struct))


@cache
def _fields(cls: Any) -> tuple[FieldInfo, ...]:
    if not is_typeddict(cls):
        return fields(cls)
    kinds = get_type_hints(cls, include_extras=True)
    return tuple(
        FieldInfo(name, name, kind, NODEFAULT if name in cls.__required_keys__ else None)
        for name, kind in sorted(kinds.items())
    )


def _struct(cls: Any, scope: Scope, *, alone: bool = False) -> Plain:
    """Return a reference to the schema of a struct; in a request, one schema for each ruleset.

    ``alone``: the struct is read without its tag.
    """
    by = min(_tied_to(cls) & {field.name for field in _fields(cls)}, default=None)
    if by is None or not cls.__struct_config__.forbid_unknown_fields:
        return _variant(cls, scope, alone=alone)
    tied = {what for to, what in _ties_of(cls) if to == by}
    variants = {
        value: _variant(cls, Scope(**scope._asdict() | {by: value}), about=f"`{called(cls)}` if `{by}` is `{value}`.")
        for value, kinds in _ties()[by].items()
        if tied <= kinds.keys()
    }
    about = plain_text(cls.__doc__ or "")
    return _refer(called(cls), cls, lambda: {"description": about, **_by_discriminator(by, variants)})


def _variant(cls: Any, scope: Scope, *, alone: bool = False, about: str = "") -> Plain:
    """Return a reference to the schema of a struct in this scope. ``about``: its description."""
    scope = Scope(
        ruleset=scope.ruleset if "ruleset" in _tied_to(cls) else None,
        topic=scope.topic if getattr(cls, "TOPIC", None) == scope.topic else None,
    )
    about = about or plain_text(cls.__doc__ or "")
    return _refer(_name(cls, scope), (cls, scope), lambda: _object_schema(cls, scope, about, alone=alone))


def _is_of_a_game(cls: Any) -> bool:
    return any(f"{cls.__module__}.".startswith(f"{package}.") for package in PACKAGES)


def called(cls: type) -> str:
    return str(getattr(cls, "SCHEMA", cls.__name__))


def _name(cls: Any, scope: Scope) -> str:
    if scope.topic is not None:
        return str(cls.__name__)
    ruleset = scope.ruleset
    if _is_of_a_game(cls):  # every game has classes named Options, More and Detail
        ruleset = next((key for key, tied in _ties()["ruleset"].items() if cls in tied.values()), None)
    return called(cls) if ruleset is None else camel(ruleset) + called(cls)


def _object_schema(cls: Any, scope: Scope, about: str, *, alone: bool) -> Plain:
    docs, config = field_docs(cls), getattr(cls, "__struct_config__", None)
    refuses_others = config is not None and config.forbid_unknown_fields
    if refuses_others:
        _refuse_others.add(_name(cls, scope))
    properties, required = {}, []
    if config is not None and config.tag_field is not None:
        tag = "The name of the act; here it may be left out." if alone else "The name of the act: the discriminator."
        tag = tag if config.tag_field == "act" else WORDS.words[config.tag_field]
        properties[config.tag_field] = {"type": "string", "const": config.tag, "description": tag}
        required = [] if alone else [config.tag_field]
    if scope.topic is not None:
        properties["topic"] = {"type": "string", "const": scope.topic, "description": WORDS.words["topic"]}
        required.append("topic")
    may_be_missing = config is None or refuses_others or config.omit_defaults
    is_option = refuses_others and _is_of_a_game(cls) and not issubclass(cls, Act)  # shown with nulls
    for field in _fields(cls):
        name = field.encode_name
        here = getattr(scope, name, None)
        schema = {"type": "string", "const": here} if isinstance(here, str) else _schema(field.type, scope)
        description = docs.get(name) or schema.get("description") or WORDS.words.get(name)
        if field.required or not may_be_missing:
            required.append(name)
        elif field.default is None:
            schema = schema if is_option or config is None else _without_null(schema)
        elif field.default not in (NODEFAULT, UNSET, ""):
            default = to_builtins(field.default)
            word = default if isinstance(default, str) else json.dumps(default)
            description = f"{description or ''} Default: `{word}`.".lstrip()
        if description:
            description = _about_absence(description, required=name in required, nullable=_is_nullable(schema))
            schema = {**schema, "description": description}
        properties[name] = schema
    return {
        "type": "object",
        "description": about,
        "properties": {name: properties[name] for name in sorted(properties, key=lambda name: name not in required)},
        **({"required": required} if required else {}),
    }


def _is_nullable(schema: Plain) -> bool:
    return "null" in schema.get("type", ()) or NULL in schema.get("anyOf", ())


ABSENT = re.compile(r"([;.])\s+null or left out\b", re.IGNORECASE)


def _about_absence(description: str, *, required: bool, nullable: bool) -> str:
    """Return a description that says "null" or "left out" instead of "null or left out", as the schema allows."""
    if nullable and required:
        return ABSENT.sub(r"\1 null", description)
    if required:
        return re.sub(ABSENT.pattern + r"[^.]*\.", ".", description, flags=re.IGNORECASE)
    if nullable:
        return description
    return ABSENT.sub(lambda found: ". Left out" if found[1] == "." else "; left out", description)


def _without_null(schema: Plain) -> Plain:
    """Return the schema of an optional field without null. A list keeps null, because Java clients send an empty list
    if it is left out."""
    if isinstance(schema.get("type"), list):
        return schema if "array" in schema["type"] else {**schema, "type": schema["type"][0]}
    kinds = [one for one in schema.get("anyOf", ()) if one != NULL]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, **kinds[0]} if len(kinds) == 1 and kinds[0].get("type") != "array" else schema
