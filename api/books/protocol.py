"""The protocol: the score sheet of a match."""

from litestar import get

from api.books.sheets import answer, sheet_of
from api.http.params import MatchId, MinVersion
from api.http.replies import Reply
from api.runtime.call import ApiCall
from projections import protocols
from projections.protocols import Protocol


@get(
    "/matches/{match:uuid}/protocol",
    operation_id="get_protocol",
    summary="The protocol",
    description="The score sheet: `points` by seat as they stand, and `lines`, one a deal, each with the entries "
    "that make it up, their rules and the events that show them. It has one form for all games: what only one game "
    "has to tell is in `detail`. Points are whole numbers but in games that count halves; in Rams they are the "
    "balances. After a correction `lines` are those that count, as they count, each with what it `was`; those that "
    "count no more are in `struck`. With `Accept: text/csv` as a table.",
    tags=["Books"],
    operation_class=sheet_of(Protocol, "A row for each deal."),
)
async def get_protocol(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    """The protocol."""
    service = request.service
    match, caller = await service.access.sees(request, match_id, min_version)
    return await answer(request, match, service.projections.protocols, protocols.csv, caller.texts)
