"""What was tried in a match and refused: for its officials (J12)."""

from typing import Annotated

import msgspec
from eventsourcing.persistence import StoredEvent
from litestar import get
from litestar.params import QueryParameter
from litestar.types import ASGIApp

from api.http.describe import TOKEN, described
from api.http.headers import Req
from api.http.long_answers import marked_reply
from api.http.params import MatchId
from api.http.problems import ProblemType, problem_type
from api.http.query import more
from api.http.replies import PRIVATE, encode
from api.http.threads import in_thread
from api.runtime.service import service_of
from referee import wire_types
from referee.actors import Actor
from referee.store.attempts import read_attempt
from referee.store.rows import row_hash
from referee.value import RuleId, Time, Value, Version

LIMIT_MAX = 1000


class AttemptSeen(Value):
    """Something that was tried and refused. What was sent is not kept, nor is any token."""

    number: wire_types.AttemptNumber
    """Its number among the attempts of the match."""
    at: Time
    """When it was refused."""
    actor: Actor
    """Who tried it."""
    act: wire_types.Code
    """What was tried: the name of an act, or of another request that has one."""
    problem: ProblemType
    """The problem that it was answered with."""
    rule: RuleId | None
    """By which rule it was refused; null: none speaks of it."""
    version: Version
    """How far the match had come."""
    head: wire_types.Hash
    """The hash of the event of this number: the attempt came after it."""
    count: wire_types.Lag
    """How often this actor has had this problem in the match, this time included; at least so often where several
    processes serve it."""
    prev: wire_types.Hash
    """The hash of the attempt before; of the first, zeros."""
    hash: wire_types.Hash
    """The hash of this one."""


class AttemptPage(Value):
    """Some attempts in order."""

    attempts: Annotated[tuple[AttemptSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """In the order of their numbers."""
    next: wire_types.AttemptNumber | None
    """What to give as `after` for more; null: these are the last."""


def attempt_seen(row: StoredEvent) -> AttemptSeen:
    """Return an attempt as officials see it. Raises :class:`~referee.store.damaged.DamagedAttempt`."""
    recorded, event = read_attempt(row)
    fields = msgspec.structs.asdict(event)
    return AttemptSeen(
        number=recorded.originator_version,
        at=recorded.at,
        actor=recorded.actor,
        problem=problem_type(fields.pop("code")),
        prev=recorded.prev,
        hash=row_hash(row),
        **fields,
    )


@get(
    "/matches/{match:uuid}/attempts",
    operation_id="list_attempts",
    summary="What was tried and refused",
    description="For officials (J12): what the holders of tokens of this match tried and what was refused as not "
    "theirs, not possible now or against the rules (403, 409, 412, 422), in order. It is kept beside the match: no "
    "version counts it. Twenty attempts of each actor with the same problem are listed one by one, and then one each "
    "time that there have been twice as many: `count` tells how often. It is written after the answer; where the "
    "service has too much to do, attempts are left out.\n\n"
    "What is kept is what is listed here, never what was sent. While there are more the header `Link` says where "
    '(`rel="next"`, RFC 8288).',
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(gives=AttemptPage, errors=(400, 401, 403, 404, 503)),
)
async def list_attempts(
    request: Req,
    match: MatchId,
    after: Annotated[
        int,
        QueryParameter(ge=0, le=wire_types.EXACT_MAX, description="Only attempts after this number."),
    ] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")] = 100,
) -> ASGIApp:
    """What was tried and refused."""
    service = service_of(request)
    service.access.credential(request)
    found, caller = await service.access.sees(request, match)
    caller.must_be_official(found)
    await service.attempts_settled()
    rows = await in_thread(service.attempts.rows, match, after=after, limit=limit + 1)
    seen = [attempt_seen(row) for row in rows[:limit]]
    following = seen[-1].number if len(rows) > limit else None
    body = encode(AttemptPage(attempts=tuple(seen), next=following))
    headers = PRIVATE if following is None else PRIVATE | more(request, after=following, limit=limit)
    return await marked_reply(request, body, headers=headers)
