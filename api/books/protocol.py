"""The operation that returns the protocol, the score sheet of a match."""

from litestar import get

from api.books.sheets import sheet_operation, sheet_reply
from api.http.params import MatchId, MinVersion
from api.http.replies import Reply
from api.runtime.call import ApiCall
from projections import protocols
from projections.protocols import Protocol


@get(
    "/matches/{match:uuid}/protocol",
    operation_id="get_protocol",
    summary="Get the protocol of a match",
    description="Returns the score sheet: the present `points` by seat, and one of the `lines` per deal, with its "
    "entries, their rules and the events that prove them. All games have the same form; `detail` has the particulars "
    "of one game. Points are whole numbers except in games that count halves; in Rams they are the balances. After a "
    "correction `lines` has the lines that count, each with its earlier forms (`was`), and `struck` those that no "
    "longer count. With `Accept: text/csv` the answer is a table.",
    tags=["Books"],
    operation_class=sheet_operation(Protocol, "One row per deal."),
)
async def get_protocol(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    return await sheet_reply(request, match, service.projections.protocols, protocols.csv, caller.texts)
