"""Operations for the holder of an invitation's code."""

from typing import Annotated
from uuid import UUID

from litestar import get, post
from litestar.params import PathParameter

from api.access.access import check_authorization
from api.access.codes import LENGTH_MAX, PATTERN, aggregate_of
from api.http.describe import OPENING_KEY, described
from api.http.problems import Problem
from api.http.replies import Reply
from api.invitations import keys, seats
from api.invitations.keys import KeyInvitation, KeyTaken
from api.invitations.seats import SeatInvitation, SeatTaken
from api.runtime.call import ApiCall

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
    summary="Get what an invitation admits to",
    description="Returns what the code gives, and the inviter. A seat or role of a match comes with the players, the "
    "stakes and the opening points; the key of a club with its member and scopes. Changes nothing. The code is the "
    "only credential, but a malformed `Authorization` header is refused (400, 401). 404 `no-such-invitation`; 409 "
    "`invitation-ended` if it was redeemed, replaced or revoked; 409 `invitation-expired` after seven days.",
    tags=["Matches"],
    operation_class=described(gives=SeatInvitation | KeyInvitation, errors=(400, 401, 404, 409, 503), tagged=False),
)
async def get_invitation(request: ApiCall, invitation: CodeSent) -> Reply:
    check_authorization(request)
    service = request.service
    aggregate = _aggregate_of(invitation)
    if (seat := await seats.find(service, aggregate, invitation)) is not None:
        return await seats.show(service, *seat)
    if (key := await keys.find(service, aggregate, invitation)) is not None:
        return await keys.show(service, *key)
    raise Problem("no_such_invitation")


@post(
    "/invitations/{invitation:str}",
    operation_id="redeem_invitation",
    summary="Redeem an invitation",
    description="Gives the holder of the code its seat or role with a token, or its key of a club. The secret is "
    "shown this once. An earlier token of the seat or role ends. **In a club's match for money, redeeming a seat "
    "agrees to the stakes**: look at them first with `get_invitation`. The events and the club's audit name the "
    "inviter.\n\n"
    "A code can be redeemed once, within seven days (else 409). After a lost answer repeat the request with the same "
    "`Idempotency-Key` of 16 characters or more: the same key and code give the same secret.",
    tags=["Matches"],
    operation_class=described(
        gives=SeatTaken | KeyTaken,
        status=201,
        says="The holder of the code is admitted.",
        headers=("Location", "ETag", "Idempotency-Replayed"),
        takes=(OPENING_KEY,),
        errors=(400, 401, 404, 409, 422, 503),
        tagged=False,
    ),
)
async def redeem_invitation(request: ApiCall, invitation: CodeSent) -> Reply:
    check_authorization(request)
    service = request.service
    aggregate = _aggregate_of(invitation)
    if (seat := await seats.find(service, aggregate, invitation)) is not None:
        return await seats.redeem(service, request, *seat, invitation)
    if (key := await keys.find(service, aggregate, invitation)) is not None:
        return await keys.redeem(service, request, *key, invitation)
    raise Problem("no_such_invitation")


def _aggregate_of(code: str) -> UUID:
    """Return the id of a code's match or club. Raises Problem (404) for a malformed code."""
    aggregate = aggregate_of(code)
    if aggregate is None:
        raise Problem("no_such_invitation")
    return aggregate
