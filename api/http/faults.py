"""Finds the faults of a refused body or parameter, and describes them in words."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Annotated, Any, NamedTuple, NoReturn
from uuid import UUID

import msgspec
from msgspec import Meta
from msgspec import inspect as types

from referee import wire_types
from referee.sentences import Language, Text, filled, sentence
from referee.value import Value

ALLOWED_MAX = 100
"""Maximum number of values in :attr:`Wrong.allowed`."""
FAULTS_MAX = 20
"""Maximum number of faults in an answer."""
PARTS_MAX = 200
"""Maximum number of examined parts of a list or dictionary. No valid one has more parts."""
SHOWN_MAX = 40
"""Maximum characters of a shown text or number."""
DIGITS_MAX = 400
"""Maximum digits of a whole number. Longer numbers are read as infinite."""

_NOT_GIVEN: Any = object()
_SURROGATE = re.compile("[\ud800-\udfff]")
_LISTS = (types.ListType, types.VarTupleType, types.SetType, types.FrozenSetType)
_PHRASES: dict[type[types.Type], str] = {
    types.BoolType: "boolean",
    types.StrType: "formed",
    types.DateTimeType: "moment",
    types.DateType: "day",
    types.UUIDType: "id",
    types.DictType: "object",
}
"""Keys of :attr:`Texts.phrases` by type."""


class Texts(Value, forbid_unknown_fields=True):
    """The texts of ``faults.toml``."""

    faults: dict[str, Text]
    said: dict[str, Text]
    phrases: dict[str, Text]
    patterns: dict[str, Text]


TEXTS = msgspec.toml.decode((files("api.http") / "faults.toml").read_bytes(), type=Texts)


class Fault(NamedTuple):
    """A fault at the place ``at`` in the body, or of a ``parameter``. ``code``: a key of :attr:`Texts.faults`."""

    code: str
    at: tuple[str | int, ...] = ()
    parameter: str | None = None
    expected: types.Type | None = None
    given: Any = _NOT_GIVEN
    facts: Mapping[str, Any] = {}


def _text_meta(pattern: str, example: str) -> Meta:
    return Meta(examples=[example], extra_json_schema={"pattern": pattern, "maxLength": wire_types.TEXT_MAX})


_Pointer = Annotated[str, _text_meta(r"^(/[\s\S]*)?$", "/players/3/name")]
_Parameter = Annotated[str, _text_meta("^.+$", "limit")]
_Allowed = Annotated[tuple[wire_types.Code, ...], Meta(extra_json_schema={"maxItems": ALLOWED_MAX})]


class Wrong(Value, omit_defaults=True):
    """A fault of a request: at a place in its body, or in a parameter."""

    detail: wire_types.Sentence
    """Sentence about the fault, in the reader's language."""
    pointer: _Pointer | msgspec.UnsetType = msgspec.UNSET
    """Place in the body as a JSON Pointer (RFC 6901), also of a missing field; empty for the whole body. Left out
    if a parameter is wrong."""
    parameter: _Parameter | msgspec.UnsetType = msgspec.UNSET
    """Name of the parameter that is wrong."""
    allowed: _Allowed | msgspec.UnsetType = msgspec.UNSET
    """Allowed values or names of fields, if they can be listed."""


@cache
def type_of(kind: Any) -> types.Type:
    return types.type_info(kind)


# Finding


def faults_of(kind: Any, body: bytes) -> tuple[Fault, ...]:
    """Return 1 to :data:`FAULTS_MAX` faults of a body that msgspec cannot decode as ``kind``."""
    if not body.strip():
        return (Fault("empty"),)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        before = body[: error.start].decode()
        return (Fault("not_utf_8", facts=_line_and_column(before)),)
    try:
        value = json.loads(text, parse_int=_whole_number, parse_constant=_refuse_constant)
        found = tuple(islice(faults_in(type_of(kind), value), FAULTS_MAX))
    except json.JSONDecodeError as error:
        return (Fault("not_json", facts=_line_and_column(text[: error.pos])),)
    except RecursionError:
        return (Fault("too_deep"),)
    except ValueError:
        return (Fault("not_json"),)
    return found or (Fault("unlike"),)


def _whole_number(digits: str) -> int | float:
    return int(digits) if len(digits) <= DIGITS_MAX else math.inf


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _line_and_column(before: str) -> dict[str, int]:
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return {"line": line, "column": column}


def faults_of_part(name: str | int, faults: Iterator[Fault]) -> Iterator[Fault]:
    """Yield the faults of a part, with its name or index before each place."""
    for fault in faults:
        yield fault._replace(at=(name, *fault.at))


def faults_in(expected: types.Type, value: Any) -> Iterator[Fault]:
    """Yield the faults of a JSON value that should have the type ``expected``."""
    if isinstance(value, float) and math.isinf(value):
        yield Fault("too_big", expected=expected)
        return
    if isinstance(value, str) and _SURROGATE.search(value):
        yield Fault("half_character", expected=expected)
        return
    members = [member for member in _union_members(expected) if _fits_json_type(member, value)]
    if isinstance(value, dict) and (tagged := [one for one in members if isinstance(one, types.StructType)]):
        yield from _faults_of_object(tagged, value)
    elif not members or not any(_is_within_limits(member, value) for member in members):
        yield Fault("wrong", expected=expected, given=value)
    else:
        yield from _faults_of_parts(members[0], value)


def _union_members(expected: types.Type) -> list[types.Type]:
    while isinstance(expected, types.Metadata):
        expected = expected.type
    if isinstance(expected, types.UnionType):
        return [one for member in expected.types for one in _union_members(member)]
    return [expected]


def _fits_json_type(member: types.Type, value: Any) -> bool:
    match member:
        case types.AnyType():
            return True
        case types.NoneType():
            return value is None
        case types.BoolType():
            return isinstance(value, bool)
        case types.IntType():
            return isinstance(value, int) and not isinstance(value, bool)
        case types.FloatType():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case types.LiteralType():
            return any(type(one) is type(value) and one == value for one in member.values)
        case types.StructType() | types.DictType():
            return isinstance(value, dict)
        case types.TupleType() | types.ListType() | types.VarTupleType() | types.SetType() | types.FrozenSetType():
            return isinstance(value, list)
    return isinstance(value, str)


def _is_within_limits(member: types.Type, value: Any) -> bool:
    """Return whether a value of the right JSON type has the size and format of ``member``, without its parts."""
    match member:
        case types.IntType() | types.FloatType():
            return (
                (member.ge is None or value >= member.ge)
                and (member.gt is None or value > member.gt)
                and (member.le is None or value <= member.le)
                and (member.lt is None or value < member.lt)
                and (member.multiple_of is None or value % member.multiple_of == 0)
            )
        case types.TupleType():
            return len(value) == len(member.item_types)
        case types.DateTimeType():
            return _string_fits_format(Annotated[datetime, Meta(tz=member.tz)], value)
        case types.DateType():
            return _string_fits_format(date, value)
        case types.UUIDType():
            return _string_fits_format(UUID, value)
        case types.StrType():
            return _fits_length(member, value) and (member.pattern is None or bool(re.search(member.pattern, value)))
        case _ if isinstance(member, (*_LISTS, types.DictType)):
            return _fits_length(member, value)
    return True


def _string_fits_format(kind: Any, value: str) -> bool:
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def _fits_length(member: Any, value: Any) -> bool:
    return (member.min_length or 0) <= len(value) and (member.max_length is None or len(value) <= member.max_length)


def _faults_of_parts(member: types.Type, value: Any) -> Iterator[Fault]:
    if isinstance(value, list):
        for number, item in enumerate(islice(value, PARTS_MAX)):
            kind = (
                member.item_types[number] if isinstance(member, types.TupleType) else _inner_type(member, "item_type")
            )
            yield from faults_of_part(number, faults_in(kind, item))
    elif isinstance(value, dict):
        for name, item in islice(value.items(), PARTS_MAX):
            yield from faults_of_part(name, faults_in(_inner_type(member, "value_type"), item))


def _inner_type(member: types.Type, name: str) -> types.Type:
    part: types.Type = getattr(member, name, types.AnyType())
    return part


def _faults_of_object(structs: list[types.StructType], value: dict[str, Any]) -> Iterator[Fault]:
    """Yield the faults of an object that should be the struct with the object's tag."""
    struct, tag_field = structs[0], structs[0].tag_field
    if tag_field is not None:
        tags = types.LiteralType(tuple(one.tag for one in structs))
        if tag_field not in value:
            if len(structs) > 1:
                yield Fault("missing", (tag_field,), expected=tags, facts={"name": tag_field})
                return
        elif not _fits_json_type(tags, value[tag_field]):
            yield Fault("wrong", (tag_field,), expected=tags, given=value[tag_field])
            if len(structs) > 1:
                return
        else:
            struct = next(one for one in structs if one.tag == value[tag_field])
    fields = {field.encode_name: field for field in struct.fields}
    for name, item in value.items():
        if name in fields:
            yield from faults_of_part(name, faults_in(fields[name].type, item))
        elif struct.forbid_unknown_fields and name != tag_field:
            names = [*([tag_field] if tag_field else []), *fields]
            yield Fault("unknown", (name,), facts={"name": name, "fields": names})
    for name, field in fields.items():
        if field.required and name not in value:
            yield Fault("missing", (name,), expected=field.type, facts={"name": name})


# Describing


def wrong_of(fault: Fault, language: Language) -> Wrong:
    facts = {name: _quoted(fact) if name == "fields" else str(fact) for name, fact in fault.facts.items()}
    if not _can_be_shown(facts.get("name", "")):
        del facts["name"]
    if fault.expected is not None:
        facts["what"] = _expected_clause(fault.expected, language)
    if fault.given is not _NOT_GIVEN:
        facts["given"] = _shown_value(fault.given, language)
    return Wrong(
        detail=sentence(TEXTS.faults[fault.code].in_(language), facts),
        pointer=msgspec.UNSET if fault.parameter is not None else json_pointer(fault.at),
        parameter=fault.parameter or msgspec.UNSET,
        allowed=_allowed_values(fault),
    )


def first_fault_text(wrong: tuple[Wrong, ...], language: Language) -> str:
    """Return a clause with the first fault and the number of further faults."""
    one = wrong[0]
    facts = {"said": one.detail.rstrip(".")}
    if where := one.parameter or one.pointer:
        facts["where"] = where
    if len(wrong) > 1:
        facts["more"] = str(len(wrong) - 1)
    return filled(TEXTS.said["first"].in_(language), facts)


def json_pointer(at: tuple[str | int, ...]) -> str:
    return "".join("/" + str(token).replace("~", "~0").replace("/", "~1") for token in at)


def _expected_clause(expected: types.Type, language: Language) -> str:
    """Return a clause with the expected values, except null."""
    members = [
        member
        for member in _union_members(_as_literals_if_listed(expected))
        if not isinstance(member, types.NoneType)
    ]
    forms = [member.pattern for member in members if isinstance(member, types.StrType)]
    if len(members) == 1 and forms and forms[0] in TEXTS.patterns:
        (text,) = members
        assert isinstance(text, types.StrType)
        limits = {"min": str(text.min_length), "max": str(text.max_length)}
        return sentence(TEXTS.patterns[forms[0]].in_(language), limits)
    phrases = list(dict.fromkeys(phrase for member in members for phrase in _expected_phrases(member, language)))
    return sentence(TEXTS.said["belongs"].in_(language), {"phrase": _joined_by_or(phrases, language)})


def _as_literals_if_listed(expected: types.Type) -> types.Type:
    """Return a type with an ``enum`` as literals, any other type unchanged."""
    if isinstance(expected, types.Metadata) and "enum" in (expected.extra_json_schema or {}):
        return types.LiteralType(tuple((expected.extra_json_schema or {})["enum"]))
    return expected


def _expected_phrases(member: types.Type, language: Language) -> list[str]:
    if isinstance(member, types.LiteralType):
        return [f"`{value}`" if isinstance(value, str) else f"`{_as_json(value)}`" for value in member.values]
    name, limits = _phrase_and_limits(member)
    facts = {key: str(limit) for key, limit in limits.items() if limit not in (None, "")}
    return [filled(TEXTS.phrases[name].in_(language), facts)]


def _phrase_and_limits(member: types.Type) -> tuple[str, Mapping[str, Any]]:
    match member:
        case types.IntType() | types.FloatType():
            low = member.ge if member.gt is None else member.gt + 1
            high = member.le if member.lt is None else member.lt - 1
            return "whole" if isinstance(member, types.IntType) else "number", {"min": low, "max": high}
        case types.StrType() if member.pattern is None:
            return "text", _length_limits(member.min_length, member.max_length)
        case types.StructType():
            required = [field.encode_name for field in member.fields if field.required]
            return "object", {"fields": _quoted([member.tag_field] if member.tag_field else required)}
        case types.TupleType():
            return "list", {"exactly": len(member.item_types)}
        case _ if isinstance(member, _LISTS):
            return "list", _length_limits(member.min_length, member.max_length)
    return _PHRASES.get(type(member), "anything"), {}


def _length_limits(least: int | None, most: int | None) -> dict[str, int | None]:
    return {"exactly": least} if least == most else {"min": least, "max": most}


def _joined_by_or(phrases: list[str], language: Language) -> str:
    if len(phrases) < 2:
        return "".join(phrases)
    return filled(TEXTS.said["or"].in_(language), {"most": ", ".join(phrases[:-1]), "last": phrases[-1]})


def _quoted(names: Any) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown_value(value: Any, language: Language) -> str:
    """Return a short text or number as JSON, and any other value as a phrase."""
    if isinstance(value, list):
        return filled(TEXTS.phrases["long_list"].in_(language), {"count": str(len(value))})
    if isinstance(value, dict):
        return TEXTS.phrases["some_object"].in_(language)
    if isinstance(value, str):
        if _can_be_shown(value):
            return f"`{_as_json(value)}`"
        return filled(TEXTS.phrases["long_text"].in_(language), {"count": str(len(value))})
    shown = _as_json(value)
    return f"`{shown}`" if len(shown) <= SHOWN_MAX else TEXTS.phrases["long_number"].in_(language)


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _can_be_shown(text: str) -> bool:
    return len(text) <= SHOWN_MAX and text.isprintable() and "`" not in text


def _allowed_values(fault: Fault) -> tuple[Any, ...] | msgspec.UnsetType:
    """Return the allowed values or names of fields; unset if they cannot be listed.

    For a text the list may be incomplete.
    """
    if fault.code == "unknown":
        return tuple(fault.facts["fields"])
    if fault.expected is None:
        return msgspec.UNSET
    members = [
        one for one in _union_members(_as_literals_if_listed(fault.expected)) if not isinstance(one, types.NoneType)
    ]
    listed = tuple(value for one in members if isinstance(one, types.LiteralType) for value in map(str, one.values))
    whole = all(isinstance(one, types.LiteralType) for one in members)
    return listed if listed and (whole or isinstance(fault.given, str)) else msgspec.UNSET
