"""Schemas of the types in requests and answers, in the form that generators of clients need: every schema has a name.

A struct is named by its class, a type with a ``title`` by its title. A field that differs from game to game is tied
to the field ``ruleset`` of the same struct, an event to its ``topic`` (:func:`~referee.value.tied`). A struct with
such fields has one schema for each value, with that field as discriminator. Descriptions of fields are the docstrings
below them. They name the defaults as well: a ``default`` is a required field for some generators, and for others a
field that is always sent.

A request may have only the fields of its schema. An answer may get more (``openapi/guides/promise.md``). So an act in
an answer has a schema of its own: ``PlayShown`` beside ``Play``.
"""

import ast
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Meta, to_builtins
from msgspec import inspect as types
from msgspec.inspect import Field, StructType, TypedDictType

from referee import acts, requests
from referee.clubs.facts import SieAccounts
from referee.games import RULESETS
from referee.ruleset import Ruleset
from referee.sentences import TEXTS
from referee.store.club import Club
from referee.store.match import Match
from referee.value import Value

Plain = dict[str, Any]
"""A part of the OpenAPI description."""

NULL: Plain = {"type": "null"}
REFS = "#/components/schemas/"
INT32 = 2**31
_VALUES = {"const", "default", "enum", "example", "examples"}
"""Keys of a schema whose values are not schemas."""

BOTH = frozenset({SieAccounts})
"""Types other than acts that are both sent in an act and shown in answers."""
SENT = {acts.__name__, requests.__name__}
"""Modules whose types are all sent by clients."""

Struct = StructType | TypedDictType


class Words(Value, forbid_unknown_fields=True):
    """Descriptions of fields that have no docstring in the source."""

    words: dict[str, str]
    """Descriptions that hold for every type."""
    of: dict[str, dict[str, str]]
    """Descriptions that hold only for one type, by type."""


WORDS = msgspec.toml.decode((files("api.http") / "words.toml").read_bytes(), type=Words)

_named: dict[str, Plain] = {}
_owners: dict[str, Any] = {}


class Scope(NamedTuple):
    """The context in which a schema is written."""

    ruleset: str | None = None
    topic: str | None = None
    resolved: bool = False
    """True for the options of a match, with all defaults filled in."""
    sent: bool = False
    """True for a type that a client sends: fields that the schema does not have are refused."""


def schema_of(kind: Any, *, sent: bool = False) -> Plain:
    """Return the schema of a type, or a reference to it if it has a name. ``sent``: whether a client sends it."""
    info, scope = types.type_info(kind), Scope(sent=sent)
    if isinstance(info, StructType) and info.tag is not None:
        return _struct(info, scope, alone=True)  # alone it is read without its tag
    return _schema(info, scope)


def named_schemas() -> dict[str, Plain]:
    """Return all schemas that have been referred to, by name."""
    return dict(_named)


def plain_text(text: str) -> str:
    """Return a docstring without line breaks, double backticks and roles."""
    return re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", " ".join(text.split()).replace("``", "`"))


def _refer(name: str, owner: Any, make: Callable[[], Plain]) -> Plain:
    if name not in _owners:
        _owners[name] = owner
        _named[name] = make()
    assert _owners[name] == owner, f"two types are called {name}: {_owners[name]} and {owner}"
    return {"$ref": REFS + name}


# Types


def _schema(info: types.Type, scope: Scope) -> Plain:
    match info:
        case types.Metadata():
            return _with_metadata(info, scope)
        case types.StructType() | types.TypedDictType():
            return _struct(info, scope)
        case types.UnionType():
            return _union(info, scope)
        case types.AnyType() | types.RawType():
            return {}
        case types.LiteralType():
            return _enumeration(info.values)
        case types.VarTupleType() | types.ListType():
            limits = _limits(info, "min_length", "max_length", "minItems", "maxItems")
            return {"type": "array", "items": _schema(info.item_type, scope), **limits}
        case types.TupleType():
            count = len(info.item_types)
            return {"type": "array", "items": _item_schema(info, scope), "minItems": count, "maxItems": count}
        case types.DictType():
            return {"type": "object", "additionalProperties": _schema(info.value_type, scope) or True}
    return _scalar(info)


def _scalar(info: types.Type) -> Plain:
    """Return the schema of a type without parts. Raises ``TypeError`` for any other type."""
    match info:
        case types.NoneType():
            return NULL
        case types.BoolType():
            return {"type": "boolean"}
        case types.IntType():
            return {"type": "integer", **_limits(info, "ge", "le", "minimum", "maximum")}
        case types.FloatType():
            return {"type": "number", **_limits(info, "ge", "le", "minimum", "maximum")}
        case types.StrType():
            limits = _limits(info, "min_length", "max_length", "minLength", "maxLength")
            return {"type": "string", **limits, **({} if info.pattern is None else {"pattern": info.pattern})}
        case types.DateTimeType():
            return {"type": "string", "format": "date-time", "maxLength": len("2026-01-02T03:04:05.123456+00:00")}
        case types.DateType():
            return {"type": "string", "format": "date", "maxLength": len("2026-01-02")}
        case types.UUIDType():
            return {"type": "string", "format": "uuid", "maxLength": 36}
    raise TypeError(f"no schema for {info}")


def _limits(info: Any, low: str, high: str, least: str, most: str) -> Plain:
    limits = {least: getattr(info, low), most: getattr(info, high)}
    return {name: limit for name, limit in limits.items() if limit is not None}


def with_formats(schema: Any) -> Any:
    """Return the schema with the width of each integer, by its limits, as ``format``."""
    if isinstance(schema, list):
        return [with_formats(inner) for inner in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: inner if name in _VALUES else with_formats(inner) for name, inner in schema.items()}
    if schema.get("type") == "integer" or (isinstance(schema.get("type"), list) and "integer" in schema["type"]):
        values = schema.get("enum") or (schema.get("minimum"), schema.get("maximum"))
        narrow = all(value is not None and -INT32 <= value < INT32 for value in values)
        schema.setdefault("format", "int32" if narrow else "int64")
    return schema


def _enumeration(values: tuple[Any, ...]) -> Plain:
    (kind,) = {type(value) for value in values}
    limits = {"minimum": min(values), "maximum": max(values)} if kind is int else {}
    return {"type": {str: "string", int: "integer"}[kind], "enum": list(values), **limits}


def _with_metadata(info: types.Metadata, scope: Scope) -> Plain:
    extra = dict(info.extra_json_schema or {})
    if "x-tied" in extra:
        return _tied(info, scope)
    if (values := extra.pop("x-values", None)) is not None:
        extra["enum"] = sorted(getattr(TEXTS, values))
    if "description" in extra:
        extra["description"] = plain_text(extra["description"])
    schema = {**_schema(info.type, scope), **extra}
    name = schema.pop("title", None)
    return schema if name is None else _refer(name, schema, lambda: schema)


def _item_schema(info: types.TupleType, scope: Scope) -> Plain:
    """Return one schema for all items of a tuple: few generators support a schema for each place."""
    by_type: dict[str, list[Plain]] = {}
    for item in info.item_types:
        schema = _schema(item, scope)
        for one in _resolved(schema).get("oneOf", (schema,)):
            by_type.setdefault(_resolved(one)["type"], []).append(one)
    each = [ones[0] if len(ones) == 1 else {"type": kind, **_widest(ones)} for kind, ones in by_type.items()]
    return each[0] if len(each) == 1 else {"oneOf": each}


def _widest(schemas: list[Plain]) -> Plain:
    """Return the limits that include those of all these schemas."""
    resolved = [_resolved(one) for one in schemas]
    least = {"minimum": min(one["minimum"] for one in resolved)} if all("minimum" in one for one in resolved) else {}
    most = {"maximum": max(one["maximum"] for one in resolved)} if all("maximum" in one for one in resolved) else {}
    return least | most


def _resolved(schema: Plain) -> Plain:
    return _named[schema["$ref"].removeprefix(REFS)] if "$ref" in schema else schema


def _union(info: types.UnionType, scope: Scope) -> Plain:
    members = [member for member in info.types if not isinstance(member, types.NoneType)]
    structs = [member for member in members if isinstance(member, StructType)]
    numbers = [member for member in members if isinstance(member, types.IntType | types.FloatType)]
    if len(members) > 1 and len(structs) == len(members):
        field = structs[0].tag_field
        assert field is not None, "structs in a union have tags"
        schema = _one_of(field, {str(one.tag): _struct(one, scope) for one in structs})
    elif len(members) > 1 and len(numbers) == len(members):
        schema = {"type": "number"}
    elif len(members) > 1:
        parts = [_schema(member, scope) for member in members]
        words = [_resolved(part).get("enum") for part in parts]
        if all(words):  # a named enumeration and further words
            schema = {"type": "string", "enum": sorted(word for part in words for word in part or ())}
        else:
            schema = {"oneOf": parts}
    else:
        schema = _schema(members[0], scope)
    return _or_null(schema) if info.includes_none else schema


def _or_null(schema: Plain) -> Plain:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], NULL]}
    if isinstance(schema.get("type"), str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, NULL]}


def _one_of(field: str, members: Mapping[str, Plain]) -> Plain:
    mapping = {value: member["$ref"] for value, member in members.items()}
    return {"oneOf": list(members.values()), "discriminator": {"propertyName": field, "mapping": mapping}}


# Ties


def camel(key: str) -> str:
    """Return the key of a ruleset as the beginning of a schema's name."""
    return "".join(part.title() for part in key.split("-"))


def phases_of(rules: Ruleset) -> tuple[str, ...]:
    kinds = (get_origin(phase) or phase for phase in get_args(rules.state))
    return tuple(str(kind.__struct_config__.tag) for kind in kinds)


@cache
def _ties() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the types of the tied fields, by the field that they are tied to and its value."""
    return {
        "ruleset": {
            key: {
                "players": {"minItems": rules.players_min, "maxItems": rules.players_max},
                "first_dealer": {"minimum": 0, "maximum": rules.players_max - 1},
                "options": rules.options,
                "resolved": rules.options,
                "more": rules.more,
                "detail": rules.detail,
                "phase": Annotated[
                    Literal[phases_of(rules)],
                    Meta(title=f"{camel(key)}Phase", description=f"What a match of {key} waits for."),
                ],
            }
            for key, rules in RULESETS.items()
        },
        "topic": {
            fact.TOPIC: {what: fact}
            for kind, what in ((Match, "event"), (Club, "of_club"))
            for fact in sorted(kind.FACTS, key=lambda fact: fact.TOPIC)
        },
    }


def _tied(info: types.Metadata, scope: Scope) -> Plain:
    extra = dict(info.extra_json_schema or {})
    by, what = extra.pop("x-tied")
    scope = scope._replace(resolved=what == "resolved")
    here = getattr(scope, by)

    def tied(kind: Any) -> Plain:
        """Return the schema of the type, or of the same type within different limits."""
        if isinstance(kind, dict):
            return {**_schema(info.type, scope), **extra, **kind}
        return _schema(types.type_info(kind), scope)

    if here is not None:
        return tied(_ties()[by][here][what])
    every = [_resolved(tied(kinds[what])) for kinds in _ties()[by].values() if what in kinds]
    return _refer(what.title(), (by, what), lambda: _any_of(every))


def _any_of(structs: list[Plain]) -> Plain:
    """Return one object with the fields of all these structs, none of them required.

    It is for values without a field that says which struct it is. As ``oneOf`` a value would have to fit exactly one
    struct, and no field could ever be added.
    """
    fields: dict[str, list[Plain]] = {}
    for struct in structs:
        for name, schema in struct["properties"].items():
            fields.setdefault(name, []).append(schema)
    properties = {
        name: schemas[0] if all(one == schemas[0] for one in schemas) else {"description": schemas[0]["description"]}
        for name, schemas in fields.items()
    }
    about = "Fields that differ from game to game."
    return {"type": "object", "description": about, "properties": properties}


def _inside(info: types.Type) -> Iterator[types.Type]:
    """Yield a type and the types in it, down to structs."""
    yield info
    for name in ("type", "item_type", "value_type"):
        if (inner := getattr(info, name, None)) is not None:
            yield from _inside(inner)
    for name in ("types", "item_types"):
        for inner in getattr(info, name, ()):
            yield from _inside(inner)


@cache
def _open_ties(cls: type) -> frozenset[str]:
    """Return the fields that a struct's fields are tied to and that the struct does not have."""
    return _ties_of(cls) - {field.name for field in _info(cls).fields}


def _tied_by(cls: type, by: str) -> set[str]:
    """Return the names of the ties from a struct's fields to this field."""
    extras = (
        inner.extra_json_schema or {}
        for field in _info(cls).fields
        for inner in _inside(field.type)
        if isinstance(inner, types.Metadata)
    )
    return {what for to, what in (extra["x-tied"] for extra in extras if "x-tied" in extra) if to == by}


@cache
def _ties_of(cls: type) -> frozenset[str]:
    found: set[str] = set()
    for field in _info(cls).fields:
        for inner in _inside(field.type):
            if isinstance(inner, types.Metadata) and "x-tied" in (inner.extra_json_schema or {}):
                found.add((inner.extra_json_schema or {})["x-tied"][0])
            elif isinstance(inner, StructType | TypedDictType):
                found |= _open_ties(inner.cls)
    return frozenset(found)


@cache
def _info(cls: type) -> Struct:
    info = types.type_info(cls)
    assert isinstance(info, StructType | TypedDictType)
    return info


# Structs


def _struct(info: Struct, scope: Scope, *, alone: bool = False) -> Plain:
    cls, ties, beside = info.cls, _ties_of(info.cls), {field.name for field in info.fields}
    by = min(ties & beside, default=None)
    if by is None:
        return _variant(info, scope, alone=alone)
    tied = _tied_by(cls, by)
    variants = {
        value: _variant(info, _with_value(scope, by, value), about=f"`{_called(cls)}` if `{by}` is `{value}`.")
        for value, kinds in _ties()[by].items()
        if tied <= kinds.keys()
    }
    about = plain_text(cls.__doc__ or "")
    return _refer(_called(cls), cls, lambda: {"description": about, **_one_of(by, variants)})


def _with_value(scope: Scope, by: str, value: str) -> Scope:
    return scope._replace(ruleset=value) if by == "ruleset" else scope._replace(topic=value)


def _variant(info: Struct, scope: Scope, *, alone: bool = False, about: str = "") -> Plain:
    cls, ties = info.cls, _ties_of(info.cls)
    known = {by: value for by, value in scope._asdict().items() if by in ties}
    scope = Scope(
        **known, resolved=scope.resolved and _has_defaults(cls), sent=scope.sent and _refuses_unknown_fields(cls)
    )
    about = about or plain_text(cls.__doc__ or "")
    return _refer(_name(cls, scope), (cls, scope), lambda: _body(info, scope, about, alone=alone))


def _has_defaults(cls: type) -> bool:
    return any(map(_has_default, _info(cls).fields))


def _refuses_unknown_fields(cls: type) -> bool:
    """Return whether unknown fields are refused when the class is read."""
    config = getattr(cls, "__struct_config__", None)
    return config is not None and bool(config.forbid_unknown_fields)


def _is_act_or_part(cls: type) -> bool:
    """Return whether it is an act or a part of one: clients send it, and answers show it."""
    info = _info(cls)
    return isinstance(info, StructType) and (info.tag_field == "act" or cls.__module__ in SENT or cls in BOTH)


def _has_default(field: Field) -> bool:
    return field.default is not NODEFAULT or field.default_factory is not NODEFAULT


def _called(cls: type) -> str:
    """Return the name of a struct: its ``SCHEMA``, else the name of its class."""
    return str(getattr(cls, "SCHEMA", cls.__name__))


def _name(cls: type, scope: Scope) -> str:
    if scope.topic is not None:
        (fact,) = _ties()["topic"][scope.topic].values()
        return f"{fact.__name__}{cls.__name__.removeprefix('Event')}"
    ruleset = scope.ruleset
    if cls.__module__.startswith("referee.games."):  # every game has classes named Options, More and Detail
        ruleset = next((key for key, tied in _ties()["ruleset"].items() if cls in tied.values()), None)
    name = _called(cls) if ruleset is None else camel(ruleset) + _called(cls)
    if scope.resolved:
        return f"{name}Resolved"
    return f"{name}Shown" if _is_act_or_part(cls) and not scope.sent else name


def _body(info: Struct, scope: Scope, about: str, *, alone: bool = False) -> Plain:
    cls, docs = info.cls, field_docs(info.cls)
    config = getattr(cls, "__struct_config__", None)
    left_out = config is None or scope.sent or config.omit_defaults
    properties, required = {}, []
    if isinstance(info, StructType) and info.tag_field is not None:
        tag = "The name of the act; here it may be left out." if alone else "The name of the act: the discriminator."
        tag = tag if info.tag_field == "act" else WORDS.words[info.tag_field]
        properties[info.tag_field] = {"type": "string", "const": info.tag, "description": tag}
        required = [] if alone else [info.tag_field]
    for field in info.fields:
        name = field.encode_name
        here = getattr(scope, name, None)
        schema = {"type": "string", "const": here} if isinstance(here, str) else _schema(field.type, scope)
        description = docs.get(name) or schema.get("description") or WORDS.words.get(name)
        if field.required or (_has_default(field) and (scope.resolved or not left_out)):
            required.append(name)
        elif field.default not in (NODEFAULT, None, ""):
            default = to_builtins(field.default)
            word = default if isinstance(default, str) else json.dumps(default)
            description = f"{description or ''} Default: `{word}`.".lstrip()
        properties[name] = {**schema, **({"description": description} if description else {})}
    return {
        "type": "object",
        "description": about,
        "properties": properties,
        **({"required": required} if required else {}),
        **({"additionalProperties": False} if scope.sent else {}),
    }


# Descriptions of fields


@cache
def field_docs(cls: type) -> dict[str, str]:
    """Return the descriptions of the fields of a class and of its bases, by name."""
    node, names = _classes_in(cls.__module__)[cls.__name__], vars(import_module(cls.__module__))
    docs: dict[str, str] = {}
    for base in node.bases:
        inherited = names.get(ast.unparse(base))
        if getattr(inherited, "__module__", "").startswith(("api.", "projections.", "referee.")):
            docs |= field_docs(inherited)
    return docs | dict(_below(node)) | WORDS.of.get(_called(cls), {})


@cache
def _classes_in(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(Path(inspect.getfile(import_module(module))).read_text("utf-8"))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _below(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for field, text in zip(node.body, node.body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(description))):
                yield name, plain_text(description)
