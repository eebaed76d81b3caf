"""The keys of a club.

Only the member and the operator may see or rotate the secret of a member's key. Other callers can only invite the
member, who then redeems the key.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from referee.actors import Actor
from referee.clubs import commands, facts
from referee.clubs.lookup import key_of, key_of_actor, member_of_actor, present_member, valid_key
from referee.clubs.proposals import SECOND_PERSON_SCOPES
from referee.clubs.scopes import check_has_scopes, default_scopes
from referee.clubs.state import Club, Key
from referee.invitations import Invitation, check_open, expiry
from referee.refusals import AgainstTheClub, ClubState, InvitationOver, NotGranted
from referee.ruleset import Moment
from referee.value import with_item
from referee.visibility import Event
from referee.wire_types import MEMBERS_MAX

KEY_DAYS_MAX = 400
KEY_DAYS = timedelta(days=KEY_DAYS_MAX)
COUNTED_AFTER_REVOCATION = timedelta(days=30)
"""Time for which a member still counts as a second person after another member or a program revoked the key.

So no member becomes the only one by revoking keys.
"""

Events = tuple[Event, ...]


# Decisions: return the events of a command, or raise ``Refused``


def _issue(club: Club, request: commands.IssueKey, moment: Moment) -> Events:
    if (request.member is None) == (request.app is None):
        raise AgainstTheClub("member_or_app", None)
    _check_grantable(club, request, moment)
    if request.member is not None:
        _check_not_others_secret(club, request.member, moment.actor)
    return (
        facts.KeyIssued(
            key=_next_key_id(club),
            scopes=default_scopes(request),
            hash=request.hash,
            expires_at=request.expires_at,
            member=request.member,
            app=request.app,
            given_by=_members_sharing_key(club, moment.actor),
        ),
    )


def _invite(club: Club, request: commands.Invite, moment: Moment) -> Events:
    if request.member is None or request.app is not None:
        raise AgainstTheClub("member_or_app", None)
    _check_grantable(club, request, moment)
    return (
        facts.KeyInvited(
            key=_next_key_id(club),
            member=request.member,
            scopes=default_scopes(request),
            hash=request.hash,
            expires_at=request.expires_at,
            until=expiry(moment.at),
            by=moment.actor,
            given_by=responsible_members(club, moment.actor),
        ),
    )


def _check_grantable(club: Club, request: commands.IssueKeySent, moment: Moment) -> None:
    """Raise ``Refused`` for an unknown or former member, too many keys, a wrong expiry or scopes the caller lacks."""
    if request.member is not None:
        present_member(club, request.member)
    if len(club.keys) == MEMBERS_MAX:
        raise ClubState("club_full", None, most=MEMBERS_MAX)
    if not moment.at < request.expires_at <= moment.at + KEY_DAYS:
        raise AgainstTheClub("key_expiry", None, most=KEY_DAYS_MAX)
    check_has_scopes(club, moment.actor, default_scopes(request))


def _check_not_others_secret(club: Club, member: int, actor: Actor) -> None:
    """Raise ``NotGranted`` unless the caller, who will see the secret, is this member or the operator."""
    if actor != "operator" and member != member_of_actor(club, actor):
        raise NotGranted("others_secret", None)


def responsible_members(club: Club, actor: Actor) -> tuple[int, ...]:
    """Return the holder of the actor's key or, for a program, the members who gave its key; else none."""
    member = member_of_actor(club, actor)
    return _members_sharing_key(club, actor) if member is None else (member,)


def _members_sharing_key(club: Club, actor: Actor) -> tuple[int, ...]:
    """Return the members who hold or gave the actor's key, and may know the secrets that it creates."""
    key = key_of_actor(club, actor)
    return () if key is None else tuple(sorted(key.behind))


def _next_key_id(club: Club) -> str:
    return f"k{len(club.keys) + 1}"


def invited_key(club: Club, name: str, at: datetime) -> Key:
    """Return a key that can be redeemed.

    Raises ``AgainstTheClub`` for an unknown key, ``InvitationOver`` if the key was not invited, the key or its
    invitation has ended, or the inviting key is revoked.
    """
    key = key_of(club, name)
    invitation = key.invitation
    inviter = None if invitation is None else key_of_actor(club, invitation.by)
    if invitation is None or key.revoked or key.expires_at <= at or (inviter is not None and inviter.revoked):
        raise InvitationOver("invitation_ended", None)
    check_open(invitation, at)
    return key


def _redeem(club: Club, request: commands.RedeemKey, moment: Moment) -> Events:
    invited_key(club, request.key, moment.at)
    return (facts.KeyRedeemed(key=request.key, hash=request.hash),)


def _rotate(club: Club, request: commands.RotateKey, moment: Moment) -> Events:
    key = valid_key(club, request.key, moment.at)
    if not key.hash:
        raise ClubState("key_not_redeemed", None, key=request.key)
    if key.member is not None:
        _check_not_others_secret(club, key.member, moment.actor)
    check_has_scopes(club, moment.actor, key.scopes)
    until = moment.at + timedelta(seconds=request.overlap_seconds)
    return (
        facts.KeyRotated(
            key=request.key,
            hash=request.hash,
            until=min(until, key.expires_at),
            given_by=_members_sharing_key(club, moment.actor),
        ),
    )


def _revoke(club: Club, request: commands.RevokeKey, moment: Moment) -> Events:
    key = key_of(club, request.key)
    if key.revoked:
        raise ClubState("key_ended", None, key=request.key)
    return (revocation(club, request.key, key, moment),)


def revocation(club: Club, name: str, key: Key, moment: Moment) -> Event:
    """Return the event that revokes a key.

    It says until when the key's member still counts, if another member or a program revokes it.
    """
    own = moment.actor == "operator" or key.member is None or key.member == member_of_actor(club, moment.actor)
    counts = (
        bool(key.hash) and key.expires_at > moment.at and any(scope in key.scopes for scope in SECOND_PERSON_SCOPES)
    )
    until = min(moment.at + COUNTED_AFTER_REVOCATION, key.expires_at) if counts and not own else None
    return facts.KeyRevoked(key=name, counts_until=until)


DECIDE: dict[type, Callable[[Club, Any, Moment], Events]] = {
    commands.IssueKey: _issue,
    commands.Invite: _invite,
    commands.RedeemKey: _redeem,
    commands.RotateKey: _rotate,
    commands.RevokeKey: _revoke,
}


# Changes: return the club after an event


def _with_changed_key(club: Club, name: str, **changes: Any) -> Club:
    place = int(name[1:]) - 1
    return replace(club, keys=with_item(club.keys, place, replace(club.keys[place], **changes)))


def _on_issued(club: Club, event: facts.KeyIssued, number: int) -> Club:
    key = Key(
        scopes=event.scopes,
        hash=event.hash,
        expires_at=event.expires_at,
        member=event.member,
        app=event.app,
        given_by=event.given_by,
    )
    return replace(club, keys=(*club.keys, key))


def _on_invited(club: Club, event: facts.KeyInvited, number: int) -> Club:
    invitation = Invitation(hash=event.hash, by=event.by, expires_at=event.until)
    key = Key(
        scopes=event.scopes,
        hash="",
        expires_at=event.expires_at,
        member=event.member,
        invitation=invitation,
        given_by=event.given_by,
    )
    return replace(club, keys=(*club.keys, key))


def _on_redeemed(club: Club, event: facts.KeyRedeemed, number: int) -> Club:
    invitation = club.keys[int(event.key[1:]) - 1].invitation
    assert invitation is not None, "a redeemed key was invited"
    return _with_changed_key(club, event.key, hash=event.hash, invitation=replace(invitation, ended=True))


def _on_rotated(club: Club, event: facts.KeyRotated, number: int) -> Club:
    key = club.keys[int(event.key[1:]) - 1]
    given_by = tuple(sorted({*key.given_by, *event.given_by}))
    return _with_changed_key(club, event.key, hash=event.hash, before=key.hash, until=event.until, given_by=given_by)


def _on_revoked(club: Club, event: facts.KeyRevoked, number: int) -> Club:
    return _with_changed_key(club, event.key, revoked=True, counts_until=event.counts_until)


EVOLVE: dict[type[Event], Callable[[Club, Any, int], Club]] = {
    facts.KeyIssued: _on_issued,
    facts.KeyInvited: _on_invited,
    facts.KeyRedeemed: _on_redeemed,
    facts.KeyRotated: _on_rotated,
    facts.KeyRevoked: _on_revoked,
}
