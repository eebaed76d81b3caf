"""Returns the standings of a club."""

from typing import Annotated, NamedTuple

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, must_be_cursor, page_reply
from api.http.params import ClubId, Fresh, OfRuleset
from api.http.query import must_be_ruleset
from api.http.replies import Reply, encode
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from projections.cursors import Page, page_of, read_cursor
from projections.matches import Standing, StandingsRow
from referee import wire_types
from referee.clubs.commands import PERSON
from referee.clubs.facts import SEASON_MAX, Season
from referee.events import in_points
from referee.games import RULESETS
from referee.value import Points, Value

IN_MONEY = tuple(key for key, rules in RULESETS.items() if rules.has_pot)
"""Rulesets whose points are minor units of money in a match with stakes."""


class StandingSeen(Value):
    """A member's results in finished matches of one ruleset, and the present rulings on their knocks."""

    ruleset: RulesetSeen
    currency: wire_types.Currency | None
    """Currency of the points (minor units) in matches of Rams with stakes; null: points of the game."""
    member: wire_types.MemberNumber
    played: wire_types.Tally
    """Finished matches."""
    won: wire_types.Tally
    """Matches won, with partners or alone."""
    points: Points
    """Sum of the final points."""
    knocks_upheld: wire_types.Tally
    """Knocks upheld, also in unfinished matches."""
    knocks_dismissed: wire_types.Tally
    """Knocks dismissed, also in unfinished matches."""


class StandingPage(Value):
    """A page of the standings: one row per ruleset, currency of the points, and member."""

    season: Season | None
    """Season; null: all seasons."""
    items: Annotated[tuple[StandingSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Rows by ruleset, currency (null first), matches won and matches played (most first), and member."""
    next: wire_types.Cursor | None
    behind: wire_types.Lag


class Place(NamedTuple):
    """The sort key of a row."""

    ruleset: str
    currency: str
    """Currency of the points; empty: they are not money."""
    minus_won: int
    minus_played: int
    member: int


NO_RESULTS = Standing(0, 0, 0)


def _place(row: StandingsRow, results: Standing) -> Place:
    return Place(row.ruleset, row.currency or "", -results.won, -results.played, row.member)


def _standing_seen(row: StandingsRow, results: Standing, upheld: int, dismissed: int) -> StandingSeen:
    (points,) = in_points((results.halves,), halves=True)
    return StandingSeen(
        ruleset=row.ruleset,
        currency=row.currency,
        member=row.member,
        played=results.played,
        won=results.won,
        points=points,
        knocks_upheld=upheld,
        knocks_dismissed=dismissed,
    )


@get(
    "/clubs/{club:uuid}/standings",
    operation_id="get_standings",
    summary="Get the standings of a season",
    description="Returns a page of the results of members in the matches of a season's evenings that were won or "
    "closed, not abandoned, with all corrections. There is one row per ruleset and member. In Rams the points of "
    "a match with stakes are minor units of money, and otherwise units of one trick. So in Rams a member has one "
    "row for each `currency` and one without. Each page is made from the standings at that time. Requires any "
    "key of the club. Private matches count only for callers who may see them: their players, and keys that see "
    "all matches of the club.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=StandingPage, errors=(400, 401, 404, 422, 503)),
)
async def get_standings(
    request: ApiCall,
    club_id: ClubId,
    season: Annotated[
        str | None,
        QueryParameter(description="Left out: all seasons.", min_length=1, max_length=SEASON_MAX, pattern=PERSON),
    ] = None,
    ruleset: OfRuleset = None,
    cursor: Cursor = None,
    limit: Limit = LIMIT,
    fresh: Fresh = False,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id)
    state, sight = caller.club.state, caller.sight
    must_be_ruleset(ruleset)
    with must_be_cursor():
        after = None if cursor is None else read_cursor(cursor, Place)
    evenings = [number for number, one in enumerate(state.evenings, 1) if season in (None, one.season)]
    matches, cases = service.projections.matches, service.projections.cases

    def read(connection: Connection) -> Page[StandingSeen]:
        club_matches = matches.with_currency(club_id, sight, IN_MONEY)
        results = matches.standings(connection, club_id, evenings, club_matches, ruleset)
        knocks = cases.knocks(connection, club_id, evenings, club_matches, ruleset)
        rows = {_place(row, results.get(row, NO_RESULTS)): row for row in results.keys() | knocks}
        places = sorted(place for place in rows if after is None or place > after)
        page = page_of(places, limit, lambda last: last)
        here = [rows[place] for place in page.items]
        seen = (_standing_seen(row, results.get(row, NO_RESULTS), *knocks.get(row, (0, 0))) for row in here)
        return Page(tuple(seen), page.next)

    page, behind = await service.projections.ask_of_all(matches, read, fresh=fresh)
    shown = StandingPage(season=season, items=page.items, next=page.next, behind=behind)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)
