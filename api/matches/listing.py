"""The list of matches, page by page."""

from datetime import UTC, datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from litestar import get
from litestar.params import QueryParameter
from msgspec import Meta

from api.http.describe import described
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply, reply
from api.matches.shown import RulesetSeen
from api.service import service_of
from projections.matches import Listed, Status
from referee.events import Dealing, Enforcement
from referee.games import RULESETS
from referee.value import Seat, Time, Value, Version

LIMIT_MAX = 200
EARLIEST, LATEST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


class MatchListed(Value):
    """A match in the list. ``deal`` is the one under way, or the last one when the match is over."""

    id: UUID
    ruleset: RulesetSeen
    status: Status
    players: tuple[str, ...]
    dealing: Dealing
    enforcement: Enforcement
    opened_at: Time
    changed_at: Time
    deal: int
    version: Version
    winner: Seat | None


class MatchPage(Value):
    """Some matches in the order in which they were opened. ``next``: the ``cursor`` for more, ``null`` at the end.
    ``behind``: how many stored events the list has not taken in yet."""

    matches: tuple[MatchListed, ...]
    next: str | None
    behind: int


def _listed(entry: Listed) -> MatchListed:
    fields = msgspec.structs.asdict(entry)
    return MatchListed(id=fields.pop("match"), **fields)


def _moment(name: str, text: str | None) -> datetime | None:
    """The time that a parameter gives, in UTC; one out of range becomes the earliest or latest that there is."""
    if text is None:
        return None
    try:
        moment: datetime = msgspec.convert(text, Annotated[datetime, Meta(tz=True)])
        return moment.astimezone(UTC)
    except msgspec.ValidationError as error:
        raise Problem("bad_parameter", reason=f"{name}: {error}") from None
    except OverflowError:
        return EARLIEST if text.startswith("0001") else LATEST


@get(
    "/matches",
    operation_id="list_matches",
    summary="All matches",
    description="A page of matches in the order in which they were opened. `player` is a whole name. To go on, give "
    "`next` as `cursor` with the same filters. Answered at once with what the list has: each match at its "
    "`version`, and `behind` tells how many events are still to come. With `fresh=true` it waits a few seconds for "
    "what was stored before it was asked.",
    tags=["Matches"],
    operation_class=described(gives=MatchPage, errors=(400, 422, 503)),
)
async def list_matches(
    request: Req,
    ruleset: Annotated[str | None, QueryParameter(description="Only those of this game.")] = None,
    status: Annotated[Literal["open", "over", "any"], QueryParameter(description="Whether it is over.")] = "any",
    player: Annotated[str | None, QueryParameter(description="Only those in which this name plays.")] = None,
    opened_from: Annotated[str | None, QueryParameter(format="date-time", description="Then or later.")] = None,
    opened_to: Annotated[str | None, QueryParameter(format="date-time", description="Before then.")] = None,
    limit: Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")] = 50,
    cursor: Annotated[str | None, QueryParameter(description="`next` of the page before.")] = None,
    fresh: Annotated[bool, QueryParameter(description="Whether to wait for what was just stored.")] = False,
) -> Reply:
    """All matches."""
    if ruleset is not None and ruleset not in RULESETS:
        raise Problem("unknown_ruleset", ruleset=ruleset, allowed=list(RULESETS))
    begin, end = _moment("opened_from", opened_from), _moment("opened_to", opened_to)
    books = service_of(request).books
    try:
        (found, more), behind = await books.ask_of_all(
            books.matches,
            lambda connection: books.matches.page(
                connection,
                ruleset=ruleset,
                status=None if status == "any" else status,
                player=player,
                opened_from=begin,
                opened_to=end,
                after=cursor,
                limit=limit,
            ),
            fresh=fresh,
        )
    except ValueError:
        raise Problem("bad_cursor") from None
    return reply(MatchPage(matches=tuple(map(_listed, found)), next=more, behind=behind))
