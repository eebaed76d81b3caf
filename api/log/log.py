"""The public calls about the log."""

from typing import Annotated

from litestar import get
from litestar.params import QueryParameter
from msgspec import Meta, field

from api.access.access import check_authorization
from api.http.describe import Text, described
from api.http.problems import Problem
from api.http.replies import OPEN, PLAIN, Reply
from api.http.threads import in_thread
from api.runtime.call import ApiCall
from api.runtime.proofs import ProofText, ask_signed_tree, in_base64, last_signed, proof_reply
from api.runtime.signer import stored_log
from referee.log.facts import LogSize, Origin
from referee.value import Value
from referee.wire_types import EXACT_MAX

VerifierKey = Annotated[
    str,
    Meta(
        description="Key that verifies signatures, in the form of C2SP's signed notes: name, hash, key.",
        extra_json_schema={"pattern": r"^[^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$", "maxLength": 192},
    ),
]
VerifierKeys = Annotated[tuple[VerifierKey, ...], Meta(extra_json_schema={"maxItems": 2})]


class LogShown(Value):
    """The log of all matches and clubs."""

    origin: Origin | None
    """Name of the log; null: the operator has set no key, so nothing is signed."""
    vkeys: VerifierKeys
    """Keys that verify the checkpoints. Every key signs each checkpoint. Keep the keys, because an operator could
    change this answer."""
    signed: LogSize | None
    """Number of rows in the last checkpoint; null: no checkpoint exists. The present number is not shown, because it
    would reveal private acts."""


class ConsistencyProof(Value):
    """The proof that the log only grew."""

    from_: LogSize = field(name="from")
    to: LogSize
    """Number of rows in the later checkpoint."""
    proof: ProofText
    """Hashes that make both roots (RFC 6962, 2.1.2)."""


@get(
    "/log",
    operation_id="get_log",
    summary="Get the keys and size of the log",
    description="Returns the name and keys of the log, and the size that is signed. Every row of every match and "
    "club is a leaf of one Merkle tree (RFC 6962), in the order of storing. A checkpoint is signed at most once a "
    "minute. A client that keeps a checkpoint can verify that no earlier row was changed, removed or inserted: "
    "see the [guide](/docs/guides/log.md).",
    tags=["Proof"],
    operation_class=described(gives=LogShown, errors=(503,)),
)
async def get_log(request: ApiCall) -> Reply:
    check_authorization(request)
    service = request.service
    log = await in_thread(stored_log, service.desk)
    last = log.state.last if log else None
    signer = service.signer
    shown = LogShown(
        origin=signer.origin if signer else None,
        vkeys=tuple([key.vkey for key in signer.keys]) if signer else (),
        signed=last.size if last else None,
    )
    return await proof_reply(request, shown, OPEN)


@get(
    "/log/checkpoint",
    operation_id="get_checkpoint",
    summary="Get the last checkpoint",
    description="Returns the size and root of the log as a signed note of C2SP (`tlog-checkpoint`). Keep it: no "
    "operator can change your copy.",
    tags=["Proof"],
    operation_class=described(
        others={PLAIN: Text("Origin, size, root; an empty line; the signatures.", begins=r"\S+\n")},
        errors=(404, 503),
    ),
)
async def get_checkpoint(request: ApiCall) -> Reply:
    check_authorization(request)
    signed = await last_signed(request.service)
    return await proof_reply(request, signed.note, OPEN, PLAIN)


@get(
    "/log/consistency",
    operation_id="get_consistency",
    summary="Prove that the log only grew",
    description="Returns the proof that the first `to` rows of the log begin with the first `from` rows. Without "
    "`to`: the rows of the last checkpoint.",
    tags=["Proof"],
    operation_class=described(gives=ConsistencyProof, errors=(404, 503)),
)
async def get_consistency(
    request: ApiCall,
    from_: Annotated[
        int, QueryParameter(name="from", ge=1, le=EXACT_MAX, description="Size of the checkpoint that you keep.")
    ],
    to: Annotated[
        int | None,
        QueryParameter(ge=1, le=EXACT_MAX, description="Size of a later checkpoint, at most that of the last one."),
    ] = None,
) -> Reply:
    check_authorization(request)
    service = request.service
    signed = await last_signed(service)
    end = signed.size if to is None else to
    if not from_ <= end <= signed.size:
        raise Problem("no_such_size", size=signed.size)

    proof = await ask_signed_tree(service, signed, lambda _, tree: tree.older(end).consistency(from_))
    return await proof_reply(request, ConsistencyProof(from_=from_, to=end, proof=in_base64(proof)), OPEN)
