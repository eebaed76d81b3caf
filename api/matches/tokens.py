"""Tokens for those who have none: in place of one that was lost, for a scribe, or for who only looks."""

from typing import Annotated
from uuid import UUID

from litestar import post
from msgspec import Meta

from api.access.tokens import hash_of, new_token
from api.http.bodies import Body
from api.http.describe import IF_MATCH, TOKEN, described
from api.http.headers import Req
from api.http.params import MatchId
from api.http.replies import Reply, of_match
from api.http.writes import expected_by
from api.runtime.service import service_of
from referee import wire_types
from referee.admission import IssueToken, TokenRole
from referee.value import Seat, SeatSent, Value, Version

ROLE_SAYS = (
    "What the token is for. `seat`: to act for the seat. `scribe`: one device at a real table, which acts for all "
    "seats and sees what a spectator sees. `watcher`: only to look, where not everybody may."
)


class TokenLost(Value, forbid_unknown_fields=True):
    """Who is to have a token."""

    seat: SeatSent | None = None
    """Whose token was lost; left out with a role that has no seat."""
    role: Annotated[TokenRole, Meta(description=ROLE_SAYS)] = "seat"


class TokenGiven(Value):
    """A token, shown this once, and the version of the match from which on it is the only one of its kind."""

    match: UUID
    version: Version
    role: Annotated[TokenRole, Meta(description=ROLE_SAYS)]
    seat: Seat | None
    """Whose it is; null: of a role that has no seat."""
    token: wire_types.Token


LOST: Body[TokenLost] = Body(TokenLost)


@post(
    "/matches/{match:uuid}/tokens",
    operation_id="issue_token",
    summary="Give a token",
    description="By an official, in a club's match also by a key with `open`: a seat gets another token in place of "
    "one that was lost, or a scribe or a watcher gets one. It is shown this once. The one that the seat or the role "
    "had is refused from then on, in every process, and its open streams end. Who had which from when on is on "
    "record (`match/token-ended`, `match/token-made`).\n\n"
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
    service = service_of(request)
    shown = service.access.credential(request)
    expected, lost, token = expected_by(request), await LOST.read(request), new_token()
    asked = IssueToken(seat=lost.seat, role=lost.role, hash=hash_of(token))
    _, caller = await service.access.acts(request, match, shown, asked)
    outcome = await service.do(caller.command(match, asked, expected=expected))
    version = outcome.events[-1].originator_version
    given = TokenGiven(match=match, version=version, role=lost.role, seat=lost.seat, token=token)
    return of_match(given, version, status=201, headers={"Cache-Control": "no-store"})
