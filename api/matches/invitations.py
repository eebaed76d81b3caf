"""Makes an invitation to a match."""

from uuid import UUID

from litestar import post
from msgspec.structs import replace

from api.access.codes import Code, new_code
from api.access.tokens import hash_of
from api.http.bodies import Body
from api.http.describe import IF_MATCH, TOKEN, described
from api.http.params import MatchId
from api.http.replies import Reply, versioned_reply
from api.matches.schemas import OfficialOfRole, SeatOfRole
from api.runtime.call import ApiCall
from referee import wire_types
from referee.admission import Invite, PlaceSent, Role
from referee.officials.events.seating import Invited
from referee.value import SeatSent, Time, Value, Version


class InvitationWanted(Value, forbid_unknown_fields=True):
    """The seat or role to invite to."""

    role: Role = "seat"
    seat: SeatSent | None = None
    """Seat, only with the role `seat`."""
    official: PlaceSent | None = None


class InvitationGiven(Value):
    """A new invitation. Its code is shown only once."""

    match: UUID
    version: Version
    invitation: wire_types.InvitationNumber
    """Number of the invitation in the match."""
    role: Role
    seat: SeatOfRole
    """Seat; null: the role has none."""
    official: OfficialOfRole
    """Number of the official, from 1; null: a different role."""
    code: Code
    """Code to send to the invited person. It admits once."""
    expires_at: Time
    """Time until which the code is valid."""


WANTED: Body[InvitationWanted] = Body(InvitationWanted)


@post(
    "/matches/{match:uuid}/invitations",
    operation_id="invite",
    summary="Invite to a seat or a role",
    description="Makes a one-time code for a seat, a `scribe`, a `watcher` or an `official`. Give the code to "
    "the person: with `get_invitation` they see the place, and with `redeem_invitation` they take it. The code "
    "lasts seven days, and ends if another is made for the same place.\n\n"
    "Without a club the official invites to every place but an official's, and each seat invites to itself. In a "
    "club's match a member's own key with `play`, or the seat's token, invites to its own seat. A key with "
    "`officiate` invites to every place, unless its member plays in the match. To a seat for money that key must "
    "be a member's (403 `invited-by-members`), because redeeming agrees to the stakes, and the club's audit names "
    "the member who invited. A key with `open`, or the official's token, invites only a scribe or a watcher.",
    tags=["Matches"],
    security=TOKEN,
    operation_class=described(
        body=InvitationWanted,
        gives=InvitationGiven,
        status=201,
        says="The invitation.",
        headers=("ETag",),
        takes=(IF_MATCH,),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def invite(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    expected, wanted = request.expected_version, await WANTED.read(request)
    code = new_code(match_id)
    invite_request = Invite(role=wanted.role, hash=hash_of(code), seat=wanted.seat, official=wanted.official)
    _, caller = await service.access.identify_actor(request, match_id, shown, invite_request)
    if wanted.role == "official" and caller.key is not None:
        invite_request = replace(invite_request, given_by=tuple(sorted(caller.key.key.behind)))
    outcome = await service.commands.do(caller.command(match_id, invite_request, expected=expected))
    (recorded,) = outcome.events
    invited, version = recorded.event, recorded.originator_version
    assert isinstance(invited, Invited), "an invitation was requested"
    given = InvitationGiven(
        match=match_id,
        version=version,
        invitation=invited.invitation,
        role=wanted.role,
        seat=wanted.seat,
        official=wanted.official,
        code=code,
        expires_at=invited.expires_at,
    )
    return versioned_reply(given, version, caller.texts, status=201, headers={"Cache-Control": "no-store"})
