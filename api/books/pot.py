"""The pot, in games that have one."""

from litestar import get

from api.books.sheets import answer, sheet_of
from api.http.headers import Req
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply
from api.runtime.service import service_of
from projections import pots
from projections.pots import Pot


@get(
    "/matches/{match:uuid}/pot",
    operation_id="get_pot",
    summary="The pot",
    description="What lies in the pot, and who put in or drew what in each deal, by which rule and shown by which "
    "events. `pending` is what has been staked in the deal under way and is entered when it is scored. 404 in a "
    "game without a pot. With `Accept: text/csv` as a table.",
    tags=["Books"],
    operation_class=sheet_of(Pot, "A row for each entry."),
)
async def get_pot(request: Req, match: MatchId, min_version: MinVersion = 0) -> Reply:
    """The pot."""
    service = service_of(request)
    seen, _ = await service.access.sees(request, match, min_version)
    if not seen.rules.has_pot:
        raise Problem("no_such_pot", ruleset=seen.rules.key)
    return await answer(request, seen, service.books.pots, pots.csv)
