"""Returns an earlier state of a match."""

from typing import Annotated, Any

from litestar import get
from litestar.params import QueryParameter
from msgspec.structs import replace

from api.access.caller import Caller
from api.http.describe import described
from api.http.headers import matching_etag
from api.http.long_answers import long_reply
from api.http.params import NUMBER, MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply, encode, not_modified
from api.http.threads import in_long_thread
from api.matches.schemas import ActSchema, MatchSeen, seen_fields, tag_now
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from referee import wire_types
from referee.store.match import Match
from referee.store.store import Referee


class Replayed(MatchSeen, kw_only=True):
    """The state of a match after event ``version``, with all hands if the deal of that event is over."""

    legal_acts: wire_types.BySeat[Annotated[tuple[ActSchema, ...], wire_types.at_most(wire_types.ACTS_MAX)] | None]
    """Legal acts by seat; ``null``: the caller may not see them."""


def _replay_fields(then: Match, now: Match, caller: Caller) -> dict[str, Any]:
    """Return a :class:`Replayed` of the state ``then`` as a dict, with all hands if its deal is over in ``now``."""
    public = then.version <= now.public_to
    viewer = caller.deal_viewer(public)
    fields = seen_fields(then, viewer)
    if public:
        fields["hands"] = then.rules.view(then.play, "official").hands
    fields["legal_acts"] = [
        then.legal(seat) if viewer in (seat, "official") else None for seat in range(len(then.opened.players))
    ]
    return fields


def read_replay(referee: Referee, now: Match, at: int, caller: Caller) -> bytes:
    """Return the state after event ``at`` as an encoded :class:`Replayed`. Touches the database.

    ``now``: the present state, with the names that the caller may see.
    """
    then = replace(match_of(referee.replay(now.id, at)), opened=now.opened)
    return encode(_replay_fields(then, now, caller))


@get(
    "/matches/{match:uuid}/replay",
    operation_id="replay_match",
    summary="Get the state of a match after an earlier event",
    description="Returns the state of the match after event `at`, computed from its events, with the acts that were "
    "legal then. A seat sees its own acts, the official those of all seats and the open breaches. When the deal of "
    "that event is over, every caller sees its hands. 404 `no-such-event` if the match has no event `at`.",
    tags=["Events"],
    operation_class=described(gives=Replayed, errors=(400, 401, 404, 409, 503)),
)
async def replay_match(
    request: ApiCall,
    match_id: MatchId,
    at: Annotated[
        int,
        QueryParameter(
            description="The number of an event, from 1 to the version of the match.", schema_extra=NUMBER
        ),
    ],
    min_version: MinVersion = 0,
) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    if not 1 <= at <= match.version:
        raise Problem("no_such_event", first=1, last=match.version)
    tag = tag_now(match)
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has)
    body = await in_long_thread(service.desk.run_on_history, at, read_replay, match, at, caller.without_texts)
    return await long_reply(request, body, tag, caller.texts)
