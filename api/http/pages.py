"""Makes pages of lists, with links to the next page (RFC 8288)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any, Literal, TypeVar

from litestar.params import QueryParameter

from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.member_texts import MemberTexts
from api.http.problems import Problem
from api.http.query import next_page_header
from api.http.replies import PRIVATE, Reply
from projections.cursors import Number, Page, page_of, read_cursor

T = TypeVar("T")

LIMIT, LIMIT_MAX = 100, 1000
"""Default and maximum of ``limit``, in items of a page."""
Limit = Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="The maximum number of items.")]
TEXT: dict[str, Any] = {"pattern": "^[A-Za-z0-9_=-]+$", "maxLength": 256}
Cursor = Annotated[
    str | None,
    QueryParameter(
        description="The `next` of the previous page, unchanged. Leave it out to get the first page.",
        schema_extra=TEXT,
    ),
]
By = Literal["cursor", "after"]
"""Query parameter for the beginning of a page: ``after`` (a number) for events, else ``cursor``."""


@contextmanager
def must_be_cursor() -> Iterator[None]:
    """Raise Problem (400 bad_cursor) if the block raises ``ValueError``, as projections do for a wrong cursor."""
    try:
        yield
    except ValueError:
        raise Problem("bad_cursor") from None


def after_of(cursor: str | None) -> int:
    """Return the number after which a page begins; 0 without a cursor. Raises Problem (400 bad_cursor)."""
    if cursor is None:
        return 0
    with must_be_cursor():
        (number,) = read_cursor(cursor, tuple[Number])
    return number


def page_by_number(found: Sequence[T], limit: int, number: Callable[[T], int]) -> Page[T]:
    """Return the first ``limit`` items as a page. A further item shows that a next page exists.

    ``number``: numbers an item.
    """
    return page_of(found, limit, lambda last: (number(last),))


def numbered_page(numbered: Iterable[tuple[int, T]], cursor: str | None, limit: int) -> Page[tuple[int, T]]:
    """Return the page after a cursor of items in order of their numbers. Raises Problem (400 bad_cursor)."""
    after = after_of(cursor)
    found = islice((one for one in numbered if one[0] > after), limit + 1)
    return page_of(list(found), limit, lambda last: last[:1])


def next_link(request: Req, following: str | int | None, *, by: By = "cursor", **repeated: object) -> dict[str, str]:
    """Return the Link header of the next page; empty without ``following``.

    ``following``: the value of the parameter ``by``. ``repeated``: further parameters of the link.
    """
    return {} if following is None else next_page_header(request, **{by: following}, **repeated)


async def page_reply(
    request: Req,
    page: bytes,
    following: str | int | None,
    texts: MemberTexts,
    *,
    by: By = "cursor",
    headers: Mapping[str, str] = PRIVATE,
    **repeated: object,
) -> Reply:
    """Return a page with :func:`next_link`, or 304 if the caller already has the page."""
    link = next_link(request, following, by=by, **repeated)
    return await marked_reply(request, page, texts, headers={**headers, **link})
