"""Cursors: where in a list a page ended, for the next one to begin there."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any, TypeVar
from zlib import crc32

import msgspec
from sqlalchemy import Column, ColumnElement, Integer, bindparam, literal_column, tuple_

T = TypeVar("T")
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

    def page(self, found: Sequence[T], limit: int) -> tuple[tuple[T, ...], str | None]:
        """What is on a page for which one row more was asked, and the cursor of the next page if there is one."""
        if len(found) <= limit:
            return tuple(found), None
        last = found[limit - 1]
        return tuple(found[:limit]), cursor_of(*(getattr(last, column.name) for column in self.columns))


def rows_of(limit: int) -> ColumnElement[int]:
    """How many rows to ask for, to know whether there is a next page. It stands in the question itself: PostgreSQL
    keeps its plan only then."""
    return literal_column(str(limit + 1), Integer)
