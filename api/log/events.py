"""The call that returns the proof that an event is in the log."""

from litestar import get
from sqlalchemy import Connection

from api.http.describe import Text, described
from api.http.params import EventAsked, MatchId
from api.http.problems import Problem
from api.http.replies import PLAIN, PRIVATE, Reply
from api.runtime.call import ApiCall
from api.runtime.proofs import ask_signed_tree, in_base64, last_signed, proof_reply, rows_of
from referee.log.tree import Tree


@get(
    "/matches/{match:uuid}/events/{event:int}/proof",
    operation_id="get_event_proof",
    summary="Prove that an event is in the log",
    description="Returns a `tlog-proof` of C2SP: the position of the event's row in the log, the hashes from its "
    "leaf to the root, and the signed checkpoint. The row itself is in the bundle of the match. During a deal only "
    "officials get proofs of its events, and events after the last checkpoint have no proof yet (409).",
    tags=["Proof"],
    operation_class=described(
        others={PLAIN: Text("Index and hashes; an empty line; the checkpoint.", begins="c2sp.org/tlog-proof@v1\n")},
        errors=(401, 404, 409, 503),
    ),
)
async def get_event_proof(request: ApiCall, match_id: MatchId, event: EventAsked) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id)
    if not 1 <= event <= match.version:
        raise Problem("no_such_event", first=1, last=match.version)
    if caller.viewer != "official" and event > 1 and event > match.public_to:
        raise Problem("not_open_yet", event=event)
    signed = await last_signed(service)

    def proved(connection: Connection, tree: Tree) -> str | None:
        found = rows_of(service, connection, match_id, event, event)
        if not found or found[0].leaf >= tree.size:
            return None
        index = found[0].leaf
        lines = ["c2sp.org/tlog-proof@v1", f"index {index}", *in_base64(tree.inclusion(index)), "", signed.note]
        return "\n".join(lines)

    proof = await ask_signed_tree(service, signed, proved)
    if proof is None:
        raise Problem("not_signed_yet", event=event, size=signed.size)
    return await proof_reply(request, proof, PRIVATE, PLAIN)
