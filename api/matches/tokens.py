"""A token that was lost: another takes its place."""

from typing import Annotated
from uuid import UUID

from litestar import post
from msgspec import Meta

from api.access.tokens import hash_of, must_be_official, new_token, required_token
from api.access.tried import tries
from api.http.bodies import Body
from api.http.describe import IF_MATCH, TOKEN, described
from api.http.headers import Req
from api.http.params import MatchId
from api.http.replies import Reply, of_match
from api.http.writes import expected_by
from api.service import service_of
from referee import told
from referee.acts import IssueToken, Role
from referee.store.desk import Command
from referee.value import Seat, SeatSent, Value, Version


class TokenLost(Value, forbid_unknown_fields=True):
    """Who is to have another token."""

    seat: SeatSent
    """Whose token was lost."""
    role: Annotated[Role, Meta(description="What the token is for: to act for the seat.")] = "seat"


class TokenGiven(Value):
    """A token, shown this once, and the version of the match from which on it is the only one of its seat."""

    match: UUID
    version: Version
    role: Role
    """What it is for: to act for the seat."""
    seat: Seat
    token: told.Token


LOST: Body[TokenLost] = Body(TokenLost)


@post(
    "/matches/{match:uuid}/tokens",
    operation_id="issue_token",
    summary="Replace a lost token",
    description="By the official: a seat gets another token, shown this once. The one that it had is refused from "
    "then on, in every process, and its open streams end. Who held a seat from when on is on record "
    "(`match/token-ended`, `match/token-made`).\n\n"
    "Repeated it makes yet another token, so a lost answer does no harm: ask again.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=TokenLost,
        gives=TokenGiven,
        status=201,
        says="The new token.",
        headers=("ETag",),
        takes=(IF_MATCH,),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def issue_token(request: Req, match: MatchId) -> Reply:
    """Replaces a lost token."""
    service, mine = service_of(request), required_token(request)
    expected, lost, token = expected_by(request), await LOST.read(request), new_token()
    _, actor, held = await service.holder(request, match, mine)
    asked = IssueToken(seat=lost.seat, role=lost.role, hash=hash_of(token))
    tries(request, match, actor, asked)
    must_be_official(actor)
    outcome = await service.do(Command(id=match, actor=actor, request=asked, expected=expected, token=held))
    version = outcome.events[-1].originator_version
    given = TokenGiven(match=match, version=version, role=lost.role, seat=lost.seat, token=token)
    return of_match(given, version, status=201, headers={"Cache-Control": "no-store"})
