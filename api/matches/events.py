"""The audit trail of a match: by pages, as NDJSON, and as a stream that can be resumed."""

from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse

from api.http.describe import described, in_header
from api.http.headers import Req, header, prefers, tag_of
from api.http.params import After, MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode, written_of_match
from api.hub import set_within
from api.matches.shown import EventSeen, event_seen
from api.service import Service, service_of
from api.threads import in_stream_thread, in_thread
from referee.events import Viewer
from referee.phases import Over
from referee.store.desk import Busy
from referee.store.match import Match
from referee.store.rows import from_row, row_hash
from referee.value import Value, Version

PAGE = 500
"""Events read at a time."""
LIMIT_MAX = 1000
NDJSON = "application/x-ndjson"
KEEP_ALIVE_SECONDS = 15
"""Shorter than the minute after which proxies give up on a silent connection."""


SENT = {
    "type": "string",
    "description": "Server-sent events. Of each, `id` is the event's number, `event` its topic, and `data` an "
    "`EventSeen` as JSON in one line. Before the first stands `retry`, and comments keep the connection open.",
}


class EventPage(Value):
    """Some events in order. ``next``: what to give as ``after`` for more, ``null`` when these are the last."""

    events: tuple[EventSeen, ...]
    next: int | None
    version: Version


def read_events(service: Service, match: Match, viewer: Viewer, after: int, limit: int) -> list[dict[str, Any]]:
    """Events as the viewer may see them, up to the version of ``match``. Touches the database."""
    last = min(match.version, after + limit)
    if after >= last:
        return []
    rows = service.referee.rows(match.id, after=after, to=last)
    official = viewer == "official"
    return [
        event_seen(
            from_row(row), viewer, row.originator_version <= match.public_to, row_hash(row) if official else None
        )
        for row in rows
    ]


def read_page(service: Service, match: Match, viewer: Viewer, after: int, limit: int) -> bytes:
    """An :class:`EventPage`, encoded. Touches the database."""
    events = read_events(service, match, viewer, after, limit)
    last = events[-1]["number"] if events else after
    page = {"events": events, "next": last if last < match.version else None, "version": match.version}
    return encode(page)


Form = Callable[[dict[str, Any]], bytes]
"""How an event is written among others."""


def read_piece(service: Service, match: Match, viewer: Viewer, after: int, to: int, form: Form) -> tuple[bytes, int]:
    """Some events up to number ``to``, encoded, and the number of the last of them. Touches the database."""
    events = read_events(service, match, viewer, after, min(PAGE, to - after))
    return b"".join(map(form, events)), events[-1]["number"] if events else to


@get(
    "/matches/{match:uuid}/events",
    operation_id="list_events",
    summary="The audit trail",
    description="What happened, in order, as the caller may see it. Cards that lay face down are shown when their "
    "deal is over. With `Accept: application/x-ndjson` one event a line; then without `limit` all there are.\n\n"
    "The official also gets the hash chain: each `prev` is the `hash` of the event before.",
    tags=["Events"],
    operation_class=described(
        gives=EventPage,
        headers=("ETag",),
        takes=(in_header("Accept", "`application/json` or `application/x-ndjson`.", example=NDJSON),),
        others={NDJSON: {"type": "string", "description": "One event a line."}},
        errors=(400, 401, 404, 409, 503),
    ),
)
async def list_events(
    request: Req,
    match: MatchId,
    after: After = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")] = 100,
    min_version: MinVersion = 0,
) -> ASGIResponse:
    """The audit trail."""
    service = service_of(request)
    seen, viewer = await service.seen(request, match, min_version)
    vary = {"Vary": "Authorization, Accept"}
    if prefers(header(request, b"accept"), NDJSON):
        end = min(seen.version, after + limit) if "limit" in request.query_params else seen.version
        headers = {"ETag": tag_of(seen.version), **PRIVATE, **vary}
        # The first lines before the answer begins, which may still be a problem.
        first = await in_thread(read_piece, service, seen, viewer, after, end, _line)
        lines = _lines(service, seen, viewer, first, end)
        return ASGIStreamingResponse(iterator=lines, headers=headers, media_type=NDJSON)
    page = await in_thread(read_page, service, seen, viewer, after, limit)
    return written_of_match(page, seen.version, headers=vary)


async def _lines(
    service: Service, match: Match, viewer: Viewer, first: tuple[bytes, int], end: int
) -> AsyncIterator[bytes]:
    piece, last = first
    yield piece
    while last < end:
        piece, last = await in_stream_thread(read_piece, service, match, viewer, last, end, _line)
        yield piece


def _line(event: dict[str, Any]) -> bytes:
    return encode(event) + b"\n"


def is_over(match: Match) -> bool:
    """Nothing more can happen in it."""
    return isinstance(match.state, Over)


@get(
    "/matches/{match:uuid}/events/stream",
    operation_id="stream_events",
    summary="The audit trail as it grows",
    description="Server-sent events: `id` is the event's number, `event` its topic, `data` the same JSON as in the "
    "list. Begins after `Last-Event-ID`, else after `after`, else with the first event; nothing is left out or "
    "repeated. The stream ends after the last event of a finished match; asked again from there it answers 204, "
    "which tells an EventSource not to connect again.",
    tags=["Events"],
    operation_class=described(
        others={"text/event-stream": SENT},
        takes=(
            in_header(
                "Last-Event-ID", "The number of the last event that came.", pattern=r"^[0-9]{1,9}$", example="12"
            ),
        ),
        errors=(400, 401, 404, 503),
        empty={204: "The match is over and all its events have been sent."},
    ),
)
async def stream_events(request: Req, match: MatchId, after: After = 0) -> ASGIResponse:
    """The audit trail as it grows."""
    service = service_of(request)
    last = _last_event_id(request)
    seen, viewer = await service.seen(request, match)
    start = after if last is None else last
    if is_over(seen) and start >= seen.version:
        return Reply(status=204, headers=PRIVATE)
    if service.hub.closed:
        raise Busy
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    stream = _stream(service, match, viewer, start)
    return ASGIStreamingResponse(iterator=stream, headers=headers, media_type="text/event-stream")


def _last_event_id(request: Req) -> int | None:
    given = header(request, b"last-event-id")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise Problem("bad_last_event_id")
    return int(given)


async def _stream(service: Service, match_id: UUID, viewer: Viewer, after: int) -> AsyncIterator[bytes]:
    """Sends what there is, then waits to be woken; a comment now and then keeps the connection open."""
    yield b"retry: 1000\n\n"
    with service.hub.waiting(match_id) as changed:
        while not service.hub.closed:
            match = await service.match(match_id)
            while after < match.version:
                end = match.version
                piece, after = await in_stream_thread(read_piece, service, match, viewer, after, end, _framed)
                yield piece
            if is_over(match):
                return
            if not await set_within(changed, KEEP_ALIVE_SECONDS):
                yield b": keep-alive\n\n"


def _framed(event: dict[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event["number"], event["topic"].encode(), encode(event))
