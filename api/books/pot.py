"""The operation that returns the pot of a match."""

from litestar import get

from api.books.sheets import sheet_operation, sheet_reply
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply
from api.runtime.call import ApiCall
from projections import pots
from projections.pots import Pot


@get(
    "/matches/{match:uuid}/pot",
    operation_id="get_pot",
    summary="Get the pot of a match",
    description="Returns the amount in the pot and the payments of each deal, with their seats, rules and events. "
    "`pending` has the stakes of the deal under way, which are entered when it is scored. 404 `no-such-pot` in a "
    "game without a pot. With `Accept: text/csv` the answer is a table.",
    tags=["Books"],
    operation_class=sheet_operation(Pot, "One row per entry."),
)
async def get_pot(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    if not match.rules.has_pot:
        raise Problem("no_such_pot", ruleset=match.rules.key)
    return await sheet_reply(request, match, service.projections.pots, pots.csv, caller.texts)
