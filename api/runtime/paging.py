"""How a page is given of a book of all matches, which goes on being kept."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Connection

from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.problems import Problem
from api.http.query import more
from api.http.replies import Reply, encode
from api.runtime.service import service_of
from projections.follow.follow import Projection
from referee.games import RULESETS
from referee.value import Value

T = TypeVar("T")


async def page_reply(
    request: Req,
    book: Projection,
    question: Callable[[Connection], tuple[Sequence[T], str | None]],
    show: Callable[[Sequence[T], str | None, int], Awaitable[Value]],
    *,
    ruleset: str | None,
    fresh: bool,
    headers: Mapping[str, str],
) -> Reply:
    """A page, or that the reader has it.

    ``question`` gives the entries and the cursor of the next page; it raises ``ValueError`` where the cursor that it
    was asked with is none. ``show`` makes the answer of both and of how many stored events the book has not taken in.
    Raises ``unknown_ruleset`` and ``bad_cursor``.
    """
    if ruleset is not None and ruleset not in RULESETS:
        raise Problem("unknown_ruleset", ruleset=ruleset, allowed=list(RULESETS))
    try:
        (found, following), behind = await service_of(request).books.ask_of_all(book, question, fresh=fresh)
    except ValueError:
        raise Problem("bad_cursor") from None
    link = more(request, cursor=following) if following else {}
    return await marked_reply(request, encode(await show(found, following, behind)), headers={**headers, **link})
