"""The list of matches, page by page."""

from collections.abc import Mapping
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
from api.http.pages import must_be_cursor, page_reply
from api.http.params import PAGE_MAX, Fresh, OfRuleset, PageCursor, PageLimit
from api.http.problems import Problem
from api.http.query import must_be_ruleset, must_be_told
from api.http.replies import Reply, encode
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from projections.matches import Listed, Status
from referee import wire_types
from referee.clubs.commands import EveningSent, MemberSent
from referee.events import Dealing, Enforcement, Visibility
from referee.value import Seat, Time, Value, Version

TIME_MAX = 64
"""Letters of a time with its offset, and more of its fraction than anybody has."""
MOMENT = Annotated[datetime, Meta(tz=True)]
EARLIEST, LATEST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


class MatchListed(Value):
    """A match in the list. ``deal`` is the one under way, or the last one when the match is over."""

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
    """Whose match it is; null: nobody's."""
    evening: wire_types.EveningNumber | None
    """On which of the club's evenings it is played."""
    table: wire_types.TableNumber | None
    """At which table of that evening."""
    members: wire_types.BySeat[wire_types.MemberNumber]
    """The members of the club who play, by seat; empty where it is no club's match."""
    visibility: Visibility
    """Who may see it."""


class MatchPage(Value):
    """Some matches in the order in which they were opened. ``next``: the ``cursor`` for more, ``null`` at the end.
    ``behind``: how many stored events the list has not taken in yet."""

    matches: Annotated[tuple[MatchListed, ...], wire_types.at_most(PAGE_MAX)]
    next: wire_types.Cursor | None
    behind: wire_types.Lag


def _listed(entry: Listed, names: Mapping[int, str]) -> MatchListed:
    """``names``: of members, where he who asks is told them."""
    fields = msgspec.structs.asdict(entry)
    if names:
        fields["players"] = tuple(map(names.get, entry.members, entry.players))
    return MatchListed(id=fields.pop("match"), **fields)


def _moment(name: str, text: str | None) -> datetime | None:
    """The time that a parameter gives, in UTC; one out of range becomes the earliest or latest that there is."""
    if text is None:
        return None
    try:
        moment: datetime = msgspec.convert(text, MOMENT)
        return moment.astimezone(UTC)
    except msgspec.ValidationError:
        fault = Fault("wrong", parameter=name, expected=type_of(MOMENT), given=text)
        raise Problem("bad_parameter", faults=(fault,)) from None
    except OverflowError:
        return EARLIEST if text.startswith("0001") else LATEST


@get(
    "/matches",
    operation_id="list_matches",
    summary="All matches",
    description="A page of the matches that the caller may see, in the order in which they were opened: to whoever "
    "shows nothing the public ones, with a key of a club also those of the club. `player` is a whole name, `evening` "
    "and `member` are of the `club` that is named. To go on, give "
    "`next` as `cursor` with the same filters. Answered at once with what the list has: each match at its "
    "`version`, and `behind` tells how many events are still to come. With `fresh=true` it waits a few seconds for "
    "what was stored before it was asked.",
    tags=["Matches"],
    operation_class=described(gives=MatchPage, errors=(400, 422, 503)),
)
async def list_matches(
    request: ApiCall,
    ruleset: OfRuleset = None,
    status: Annotated[
        Literal["open", "over", "abandoned", "any"],
        QueryParameter(description="`over`: won or closed; `abandoned`: ended unfinished by the official."),
    ] = "any",
    player: Annotated[
        str | None,
        QueryParameter(
            description="Only those in which this name plays.",
            min_length=1,
            max_length=wire_types.NAME_MAX,
            pattern=wire_types.NAME,
        ),
    ] = None,
    club: Annotated[
        UUID | None, QueryParameter(description="Only those of this club.", schema_extra={"maxLength": 36})
    ] = None,
    evening: Annotated[
        int | None,
        QueryParameter(ge=1, le=wire_types.MEMBERS_MAX, description="Only those of this evening of the `club`."),
    ] = None,
    member: Annotated[
        int | None,
        QueryParameter(
            ge=1, le=wire_types.MEMBERS_MAX, description="Only those in which this member of the `club` plays."
        ),
    ] = None,
    opened_from: Annotated[
        str | None, QueryParameter(format="date-time", max_length=TIME_MAX, description="Then or later.")
    ] = None,
    opened_to: Annotated[
        str | None, QueryParameter(format="date-time", max_length=TIME_MAX, description="Before then.")
    ] = None,
    limit: PageLimit = 50,
    cursor: PageCursor = None,
    fresh: Fresh = False,
) -> Reply:
    """All matches."""
    sight = await request.service.access.listing(request)
    must_be_told(request, club=(club, UUID), evening=(evening, EveningSent), member=(member, MemberSent))
    of_club = {"evening": evening, "member": member}
    if club is None and (given := [name for name, number in of_club.items() if number is not None]):
        raise Problem("no_club_named", fields=given)
    begin, end = _moment("opened_from", opened_from), _moment("opened_to", opened_to)
    service = request.service
    book = service.projections.matches

    must_be_ruleset(ruleset)
    with must_be_cursor():
        (found, following), behind = await service.projections.ask_of_all(
            book,
            lambda connection: book.page(
                connection,
                sight,
                ruleset=ruleset,
                status=None if status == "any" else status,
                player=player,
                club=club,
                evening=evening,
                member=member,
                opened_from=begin,
                opened_to=end,
                after=cursor,
                limit=limit,
            ),
            fresh=fresh,
        )
    names: Mapping[int, str] = {}
    if sight.club is not None:  # a holder of a key of the club may know who plays
        theirs = (one.members for one in found if one.club == sight.club)
        names = await service.member_names.called(sight.club, set(chain.from_iterable(theirs)))
    matches = tuple(_listed(one, names if one.club == sight.club else {}) for one in found)
    page = MatchPage(matches=matches, next=following, behind=behind)
    return await page_reply(request, encode(page), following, NO_TEXTS)  # the names are in the page already
