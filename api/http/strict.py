"""Refuses repeated keys and harmful characters in bodies, and names that look the same."""

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec

from api.http.faults import json_pointer
from api.http.problems import Problem

_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, line ends, and embeddings, overrides and isolates of the direction of writing."""
UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters: Unicode's Default_Ignorable_Code_Point, annotation marks and the empty Braille pattern."""


def must_be_harmless(body: bytes, decoded: Any, *, tagged: bool) -> None:
    """Raise Problem for a repeated key (400 repeated_key) or a harmful character in a value (422 harmful_character).

    ``tagged``: the body has a msgspec tag. A body with no more colons than required keys repeats no key, so the slow
    search is skipped.
    """
    kind: Any = type(decoded)
    if body.count(b":") > _required_keys(kind) + tagged:
        _DECODER_REFUSING_REPEATS.decode(body.decode())
    suspect = b"\\" in body or b"\x7f" in body or not body.isascii()
    if suspect and (harm := _find_harmful(msgspec.json.decode(body))) is not None:
        place, found = harm
        raise Problem(
            "harmful_character",
            field=json_pointer(tuple(reversed(place))),
            place=found.start() + 1,
            character=f"U+{ord(found[0]):04X}",
            name=unicodedata.name(found[0], "<control>"),
        )


@cache
def _required_keys(kind: type) -> int:
    if not issubclass(kind, msgspec.Struct):
        return 0
    return sum(field.required for field in msgspec.structs.fields(kind))


def _object_of_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object. Raises Problem (400 repeated_key)."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise Problem("repeated_key", key=name)
        found[name] = value
    return found


_DECODER_REFUSING_REPEATS = json.JSONDecoder(object_pairs_hook=_object_of_pairs, parse_int=str, parse_float=str)


def _find_harmful(value: Any) -> tuple[list[str | int], re.Match[str]] | None:
    """Return the path to the first harmful character, innermost part first, and its match, or ``None``."""
    if isinstance(value, str):
        found = _HARMFUL.search(value)
        return None if found is None else ([], found)
    parts: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, inner in parts:
        if (harm := _find_harmful(inner)) is not None:
            harm[0].append(name)
            return harm
    return None


def must_be_distinct(names: Iterable[str], *, officials: bool = False) -> None:
    """Raise Problem (422) if a name is invisible or two names look the same.

    Codes: unseen_name, same_name; for ``officials``: unseen_official_name, same_official_name.
    """
    seen: dict[str, int] = {}
    for place, name in enumerate(names):
        shown = comparable_name(name)
        if not shown:
            if officials:
                raise Problem("unseen_official_name", place=place)
            raise Problem("unseen_name", seat=place)
        if shown in seen:
            places = [seen[shown], place]
            if officials:
                raise Problem("same_official_name", name=name, places=places)
            raise Problem("same_name", name=name, seats=places)
        seen[shown] = place


def comparable_name(name: str) -> str:
    """Return a name for comparison: in NFKC, without case, invisible characters and extra blanks."""
    return " ".join(UNSEEN.sub("", unicodedata.normalize("NFKC", name)).casefold().split())
