"""Lists the refused attempts in a match for its officials (J12)."""

from operator import attrgetter
from typing import Annotated

import msgspec
from eventsourcing.persistence import StoredEvent
from litestar import get
from litestar.types import ASGIApp

from api.http.describe import TOKEN, described
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, after_of, page_by_number, page_reply
from api.http.params import MatchId
from api.http.problems import ProblemType, problem_type
from api.http.replies import encode
from api.http.threads import in_thread
from api.runtime.call import ApiCall
from referee import wire_types
from referee.actors import Actor
from referee.store.attempts import read_attempt
from referee.store.rows import row_hash
from referee.value import RuleId, Time, Value, Version


class AttemptSeen(Value):
    """A refused attempt."""

    number: wire_types.AttemptNumber
    """Number of the attempt in the match."""
    at: Time
    actor: Actor
    """Actor who made the attempt."""
    act: wire_types.Code
    """Name of the refused act or other request."""
    problem: ProblemType
    """Reason why the attempt was refused."""
    rule: RuleId | None
    """Rule that the refusal cites; null: none."""
    version: Version
    """Version of the match when the attempt was refused."""
    head: wire_types.Hash
    """Hash of event `version`. It proves that the attempt came later."""
    count: wire_types.Lag
    """Attempts of this actor with this problem so far, as one process counts."""
    prev: wire_types.Hash
    """The `hash` of the previous attempt; zeros for the first."""
    hash: wire_types.Hash
    """Hash of this attempt."""


class AttemptPage(Value):
    """A page of attempts, in order of number."""

    items: Annotated[tuple[AttemptSeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


def attempt_seen(row: StoredEvent) -> AttemptSeen:
    """Return a row as an attempt. Raises ``DamagedAttempt`` if the row is unusable."""
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
    summary="List the refused attempts of a match",
    description="Returns one page of refused attempts, in order. An attempt is a request that was refused with "
    "403, 409, 412 or 422 to a caller who may act in this match. The attempt `officials_view` was answered, but "
    "without the view of officials, because a member behind the credential plays. Only officials may read the "
    "attempts (J12, else 403). Attempts are stored apart from the events and do not change the version of the "
    "match. The first twenty attempts of an actor with one problem are listed. After them, one attempt is listed "
    "each time that their number has doubled: see `count`. Attempts are stored after the answer. An overloaded "
    "service omits some.\n\n"
    "Only the fields listed here are stored, never the request. The header `Link` has the address of the next "
    'page (`rel="next"`, RFC 8288).',
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(gives=AttemptPage, errors=(400, 401, 403, 404, 503)),
)
async def list_attempts(
    request: ApiCall,
    match_id: MatchId,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
) -> ASGIApp:
    service = request.service
    request.require_credential()
    match, caller = await service.access.identify_viewer(request, match_id)
    caller.must_be_official(match)
    await service.refused_attempts.wait_until_stored()
    rows = await in_thread(service.refused_attempts.rows, match_id, after=after_of(cursor), limit=limit + 1)
    page = page_by_number(rows, limit, attrgetter("originator_version"))
    body = encode(AttemptPage(items=tuple(map(attempt_seen, page.items)), next=page.next))
    return await page_reply(request, body, page.next, caller.texts)
