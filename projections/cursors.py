"""Cursors: places where a list's page ends."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Generic, NamedTuple, TypeVar
from zlib import crc32

import msgspec
from msgspec import Meta
from sqlalchemy import Column, ColumnElement, Integer, bindparam, literal_column, tuple_

from referee import wire_types

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])
Number = Annotated[int, Meta(ge=0, le=wire_types.ENTRIES_MAX)]
"""Number in a cursor. Its sum with a page's limit fits an integer column."""
Moment = Annotated[datetime, Meta(tz=True)]
QUERIES_KEPT = 256
"""Maximum cached queries for pages, because building a query takes longer than running it."""


def cursor_of(*place: Any) -> str:
    body = msgspec.json.encode(place)
    return urlsafe_b64encode(crc32(body).to_bytes(4) + body).decode()


def read_cursor(cursor: str, kind: type[K]) -> K:
    """Return the place in a cursor. Raises: ValueError if damaged, not of type ``kind``, or with a time not in UTC.

    A client can compute the checksum, so ``kind`` limits which values reach the database.
    """
    try:
        raw = urlsafe_b64decode(cursor)
        if urlsafe_b64encode(raw).decode() != cursor or crc32(raw[4:]).to_bytes(4) != raw[:4]:
            raise ValueError("the checksum does not fit")
        place: K = msgspec.json.decode(raw[4:], type=kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a cursor: {cursor!r}") from error
    if any(isinstance(one, datetime) and one.utcoffset() for one in place):
        raise ValueError(f"not a cursor, because its time is not in UTC: {cursor!r}")
    return place


class Page(NamedTuple, Generic[T]):
    items: tuple[T, ...]
    next: str | None
    """Cursor of the next page; ``None`` on the last page."""


def page_of(found: Sequence[T], limit: int, place_of: Callable[[T], tuple[Any, ...]]) -> Page[T]:
    """Return the first ``limit`` items as a page. A further item in ``found`` shows that a next page exists."""
    return Page(tuple(found[:limit]), cursor_of(*place_of(found[limit - 1])) if len(found) > limit else None)


class Order:
    """A list's order by columns that are unique together. ``kind``: tuple of their types."""

    def __init__(self, kind: type[tuple[Any, ...]], *columns: Column[Any]) -> None:
        self.columns = columns
        self._kind = kind
        self._names = [f"after_{column.name}" for column in columns]

    @property
    def beyond(self) -> ColumnElement[bool]:
        """Condition that a row comes after the place in a cursor."""
        named = (bindparam(name, type_=column.type) for name, column in zip(self._names, self.columns, strict=True))
        return tuple_(*self.columns) > tuple_(*named)

    def values(self, cursor: str | None) -> dict[str, Any]:
        """Return the parameters of :attr:`beyond`; empty without a cursor. Raises: as :func:`read_cursor`."""
        return {} if cursor is None else dict(zip(self._names, read_cursor(cursor, self._kind), strict=True))

    def page(self, found: Sequence[T], limit: int) -> Page[T]:
        """Return the page of ``found``, rows of a query limited by :func:`limit_plus_one`."""
        return page_of(found, limit, attrgetter(*(column.name for column in self.columns)))


def limit_plus_one(limit: int) -> ColumnElement[int]:
    """Return ``limit + 1`` as a literal, because the further row shows that a next page exists."""
    return literal_column(str(limit + 1), Integer)
