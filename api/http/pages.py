"""Pages of lists: parameters, cursors, and the link to the next page (RFC 8288)."""

from collections.abc import Iterable, Iterator, Mapping
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
from projections.cursors import Page, page_of

T = TypeVar("T")

LIMIT_MAX = 1000
Limit = Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")]
CURSOR: dict[str, Any] = {"pattern": "^[0-9]{1,9}$", "maxLength": 9}
Cursor = Annotated[str | None, QueryParameter(description="`next` of the page before.", schema_extra=CURSOR)]
By = Literal["cursor", "after"]
"""The query parameter that names the beginning of a page."""


def numbered_page(numbered: Iterable[tuple[int, T]], cursor: str | None, limit: int) -> Page[tuple[int, T], str]:
    """Return the page after a cursor. Raises Problem (400) if the cursor is no number."""
    after = 0 if cursor is None else _number(cursor)
    found = list(islice((one for one in numbered if one[0] > after), limit + 1))
    return page_of(found, limit, lambda last: str(last[0]))


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise Problem("bad_cursor")
    return int(cursor)


@contextmanager
def must_be_cursor() -> Iterator[None]:
    """Raise Problem (400) instead of ValueError, which a projection raises for a cursor that it did not make."""
    try:
        yield
    except ValueError:
        raise Problem("bad_cursor") from None


def next_link(request: Req, following: str | int | None, *, by: By = "cursor", **repeated: object) -> dict[str, str]:
    """Return the header that links the next page, which begins at ``following``; empty if this is the last.

    ``repeated``: parameters that the link names in any case.
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
    """Return a page with :func:`next_link`, or 304 if the caller has it."""
    link = next_link(request, following, by=by, **repeated)
    return await marked_reply(request, page, texts, headers={**headers, **link})
