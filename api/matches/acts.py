"""What a seat may do, and doing it."""

from typing import Annotated, Any

from litestar import get, post
from litestar.params import QueryParameter

from api.access.tokens import must_be_official, must_be_seat, required_token, viewer_of
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, IF_NONE_MATCH, TOKEN, described
from api.http.headers import Req, header, same_version
from api.http.params import MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply, not_modified, of_match
from api.http.writes import expected_by, key_of, replayed
from api.matches.shown import ActSeen, EventSeen, event_seen
from api.service import service_of
from referee.acts import AnyAct, SeatAct
from referee.events import LAYS_OPEN, Recorded, Viewer
from referee.refusals import NotInPlay
from referee.store.desk import Command
from referee.value import Value, Version

ACT: Body[AnyAct] = Body(AnyAct)


class ActDone(Value):
    """An act was accepted: the version of the match after it, and the events it made as the caller may see them."""

    version: Version
    events: tuple[EventSeen, ...]


@get(
    "/matches/{match:uuid}/legal-acts",
    operation_id="list_legal_acts",
    summary="What a seat may do now",
    description="Each is a body for `send_act`: ready to send, but for cards that only a real table can name "
    "(`deal`, `draw`). A seat may ask for itself, the official for any seat, or without `seat` for the official's "
    "own acts. With `penalise` more is accepted than is listed: an act against the rules stands until somebody "
    "knocks.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        gives=tuple[ActSeen, ...],
        headers=("ETag",),
        takes=(IF_NONE_MATCH,),
        errors=(400, 401, 403, 404, 409, 422, 503),
        empty={304: "The match is at this version still."},
    ),
)
async def list_legal_acts(
    request: Req,
    match: MatchId,
    seat: Annotated[
        int | None, QueryParameter(gt=-1, le=7, description="Whose acts; left out: the caller's own.")
    ] = None,
    min_version: MinVersion = 0,
) -> Reply:
    """What a seat may do now."""
    required_token(request)
    if seat is None and "seat" in request.query_params:  # Litestar reads "null" as nothing
        raise Problem("bad_parameter", reason="seat: Expected `int`, got `null`")
    seen, viewer = await service_of(request).seen(request, match, min_version)
    whose: Viewer = viewer if seat is None else seat
    if viewer not in (whose, "official"):
        raise Problem("not_your_seat", seat=whose, yours=viewer)
    if isinstance(whose, int) and whose >= len(seen.opened.players):
        raise NotInPlay("no_such_seat", None, seat=whose)
    if same_version(header(request, b"if-none-match"), seen.version):
        return not_modified(seen.version)
    return of_match(seen.rules.legal(seen.state, whose), seen.version)


def events_then(events: tuple[Recorded, ...], viewer: Viewer) -> list[dict[str, Any]]:
    """The events of an act as the viewer could see them when it was done, so that a repeat is answered alike."""
    public_to = max((one.originator_version for one in events if type(one.event) in LAYS_OPEN), default=0)
    return [event_seen(one, viewer, one.originator_version <= public_to) for one in events]


@post(
    "/matches/{match:uuid}/acts",
    operation_id="send_act",
    summary="Do something",
    description="One act: by the seat whose token is given, or by the official `void`, "
    "and `close` in games that know no end of their own. The referee decides it by the "
    "rules of the match, stores what follows, and answers with those events as the caller may see them.\n\n"
    "`Idempotency-Key` makes a repeat safe; `If-Match` makes it hold only for the version that the caller has seen.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=ActSeen,
        gives=ActDone,
        status=201,
        says="Done, and stored.",
        headers=("ETag", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_act(request: Req, match: MatchId) -> Reply:
    """Does something."""
    service, token = service_of(request), required_token(request)
    key, expected, act = key_of(request), expected_by(request), await ACT.read(request)
    viewer = viewer_of(await service.opened(match), token)
    if isinstance(act, SeatAct):
        must_be_seat(viewer, act.seat)
    else:
        must_be_official(viewer)
    outcome = await service.do(Command(id=match, actor=viewer, request=act, key=key, expected=expected))
    version = outcome.events[-1].originator_version
    done = {"version": version, "events": events_then(outcome.events, viewer)}
    return of_match(done, version, status=201, headers=replayed(outcome))
