"""What a match comes to in money."""

from litestar import get

from api.http.describe import described
from api.http.headers import matching_etag, tag_of
from api.http.long_answers import long_reply
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply, encode, not_modified
from api.http.threads import in_long_thread
from api.runtime.call import ApiCall
from referee.settlement import Basis, Settlement, settlement
from referee.store.clock import utc_now
from referee.store.match import Match
from referee.store.store import Referee
from referee.store.whole import read_whole


def read_settlement(referee: Referee, match: Match, basis: Basis, provisional: bool) -> bytes:
    """Return what the match amounts to at its version, encoded. It touches the database."""
    history = read_whole(referee, match.id, match.version)
    found = settlement(
        history, basis, balances=match.rules.has_pot, provisional=provisional, members=match.opened.members
    )
    return encode(found)


@get(
    "/matches/{match:uuid}/settlement",
    operation_id="get_settlement",
    summary="The settlement",
    description="What a match for money comes to, in minor units: by seat what it receives or pays, with the lines "
    "that make it up, each with its deal, its rule and the events that show it; and who pays whom. It is reckoned "
    "from the events of the match as they count after corrections. While the match goes on (`open`) nobody owes "
    "anything yet; in a game with a pot each seat has what it has won and put in until now. `provisional`: it is "
    "over, and a score may still be corrected. `final`: it is over. A match that was abandoned owes nothing, but "
    "that a pot is shared. In a club's match `counted` says whether its books count it: while the seats in "
    "`waiting_for` have not agreed to the stakes, nothing is entered. When the last of them agrees it is, also after "
    "the end. All see it, as they see the protocol. 404 where the match is not for money.",
    tags=["Books"],
    operation_class=described(
        gives=Settlement,
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_settlement(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    """The settlement."""
    service = request.service
    match, caller = await service.access.sees(request, match_id, min_version)
    basis = match.rules.basis(match.opened.options) if match.opened.stakes is not None else None
    if basis is None:
        raise Problem("not_for_money")
    provisional = match.provisional(utc_now())
    tag = tag_of(match.version, *(("provisional",) if provisional else ()))
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has)
    body = await in_long_thread(
        service.desk.run_on_history, match.version, read_settlement, match, basis, provisional
    )
    return await long_reply(request, body, tag, caller.texts)
