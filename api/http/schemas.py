"""Makes the schemas of requests and answers. Objects and enumerations have names: client generators need them.

The type of a tied field depends on the field ``ruleset`` or ``topic`` of its struct or an outer one
(:func:`~referee.value.type_depends_on`). A request with a field tied to ``ruleset`` has one schema for each ruleset.
An answer has one schema with the fields of all games. Only schemas that no answer uses refuse other fields.
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
"""Maximum number of characters, by format."""
_VALUES = {"const", "default", "enum", "example", "examples"}
"""Keys of a schema whose values are not schemas."""


class Words(Value, forbid_unknown_fields=True):
    """Descriptions of fields that have no docstring."""

    words: dict[str, str]
    """Descriptions for every type, by field."""
    of: dict[str, dict[str, str]]
    """Descriptions for single types, by type and field."""


WORDS = msgspec.toml.decode((files("api.http") / "words.toml").read_bytes(), type=Words)


@cache
def _field_docs() -> dict[str, dict[str, str]]:
    docs: dict[str, dict[str, str]] = msgspec.json.decode((files("api.http") / "field_docs.json").read_bytes())
    return docs


def field_docs(cls: type) -> dict[str, str]:
    """Return, by field, the descriptions of a class in ``field_docs.json``."""
    return _field_docs().get(f"{cls.__module__}.{cls.__name__}", {})


_schema_by_name: dict[str, Plain] = {}
_owner_by_name: dict[str, Any] = {}
_names_of_closed: set[str] = set()
"""Names of schemas that refuse other fields unless an answer uses them."""


class TieValues(NamedTuple):
    """Known values of the fields to which other fields are tied."""

    ruleset: str | None = None
    topic: str | None = None


def schema_of(kind: Any) -> Plain:
    """Return the schema of a type. If the schema has a name, store it and return a reference."""
    return _struct_reference(kind, TieValues(), alone=True) if _is_struct(kind) else _schema_with(kind, TieValues())


def named_schemas(answers: Any) -> dict[str, Plain]:
    """Return all stored schemas by name. Those to which ``answers`` refer allow other fields."""
    shown = _names_referred_to(answers)
    return {
        name: {**schema, "additionalProperties": False} if name in _names_of_closed - shown else schema
        for name, schema in _schema_by_name.items()
    }


def _names_referred_to(root: Any) -> set[str]:
    """Return the names of schemas to which a part refers, even indirectly."""
    found: set[str] = set()
    waiting = [root]
    for part in waiting:
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            waiting += [inner for name, inner in part.items() if name not in _VALUES]
            name = str(part.get("$ref", "")).removeprefix(REFS)
            if name in _schema_by_name and name not in found:
                found.add(name)
                waiting.append(_schema_by_name[name])
    return found


def plain_text(text: str) -> str:
    """Return a docstring on one line, with single backticks and without roles."""
    return re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", " ".join(text.split()).replace("``", "`"))


def _reference(name: str, owner: Any, make: Callable[[], Plain]) -> Plain:
    """Return a reference to the schema of this name. At the first call, store the result of ``make``."""
    if name not in _owner_by_name:
        _owner_by_name[name] = owner
        _schema_by_name[name] = _parts_with_shared_schemas(make())
    assert _owner_by_name[name] == owner, f"two types are called {name}: {_owner_by_name[name]} and {owner}"
    return {"$ref": REFS + name}


# Types


class Placeholder:
    """Base of types that msgspec describes by their ``schema``."""

    schema: Plain


def _make_placeholder(schema: Plain) -> Any:
    return type("Placeholder", (Placeholder,), {"schema": schema})


def _msgspec_schema(kind: Any) -> Plain:
    hook: Any = attrgetter("schema")
    return msgspec.json.schema(kind, schema_hook=hook)


def _schema_with(kind: Any, tie_values: TieValues) -> Plain:
    schema: Plain = _with_shared_schemas(_tidy(_msgspec_schema(_with_references(kind, tie_values))))
    return schema


def _with_references(kind: Any, tie_values: TieValues) -> Any:
    """Return the type with placeholders instead of structs, their unions, and tied types."""
    origin, args = get_origin(kind), get_args(kind)
    if _is_struct(kind):
        return _make_placeholder(_struct_reference(kind, tie_values))
    if origin is Annotated:
        extra = {name: value for meta in args[1:] for name, value in (meta.extra_json_schema or {}).items()}
        if "x-tied" in extra:
            return _make_placeholder(_tied_schema(args[0], extra["x-tied"], tie_values))
        kind = Annotated[_with_references(args[0], tie_values), *args[1:]]
        # msgspec would write its own pattern, not the one in ``extra``.
        return _make_placeholder(_msgspec_schema(kind) | extra) if "pattern" in extra else kind
    if origin is Union or origin is UnionType:
        return _union_with_references([one for one in args if one is not UnsetType], tie_values)
    if origin is None or origin is Literal:
        return kind
    if origin is NotRequired:
        return _with_references(args[0], tie_values)
    return origin[tuple(_with_references(one, tie_values) for one in args)]


def _union_with_references(members: list[Any], tie_values: TieValues) -> Any:
    structs = [one for one in members if _is_struct(one)]
    parts = [_with_references(one, tie_values) for one in members]
    if len(structs) > 1:
        config = structs[0].__struct_config__
        union = _by_discriminator(
            config.tag_field, {one.__struct_config__.tag: _struct_reference(one, tie_values) for one in structs}
        )
        return _make_placeholder(_with_null(union) if NoneType in members else union)
    # msgspec allows a custom type only in a union with None.
    if any(isinstance(part, type) and issubclass(part, Placeholder) for part in parts):
        return _make_placeholder({"anyOf": list(map(_msgspec_schema, parts))})
    return Union[tuple(parts)]  # noqa: UP007


def _tidy(schema: Any) -> Any:
    """Return msgspec's schema in a form for client generators. Replace parts with a title by references."""
    if isinstance(schema, list):
        return [_tidy(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: inner if name in _VALUES else _tidy(inner) for name, inner in schema.items()}
    if (values := schema.pop("x-values", None)) is not None:
        schema["enum"] = sorted(getattr(TEXTS, values))
    elif "enum" in schema and "type" not in schema:
        schema |= _type_and_limits_of(schema["enum"])
    if "anyOf" in schema:
        schema = _tidy_union(schema.pop("anyOf")) | schema
    if schema.get("type") == "object":
        schema.setdefault("additionalProperties", True)
    if schema.get("format") in LENGTHS:
        schema["maxLength"] = LENGTHS[schema["format"]]
    if "description" in schema:
        schema["description"] = plain_text(schema["description"])
    name = schema.pop("title", None)
    return schema if name is None else _reference(name, schema, lambda: schema)


def with_formats(schema: Any) -> Any:
    """Return the schema with a ``format`` for integers without one: ``int32`` if their limits fit, else ``int64``."""
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


def _parts_with_shared_schemas(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_shared_schemas(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: inner if name in _VALUES else _with_shared_schemas(inner) for name, inner in schema.items()}


def _with_shared_schemas(schema: Any) -> Any:
    """Return the schema with references to enumerations and free objects. Make a constant of a single value."""
    if isinstance(schema, dict) and "object" in _json_types(schema) and "properties" not in schema:
        return _free_object_reference(schema)
    if not isinstance(schema, dict) or not isinstance(values := schema.get("enum"), list):
        return _parts_with_shared_schemas(schema)
    if len(values) == 1:
        return {"const" if name == "enum" else name: inner for name, inner in schema.items()} | {"const": values[0]}
    name, description = _enumeration_name(frozenset(values))
    whole = {**{key: schema[key] for key in ("type", "enum", "minimum", "maximum") if key in schema}}
    rest = {"description": schema["description"]} if "description" in schema else {}
    return {**_reference(name, whole, lambda: {**whole, "description": description}), **rest}


def _json_types(schema: Plain) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _free_object_reference(schema: Plain) -> Plain:
    values = schema.get("additionalProperties", True)
    name, text = ("JsonObject", "Any JSON object.") if values is True else ("Numbers", "Numbers by name.")
    whole = {"type": "object", "additionalProperties": values}
    named = _reference(name, whole, lambda: {"description": text, **whole})
    rest = {"description": schema["description"]} if "description" in schema else {}
    return {**(_with_null(named) if "null" in _json_types(schema) else named), **rest}


class Enumeration(Value, forbid_unknown_fields=True):
    """An enumeration without a title in the source."""

    values: list[str | int]
    description: str


@cache
def _enumerations_by_values() -> dict[frozenset[str | int], tuple[str, str]]:
    kind = dict[str, dict[str, Enumeration]]
    named = msgspec.toml.decode((files("api.http") / "enumerations.toml").read_bytes(), type=kind)["enumerations"]
    return {frozenset(one.values): (name, one.description) for name, one in named.items()}


def _enumeration_name(values: frozenset[str | int]) -> tuple[str, str]:
    """Return the name and description of an enumeration.

    The name of an unknown one is made of its values. Raises ``KeyError`` instead if no games are installed.
    """
    known = _enumerations_by_values().get(_without_installed_words(values))
    if known is None and not INSTALLED:
        raise KeyError(values)
    words = re.findall("[A-Za-z0-9]+", " ".join(sorted(map(str, values))))
    return known or (f"OneOf{''.join(map(str.title, words))}", "One of these values.")


def _without_installed_words(values: frozenset[str | int]) -> frozenset[str | int]:
    """Return the known enumeration to which installed games only added words; else the values."""
    own = {word for words in INSTALLED.values() for word in words.values}
    known = (one for one in _enumerations_by_values() if one <= values and values - one <= own)
    return max(known, key=len, default=values)


def _type_and_limits_of(values: list[Any]) -> Plain:
    if isinstance(values[0], str):
        return {"type": "string"}
    return {"type": "integer", "minimum": min(values), "maximum": max(values)}


def _widest_limits(schemas: list[Plain]) -> Plain:
    resolved = [_dereferenced(one) for one in schemas]
    bounds: tuple[tuple[str, Callable[..., int]], ...] = (("minimum", min), ("maximum", max))
    return {
        name: widest(one[name] for one in resolved) for name, widest in bounds if all(name in one for one in resolved)
    }


def _dereferenced(schema: Plain) -> Plain:
    return _schema_by_name[schema["$ref"].removeprefix(REFS)] if "$ref" in schema else schema


def _tidy_union(parts: list[Plain]) -> Plain:
    some = [part for part in parts if part != NULL]
    if len(some) == 1:
        schema = some[0]
    elif all(part.get("type") in {"integer", "number"} for part in some) and {"type": "number"} in some:
        schema = {"type": "number"}
    elif all(words := [_dereferenced(part).get("enum") for part in some]):
        schema = {"type": "string", "enum": sorted(word for part in words for word in part or ())}
    else:
        schema = {"oneOf": some}
    return schema if len(some) == len(parts) else _with_null(schema)


def _with_null(schema: Plain) -> Plain:
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, NULL]}


def _by_discriminator(field: str, members: Mapping[str, Plain]) -> Plain:
    mapping = {value: member["$ref"] for value, member in members.items()}
    return {"oneOf": list(members.values()), "discriminator": {"propertyName": field, "mapping": mapping}}


# Ties


def camel_case(key: str) -> str:
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
def _tied_types() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the types or limits of tied fields, by the tying field, its value, and the name of the tied field."""
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
"""Name and description of the schema of all events, and class of the aggregate, by kind of aggregate."""


def _event_reference(aggregate_kind: str) -> Plain:
    name, description, aggregate = EVENTS[aggregate_kind]

    def make() -> Plain:
        facts = {fact.TOPIC: fact for fact in sorted(aggregate.FACTS, key=lambda fact: fact.TOPIC)}
        members = {topic: _variant_reference(fact, TieValues(topic=topic)) for topic, fact in facts.items()}
        return {"description": description, **_by_discriminator("topic", members)}

    return _reference(name, (Event, aggregate_kind), make)


def _tie_in(part: Any) -> tuple[str, str] | None:
    """Return the arguments of :func:`~referee.value.type_depends_on` in this part, or ``None``."""
    extra = part.extra_json_schema if isinstance(part, Meta) else None
    return None if extra is None else extra.get("x-tied")


def _tied_schema(kind: Any, tie: tuple[str, str], tie_values: TieValues) -> Plain:
    """Return the schema of a tied field. For ``topic``: of all events; for ``ruleset``: of the known one or all."""
    by, what = tie
    if by == "topic":
        return _event_reference(what)
    here = getattr(tie_values, by)

    def tied(other: Any) -> Plain:
        return (
            {**_schema_with(kind, tie_values), **other}
            if isinstance(other, dict)
            else _schema_with(other, tie_values)
        )

    if here is None and what == "phase":
        return _schema_with(PHASE, tie_values)
    if here is not None:
        return tied(_tied_types()[by][here][what])
    title, description = _ALL_RULESETS[what]
    every = [
        _object_schema(kinds[what], tie_values, "", alone=True)
        for kinds in _tied_types()[by].values()
        if what in kinds
    ]
    return _reference(title, (by, what), lambda: {"description": description, **_merged_structs(every)})


_ALL_RULESETS = {
    "resolved": ("Options", "The options of a match, defaults included. Each game has its own."),
    "more": ("More", "Fields of a state that only some games have."),
    "detail": ("Detail", "Fields of a scored deal that only some games have."),
}
"""Names and descriptions of the schemas for all rulesets, by tied field."""


def _merged_structs(structs: list[Plain]) -> Plain:
    """Return one object with all structs' fields, none required. ``oneOf`` would refuse a value that fits two."""
    by_name: dict[str, list[Plain]] = {}
    for struct in structs:
        for name, schema in struct["properties"].items():
            by_name.setdefault(name, []).append(schema)
    return {
        "type": "object",
        "properties": {name: _schema_allowing_any(schemas) for name, schemas in by_name.items()},
    }


def _schema_allowing_any(schemas: list[Plain]) -> Plain:
    description, bare = schemas[0]["description"], [{**one, "description": ""} for one in schemas]
    if all(one == bare[0] for one in bare):
        return schemas[0]
    resolved = [_dereferenced(one) for one in schemas]
    if all("enum" in one for one in resolved):
        values = sorted({value for one in resolved for value in one["enum"]})
        return {**_with_shared_schemas({"type": resolved[0]["type"], "enum": values}), "description": description}
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
    return frozenset(filter(None, map(_tie_in, _parts_of_fields(cls))))


@cache
def _tying_fields(cls: type) -> frozenset[str]:
    """Return the names of fields, here or in an outer struct, to which fields here and in inner structs are tied."""
    found = {by for by, _ in _ties_of(cls)}
    for inner in filter(_is_struct, _parts_of_fields(cls)):
        found |= _tying_fields(inner) - {field.name for field in _fields(inner)}
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


def _struct_reference(cls: Any, tie_values: TieValues, *, alone: bool = False) -> Plain:
    """Return a reference to the schema of a struct. A request with tied fields has a variant for each ruleset.

    ``alone``: the tag of the struct is not required.
    """
    by = min(_tying_fields(cls) & {field.name for field in _fields(cls)}, default=None)
    if by is None or not cls.__struct_config__.forbid_unknown_fields:
        return _variant_reference(cls, tie_values, alone=alone)
    tied = {what for to, what in _ties_of(cls) if to == by}
    variants = {
        value: _variant_reference(
            cls,
            TieValues(**tie_values._asdict() | {by: value}),
            about=f"`{schema_name(cls)}` if `{by}` is `{value}`.",
        )
        for value, kinds in _tied_types()[by].items()
        if tied <= kinds.keys()
    }
    about = plain_text(cls.__doc__ or "")
    return _reference(schema_name(cls), cls, lambda: {"description": about, **_by_discriminator(by, variants)})


def _variant_reference(cls: Any, tie_values: TieValues, *, alone: bool = False, about: str = "") -> Plain:
    """``about``: the description; empty: the docstring."""
    tie_values = TieValues(
        ruleset=tie_values.ruleset if "ruleset" in _tying_fields(cls) else None,
        topic=tie_values.topic if getattr(cls, "TOPIC", None) == tie_values.topic else None,
    )
    about = about or plain_text(cls.__doc__ or "")
    return _reference(
        _schema_name(cls, tie_values), (cls, tie_values), lambda: _object_schema(cls, tie_values, about, alone=alone)
    )


def _is_of_a_game(cls: Any) -> bool:
    return any(f"{cls.__module__}.".startswith(f"{package}.") for package in PACKAGES)


def schema_name(cls: type) -> str:
    return str(getattr(cls, "SCHEMA", cls.__name__))


def _schema_name(cls: Any, tie_values: TieValues) -> str:
    if tie_values.topic is not None:
        return str(cls.__name__)
    ruleset = tie_values.ruleset
    if _is_of_a_game(cls):  # because every game has classes named Options, More and Detail
        ruleset = next((key for key, tied in _tied_types()["ruleset"].items() if cls in tied.values()), None)
    return schema_name(cls) if ruleset is None else camel_case(ruleset) + schema_name(cls)


def _object_schema(cls: Any, tie_values: TieValues, about: str, *, alone: bool) -> Plain:
    """Return the schema of a struct. Fields that answers always contain are required."""
    docs, config = field_docs(cls), getattr(cls, "__struct_config__", None)
    refuses_others = config is not None and config.forbid_unknown_fields
    if refuses_others:
        _names_of_closed.add(_schema_name(cls, tie_values))
    properties, required = {}, []
    if config is not None and config.tag_field is not None:
        tag = "The name of the act; here it may be left out." if alone else "The name of the act: the discriminator."
        tag = tag if config.tag_field == "act" else WORDS.words[config.tag_field]
        properties[config.tag_field] = {"type": "string", "const": config.tag, "description": tag}
        required = [] if alone else [config.tag_field]
    if tie_values.topic is not None:
        properties["topic"] = {"type": "string", "const": tie_values.topic, "description": WORDS.words["topic"]}
        required.append("topic")
    may_be_missing = config is None or refuses_others or config.omit_defaults
    # Options are shown with nulls.
    is_option = refuses_others and _is_of_a_game(cls) and not issubclass(cls, Act)
    for field in _fields(cls):
        name = field.encode_name
        here = getattr(tie_values, name, None)
        schema = {"type": "string", "const": here} if isinstance(here, str) else _schema_with(field.type, tie_values)
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
            description = _adapt_absence(description, required=name in required, nullable=_is_nullable(schema))
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


def _adapt_absence(description: str, *, required: bool, nullable: bool) -> str:
    """Replace "null or left out" in a description with the part that the schema allows."""
    if nullable and required:
        return ABSENT.sub(r"\1 null", description)
    if required:
        return re.sub(ABSENT.pattern + r"[^.]*\.", ".", description, flags=re.IGNORECASE)
    if nullable:
        return description
    return ABSENT.sub(lambda found: ". Left out" if found[1] == "." else "; left out", description)


def _without_null(schema: Plain) -> Plain:
    """Return the schema of an optional field without null. A list keeps null, because Java clients would send an
    empty list instead."""
    if isinstance(schema.get("type"), list):
        return schema if "array" in schema["type"] else {**schema, "type": schema["type"][0]}
    kinds = [one for one in schema.get("anyOf", ()) if one != NULL]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    return {**rest, **kinds[0]} if len(kinds) == 1 and kinds[0].get("type") != "array" else schema
