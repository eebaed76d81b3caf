"""Issues tokens for a match, and for officials of several matches."""

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
from api.http.replies import Reply, reply, versioned_reply
from api.matches.schemas import SeatOfRole
from api.runtime.call import ApiCall
from referee import wire_types
from referee.admission import IssueToken, TokenRole
from referee.tokens import hash_in_match
from referee.value import SeatSent, Value, Version

ROLE_SAYS = (
    "The role of the token. `seat`: it acts for the seat. `scribe`: it is for one device at a real table, which acts "
    "for all seats and sees what a spectator sees. `watcher`: it only reads a match that is not public."
)


class TokenWanted(Value, forbid_unknown_fields=True):
    """The seat or role that gets a new token."""

    seat: SeatSent | None = None
    """Seat for the role `seat`; left out for other roles."""
    role: Annotated[TokenRole, Meta(description=ROLE_SAYS)] = "seat"


class TokenGiven(Value):
    """A new token, shown only once. The earlier token of the seat or role is no longer valid."""

    match: UUID
    version: Version
    role: Annotated[TokenRole, Meta(description=ROLE_SAYS)]
    seat: SeatOfRole
    token: wire_types.Token


WANTED: Body[TokenWanted] = Body(TokenWanted)


@post(
    "/matches/{match:uuid}/tokens",
    operation_id="issue_token",
    summary="Issue a new token for a seat, a scribe or a watcher",
    description="Makes a token for a scribe, a watcher or a seat that lost its own, and shows it this once. In a "
    "club's match seats are invited instead (409). An official may do this; in a club's match also a key with "
    "`open`, unless its member plays in it (403). The earlier token of the seat or role is refused from then on, and "
    "its open streams end. The events `match/token-ended` and `match/token-made` record the change.\n\n"
    "A repeated request makes yet another token. If an answer is lost, send the request again.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=TokenWanted,
        gives=TokenGiven,
        status=201,
        says="The new token.",
        headers=("ETag",),
        takes=(IF_MATCH,),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def issue_token(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    expected, wanted, token = request.expected_version, await WANTED.read(request), new_token()
    issue = IssueToken(seat=wanted.seat, role=wanted.role, hash=hash_in_match(match_id, hash_of(token)))
    _, caller = await service.access.identify_actor(request, match_id, shown, issue)
    outcome = await service.commands.do(caller.command(match_id, issue, expected=expected))
    version = outcome.events[-1].originator_version
    given = TokenGiven(match=match_id, version=version, role=wanted.role, seat=wanted.seat, token=token)
    return versioned_reply(given, version, caller.texts, status=201, headers={"Cache-Control": "no-store"})


class OfficialToken(Value):
    """A token for an official, shown only once and not stored."""

    token: wire_types.Token
    """Token, valid in each of the official's matches and for the list of their cases."""
    token_sha256: wire_types.Hash
    """SHA-256 of the token, for callers who open matches (`adjudication.officials[].token_sha256`)."""


@post(
    "/official-tokens",
    operation_id="make_official_token",
    summary="Make a token for an official",
    description="Makes a token that an official may use in all their matches, and its SHA-256. Both "
    "are shown this once and not stored. The official keeps the token and gives the SHA-256 to those who open "
    "matches for them. **Do not invent such a token**: one that can be guessed opens every match that names it. No "
    "match shows the SHA-256 to any caller.\n\n"
    "Every caller who may open a match without a club may send this, and so may a club's key with `open`. Without "
    "such a key the request counts as the opening of a match (403 `quota-reached`).",
    tags=["Matches"],
    operation_class=described(
        gives=OfficialToken,
        status=201,
        says="The token.",
        errors=(400, 401, 403, 503),
        tagged=False,
    ),
)
async def make_official_token(request: ApiCall) -> Reply:
    service = request.service
    holder = await service.access.key_holder_or_none(request)
    if holder is None or (service.quotas.anybody_opens and not holder.may("open")):
        service.quotas.must_allow_opening_without_key()
        service.quotas.count_opening(request)
    else:
        must_have(holder, "open")
    token = new_token()
    given = OfficialToken(token=token, token_sha256=hash_of(token))
    return reply(given, NO_TEXTS, status=201, headers={"Cache-Control": "no-store"})
