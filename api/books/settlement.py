"""The operation that returns the settlement of a match in money."""

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
    """Return the settlement as JSON. ``provisional``: scores may still be corrected."""
    history = read_whole(referee, match.id, match.version)
    found = settlement(
        history, basis, balances=match.rules.has_pot, provisional=provisional, members=match.opened.members
    )
    return encode(found)


@get(
    "/matches/{match:uuid}/settlement",
    operation_id="get_settlement",
    summary="Get the payments that follow from a match",
    description="Returns the result of a match for money in minor units: the amount that each seat receives or pays, "
    "with its lines and their deals, rules and events; and the payments between seats. The result is calculated from "
    "the events of the match with all corrections. 404 `not-for-money` if the match is not for money.\n\n"
    "While the match is `open` no seat owes anything; in a game with a pot the amounts are the winnings and payments "
    "so far. `provisional`: the match is over, and a score may still be corrected. `final`: the time for corrections "
    "is over. An abandoned match owes nothing, but a pot is shared.\n\n"
    "In a club's match `counted` says whether the club's books count it. Nothing is entered until the seats in "
    "`waiting_for` have agreed to the stakes, which they may also do after the end.",
    tags=["Books"],
    operation_class=described(
        gives=Settlement,
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_settlement(request: ApiCall, match_id: MatchId, min_version: MinVersion = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    basis = match.rules.basis(match.opened.options) if match.opened.stakes is not None else None
    if basis is None:
        raise Problem("not_for_money")
    provisional = match.is_provisional(utc_now())
    tag = tag_of(match.version, *(("provisional",) if provisional else ()))
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has)
    body = await in_long_thread(
        service.desk.run_on_history, match.version, read_settlement, match, basis, provisional
    )
    return await long_reply(request, body, tag, caller.texts)
