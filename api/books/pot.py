"""The pot, in games that have one."""

from litestar import get

from api.books.sheets import answer, sheet_of
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply
from api.runtime.call import ApiCall
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
async def get_pot(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    """The pot."""
    service = request.service
    match, caller = await service.access.sees(request, match_id, min_version)
    if not match.rules.has_pot:
        raise Problem("no_such_pot", ruleset=match.rules.key)
    return await answer(request, match, service.projections.pots, pots.csv, caller.texts)
