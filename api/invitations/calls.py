"""The calls for the holder of an invitation's code: looking at it, and redeeming it."""

from typing import Annotated

from litestar import get, post
from litestar.params import PathParameter

from api.access.access import anybody
from api.access.codes import LENGTH_MAX, PATTERN, aggregate_of, number_of
from api.http.describe import OPENING_KEY, described
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply
from api.invitations import seats
from api.invitations.seats import SeatInvitation, SeatTaken
from api.service import Service, service_of
from referee.store.match import Match
from referee.store.store import UnknownAggregate

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
    description="What redeeming the code gives: the seat or role, the match and its players, the stakes and the "
    "points that it was opened with, and who invites. Nothing changes by looking. The code is all that is needed. "
    "409 `invitation-ended` if it was redeemed or replaced, `invitation-expired` after seven days.",
    tags=["Matches"],
    operation_class=described(gives=SeatInvitation, errors=(400, 401, 404, 409, 503), tagged=False),
)
async def get_invitation(request: Req, invitation: CodeSent) -> Reply:
    """What an invitation is for."""
    anybody(request)
    service = service_of(request)
    match, number = await _invitation(service, invitation)
    return await seats.show(service, request, match, number)


@post(
    "/invitations/{invitation:str}",
    operation_id="redeem_invitation",
    summary="Redeem an invitation",
    description="Whoever has the code takes the seat or the role that it is for, and gets its token, shown this "
    "once. An earlier token of the seat or role ends. **In a club's match for money the seat agrees to the stakes "
    "by this**: look at them first with `get_invitation`. Who made the invitation is on record and in the club's "
    "audit.\n\n"
    "A code can be redeemed once, within seven days. With an `Idempotency-Key` of 16 characters or more a lost "
    "answer loses nothing: the same key and code give the same token.",
    tags=["Matches"],
    operation_class=described(
        gives=SeatTaken,
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
    match, number = await _invitation(service, invitation)
    return await seats.redeem(service, request, match, number, invitation)


async def _invitation(service: Service, code: str) -> tuple[Match, int]:
    """Return the match that a code names and the number of its invitation. Raises 404 unless there is one."""
    match_id = aggregate_of(code)
    if match_id is None:
        raise Problem("no_such_invitation")
    try:
        match = await service.match(match_id)
        number = number_of(code, match.seating.invitations)
        if number is None:  # another process may just have made it
            match = await service.newest(match)
            number = number_of(code, match.seating.invitations)
    except UnknownAggregate:
        raise Problem("no_such_invitation") from None
    if number is None:
        raise Problem("no_such_invitation")
    return match, number
