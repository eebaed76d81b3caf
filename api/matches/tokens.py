"""Tokens: instead of one that was lost, for a scribe or a watcher, and for an official with several matches."""

from typing import Annotated
from uuid import UUID

from litestar import post
from msgspec import Meta

from api.access.clubs import must_have
from api.access.tokens import hash_of, new_token
from api.http.bodies import Body
from api.http.describe import IF_MATCH, TOKEN, described
from api.http.member_texts import NO_TEXTS
from api.http.params import MatchId
from api.http.replies import Reply, of_match, reply
from api.runtime.call import ApiCall
from referee import wire_types
from referee.admission import IssueToken, TokenRole
from referee.tokens import in_match
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
async def issue_token(request: ApiCall, match_id: MatchId) -> Reply:
    """Replaces a lost token."""
    service = request.service
    shown = request.must_show()
    expected, lost, token = request.expected_version, await LOST.read(request), new_token()
    asked = IssueToken(seat=lost.seat, role=lost.role, hash=in_match(match_id, hash_of(token)))
    _, caller = await service.access.acts(request, match_id, shown, asked)
    outcome = await service.commands.do(caller.command(match_id, asked, expected=expected))
    version = outcome.events[-1].originator_version
    given = TokenGiven(match=match_id, version=version, role=lost.role, seat=lost.seat, token=token)
    return of_match(given, version, caller.texts, status=201, headers={"Cache-Control": "no-store"})


class OfficialToken(Value):
    """A token for an official, shown this once. Nothing of it is stored."""

    token: wire_types.Token
    """The official keeps it, and shows it in each of their matches and for the list of their cases."""
    token_sha256: wire_types.Hash
    """What the official gives to those who open matches (`adjudication.officials[].token_sha256`). It is good for
    nothing else. Whoever knows it can open matches that appear in the official's list."""


@post(
    "/official-tokens",
    operation_id="make_official_token",
    summary="Make a token for an official",
    description="Makes a token that an official may use in all their matches, and its SHA-256. Both "
    "are shown this once and not stored. The official keeps the token and gives the SHA-256 to those who open "
    "matches for them. **Do not invent such a token**: one that can be guessed opens every match that names it. No "
    "match shows the SHA-256 to its players or to anybody else.\n\n"
    "For anybody who may open a match without a club, and for a key of a club with `open`. Without such a key it "
    "counts as a match that is opened (403 `quota-reached`).",
    tags=["Matches"],
    operation_class=described(
        gives=OfficialToken,
        status=201,
        says="The token.",
        errors=(400, 401, 403, 503),
    ),
)
async def make_official_token(request: ApiCall) -> Reply:
    """Make a token for an official."""
    service = request.service
    holder = await service.access.key_if_shown(request)
    if holder is None or (service.quotas.anybody_opens and not holder.may("open")):
        service.quotas.may_open()
        service.quotas.opens(request)
    else:
        must_have(holder, "open")
    token = new_token()
    given = OfficialToken(token=token, token_sha256=hash_of(token))
    return reply(given, NO_TEXTS, status=201, headers={"Cache-Control": "no-store"})
