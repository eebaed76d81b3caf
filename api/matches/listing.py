"""Lists the matches that the caller may see."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from litestar import get
from litestar.params import QueryParameter
from msgspec import Meta

from api.http.describe import described
from api.http.faults import Fault, type_of
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, page_reply
from api.http.params import Fresh, OfRuleset
from api.http.problems import Problem
from api.http.replies import Reply, encode
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from api.runtime.list_pages import read_list_page
from api.runtime.service import Service
from projections.matches import Listed, Status
from projections.visibility import Sight
from referee import wire_types
from referee.events import Dealing, Enforcement, Visibility
from referee.value import Seat, Time, Value, Version

TIME_MAX = 64
"""Maximum characters of a time in the query."""
MOMENT = Annotated[datetime, Meta(tz=True)]
EARLIEST, LATEST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


OfStatus = Annotated[
    Literal["open", "over", "abandoned", "any"],
    QueryParameter(description="`over`: won or closed; `abandoned`: ended unfinished by the official."),
]
OfPlayer = Annotated[
    str | None,
    QueryParameter(
        description="Only matches in which a player has this name.",
        min_length=1,
        max_length=wire_types.NAME_MAX,
        pattern=wire_types.NAME,
    ),
]
OfClub = Annotated[
    UUID | None, QueryParameter(description="Only matches of this club.", schema_extra={"maxLength": 36})
]
OfEvening = Annotated[
    int | None,
    QueryParameter(ge=1, le=wire_types.MEMBERS_MAX, description="Only matches of this evening of the `club`."),
]
OfMember = Annotated[
    int | None,
    QueryParameter(
        ge=1, le=wire_types.MEMBERS_MAX, description="Only matches in which this member of the `club` plays."
    ),
]
OpenedFrom = Annotated[
    str | None,
    QueryParameter(format="date-time", max_length=TIME_MAX, description="Only matches opened at this time or later."),
]
OpenedTo = Annotated[
    str | None,
    QueryParameter(format="date-time", max_length=TIME_MAX, description="Only matches opened before this time."),
]


class MatchListed(Value):
    """A match in the list."""

    id: UUID
    ruleset: RulesetSeen
    status: Status
    players: wire_types.Names
    dealing: Dealing
    enforcement: Enforcement
    opened_at: Time
    changed_at: Time
    deal: wire_types.DealNumber
    version: Version
    winner: Seat | None
    club: UUID | None
    evening: wire_types.EveningNumber | None
    table: wire_types.TableNumber | None
    members: wire_types.BySeat[wire_types.MemberNumber]
    """Members by seat; empty without a club."""
    visibility: Visibility


class MatchPage(Value):
    """A page of matches, the oldest first."""

    items: Annotated[tuple[MatchListed, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None
    behind: wire_types.Lag


def _listed(entry: Listed, names: Mapping[int, str]) -> MatchListed:
    """Return a match for the list. ``names``: by member number, names to show instead of the stored ones."""
    fields = msgspec.structs.asdict(entry)
    del fields["currency"]
    if names:
        fields["players"] = tuple(map(names.get, entry.members, entry.players))
    return MatchListed(id=fields.pop("match"), **fields)


def _utc_time(parameter: str, text: str | None) -> datetime | None:
    """Return a parameter's time in UTC, or None without ``text``.

    A time too early or late for ``datetime`` in UTC becomes :data:`EARLIEST` or :data:`LATEST`. Raises Problem
    (400) unless ``text`` is a time with a zone.
    """
    if text is None:
        return None
    try:
        moment: datetime = msgspec.convert(text, MOMENT)
        return moment.astimezone(UTC)
    except msgspec.ValidationError:
        fault = Fault("wrong", parameter=parameter, expected=type_of(MOMENT), given=text)
        raise Problem("bad_parameter", faults=(fault,)) from None
    except OverflowError:
        return EARLIEST if text.startswith("0001") else LATEST


@get(
    "/matches",
    operation_id="list_matches",
    summary="List the matches that the caller may see",
    description="Returns one page of matches in the order in which they were opened. A caller without a "
    "credential sees public matches. A key of a club also shows the matches of its club. Of these, private matches "
    "need a key with `open`, `officiate` or `audit`, or with `play` and a member who plays in them. A token shows no "
    "further matches. `player` is a whole name; `evening` and `member` need `club` (else 422 `no-club-named`). For "
    "the next page send `next` as `cursor` with the same filters.\n\n"
    "The list may lag behind the events. Each match has the `version` that the list has read, and `behind` "
    "counts the events that the list does not include yet. With `fresh=true` the request waits a few seconds for "
    "all events that were stored before it.",
    tags=["Matches"],
    operation_class=described(gives=MatchPage, errors=(400, 422, 503)),
)
async def list_matches(
    request: ApiCall,
    ruleset: OfRuleset = None,
    status: OfStatus = "any",
    player: OfPlayer = None,
    club: OfClub = None,
    evening: OfEvening = None,
    member: OfMember = None,
    opened_from: OpenedFrom = None,
    opened_to: OpenedTo = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    fresh: Fresh = False,
) -> Reply:
    sight = await request.service.access.sight_of(request)
    of_club = {"evening": evening, "member": member}
    if club is None and (given := [name for name, number in of_club.items() if number is not None]):
        raise Problem("no_club_named", fields=given)
    begin, end = _utc_time("opened_from", opened_from), _utc_time("opened_to", opened_to)
    service = request.service
    found, following, behind = await read_list_page(
        service.projections,
        service.projections.matches,
        sight=sight,
        status=status,
        ruleset=ruleset,
        player=player,
        club=club,
        evening=evening,
        member=member,
        opened_from=begin,
        opened_to=end,
        after=cursor,
        limit=limit,
        fresh=fresh,
    )
    page = MatchPage(items=await _listed_with_names(service, sight, found), next=following, behind=behind)
    return await page_reply(request, encode(page), following, NO_TEXTS)


async def _listed_with_names(service: Service, sight: Sight, found: Sequence[Listed]) -> tuple[MatchListed, ...]:
    """Return the matches of a page. Those of the caller's club get its members' present names."""
    names: Mapping[int, str] = {}
    if sight.club is not None:
        of_club = (one.members for one in found if one.club == sight.club)
        names = await service.member_names.names_by_number(sight.club, set(chain.from_iterable(of_club)))
    return tuple(_listed(one, names if one.club == sight.club else {}) for one in found)
