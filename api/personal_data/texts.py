"""Replaces texts that members write in matches by refs in requests, and the refs by texts in answers.

A field's type shows whether it is such a text, so that no call can forget one.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any
from uuid import UUID

import msgspec
from markupsafe import escape
from msgspec import inspect, structs

from api.http.replies import EVENT_STREAM, HTML, JSON, NDJSON, PLAIN
from api.http.threads import in_thread
from api.personal_data.erasures import Redactions
from api.personal_data.names import REF_PREFIX, Names, StoredText
from referee import wire_types
from referee.notation import to_json
from referee.value import Value


def is_free_text(kind: inspect.Type) -> bool:
    """Return whether a field's type is free text."""
    return (
        isinstance(kind, inspect.Metadata)
        and isinstance(kind.type, inspect.StrType)
        and (kind.extra_json_schema or {}).get("pattern") == wire_types.NOTE
    )


@cache
def _free_text_fields(kind: type[msgspec.Struct]) -> frozenset[str]:
    shape = inspect.type_info(kind)
    assert isinstance(shape, inspect.StructType), "a Struct has this type"
    return frozenset(field.name for field in shape.fields if any(map(is_free_text, _alternatives(field.type))))


def _alternatives(kind: inspect.Type) -> tuple[inspect.Type, ...]:
    return kind.types if isinstance(kind, inspect.UnionType) else (kind,)


@cache
def _may_contain_free_text(kind: type) -> bool:
    seen: set[type] = set()

    def within(part: Any) -> bool:
        if is_free_text(part):
            return True
        if isinstance(part, inspect.StructType):
            if part.cls in seen:
                return False
            seen.add(part.cls)
            return any(within(field.type) for field in part.fields)
        inner = (getattr(part, name, None) for name in ("type", "item_type", "key_type", "value_type"))
        several = (*getattr(part, "types", ()), *getattr(part, "item_types", ()))
        return any(within(one) for one in (*inner, *several) if isinstance(one, inspect.Type))

    return within(inspect.type_info(kind))


def with_texts_changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return a request, or a part of one, with ``change`` applied to each free text that is not empty."""
    match value:
        case msgspec.Struct():
            free_texts = _free_text_fields(type(value))
            news = {}
            for name in value.__struct_fields__:
                old = getattr(value, name)
                new = (change(old) if old else old) if name in free_texts else with_texts_changed(old, change)
                if new is not old:
                    news[name] = new
            return structs.replace(value, **news) if news else value
        case tuple():
            parts = tuple(with_texts_changed(part, change) for part in value)
            return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    return value


def free_texts_of(request: Value) -> tuple[str, ...]:
    """Return the free texts in a request, each once."""
    if not _may_contain_free_text(type(request)):  # because most requests have none
        return ()
    found: dict[str, None] = {}

    def note(text: str) -> str:
        found[text] = None
        return text

    with_texts_changed(request, note)
    return tuple(found)


_REF_START = REF_PREFIX.encode()
_REF = re.compile(rb"%b[0-9a-f]{64}" % _REF_START)


def _as_json(text: str) -> bytes:
    return msgspec.json.encode(text)[1:-1]


def _as_notation(text: str) -> bytes:
    return to_json(text)[1:-1].encode()


def _as_html(text: str) -> bytes:
    return escape(text).encode()


_ESCAPES: Mapping[str, Callable[[str], bytes]] = MappingProxyType(
    {JSON: _as_json, NDJSON: _as_json, EVENT_STREAM: _as_json, HTML: _as_html, PLAIN: _as_notation}
)
"""Functions that escape a text, by media type. Answers of other types contain no texts."""


class Texts:
    """The texts of matches. Use them only for a caller who may read them."""

    def __init__(
        self, names: Names, matches: Collection[UUID], redactions: Callable[[UUID], Awaitable[Redactions]]
    ) -> None:
        """``redactions``: returns the changes of a club's recorded erasures."""
        self._names, self._matches, self._redactions = names, matches, redactions

    def may_contain_refs(self, body: bytes) -> bool:
        return _REF_START in body

    async def resolve(self, body: bytes, media_type: str) -> bytes:
        """Return a body with texts instead of refs. Refs of deleted, damaged and other matches' texts stay."""
        escaped = _ESCAPES.get(media_type)
        if escaped is None or not (refs := set(_REF.findall(body))):
            return body
        found = await in_thread(self._names.read_in, self._matches, [ref.decode() for ref in refs])
        erased: dict[str, str | None] = {}
        for club in {stored.club for stored in found.values()}:
            erased |= await self._redactions(club)
        shown = {ref: stored for ref, stored in found.items() if _agrees_with_erasures(ref, stored, erased)}
        texts = {ref.encode(): escaped(stored.text) for ref, stored in shown.items()}
        return _REF.sub(lambda ref: texts.get(ref[0], ref[0]), body) if texts else body


def _agrees_with_erasures(ref: str, stored: StoredText, erased: Redactions) -> bool:
    """Return whether a text is an original that no recorded erasure changed, or the result of one."""
    return stored.redacted == erased.get(ref) and (stored.redacted is not None or ref not in erased)
