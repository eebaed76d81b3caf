"""Cursors: the place in a list where a page ends and the next page begins."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar
from zlib import crc32

import msgspec
from sqlalchemy import Column, ColumnElement, Integer, bindparam, literal_column, tuple_

T = TypeVar("T")
P = TypeVar("P")
QUERIES_KEPT = 256
"""Maximum cached queries for pages. They differ by filters and limit; building one takes longer than running it."""


def cursor_of(*place: Any) -> str:
    body = msgspec.json.encode(place)
    return urlsafe_b64encode(crc32(body).to_bytes(4) + body).decode()


def read_cursor(cursor: str, kind: type[T]) -> T:
    """Return the place in a cursor. Raises: ValueError if :func:`cursor_of` did not make the cursor."""
    try:
        raw = urlsafe_b64decode(cursor)
        if urlsafe_b64encode(raw).decode() != cursor or crc32(raw[4:]).to_bytes(4) != raw[:4]:
            raise ValueError("not a cursor of ours")
        return msgspec.json.decode(raw[4:], type=kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a cursor: {cursor!r}") from error


class Page(NamedTuple, Generic[T, P]):
    entries: tuple[T, ...]
    next: P | None
    """The place where the next page begins; ``None``: this page is the last."""


def page_of(found: Sequence[T], limit: int, place: Callable[[T], P]) -> Page[T, P]:
    """Return the page of entries ``found`` with :func:`rows_of` as limit. ``place``: returns the place after one."""
    return Page(tuple(found[:limit]), place(found[limit - 1]) if len(found) > limit else None)


class Order:
    """The order of a list by columns that are unique together, and its pages."""

    def __init__(self, place: type[tuple[Any, ...]], *columns: Column[Any]) -> None:
        self.columns = columns
        self._place = place
        self._names = [f"after_{column.name}" for column in columns]

    @property
    def beyond(self) -> ColumnElement[bool]:
        """The condition that a row comes after the place in a cursor."""
        named = (bindparam(name, type_=column.type) for name, column in zip(self._names, self.columns, strict=True))
        return tuple_(*self.columns) > tuple_(*named)

    def values(self, cursor: str | None) -> dict[str, Any]:
        """Return the parameters of :attr:`beyond`, named ``after_`` plus the column's name; empty without a cursor.

        Raises: ValueError if the cursor is not of this list.
        """
        return {} if cursor is None else dict(zip(self._names, read_cursor(cursor, self._place), strict=True))

    def page(self, found: Sequence[T], limit: int) -> Page[T, str]:
        """Return the page of rows ``found`` with :func:`rows_of` as limit, and the cursor of the next page."""

        def cursor(last: T) -> str:
            return cursor_of(*(getattr(last, column.name) for column in self.columns))

        return page_of(found, limit, cursor)


def rows_of(limit: int) -> ColumnElement[int]:
    """Return ``limit + 1``: the last row shows that there is a next page. PostgreSQL reuses a literal's plan."""
    return literal_column(str(limit + 1), Integer)
