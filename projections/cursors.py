"""Cursors: where in a list a page ended, for the next one to begin there."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from zlib import crc32

import msgspec
from sqlalchemy import Column, ColumnElement, Integer, bindparam, literal_column, tuple_

T = TypeVar("T")
P = TypeVar("P")
QUERIES_KEPT = 256
"""Of the questions for pages of a list, which differ in their filters, and in how long a page is: each is put
together once, since that takes longer than to answer it."""


def cursor_of(*place: Any) -> str:
    """The cursor that names a place in a list."""
    body = msgspec.json.encode(place)
    return urlsafe_b64encode(crc32(body).to_bytes(4) + body).decode()


def read_cursor(cursor: str, kind: type[T]) -> T:
    """The place that a cursor names. Raises ``ValueError`` for what is none of ours."""
    try:
        raw = urlsafe_b64decode(cursor)
        if urlsafe_b64encode(raw).decode() != cursor or crc32(raw[4:]).to_bytes(4) != raw[:4]:
            raise ValueError("not a cursor of ours")
        return msgspec.json.decode(raw[4:], type=kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a cursor: {cursor!r}") from error


class Page(NamedTuple, Generic[T, P]):
    """A part of a list."""

    entries: tuple[T, ...]
    next: P | None
    """The place where the next page begins; None: this is the last."""


def page_of(found: Sequence[T], limit: int, place: Callable[[T], P]) -> Page[T, P]:
    """Return the page of entries that were ``found``, one more than ``limit`` if there are more.

    ``place``: returns the place after an entry.
    """
    return Page(tuple(found[:limit]), place(found[limit - 1]) if len(found) > limit else None)


class Order:
    """The order of a list, by columns of which no two of its rows have the same values, and the pages of it."""

    def __init__(self, place: type[tuple[Any, ...]], *columns: Column[Any]) -> None:
        """``place``: the types of the columns."""
        self.columns = columns
        self._place = place
        self._names = [f"after_{column.name}" for column in columns]

    @property
    def beyond(self) -> ColumnElement[bool]:
        """Of a row: it comes after the place that the values of a cursor name."""
        named = (bindparam(name, type_=column.type) for name, column in zip(self._names, self.columns, strict=True))
        return tuple_(*self.columns) > tuple_(*named)

    def values(self, cursor: str | None) -> dict[str, Any]:
        """Those that :attr:`beyond` asks for: ``after_`` and the name of a column; of no cursor none. Raises
        ``ValueError`` for what is no cursor of this list."""
        return {} if cursor is None else dict(zip(self._names, read_cursor(cursor, self._place), strict=True))

    def page(self, found: Sequence[T], limit: int) -> Page[T, str]:
        """Return the page of rows that were ``found``, one more than ``limit`` if there are more, with its cursor."""

        def cursor(last: T) -> str:
            return cursor_of(*(getattr(last, column.name) for column in self.columns))

        return page_of(found, limit, cursor)


def rows_of(limit: int) -> ColumnElement[int]:
    """How many rows to ask for, to know whether there is a next page. It stands in the question itself: PostgreSQL
    keeps its plan only then."""
    return literal_column(str(limit + 1), Integer)
