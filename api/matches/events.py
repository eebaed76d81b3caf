"""Returns the events of a match as pages, as NDJSON, or as a stream that can be resumed."""

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from litestar import get
from litestar.params import QueryParameter
from litestar.types import ASGIApp
from msgspec.structs import replace

from api.access.caller import Caller
from api.access.tickets import TICKET_LENGTH
from api.http.describe import Text, described, header_parameter
from api.http.headers import header, matching_etag, packed_tag, prefers, tag_of, takes_gzip
from api.http.long_answers import long_reply
from api.http.member_texts import NO_TEXTS
from api.http.packing import PACK_FROM, Packer
from api.http.pages import LIMIT, LIMIT_MAX, Limit, next_link
from api.http.params import After, MatchId, MinVersion, Wait
from api.http.problems import MEDIA_TYPE, Problem, encoded_problem
from api.http.replies import (
    EVENT_STREAM,
    GZIP,
    NDJSON,
    PRIVATE,
    bodiless_reply,
    encode,
    etag_headers,
    not_modified,
    streamed_reply,
)
from api.http.threads import in_stream_thread, in_thread
from api.matches.schemas import (
    HIDDEN_REQUESTS,
    ActSeen,
    EndReason,
    EventSeen,
    StateSeen,
    StreamEnd,
    event_fields,
    state_seen,
)
from api.runtime.aggregate_reader import is_over
from api.runtime.call import ApiCall
from api.runtime.long_polls import wait_for_news
from api.runtime.service import Service
from api.runtime.wakeups import wait_until_set
from referee import wire_types
from referee.events import MatchOpened
from referee.store.aggregate import event_type, fold
from referee.store.clock import utc_now
from referee.store.command import Busy
from referee.store.match import Match
from referee.store.rows import NO_REQUEST, Row, from_row, raw_rows, row_hashes
from referee.store.store import UnknownAggregate
from referee.value import EventNumber, Value, Version
from referee.visibility import Event, Recorded, as_seen_by, differs_in_act, stored_with_topic, with_topic

READ_MAX = 500
"""Maximum events that a stream or NDJSON reads at once."""
EARLIER_ROWS = 8
"""Rows read before a page, because the page may begin in the middle of an act."""
STREAM_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
KEEP_ALIVE_SECONDS = 15
"""Seconds between comments in a stream. Proxies close a connection that is silent for a minute."""


RETRY = b"retry: 1000\n\n"
"""First piece of a stream: after a broken connection an EventSource waits one second."""
NO_RETRY = b"retry: 86400000\n\n"
"""First piece of a refused stream: an EventSource repeats the request after one day."""
EventNames = Literal["message", "topic"]
STREAM_DESCRIPTION = Text(
    "Server-sent events. The `data` of each is one line of JSON with its `topic`: an `EventSeen`, whose number is "
    "the `id` (for the official the first event of an act also has `request`, the request of the act); a `StateSeen` "
    "(`state`) or a `StreamEnd` (`end`), both without an `id`. With `names=topic` the field `event` is the topic. "
    "The stream begins with `retry`, and comments keep the connection open.",
    begins="retry: ",
    holds=(EventSeen, StateSeen, StreamEnd),
)


class EventPage(Value):
    """A page of events."""

    events: Annotated[tuple[EventSeen, ...], wire_types.at_most(LIMIT_MAX)]
    acts: Annotated[tuple[ActSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Acts with a visible request that begin with one of these events, in order; empty unless the caller is the
    official."""
    next: EventNumber | None
    version: Version


VisibleEvent = tuple[str, dict[str, Any], msgspec.Raw | None]
"""Topic and visible fields of an event; for the official also the request of an act that it begins, unless hidden."""


def read_events(service: Service, match: Match, caller: Caller, after: int, limit: int) -> list[VisibleEvent]:
    """Return at most ``limit`` events after ``after``, up to the version of ``match``, as the caller may see them.

    Touches the database.
    """
    last = min(match.version, after + limit)
    if after >= last:
        return []
    start = max(0, after - EARLIER_ROWS)
    rows = service.referee.rows(match.id, after=start, to=last)
    earlier, rows = rows[: after - start], rows[after - start :]
    return _visible_events(match, rows, service.referee.first_of_act(from_row(rows[0]), earlier), caller)


def _visible_events(match: Match, rows: Sequence[Row], act_number: int, caller: Caller) -> list[VisibleEvent]:
    """Return the events of ``rows`` as the caller may see them. ``act_number``: number of the first row's act."""
    viewers = {public: caller.deal_viewer(public) for public in (False, True)}
    hashes = row_hashes(rows) if "official" in viewers.values() else itertools.repeat(None)
    before, public_to, shown = None, match.public_to, []
    for stored, row, hashed in zip(rows, raw_rows(rows), hashes, strict=False):
        number = stored.originator_version
        if row.request is not NO_REQUEST or (before is not None and differs_in_act(row, before)):
            act_number = number
        before, public = row, number <= public_to
        viewer = viewers[public]
        official = viewer == "official"
        event = _topic_adder(stored.topic, official, public)(bytes(row.event))
        if event is None or number == 1:
            event = with_topic(as_seen_by(_event_with_names(from_row(stored), match), viewer, public))
        fields, request = event_fields(row, number, act_number, event, caller, official), None
        if official:
            fields["hash"] = hashed
            if row.request is not NO_REQUEST and event_type(stored.topic) not in HIDDEN_REQUESTS:
                request = row.request
        shown.append((stored.topic, fields, request))
    return shown


@cache
def _topic_adder(topic: str, official: bool, public: bool) -> Callable[[bytes], msgspec.Raw | None]:
    """Return a function that adds the topic to a stored event. It returns None if the event must be decoded."""
    return stored_with_topic(event_type(topic), official, public)


def _event_with_names(recorded: Recorded, match: Match) -> Event:
    """Return the event. The opening gets the player names of ``match``, which the caller may see."""
    event = recorded.event
    is_opening = recorded.originator_version == 1 and isinstance(event, MatchOpened)
    return replace(event, players=match.opened.players) if is_opening else event


def _with_request(shown: VisibleEvent) -> dict[str, Any]:
    _, event, request = shown
    return event if request is None else {**event, "request": request}


def read_page(service: Service, match: Match, caller: Caller, after: int, limit: int) -> bytes:
    """Return an encoded :class:`EventPage`. Touches the database."""
    shown = read_events(service, match, caller, after, limit)
    events = [event for _, event, _ in shown]
    acts = [{"number": event["number"], "request": request} for _, event, request in shown if request is not None]
    return encode({"events": events, "acts": acts, "next": next_after(match, after, limit), "version": match.version})


def next_after(match: Match, after: int, limit: int) -> int | None:
    """Return the ``after`` of the next page, or None on the last page."""
    return after + limit if after + limit < match.version else None


EncodeEvent = Callable[[VisibleEvent], bytes]


def read_encoded(
    service: Service, match: Match, caller: Caller, after: int, to: int, encode_event: EncodeEvent
) -> tuple[bytes, int]:
    """Return at most ``READ_MAX`` encoded events after ``after`` up to ``to``, and the number of the last.

    Without events the number is ``after``. Touches the database.
    """
    last = min(to, match.version, after + READ_MAX)
    return b"".join(map(encode_event, read_events(service, match, caller, after, last - after))), max(last, after)


@get(
    "/matches/{match:uuid}/events",
    operation_id="list_events",
    summary="List the events of a match",
    description="Returns one page of events in order, as the caller may see them. Face-down cards are shown when "
    "their deal is over. With `Accept: application/x-ndjson` each line is one event, and without `limit` all "
    "events after `after` are sent.\n\n"
    "With `wait` the answer waits at most this many seconds for an event after `after`, unless the match is "
    "over. If none comes, the page is empty.\n\n"
    "An event names its act by `act_number`, the number of the first event of the act. The official also gets "
    "the requests: `acts` has the acts that begin on the page. With `application/x-ndjson` the line of the first "
    "event of an act has the field `request` instead. The official also gets the hash chain: each `prev` is the "
    "`hash` of the event before.",
    tags=["Events"],
    operation_class=described(
        gives=EventPage,
        takes=(header_parameter("Accept", "`application/json` or `application/x-ndjson`.", example=NDJSON),),
        others={
            NDJSON: Text(
                "One `EventSeen` per line; for the official with the `request` of an act that it begins.",
                begins=r"\{|$",
            )
        },
        errors=(400, 401, 404, 409, 503),
    ),
)
async def list_events(
    request: ApiCall,
    match_id: MatchId,
    after: After = 0,
    limit: Limit = LIMIT,
    min_version: MinVersion = 0,
    wait: Wait = 0,
) -> ASGIApp:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, max(min_version, after))
    match, caller = await wait_for_news(request, match, caller, wait, lambda now: now.version <= after)
    as_lines = prefers(request.accepted, NDJSON)
    tag = tag_of(match.version, *(("lines",) if as_lines else ()))
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    following = next_after(match, after, limit) if "limit" in request.query_params or not as_lines else None
    headers |= next_link(request, following, by="after", limit=limit)
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has, headers)
    if as_lines:
        return await _ndjson_reply(request, match, caller, after, following or match.version, tag, headers)
    page = await in_thread(read_page, service, match, caller, after, limit)
    return await long_reply(request, page, tag, caller.texts, headers=headers)


async def _ndjson_reply(
    request: ApiCall, match: Match, caller: Caller, after: int, end: int, tag: str, headers: dict[str, str]
) -> ASGIApp:
    service = request.service
    # The first read comes before the answer, because a later error cannot be answered with a problem.
    first = await in_thread(read_encoded, service, match, caller, after, end, _ndjson_line)
    lines = _ndjson_pieces(service, match, caller, first, end)
    if len(first[0]) < PACK_FROM or not takes_gzip(request):
        return streamed_reply(request, lines, caller.texts, headers=etag_headers(tag, headers), media_type=NDJSON)
    headers = etag_headers(packed_tag(tag), headers | GZIP)
    packed = partial(_gzipped, padding_seed=first[0])
    return streamed_reply(request, lines, caller.texts, headers=headers, media_type=NDJSON, packed=packed)


async def _gzipped(pieces: AsyncIterator[bytes], padding_seed: bytes) -> AsyncIterator[bytes]:
    packer = Packer(padding_seed)
    async for piece in pieces:
        yield await in_stream_thread(packer.take, piece)
    yield packer.end()


async def _ndjson_pieces(
    service: Service, match: Match, caller: Caller, first: tuple[bytes, int], end: int
) -> AsyncIterator[bytes]:
    """Yield ``first``, then the lines of later events up to ``end``."""
    piece, last = first
    yield piece
    while last < end:
        piece, last = await in_stream_thread(read_encoded, service, match, caller, last, end, _ndjson_line)
        yield piece


def _ndjson_line(shown: VisibleEvent) -> bytes:
    return encode(_with_request(shown)) + b"\n"


@get(
    "/matches/{match:uuid}/events/stream",
    operation_id="stream_events",
    summary="Stream the events of a match",
    description="Sends each event of the match once, first those already stored and then new ones as they come. "
    "In these server-sent events `id` is the event's number. `data` is the event as in `list_events`, with its "
    "`topic`, and for the official with the `request` of an act that it begins. The stream begins after "
    "`Last-Event-ID`, else after `after`, else with the first event.\n\n"
    "A browser's EventSource gets every message in `onmessage`, and `topic` in the data says what it is. With "
    "`names=topic` each message has its topic as its event name, for `addEventListener`.\n\n"
    "A message `state` follows the stored events, and later the last event of each act. It has the seats that "
    "the match waits for, the points, and the number of the last scored deal. It has no `id`, because a stream "
    "cannot be resumed at it.\n\n"
    "The last message is `end`, when the match is over or the credential has ended: close the EventSource then, or "
    "it connects again. After the last event of a finished match a request is answered with 204. An EventSource "
    "does not show answers with a problem. So a client that prefers `text/event-stream` gets the problem of "
    "a refused ticket in a message `end`, with status 200.\n\n"
    "Each open stream counts in the quota of streams (403 `quota-reached`). While the service stops it opens no "
    "stream (503 `busy`), and open streams end without `end`.",
    tags=["Events"],
    operation_class=described(
        others={EVENT_STREAM: STREAM_DESCRIPTION},
        headers=("X-Accel-Buffering",),
        takes=(
            header_parameter(
                "Last-Event-ID", "The number of the last event received.", pattern=r"^[0-9]{1,9}$", example="12"
            ),
        ),
        errors=(400, 401, 403, 404, 409, 503),
        tagged=False,
        empty={204: "The match is over and all its events have been sent."},
    ),
)
async def stream_events(
    request: ApiCall,
    match_id: MatchId,
    after: After = 0,
    ticket: Annotated[
        str | None,
        QueryParameter(
            min_length=TICKET_LENGTH,
            max_length=TICKET_LENGTH,
            schema_extra={"pattern": "^[A-Za-z0-9_-]+$"},
            description="A ticket of `issue_ticket` instead of a token. A second use is refused (401). HEAD does "
            "not use it up.",
        ),
    ] = None,
    names: Annotated[
        EventNames,
        QueryParameter(description="The event names: `message` for each message (the default), or its `topic`."),
    ] = "message",
) -> ASGIApp:
    service = request.service
    last = _last_event_id(request)
    start = after if last is None else last
    if ticket is None:
        match, caller = await service.access.identify_viewer(request, match_id, start)
    else:
        keep_ticket = request.scope["method"] == "HEAD"
        try:
            match, caller = await service.access.identify_by_ticket(
                request, match_id, ticket, start, keep_ticket=keep_ticket
            )
        except (Problem, UnknownAggregate) as refused:
            if not prefers(request.accepted, EVENT_STREAM, to=MEDIA_TYPE):
                raise
            return streamed_reply(
                request,
                _refused_stream(request, refused, names),
                NO_TEXTS,
                headers=STREAM_HEADERS,
                media_type=EVENT_STREAM,
            )
    if is_over(match) and start >= match.version:
        return bodiless_reply(204, PRIVATE)
    if service.hub.closed:
        raise Busy
    ended = service.quotas.count_stream(
        request, None if caller.secret_hash is None else service.limits.limit_key_of(caller.secret_hash)
    )
    pieces = _stream(request, match_id, caller, start, names)
    return streamed_reply(request, pieces, caller.texts, headers=STREAM_HEADERS, media_type=EVENT_STREAM, ended=ended)


def _last_event_id(request: ApiCall) -> int | None:
    """Return the header ``Last-Event-ID``, or None. Raises Problem (400) for a malformed one."""
    given = header(request, b"last-event-id")
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) < 10):
        raise Problem("bad_last_event_id")
    return int(given)


async def _refused_stream(request: ApiCall, refused: Exception, names: EventNames) -> AsyncIterator[bytes]:
    """Yield the message ``end`` of a refused stream, with the problem."""
    yield NO_RETRY + _end_message("refused", names, encoded_problem(request, refused))


async def _stream(
    request: ApiCall, match_id: UUID, caller: Caller, after: int, names: EventNames
) -> AsyncIterator[bytes]:
    """Yield the messages of a stream: the stored events and the state, then each new act and the state after it.

    The message ``end`` follows when the match is over or the credential has ended, but not when the service stops.
    """
    yield RETRY
    service = request.service
    event_message = partial(_event_message, names=names)
    sent: Match | None = None
    with service.hub.waiting(match_id, *caller.revoking_club_ids) as changed:
        while not service.hub.closed:
            match = await service.reader.match(match_id)
            now = await service.access.current_caller_or_none(match, caller)
            if now is None:
                yield _end_message("token_ended", names)
                return
            caller = now
            if after == 0:
                match, _ = await service.member_names.with_names(match, caller.texts)
            if sent is not None and sent.version == after >= match.version - READ_MAX:
                if after < match.version:
                    yield await in_stream_thread(read_messages, service, sent, match, caller, names)
                    after = match.version
            # The stream begins, or more than READ_MAX events are due.
            elif sent is None or sent.version < match.version:
                while after < match.version:
                    end = match.version
                    piece, after = await in_stream_thread(
                        read_encoded, service, match, caller, after, end, event_message
                    )
                    yield piece
                yield _state_message(match, caller, names)
            sent = match
            if is_over(match):
                yield _end_message("match_over", names)
                return
            left = caller.seconds_left(utc_now())
            if not await wait_until_set(changed, min(KEEP_ALIVE_SECONDS, left)) and left > KEEP_ALIVE_SECONDS:
                yield b": keep-alive\n\n"


def read_messages(service: Service, sent: Match, match: Match, caller: Caller, names: EventNames) -> bytes:
    """Return the messages for the events after ``sent`` up to the later ``match``, with the state after each act.

    Touches the database.
    """
    pieces: list[bytes] = []
    act: list[Recorded] = []
    rows = service.referee.rows(match.id, after=sent.version, to=match.version)
    events = [from_row(row) for row in rows]
    shown = _visible_events(match, rows, rows[0].originator_version, caller)
    for recorded, one in zip(events, shown, strict=True):
        is_next_act = bool(act) and recorded.begins_after(act[-1])
        if is_next_act:
            sent = fold(sent, act)
            pieces.append(_state_message(sent, caller, names))
            act = []
        act.append(recorded)
        pieces.append(_event_message(one, names))
    return b"".join([*pieces, _state_message(match, caller, names)])


def _event_message(shown: VisibleEvent, names: EventNames) -> bytes:
    topic, event, _ = shown
    return b"id: %d\n%b" % (event["number"], _message(topic, encode({"topic": topic, **_with_request(shown)}), names))


def _message(topic: str, data: bytes, names: EventNames) -> bytes:
    """Return a stream message without an id, because an EventSource resumes after the last id."""
    name = b"event: %b\n" % topic.encode() if names == "topic" else b""
    return b"%bdata: %b\n\n" % (name, data)


def _state_message(match: Match, caller: Caller, names: EventNames) -> bytes:
    seen = state_seen(match, caller.deal_viewer(match.version <= match.public_to))
    return _message("state", encode(seen), names)


def _end_message(reason: EndReason, names: EventNames, problem: msgspec.Raw | None = None) -> bytes:
    return _message("end", encode({"topic": "end", "reason": reason, "problem": problem}), names)
