"""What a seat may do, and doing it."""

import asyncio
from typing import Annotated, Any

from litestar import get, post
from litestar.params import QueryParameter
from msgspec import Meta

from api.access.caller import Caller
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE, TOKEN, described
from api.http.headers import tag_of
from api.http.params import MatchId, MinVersion
from api.http.problems import STORE_FAILURES, Document, encoded_problem
from api.http.query import refuse_null
from api.http.replies import PRIVATE, Reply, of_match, reply, short
from api.http.writes import replayed
from api.matches.schemas import ActSent, ActShown, EventSeen, event_seen
from api.runtime.call import ApiCall
from referee import wire_types
from referee.acts import AnyAct
from referee.events import LAYS_OPEN
from referee.refusals import NotInPlay, Refused
from referee.store.clock import ClockWrong
from referee.store.command import Busy, Full, InDoubt, KeyReused, NotHeld, Outcome, Overtaken
from referee.store.damaged import DamagedRow
from referee.value import SeatSent, Value, Version
from referee.visibility import Recorded, Viewer

ACT: Body[AnyAct] = Body(AnyAct)
BATCH_MAX = 64
"""Acts in one batch: more than any seat does in a deal."""
PLACE = Meta(extra_json_schema={"minimum": 0, "maximum": BATCH_MAX})
BATCH_SECONDS = 10.0
"""After so long no further act of a batch is begun."""


class ActDone(Value):
    """An act was accepted: the version of the match after it, and the events it made as the caller may see them."""

    version: Version
    events: wire_types.Many[EventSeen]


class Batch(Value, forbid_unknown_fields=True):
    """Acts to be done one after the other."""

    acts: Annotated[tuple[AnyAct, ...], Meta(min_length=1, max_length=BATCH_MAX)]
    """In the order in which they are to be done."""


class NotDone(Value):
    """The act at which a batch stopped: its place, from 0, and the problem that it alone would be answered with."""

    index: Annotated[int, PLACE]
    """The place of the act in the batch, from 0."""
    problem: Document
    """What it alone would be answered with."""


class BatchDone(Value):
    """What became of a batch: what each act came to as far as they were done, and ``refused``, ``null`` if all were.
    The first ``replayed`` of them had been done before."""

    done: Annotated[tuple[ActDone, ...], wire_types.at_most(BATCH_MAX)]
    """What each act came to, as far as they were done."""
    replayed: Annotated[int, PLACE]
    """How many of them, from the first, had been done before."""
    refused: NotDone | None
    """Where it stopped, and why; null: all were done."""


BATCH: Body[Batch] = Body(Batch)
AGAINST: tuple[type[Exception], ...] = (Refused, Full, KeyReused, Overtaken)
"""What keeps an act from being done, whenever it comes."""
AMISS: tuple[type[Exception], ...] = (Busy, ClockWrong, DamagedRow, InDoubt, NotHeld, *STORE_FAILURES)
"""What tells of the service or the caller and not of an act: where nothing was done, it is the answer to all."""


@get(
    "/matches/{match:uuid}/legal-acts",
    operation_id="list_legal_acts",
    summary="What a seat may do now",
    description="Each is a body for `send_act`: ready to send, but for cards that only a real table can name "
    "(`deal`, `draw`). What a seat adds to a shuffle (`entropy`) only the seat can name: it is not listed, and until "
    "all have done so or the time has passed `deal` is refused (409). A seat may ask for itself, in a tally for any; "
    "the official for any seat, or without `seat` for the official's own acts. With `penalise` more is accepted than "
    "is listed: an act against the rules stands until somebody knocks.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        gives=Annotated[tuple[ActShown, ...], wire_types.at_most(wire_types.ACTS_MAX)],
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def list_legal_acts(
    request: ApiCall,
    match_id: MatchId,
    seat: Annotated[
        int | None,
        QueryParameter(
            ge=0, le=7, schema_extra={"minimum": 0}, description="Whose acts; left out: the caller's own."
        ),
    ] = None,
    min_version: MinVersion = 0,
) -> Reply:
    """What a seat may do now."""
    access = request.service.access
    request.must_show()
    refuse_null(request, seat=(seat, SeatSent))
    match, caller = await access.sees(request, match_id, min_version)
    whose: Viewer = caller.viewer if seat is None else seat
    caller.must_know_acts(match, whose)
    if isinstance(whose, int) and whose >= len(match.opened.players):
        raise NotInPlay("no_such_seat", None, seat=whose)
    return short(request, tag_of(match.version), lambda: match.legal(whose), caller.texts)


def done_of(outcome: Outcome, caller: Caller) -> dict[str, Any]:
    """The fields of :class:`ActDone`, ready to encode."""
    return {"version": outcome.events[-1].originator_version, "events": events_then(outcome.events, caller)}


def events_then(events: tuple[Recorded, ...], caller: Caller) -> list[dict[str, Any]]:
    """The events of an act as the caller could see them when it was done, so that a repeat is answered alike."""
    public_to = max((one.originator_version for one in events if type(one.event) in LAYS_OPEN), default=0)
    return [event_seen(one, caller, one.originator_version <= public_to) for one in events]


@post(
    "/matches/{match:uuid}/acts",
    operation_id="send_act",
    summary="Do something",
    description="One act: by the seat whose token is given, where only the tally is kept (`dealing: tally`) by any "
    "seat or the official for any, or by the official `void`, "
    "`abandon` (ends a match that will not be finished: nobody wins it, the deal under way counts for nothing, and "
    "only a pot is shared), and `close` in games that know no end of their own. The referee decides it by the "
    "rules of the match, stores what follows, and answers with those events as the caller may see them.\n\n"
    "`result` enters a whole deal of a tally as its score sheet has it: the referee does the acts that it stands "
    "for, one after the other, and where one is refused, all of it is; `facts.at` in the problem is the place, as a "
    "JSON Pointer (`/tricks/4`). What a game's result tells is at `get_ruleset`, as a JSON Schema.\n\n"
    "Where the match was opened with `adjudication.take_back` the last act can be taken back (`take_back`, J11): who "
    "did it asks, and it is done when all others have sent the same; an act by anybody withdraws it.\n\n"
    "`Idempotency-Key` makes a repeat safe; `If-Match` makes it hold only for the version that the caller has seen.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=ActSent,
        gives=ActDone,
        status=201,
        says="Done, and stored.",
        headers=("ETag", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_act(request: ApiCall, match_id: MatchId) -> Reply:
    """Does something."""
    service = request.service
    shown = request.must_show()
    key, expected, act = request.idempotency_key, request.expected_version, await ACT.read(request)
    _, caller = await service.access.acts(request, match_id, shown, act)
    outcome = await service.commands.do(caller.command(match_id, act, key=key, expected=expected))
    done = done_of(outcome, caller)
    return of_match(done, done["version"], caller.texts, status=201, headers=replayed(outcome))


@post(
    "/matches/{match:uuid}/acts/batch",
    operation_id="send_acts",
    summary="Do several things",
    description=f"1 to {BATCH_MAX} acts, all of the seat whose token is given, or all of the official. They are done "
    "in order, each as by `send_act`, and it stops at the first that is refused: what stands before it in `done` "
    "stays done, and what comes after it is not tried. Others may act in between.\n\n"
    "With an `Idempotency-Key` `k` the acts have the keys `k/0`, `k/1` and so on: a batch repeated goes on where it "
    "stopped, and those done before are answered as they were, the first `replayed` of `done`. `If-Match` holds for "
    "the first act; where it is stale the answer is 412, and nothing was done.\n\n"
    f"Where the service is slow, `refused` may tell so (503): after {BATCH_SECONDS:.0f} seconds no further act is "
    "begun. Repeat it then.",
    tags=["Matches"],
    security=TOKEN,
    status_code=200,
    operation_class=described(
        body=Batch,
        gives=BatchDone,
        says="Done as far as `done` tells, and stored.",
        headers=("ETag", "Content-Language", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE),
        errors=(400, 401, 403, 404, 412, 413, 415, 422, 503),
    ),
)
async def send_acts(request: ApiCall, match_id: MatchId) -> Reply:
    """Does several things."""
    service = request.service
    shown = request.must_show()
    key, expected, acts = request.idempotency_key, request.expected_version, (await BATCH.read(request)).acts
    match, caller = await service.access.acts(request, match_id, shown, *acts)
    outcomes: list[Outcome] = []
    refused, clock = None, asyncio.get_running_loop().time
    deadline = clock() + BATCH_SECONDS
    for index, act in enumerate(acts):
        caller.tries(request, match, act)
        own_key = None if key is None else f"{key}/{index}"
        command = caller.command(match_id, act, key=own_key, expected=None if index else expected)
        try:
            if index and clock() > deadline:
                raise Busy
            # One by one: whether an act is tried at all depends on what became of the one before it.
            outcomes.append(await service.commands.do(command))
        except (*AGAINST, *AMISS) as error:
            if not outcomes and isinstance(error, AMISS):
                raise
            refused = {"index": index, "problem": encoded_problem(request, error)}
            break
    done = [done_of(outcome, caller) for outcome in outcomes]
    again = sum(outcome.repeated for outcome in outcomes)
    answer = {"done": done, "replayed": again, "refused": refused}
    language = request.language
    headers = {**PRIVATE, "Content-Language": language, "Vary": "Accept-Language, Authorization"}
    if done and again == len(done):
        headers |= replayed(outcomes[-1])
    if done:
        return of_match(answer, done[-1]["version"], caller.texts, headers=headers)
    return reply(answer, caller.texts, headers=headers)
