"""The call that returns the standings of a club."""

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
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from projections.matches import Standing
from referee import wire_types
from referee.clubs.commands import PERSON
from referee.clubs.facts import SEASON_MAX, Season
from referee.events import in_points
from referee.games import RULESETS
from referee.value import Points, Value


class StandingSeen(Value):
    """A member's results in finished matches of one game, and the rulings on their knocks."""

    ruleset: RulesetSeen
    member: wire_types.MemberNumber
    played: wire_types.Tally
    """Finished matches."""
    won: wire_types.Tally
    """Matches won, with partners or alone."""
    points: Points
    """Sum of the final points. In Rams, matches with and without stakes count in different units."""
    knocks_upheld: wire_types.Tally
    """Knocks upheld by the present rulings, also in unfinished matches."""
    knocks_dismissed: wire_types.Tally
    """Knocks dismissed by the present rulings, also in unfinished matches."""


NOTHING = Standing(0, 0, 0)


def _seen(ruleset: str, member: int, results: Standing, upheld: int, dismissed: int) -> StandingSeen:
    played, won, halves = results
    (points,) = in_points((halves,), halves=True)
    return StandingSeen(
        ruleset=ruleset,
        member=member,
        played=played,
        won=won,
        points=points,
        knocks_upheld=upheld,
        knocks_dismissed=dismissed,
    )


class Standings(Value):
    """Standings of the members who played, one for each ruleset and member."""

    season: Season | None
    """null: all seasons."""
    standings: Annotated[tuple[StandingSeen, ...], wire_types.at_most(wire_types.MEMBERS_MAX * len(RULESETS))]
    """Sorted by ruleset; in each, most matches won first, then most played, then by number."""
    behind: wire_types.Lag
    """Stored events that the standings do not include yet."""


@get(
    "/clubs/{club:uuid}/standings",
    operation_id="get_standings",
    summary="Get the standings of a season",
    description="Returns the results of members in the matches of a season's evenings that were won or closed, not "
    "abandoned, with all corrections: one row per game and member. Requires any key of the club. Private matches "
    "count only for callers who may see them: their players, and keys that see all matches of the club.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=Standings, errors=(400, 401, 404, 422, 503)),
)
async def get_standings(
    request: ApiCall,
    club_id: ClubId,
    season: Annotated[
        str | None,
        QueryParameter(description="Left out: all seasons.", min_length=1, max_length=SEASON_MAX, pattern=PERSON),
    ] = None,
    ruleset: OfRuleset = None,
    fresh: Fresh = False,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id)
    state, sight = caller.club.state, caller.sight
    must_be_ruleset(ruleset)
    evenings = [number for number, one in enumerate(state.evenings, 1) if season in (None, one.season)]
    matches, cases = service.projections.matches, service.projections.cases

    def read(connection: Connection) -> tuple[StandingSeen, ...]:
        results = matches.standings(connection, club_id, evenings, sight, ruleset)
        knocks = cases.knocks(connection, club_id, evenings, matches.of_club(club_id, sight), ruleset)
        keys = results.keys() | knocks
        seen = [_seen(*key, results.get(key, NOTHING), *knocks.get(key, (0, 0))) for key in keys]
        return tuple(sorted(seen, key=lambda one: (one.ruleset, -one.won, -one.played, one.member)))

    found, behind = await service.projections.ask_of_all(matches, read, fresh=fresh)
    page = encode(Standings(season=season, standings=found, behind=behind))
    return await marked_reply(request, page, NO_TEXTS, headers=PRIVATE)
