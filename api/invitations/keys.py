"""Finds, shows and redeems invitations to keys of clubs."""

from uuid import UUID

from api.access.codes import number_of
from api.access.tokens import hash_of
from api.clubs.new_keys import derived_secrets, key_in_club, make_key, random_bytes
from api.clubs.schemas import KeyGiven
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, reply, versioned_reply
from api.http.writes import replay_headers
from api.runtime.aggregate_reader import club_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import RedeemKey
from referee.clubs.facts import KeyId, Scopes
from referee.clubs.keys import invited_key
from referee.clubs.lookup import member_of_actor
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.command import Command
from referee.store.store import UnknownAggregate
from referee.value import Time, Value, Version

NO_STORE = {"Cache-Control": "no-store"}


class KeyInvitation(Value, tag_field="admits_to", tag="key"):
    """An invitation to a key of a club."""

    club: UUID
    club_name: wire_types.Name
    key: KeyId
    member: wire_types.MemberNumber
    name: wire_types.Name | None
    """Name of `member`; null: unknown."""
    scopes: Scopes
    key_expires_at: Time
    by: Actor
    """Inviter."""
    by_member: wire_types.MemberNumber | None
    by_name: wire_types.Name | None
    expires_at: Time
    """Time until which the code can be redeemed."""


class KeyTaken(Value, tag_field="admits_to", tag="key"):
    """The key, with its secret. The secret is shown only here."""

    club: UUID
    version: Version
    member: wire_types.MemberNumber
    key: KeyGiven


async def find(service: Service, club_id: UUID, code: str) -> tuple[Club, KeyId] | None:
    """Return the club and the key whose invitation has the code; ``None``: no such club or key."""
    try:
        club = await service.reader.club(club_id)
        if (key_id := _invited_key_id(club, code)) is None:
            # A different process may just have made the invitation.
            club = await service.reader.newest_club(club)
            key_id = _invited_key_id(club, code)
    except UnknownAggregate:
        return None
    return None if key_id is None else (club, key_id)


def _invited_key_id(club: Club, code: str) -> KeyId | None:
    invited = [(f"k{n}", key.invitation) for n, key in enumerate(club.state.keys, 1) if key.invitation is not None]
    number = number_of(code, [invitation for _, invitation in invited])
    return None if number is None else invited[number - 1][0]


async def show(service: Service, club: Club, key_id: KeyId) -> Reply:
    """Return the invitation to a key. Raises ``Refused`` if it cannot be redeemed any more."""
    state = club.state
    key = invited_key(state, key_id, utc_now())
    invitation = key.invitation
    assert invitation is not None, "it was invited"
    assert key.member is not None, "only members are invited"
    by = member_of_actor(state, invitation.by)
    members = {number: state.members[number - 1] for number in (key.member, by) if number is not None}
    names = await service.member_names.names_of(club, members)
    called = {number: names.get(member.name) for number, member in members.items()}
    shown = KeyInvitation(
        club=club.id,
        club_name=state.name,
        key=key_id,
        member=key.member,
        name=called[key.member],
        scopes=key.scopes,
        key_expires_at=key.expires_at,
        by=invitation.by,
        by_member=by,
        by_name=None if by is None else called[by],
        expires_at=invitation.expires_at,
    )
    return reply(shown, NO_TEXTS, headers=NO_STORE)


async def redeem(service: Service, request: ApiCall, club: Club, key_id: KeyId, code: str) -> Reply:
    """Give the key to the holder of its code. Raises ``Refused`` if it cannot be redeemed any more, Problem (400)
    for a bad Idempotency-Key."""
    key, own_key, random = request.secret_idempotency_key, None, random_bytes()
    if key is not None:
        derived = await derived_secrets(service, key, RedeemKey(key=key_id, hash=hash_of(code)), "invitation")
        own_key, random = str(derived.id_of("redemption")), derived.secret_of("key")
    new_key = make_key(club.id, key_id, random)
    asked = RedeemKey(key=key_id, hash=new_key.hash)
    outcome = await service.commands.do(Command(id=club.id, actor=f"key:{key_id}", request=asked, key=own_key))
    version = outcome.events[-1].originator_version
    taken = key_in_club(club_of(outcome.aggregate), key_id)
    assert taken.member is not None, "only members are invited"
    given = KeyTaken(club=club.id, version=version, member=taken.member, key=new_key.view(key_id, taken))
    headers = {"Location": f"/v1/clubs/{club.id}", **NO_STORE, **replay_headers(outcome)}
    return versioned_reply(given, version, NO_TEXTS, status=201, headers=headers)
