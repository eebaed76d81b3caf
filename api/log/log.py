"""What anybody may know of the log: who signs it, how large it is, and that it only grows."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from msgspec import Meta, field

from api.access.access import anybody
from api.http.describe import Text, described
from api.http.problems import Problem
from api.http.replies import OPEN, PLAIN, Reply
from api.http.threads import in_thread
from api.runtime.call import ApiCall
from api.runtime.proofs import ProofText, answer, in_tree, last_signed, texts
from api.runtime.signer import stored_log
from referee.log.facts import LogSize, Origin
from referee.value import Value
from referee.wire_types import EXACT_MAX

VerifierKey = Annotated[
    str,
    Meta(
        title="LogVerifierKey",
        description="What a signature is verified by, as the signed notes of C2SP have it: name, hash, key.",
        extra_json_schema={"pattern": r"^[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$", "maxLength": 192},
    ),
]
VerifierKeys = Annotated[tuple[VerifierKey, ...], Meta(extra_json_schema={"maxItems": 2})]


class LogShown(Value):
    """The log of all that is on record here: of all matches and clubs, whosever they are."""

    origin: Origin | None
    """Its name; `null` where nothing is signed, for the operator has set no key."""
    vkeys: VerifierKeys
    """What its checkpoints are verified by: each of these keys signs them. Keep them: who changes the log could
    change this answer."""
    signed: LogSize | None
    """How many rows the last checkpoint covers; `null` before the first. The number of rows on record is not shown:
    it grows with each act, private ones too."""


class ConsistencyProof(Value):
    """That the first rows of the log are still what they were."""

    from_: LogSize = field(name="from")
    to: LogSize
    """Rows of the later one."""
    proof: ProofText
    """The hashes that make both roots (RFC 6962, 2.1.2)."""


@get(
    "/log",
    operation_id="get_log",
    summary="The log, and who signs it",
    description="Every row of every match and club is a leaf of one Merkle tree (RFC 6962), in the order in which "
    "they were stored, and a checkpoint of it is signed at most once a minute. So whoever keeps a checkpoint can be "
    "shown that nothing before it was changed, left out or put in: see `openapi/guides/log.md`.",
    tags=["Proof"],
    operation_class=described(gives=LogShown, errors=(503,)),
)
async def get_log(request: ApiCall) -> Reply:
    """The log, and who signs it."""
    anybody(request)
    service = request.service
    standing = await in_thread(stored_log, service.desk)
    last = standing.standing.last if standing else None
    signer = service.signer
    shown = LogShown(
        origin=signer.origin if signer else None,
        vkeys=tuple([key.vkey for key in signer.keys]) if signer else (),
        signed=last.size if last else None,
    )
    return await answer(request, shown, OPEN)


@get(
    "/log/checkpoint",
    operation_id="get_checkpoint",
    summary="The last checkpoint",
    description="How large the log was and the root over it, signed: a signed note of C2SP (`tlog-checkpoint`). Keep "
    "it: what you keep nobody can change.",
    tags=["Proof"],
    operation_class=described(
        others={PLAIN: Text("Origin, size, root; an empty line; the signatures.", begins=r"\S+\n")},
        errors=(404, 503),
    ),
)
async def get_checkpoint(request: ApiCall) -> Reply:
    """The last checkpoint."""
    anybody(request)
    signed = await last_signed(request.service)
    return await answer(request, signed.note, OPEN, PLAIN)


@get(
    "/log/consistency",
    operation_id="get_consistency",
    summary="That the log only grew",
    description="The proof that the first `from` rows of the log are those that the first `to` rows begin with. "
    "Without `to`: those of the last checkpoint.",
    tags=["Proof"],
    operation_class=described(gives=ConsistencyProof, errors=(404, 503)),
)
async def get_consistency(
    request: ApiCall,
    from_: Annotated[
        int, QueryParameter(name="from", ge=1, le=EXACT_MAX, description="The size of the checkpoint that you keep.")
    ],
    to: Annotated[
        int | None, QueryParameter(ge=1, le=EXACT_MAX, description="The size of a later one; not more is signed.")
    ] = None,
) -> Reply:
    """That the log only grew."""
    anybody(request)
    service = request.service
    signed = await last_signed(service)
    end = signed.size if to is None else to
    if not from_ <= end <= signed.size:
        raise Problem("no_such_size", size=signed.size)

    proof = await in_tree(service, signed, lambda _, tree: tree.first(end).consistency(from_))
    return await answer(request, ConsistencyProof(from_=from_, to=end, proof=texts(proof)), OPEN)
