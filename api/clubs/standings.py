"""The standings of a club in a season."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.http.describe import KEY, described
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, Fresh, OfRuleset
from api.http.query import must_be_ruleset
from api.http.replies import PRIVATE, Reply, encode
from api.runtime.call import ApiCall
from projections.matches import Standing
from referee import wire_types
from referee.clubs.commands import PERSON
from referee.clubs.facts import SEASON_MAX, Season
from referee.events import in_points
from referee.value import Points, Value


class StandingSeen(Value):
    """The results of a member in matches that are over, and the rulings on the member's knocks."""

    member: wire_types.MemberNumber
    played: wire_types.Tally
    """How many matches."""
    won: wire_types.Tally
    """How many of them, with partners or alone."""
    points: Points
    """The sum of the points with which they ended, by the rules of each game: they mean little across games."""
    knocks_upheld: wire_types.Tally
    """How many of the member's knocks are upheld as they are ruled on now, also in matches that are not over."""
    knocks_dismissed: wire_types.Tally
    """How many are dismissed."""


NOTHING = Standing(0, 0, 0)


def _seen(member: int, came_to: Standing, upheld: int, dismissed: int) -> StandingSeen:
    played, won, halves = came_to
    (points,) = in_points((halves,), halves=True)
    return StandingSeen(
        member=member, played=played, won=won, points=points, knocks_upheld=upheld, knocks_dismissed=dismissed
    )


class Standings(Value):
    """The members who played, most matches won first."""

    season: Season | None
    """null: all seasons."""
    standings: Annotated[tuple[StandingSeen, ...], wire_types.at_most(wire_types.MEMBERS_MAX)]
    """By matches won, then played, then by number."""
    behind: wire_types.Lag
    """How many stored events they have not taken in yet."""


@get(
    "/clubs/{club:uuid}/standings",
    operation_id="get_standings",
    summary="The standings of a season",
    description="The results of members in the matches of a season's evenings: matches that were won or closed, not "
    "those that were abandoned. What is corrected counts as it stands now. With any key of the club. A private match "
    "counts only for those who may see it: its players and keys that see all matches of the club.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=Standings, errors=(400, 401, 404, 422, 503)),
)
async def get_standings(
    request: ApiCall,
    club_id: ClubId,
    season: Annotated[
        str | None,
        QueryParameter(description="Left out: of all seasons.", min_length=1, max_length=SEASON_MAX, pattern=PERSON),
    ] = None,
    ruleset: OfRuleset = None,
    fresh: Fresh = False,
) -> Reply:
    """The standings of a season."""
    service = request.service
    caller = await service.club_access.caller(request, club_id)
    now, sight = caller.club.standing, caller.sight
    must_be_ruleset(ruleset)
    evenings = [number for number, one in enumerate(now.evenings, 1) if season in (None, one.season)]
    matches, cases = service.projections.matches, service.projections.cases

    def read(connection: Connection) -> tuple[StandingSeen, ...]:
        came_to = matches.standings(connection, club_id, evenings, sight, ruleset)
        knocks = cases.knocks(connection, club_id, evenings, matches.of_club(club_id, sight), ruleset)
        members = came_to.keys() | knocks
        seen = [_seen(member, came_to.get(member, NOTHING), *knocks.get(member, (0, 0))) for member in members]
        return tuple(sorted(seen, key=lambda one: (-one.won, -one.played, one.member)))

    found, behind = await service.projections.ask_of_all(matches, read, fresh=fresh)
    page = encode(Standings(season=season, standings=found, behind=behind))
    return await marked_reply(request, page, NO_TEXTS, headers=PRIVATE)
