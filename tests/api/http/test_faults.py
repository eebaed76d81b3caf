"""Every error of a body is named in words. After a repair of all named errors the body can be read."""

import json
import math
import re
import sys
from collections.abc import Iterator
from random import Random
from typing import Any, get_args
from uuid import UUID

import msgspec
import pytest
from msgspec import inspect as types

from api.http.bodies import Body
from api.http.faults import FAULTS_MAX, PARTS_MAX, TEXTS, Fault, faults_in, faults_of, json_pointer, type_of, wrong_of
from api.matches.opening_request import options_of
from referee.games import RULESETS
from referee.sentences import Language, fact_names
from tests.api.http.test_problems import problem
from tests.support.service_in_memory import Client

JSON = {"Content-Type": "application/json"}
LANGUAGES: tuple[Language, ...] = get_args(Language)
FOREIGN = (
    "Expected `",
    "Object contains",
    "Object missing",
    "Invalid value",
    "Invalid enum",
    "regex",
    "malformed",
    " - at ",
)
"""Words of the decoder's own messages."""


def bodies() -> dict[str, Any]:
    """Return the type of each request body, by its call."""
    return {
        f"{name}.{member}": value.kind
        for name, module in sorted(sys.modules.items())
        if name.startswith("api.")
        for member, value in vars(module).items()
        if isinstance(value, Body)
    }


BODIES = bodies()
KINDS = list(BODIES.values())


def parts(here: types.Type) -> Iterator[types.Type]:
    """Yield a type and all its parts."""
    yield here
    match here:
        case types.Metadata():
            yield from parts(here.type)
        case types.UnionType():
            yield from (part for one in here.types for part in parts(one))
        case types.StructType():
            yield from (part for field in here.fields for part in parts(field.type))
        case types.DictType():
            yield from parts(here.value_type)
        case types.TupleType():
            yield from (part for one in here.item_types for part in parts(one))
        case types.ListType() | types.VarTupleType() | types.SetType() | types.FrozenSetType():
            yield from parts(here.item_type)


LETTERS = 'aZ7 .~/`"\\{}[]|åΩ\n\u202e\u200b🂡'
MATCH = "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
WORDS = (
    "SA",
    "S",
    "T",
    "SEK",
    "Anna",
    "pass",
    "house",
    "rodskagg-kortoxen",
    "seat",
    "act",
    "B42",
    "ab" * 32,
    "0f" * 16,
    "0f" * 8,
    "member:5",
    "all",
    MATCH,
    "k3",
    "1910",
    "",
)


def text(rng: Random) -> str:
    """Return a random text."""
    return rng.choice(WORDS) if rng.random() < 0.4 else "".join(rng.choices(LETTERS, k=rng.choice((1, 3, 60))))


def anything(rng: Random, depth: int = 0) -> Any:
    """Return a random JSON value."""
    match rng.randrange(8 if depth < 2 else 6):
        case 0:
            return rng.choice((None, True, False))
        case 1:
            return rng.choice((-1, 0, 1, 7, 8, 100, -(10**6), 10**30))
        case 2:
            return rng.choice((0.5, 2.0, -1e30))
        case 6:
            return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
        case 7:
            return {text(rng): anything(rng, depth + 1) for _ in range(rng.randrange(3))}
    return text(rng)


def right(here: types.Type, rng: Random) -> Any:
    """Return a random JSON value that can be read as this type."""
    match here:
        case types.Metadata():
            return right(here.type, rng)
        case types.UnionType():
            return right(rng.choice(here.types), rng)
        case types.StrType():
            return right_text(here, rng)
        case types.TupleType():
            return [right(one, rng) for one in here.item_types]
        case types.VarTupleType():
            most = 3 if here.max_length is None else min(3, here.max_length)
            return [right(here.item_type, rng) for _ in range(rng.randint(here.min_length or 0, most))]
        case types.DictType():
            return {text(rng): right(here.value_type, rng) for _ in range(rng.randrange(3))}
        case types.StructType():
            tag = {here.tag_field: here.tag} if here.tag_field else {}
            there = [field for field in here.fields if field.required or rng.random() < 0.5]
            return tag | {field.encode_name: right(field.type, rng) for field in there}
    return right_scalar(here, rng)


def right_text(here: types.StrType, rng: Random) -> str:
    """Return a random text of this type: for a pattern, one of the words."""
    if here.pattern is None:
        return text(rng) if here.min_length is None else text(rng).ljust(here.min_length, "x")[: here.max_length]
    longest = here.max_length or math.inf
    return rng.choice([word for word in WORDS if len(word) <= longest and re.search(here.pattern, word)])


def right_scalar(here: types.Type, rng: Random) -> Any:
    """Return a random value of a type that contains no other and is no text."""
    match here:
        case types.NoneType():
            return None
        case types.BoolType():
            return rng.random() < 0.5
        case types.IntType():
            return rng.randint(-9 if here.ge is None else here.ge, 9 if here.le is None else here.le)
        case types.LiteralType():
            return rng.choice(here.values)
        case types.UUIDType():
            return "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"
        case types.DateType():
            return "2026-11-22"
        case types.DateTimeType():
            return "2026-11-22T18:30:00Z"
    assert isinstance(here, types.AnyType), here
    return anything(rng)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every place in a value."""
    yield at
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inside:
        yield from places(item, (*at, name))


def put(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    """Return the value with ``new`` at a place, which may be missing."""
    if not at:
        return new
    here, *rest = at
    if isinstance(value, dict):
        return {**value, here: put(value.get(here), tuple(rest), new)}
    return [put(item, tuple(rest), new) if number == here else item for number, item in enumerate(value)]


def without(value: Any, at: tuple[Any, ...]) -> Any:
    """Return the value without its part at a place."""
    here, *rest = at
    if not rest:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        kept = [(name, item) for name, item in items if name != here]
        return dict(kept) if isinstance(value, dict) else [item for _, item in kept]
    return put(value, (here,), without(value[here], tuple(rest)))


def broken(kind: Any, rng: Random) -> Any:
    """Return a readable value that was broken at a few places."""
    value = right(type_of(kind), rng)
    for _ in range(rng.randint(1, 4)):
        at = rng.choice(list(places(value)))
        if at and rng.random() < 0.5:
            beside_it = isinstance(value_at(value, at[:-1]), dict) and rng.random() < 0.5
            value = put(value, (*at[:-1], text(rng)), 1) if beside_it else without(value, at)
        elif at or rng.random() < 0.1:
            value = put(value, at, anything(rng))
    return value


def value_at(value: Any, at: tuple[Any, ...]) -> Any:
    """Return the part at a place."""
    for name in at:
        value = value[name]
    return value


def readable(kind: Any, value: Any) -> bool:
    try:
        msgspec.json.decode(msgspec.json.encode(value), type=kind)
    except msgspec.ValidationError:
        return False
    return True


def resolves(value: Any, at: str) -> bool:
    """Return whether a JSON Pointer names a part of the value, or a missing field of an object in it."""
    *way, last = (token.replace("~1", "/").replace("~0", "~") for token in at.split("/"))
    if not way:
        return at == ""
    for token in way[1:]:
        value = value[int(token)] if isinstance(value, list) else value[token]
    return isinstance(value, dict) or int(last) < len(value)


def assert_in_plain_words(fault: Fault) -> None:
    for language in LANGUAGES:
        detail = wrong_of(fault, language).detail
        assert detail.isprintable()
        assert detail.endswith(".")
        assert "…" not in detail
        assert not any(words in detail for words in (*FOREIGN, *TEXTS.patterns)), detail
        for expected in parts(fault.expected) if fault.expected else ():
            assert not getattr(expected, "pattern", None) or expected.pattern not in detail


def repaired(value: Any, found: tuple[Fault, ...], rng: Random) -> Any:
    """Return the value with a correct part at each named place."""
    for fault in reversed(found):
        if fault.code == "unknown":
            value = without(value, fault.at)
        else:
            assert fault.expected is not None, fault
            value = put(value, fault.at, right(fault.expected, rng))
    return value


@pytest.mark.parametrize("kind", KINDS, ids=list(BODIES))
def test_all_that_is_wrong_is_named(kind: Any) -> None:
    rng, seen = Random(1), set()
    tags = {struct.tag_field for struct in parts(type_of(kind)) if isinstance(struct, types.StructType)} - {None}
    for _ in range(400):
        value = broken(kind, rng)
        if readable(kind, value):
            continue
        found = faults_of(kind, msgspec.json.encode(value))
        assert 1 <= len(found) <= FAULTS_MAX
        for fault in found:
            seen.add(fault.code)
            assert_in_plain_words(fault)
            assert resolves(value, json_pointer(fault.at)), (fault, value)
        tag_was_wrong = any(fault.at and fault.at[-1] in tags for fault in found)
        value = repaired(value, found, rng)
        if tag_was_wrong and not readable(kind, value):  # with a wrong tag the type of the object was unknown
            value = repaired(value, faults_of(kind, msgspec.json.encode(value)), rng)
        assert readable(kind, value), value
    structs = [struct for struct in parts(type_of(kind)) if isinstance(struct, types.StructType)]
    demands = any(field.required for struct in structs for field in struct.fields)
    assert seen == {"wrong", "unknown"} | ({"missing"} if demands else set())


def test_all_parts_of_an_allowed_list_are_examined() -> None:
    """The numbers of players, options and points depend on the ruleset and are checked later."""
    counted = types.ListType | types.VarTupleType | types.DictType
    lists = [
        (name, part) for name, kind in BODIES.items() for part in parts(type_of(kind)) if isinstance(part, counted)
    ]
    unlimited = [name for name, part in lists if part.max_length is None]
    assert unlimited == ["api.matches.openings.BODY"] * 3, "players, options and points"
    assert max(part.max_length or 0 for _, part in lists) <= PARTS_MAX


def test_the_parts_of_a_much_longer_list_are_not_all_examined() -> None:
    def opening(players: int) -> bytes:
        named: list[Any] = [{"name": "Anna"}] * (players - 1)
        return msgspec.json.encode({"ruleset": "kalabrias", "players": [*named, 1]})

    kind = BODIES["api.matches.openings.BODY"]
    assert [fault.at for fault in faults_of(kind, opening(PARTS_MAX))] == [("players", PARTS_MAX - 1)]
    assert [fault.code for fault in faults_of(kind, opening(PARTS_MAX + 1))] == ["unlike"]


@pytest.mark.parametrize("key", RULESETS)
def test_all_that_is_wrong_with_options_is_named(key: str) -> None:
    options, rng, wrong = RULESETS[key].options, Random(1), 0
    for _ in range(200):
        value = broken(options, rng)
        if not isinstance(value, dict) or value.keys() - set(options.__struct_fields__) or readable(options, value):
            continue
        wrong += 1
        found = tuple(faults_in(type_of(options), value))
        for fault in found:
            assert_in_plain_words(fault)
        options_of(RULESETS[key], repaired(value, found, rng))
    assert wrong > 20


def test_every_form_that_a_text_may_have_is_in_words(client: Client) -> None:
    """Covers bodies and parameters."""
    asked = [
        type_of(handler.signature_model.__annotations__[name])
        for route in client.app.routes
        for handler in getattr(route, "route_handlers", ())
        for name in handler.parsed_fn_signature.parameters
        if name != "request"
    ]
    assert asked
    kinds = [*asked, *map(type_of, KINDS), *(type_of(rules.options) for rules in RULESETS.values())]
    forms = {
        part.pattern for kind in kinds for part in parts(kind) if isinstance(part, types.StrType) and part.pattern
    }
    assert forms == TEXTS.patterns.keys(), "give the pattern its words in api/http/faults.toml"


def test_the_texts_name_the_same_facts_in_both_languages() -> None:
    for table in (TEXTS.faults, TEXTS.said, TEXTS.phrases, TEXTS.patterns):
        for name, text in table.items():
            assert fact_names(text.en) == fact_names(text.sv), name
            assert text.en != text.sv or name == "null", name


@pytest.mark.parametrize(
    ("path", "body"),
    [("", "matches.openings.BODY"), ("/{}/acts", "matches.acts.ACT"), ("/{}/knocks", "cases.knocks.KNOCK")],
)
def test_mended_it_is_no_longer_unreadable(client: Client, path: str, body: str) -> None:
    kind, rng = BODIES[f"api.{body}"], Random(2)
    url, headers = f"/v1/matches{path.format(UUID(int=0))}", {"Authorization": "Bearer x", **JSON}
    for _ in range(40):
        value = broken(kind, rng)
        if readable(kind, value):
            continue
        found = faults_of(kind, msgspec.json.encode(value))
        document = problem(client.post(url, content=json.dumps(value), headers=headers), 400, "unreadable")
        assert document["errors"] == json.loads(msgspec.json.encode([wrong_of(fault, "en") for fault in found]))
        value = repaired(value, found, rng)
        if readable(kind, value):
            assert client.post(url, content=json.dumps(value), headers=headers).status_code in (201, 401, 404, 422)
