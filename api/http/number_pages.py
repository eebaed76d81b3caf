"""What a club has of a kind, page by page, in the order of its numbers."""

from collections.abc import Iterable
from itertools import islice
from typing import Annotated, Any, NamedTuple, TypeVar

from litestar.params import QueryParameter

from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.problems import Problem
from api.http.query import more
from api.http.replies import PRIVATE, Reply, encode

T = TypeVar("T")

LIMIT_MAX = 1000
Limit = Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")]
CURSOR: dict[str, Any] = {"pattern": "^[0-9]{1,9}$", "maxLength": 9}
Cursor = Annotated[str | None, QueryParameter(description="`next` of the page before.", schema_extra=CURSOR)]


class Some(NamedTuple):
    """A page: by number, and where the next begins."""

    found: tuple[tuple[int, Any], ...]
    next: str | None


def some(numbered: Iterable[tuple[int, T]], cursor: str | None, limit: int) -> Some:
    """Those that follow the cursor. 400 where it is none of ours."""
    after = 0 if cursor is None else _number(cursor)
    found = tuple(islice((one for one in numbered if one[0] > after), limit + 1))
    return Some(found[:limit], str(found[limit - 1][0]) if len(found) > limit else None)


def _number(cursor: str) -> int:
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
        raise Problem("bad_cursor")
    return int(cursor)


async def page_reply(request: Req, page: Any, following: str | None) -> Reply:
    """The answer, or that the caller has it; ``following``: where the next page begins."""
    link = more(request, cursor=following) if following else {}
    return await marked_reply(request, encode(page), headers=PRIVATE | link)
