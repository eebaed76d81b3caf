"""That an event is in the log."""

from litestar import get
from sqlalchemy import Connection

from api.http.describe import Text, described
from api.http.headers import Req
from api.http.params import EventAsked, MatchId
from api.http.problems import Problem
from api.http.replies import PLAIN, PRIVATE, Reply
from api.runtime.proofs import answer, in_tree, last_signed, rows_of, texts
from api.runtime.service import service_of
from referee.log.tree import Tree


@get(
    "/matches/{match:uuid}/events/{event:int}/proof",
    operation_id="get_event_proof",
    summary="That an event is in the log",
    description="The place of the event's row in the log, the hashes that lead from it to the root, and the signed "
    "checkpoint: a `tlog-proof` of C2SP. The row itself, of which the leaf is made, is in the bundle of the match. "
    "While a deal is under way only officials get proofs of its events (409), and of what came after the last "
    "checkpoint nobody does yet (409).",
    tags=["Proof"],
    operation_class=described(
        others={PLAIN: Text("Index and hashes; an empty line; the checkpoint.", begins="c2sp.org/tlog-proof@v1\n")},
        errors=(401, 404, 409, 503),
    ),
)
async def get_event_proof(request: Req, match: MatchId, event: EventAsked) -> Reply:
    """That an event is in the log."""
    service = service_of(request)
    seen, caller = await service.access.sees(request, match)
    if not 1 <= event <= seen.version:
        raise Problem("no_such_event", first=1, last=seen.version)
    if caller.viewer != "official" and event > 1 and event > seen.public_to:
        raise Problem("not_open_yet", event=event)
    signed = await last_signed(service)

    def proved(connection: Connection, tree: Tree) -> str | None:
        found = rows_of(service, connection, match, event, event)
        if not found or found[0].leaf >= tree.size:
            return None
        index = found[0].leaf
        lines = ["c2sp.org/tlog-proof@v1", f"index {index}", *texts(tree.inclusion(index)), "", signed.note]
        return "\n".join(lines)

    proof = await in_tree(service, signed, proved)
    if proof is None:
        raise Problem("not_signed_yet", event=event, size=signed.size)
    return await answer(request, proof, PRIVATE, PLAIN)
