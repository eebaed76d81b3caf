"""Lists legal acts, and records acts."""

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
from api.http.replies import PRIVATE, Reply, reply, uncompressed_reply, versioned_reply
from api.http.writes import replay_headers
from api.matches.schemas import ActSchema, EventSeen, event_seen
from api.runtime.call import ApiCall
from referee import wire_types
from referee.acts import Act
from referee.events import DEAL_ENDS
from referee.games import ActOfAnyGame
from referee.refusals import NotInPlay, Refused
from referee.store.clock import ClockWrong
from referee.store.command import Busy, Full, InDoubt, KeyReused, Outcome, Overtaken, TokenNotValid
from referee.store.damaged import DamagedRow
from referee.value import Value, Version
from referee.visibility import Viewer

ACT: Body[Act] = Body(ActOfAnyGame)
BATCH_MAX = 64
BATCH_INDEX = Meta(extra_json_schema={"minimum": 0, "maximum": BATCH_MAX})
BATCH_SECONDS = 10.0
"""Seconds after which a batch begins no further act."""


class ActDone(Value):
    """An accepted act."""

    version: Version
    events: wire_types.Many[EventSeen]


class Batch(Value, forbid_unknown_fields=True):
    """The acts of a batch."""

    acts: Annotated[tuple[ActSchema, ...], Meta(min_length=1, max_length=BATCH_MAX)]
    """Acts, in order."""


class NotDone(Value):
    """The act at which a batch stopped."""

    index: Annotated[int, BATCH_INDEX]
    """Index of the act in the batch, from 0."""
    problem: Document
    """Problem, as `send_act` returns it."""


class BatchDone(Value):
    """The result of a batch."""

    done: Annotated[tuple[ActDone, ...], wire_types.at_most(BATCH_MAX)]
    """Recorded acts, in order."""
    replayed: Annotated[int, BATCH_INDEX]
    """Number of acts in `done` that an earlier request had recorded."""
    refused: NotDone | None
    """Act at which the batch stopped; null: all acts were recorded."""


BATCH: Body[Batch] = Body(Batch)
REFUSALS: tuple[type[Exception], ...] = (Refused, Full, KeyReused, Overtaken)
"""Errors that stop a batch and become its `refused`."""
FAILURES: tuple[type[Exception], ...] = (Busy, ClockWrong, DamagedRow, InDoubt, TokenNotValid, *STORE_FAILURES)
"""Errors that stop a batch. Before the first recorded act they fail the request, later they become `refused`."""


@get(
    "/matches/{match:uuid}/legal-acts",
    operation_id="list_legal_acts",
    summary="List the legal acts of a seat",
    description="Returns the acts that a seat may do now. Each is a body for `send_act`, ready to send; only the "
    "cards of a real table (`deal`, `draw`) have to be filled in. The contribution of a seat to a shuffle "
    "(`entropy`) is not listed, because only the seat can choose it. Until all seats have contributed, or the "
    "time for it has passed, `deal` is refused (409).\n\n"
    "A seat may list its own acts, in a tally those of any seat. The official may list those of any seat; without "
    "`seat` the official's own acts are listed. With `penalise` the referee accepts more than "
    "is listed: an act against the rules counts until a player knocks.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        gives=Annotated[tuple[ActSchema, ...], wire_types.at_most(wire_types.ACTS_MAX)],
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def list_legal_acts(
    request: ApiCall,
    match_id: MatchId,
    seat: Annotated[
        int | None,
        QueryParameter(
            ge=0, le=7, schema_extra={"minimum": 0}, description="The seat; left out: the caller's own acts."
        ),
    ] = None,
    min_version: MinVersion = 0,
) -> Reply:
    access = request.service.access
    request.require_credential()
    match, caller = await access.identify_viewer(request, match_id, min_version)
    actor: Viewer = caller.viewer if seat is None else seat
    caller.must_know_acts(match, actor)
    if isinstance(actor, int) and actor >= len(match.opened.players):
        raise NotInPlay("no_such_seat", None, seat=actor)
    return uncompressed_reply(request, tag_of(match.version), lambda: match.legal(actor), caller.texts)


def _act_done(outcome: Outcome, caller: Caller) -> dict[str, Any]:
    """Return an :class:`ActDone` as a dict. Its events are as the caller could see them when the act was recorded."""
    events = outcome.events
    public_to = max((one.originator_version for one in events if type(one.event) in DEAL_ENDS), default=0)
    number = events[0].originator_version
    seen = [event_seen(one, caller, one.originator_version <= public_to, number) for one in events]
    return {"version": events[-1].originator_version, "events": seen}


@post(
    "/matches/{match:uuid}/acts",
    operation_id="send_act",
    summary="Record an act",
    description="Checks one act against the rules of the match, records it, and returns the events that follow, "
    "as the caller may see them. The act belongs to the seat whose token is sent. In a tally (`dealing: tally`) "
    "any seat and the official act for any seat. Only the official sends `void` and `abandon`, and `close` in "
    "games that have no end of their own. `abandon` ends a match that will not be finished: it has no winner, "
    "the deal under way does not count, and only a pot is shared. An act against the rules or out of turn is "
    "refused with 422. An act that is impossible in the present state of the match is refused with 409.\n\n"
    "`result` enters a whole deal of a tally in the form of its score sheet. The referee records the acts that "
    "the sheet implies. If one of them is refused, none is recorded, and `facts.at` in the problem is its place, "
    "a JSON Pointer (`/tricks/4`). `get_ruleset` has the form of a game's result as a JSON Schema.\n\n"
    "In a match opened with `adjudication.take_back` the last act can be taken back (J11): the player who did it "
    "sends `take_back`, and the act is undone when all others have sent it too. Any other act cancels this.\n\n"
    "`Idempotency-Key` makes a repeat safe. With `If-Match` the act is recorded only if the match still has that "
    "version (else 412).",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=ActSchema,
        gives=ActDone,
        status=201,
        says="The act is recorded.",
        headers=("ETag", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_act(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    key, expected, act = request.idempotency_key, request.expected_version, await ACT.read(request)
    _, caller = await service.access.identify_actor(request, match_id, shown, act)
    outcome = await service.commands.do(caller.command(match_id, act, key=key, expected=expected))
    done = _act_done(outcome, caller)
    return versioned_reply(done, done["version"], caller.texts, status=201, headers=replay_headers(outcome))


@post(
    "/matches/{match:uuid}/acts/batch",
    operation_id="send_acts",
    summary="Record several acts",
    description=f"Records 1 to {BATCH_MAX} acts in order, each as `send_act` does: all of the seat whose token is "
    "sent, or all of the official. It stops at the first act that is refused: the acts before it, in `done`, stay "
    "recorded, and those after it are not tried. Other callers may act in between.\n\n"
    "With an `Idempotency-Key` `k` the acts have the keys `k/0`, `k/1` and so on. A repeated batch continues after "
    "the acts that were already recorded; they come first in `done`, with their original answers, and `replayed` "
    "counts them. `If-Match` applies to the first act: if it is stale the answer is 412, and nothing is recorded.\n\n"
    f"No act is begun after {BATCH_SECONDS:.0f} seconds: `refused` then has the problem `busy` (503). Repeat the "
    "batch in that case.",
    tags=["Matches"],
    security=TOKEN,
    status_code=200,
    operation_class=described(
        body=Batch,
        gives=BatchDone,
        says="The acts in `done` are recorded.",
        headers=("ETag", "Content-Language", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE),
        errors=(400, 401, 403, 404, 412, 413, 415, 422, 503),
    ),
)
async def send_acts(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    key, expected, acts = request.idempotency_key, request.expected_version, (await BATCH.read(request)).acts
    match, caller = await service.access.identify_actor(request, match_id, shown, *acts)
    outcomes: list[Outcome] = []
    refused, clock = None, asyncio.get_running_loop().time
    deadline = clock() + BATCH_SECONDS
    for index, act in enumerate(acts):
        caller.note_attempt(request, match, act)
        own_key = None if key is None else f"{key}/{index}"
        command = caller.command(match_id, act, key=own_key, expected=None if index else expected)
        try:
            if index and clock() >= deadline:
                raise Busy
            outcomes.append(await service.commands.do(command))
        except (*REFUSALS, *FAILURES) as error:
            if not outcomes and isinstance(error, FAILURES):
                raise
            refused = {"index": index, "problem": encoded_problem(request, error)}
            break
    done = [_act_done(outcome, caller) for outcome in outcomes]
    repeated = sum(outcome.repeated for outcome in outcomes)
    answer = {"done": done, "replayed": repeated, "refused": refused}
    language = request.language
    headers = {**PRIVATE, "Content-Language": language, "Vary": "Accept-Language, Authorization"}
    if done and repeated == len(done):
        headers |= replay_headers(outcomes[-1])
    if done:
        return versioned_reply(answer, done[-1]["version"], caller.texts, headers=headers)
    return reply(answer, caller.texts, headers=headers)
