"""The calls for the holder of an invitation's code: looking at it, and redeeming it."""

from typing import Annotated
from uuid import UUID

from litestar import get, post
from litestar.params import PathParameter

from api.access.access import anybody
from api.access.codes import LENGTH_MAX, PATTERN, aggregate_of
from api.http.describe import OPENING_KEY, described
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply
from api.invitations import keys, seats
from api.invitations.keys import KeyInvitation, KeyTaken
from api.invitations.seats import SeatInvitation, SeatTaken
from api.runtime.service import service_of

CodeSent = Annotated[
    str,
    PathParameter(
        description="The one-time code of an invitation.",
        schema_extra={"pattern": f"^{PATTERN}$", "maxLength": LENGTH_MAX},
    ),
]


@get(
    "/invitations/{invitation:str}",
    operation_id="get_invitation",
    summary="What an invitation is for",
    description="What redeeming the code gives: a seat or role of a match, with its players, the stakes and the "
    "points that it was opened with; or a key of a club, with its member and scopes. And who invites. Nothing "
    "changes by looking. The code is all that is needed. 409 `invitation-ended` if it was redeemed, replaced or "
    "revoked, `invitation-expired` after seven days.",
    tags=["Matches"],
    operation_class=described(gives=SeatInvitation | KeyInvitation, errors=(400, 401, 404, 409, 503), tagged=False),
)
async def get_invitation(request: Req, invitation: CodeSent) -> Reply:
    """What an invitation is for."""
    anybody(request)
    service = service_of(request)
    aggregate = _aggregate_of(invitation)
    if (seat := await seats.find(service, aggregate, invitation)) is not None:
        return await seats.show(service, request, *seat)
    if (key := await keys.find(service, aggregate, invitation)) is not None:
        return await keys.show(service, *key)
    raise Problem("no_such_invitation")


@post(
    "/invitations/{invitation:str}",
    operation_id="redeem_invitation",
    summary="Redeem an invitation",
    description="Whoever has the code takes the seat or the role that it is for, and gets its token, or the key of "
    "a club. The secret is shown this once. An earlier token of the seat or role ends. **In a club's match for money "
    "the seat agrees to the stakes by this**: look at them first with `get_invitation`. Who made the invitation is "
    "on record and in the club's audit.\n\n"
    "A code can be redeemed once, within seven days. With an `Idempotency-Key` of 16 characters or more a lost "
    "answer loses nothing: the same key and code give the same secret.",
    tags=["Matches"],
    operation_class=described(
        gives=SeatTaken | KeyTaken,
        status=201,
        says="The holder of the code is admitted.",
        headers=("Location", "ETag", "Idempotency-Replayed"),
        takes=(OPENING_KEY,),
        errors=(400, 401, 404, 409, 422, 503),
    ),
)
async def redeem_invitation(request: Req, invitation: CodeSent) -> Reply:
    """Redeem an invitation."""
    anybody(request)
    service = service_of(request)
    aggregate = _aggregate_of(invitation)
    if (seat := await seats.find(service, aggregate, invitation)) is not None:
        return await seats.redeem(service, request, *seat, invitation)
    if (key := await keys.find(service, aggregate, invitation)) is not None:
        return await keys.redeem(service, request, *key, invitation)
    raise Problem("no_such_invitation")


def _aggregate_of(code: str) -> UUID:
    """Return the match or club that a code names. Raises 404 for a text that is no complete code."""
    aggregate = aggregate_of(code)
    if aggregate is None:
        raise Problem("no_such_invitation")
    return aggregate
