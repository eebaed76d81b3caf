"""Finds, shows and redeems invitations to matches."""

from uuid import UUID

from api.access.codes import number_of
from api.access.tokens import hash_of, new_token
from api.clubs.new_keys import derived_secrets
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, reply, versioned_reply
from api.http.writes import replay_headers
from api.matches.schemas import OfficialOfRole, RulesetSeen, SeatOfRole
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from referee import invitations, wire_types
from referee.actors import Actor, actor_at, officials, seat_of
from referee.admission import RedeemInvitation, Role
from referee.clubs.lookup import member_of_actor
from referee.events import MatchOpened, Stakes
from referee.seating import Invitation
from referee.store.clock import utc_now
from referee.store.command import Command
from referee.store.match import Match
from referee.store.store import UnknownAggregate
from referee.tokens import hash_in_match
from referee.value import Points, Time, Value, Version

NO_STORE = {"Cache-Control": "no-store"}


class SeatInvitation(Value, tag_field="admits_to", tag="seat"):
    """An invitation to a seat or role of a match."""

    match: UUID
    ruleset: RulesetSeen
    role: Role
    seat: SeatOfRole
    official: OfficialOfRole
    name: wire_types.Name | None
    """Name of the invited player or official; null: the role has no name."""
    member: wire_types.MemberNumber | None
    players: wire_types.Names
    """Players' names, by seat."""
    club: UUID | None
    evening: wire_types.EveningNumber | None
    stakes: Stakes | None
    points: wire_types.BySeat[Points]
    """Points (in Rams balances) at the opening."""
    pot: wire_types.Money
    """Pot at the opening."""
    agrees: bool
    """True: redeeming the invitation agrees to the stakes."""
    by: Actor
    """Inviter."""
    by_member: wire_types.MemberNumber | None
    by_name: wire_types.Name | None
    expires_at: Time


class SeatTaken(Value, tag_field="admits_to", tag="seat"):
    """The seat or role, with its token. The token is shown only here."""

    match: UUID
    version: Version
    role: Role
    seat: SeatOfRole
    official: OfficialOfRole
    token: wire_types.Token
    """Token. An earlier token of the seat or role has ended."""
    stakes: Stakes | None
    agreed: bool
    """True: the seat has agreed to the stakes."""


async def find(service: Service, match_id: UUID, code: str) -> tuple[Match, int] | None:
    """Return the match, and the number of its invitation with the code; ``None``: not found."""
    try:
        match = await service.reader.match(match_id)
        number = number_of(code, match.seating.invitations)
        if number is None:  # a different process may have just made it
            match = await service.reader.newest_match(match)
            number = number_of(code, match.seating.invitations)
    except UnknownAggregate:
        return None
    return None if number is None else (match, number)


async def show(service: Service, match: Match, number: int) -> Reply:
    """Return the invitation ``number``. Raises ``InvitationOver`` if it has ended or expired."""
    invitation = match.seating.invitations[number - 1]
    invitations.check_open(invitation, utc_now())
    match, texts = await service.member_names.with_names(match, service.member_names.texts_in(match))
    opened, seat = match.opened, invitation.seat
    member = await _acting_member(service, opened, invitation.by)
    names = (
        {}
        if member is None or opened.club is None
        else await service.member_names.names_by_number(opened.club, (member,))
    )
    shown = SeatInvitation(
        match=match.id,
        ruleset=opened.ruleset,
        role=invitation.role,
        seat=seat,
        official=invitation.official,
        name=_invited_name(opened, invitation),
        member=opened.members[seat] if seat is not None and opened.members else None,
        players=opened.players,
        club=opened.club,
        evening=opened.evening,
        stakes=opened.stakes,
        points=opened.points,
        pot=opened.pot,
        agrees=seat in match.seating.waiting_for,
        by=invitation.by,
        by_member=member,
        by_name=names.get(member) if member is not None else None,
        expires_at=invitation.expires_at,
    )
    return reply(shown, texts, headers=NO_STORE)


async def redeem(service: Service, request: ApiCall, match: Match, number: int, code: str) -> Reply:
    """Admit the holder of the code, and return their token. Raises ``Refused`` if the match refuses.

    With an Idempotency-Key, a repetition returns the token again.
    """
    invitation = match.seating.invitations[number - 1]
    key = request.secret_idempotency_key
    if key is None:
        own_key, token = None, new_token()
    else:
        shown = RedeemInvitation(invitation=number, hash=hash_of(code))
        derived = await derived_secrets(service, key, shown, "invitation")
        own_key, token = str(derived.id_of("redemption")), derived.token("invitation")
    redemption = RedeemInvitation(invitation=number, hash=hash_in_match(match.id, hash_of(token)))
    outcome = await service.commands.do(
        Command(id=match.id, actor=_invited_actor(invitation), request=redemption, key=own_key)
    )
    version = outcome.events[-1].originator_version
    agreed = invitation.seat is not None and invitation.seat in match_of(outcome.aggregate).seating.agreed
    taken = SeatTaken(
        match=match.id,
        version=version,
        role=invitation.role,
        seat=invitation.seat,
        official=invitation.official,
        token=token,
        stakes=match.opened.stakes,
        agreed=agreed,
    )
    headers = {"Location": f"/v1/matches/{match.id}", **NO_STORE, **replay_headers(outcome)}
    return versioned_reply(taken, version, NO_TEXTS, status=201, headers=headers)


def _invited_actor(invitation: Invitation) -> Actor:
    match invitation.role:
        case "seat":
            assert invitation.seat is not None, "a seat's invitation names it"
            return actor_at(invitation.seat)
        case "official":
            return officials(invitation.official or 1)[-1]
        case role:
            return role


def _invited_name(opened: MatchOpened, invitation: Invitation) -> str | None:
    """Return the invited player's or official's name; ``None`` for other roles."""
    if invitation.seat is not None:
        return opened.players[invitation.seat]
    if invitation.role == "official" and opened.adjudication is not None:
        return opened.adjudication.officials[(invitation.official or 1) - 1]
    return None


async def _acting_member(service: Service, opened: MatchOpened, actor: Actor) -> int | None:
    """Return the member at the actor's seat or with the actor's key; ``None``: no member."""
    if opened.club is None:
        return None
    seat = seat_of(actor)
    if seat is not None:
        return opened.members[seat]
    club = await service.reader.club(opened.club)
    return member_of_actor(club.state, actor)
