"""Look up members, keys and evenings of a club by the numbers and ids in requests."""

from datetime import datetime

from referee.actors import Actor, uses_key
from referee.clubs.state import Club, Evening, Key, Member
from referee.refusals import AgainstTheClub, ClubState


def member_of(club: Club, number: int) -> Member:
    """Return the present or former member. Raises ``AgainstTheClub`` for an unknown number."""
    member = club.member(number)
    if member is None:
        raise AgainstTheClub("no_such_member", None, member=number, last=len(club.members))
    return member


def present_member(club: Club, number: int) -> Member:
    """Return the present member. Raises what :func:`member_of` raises, and ``ClubState`` if the member has left."""
    member = member_of(club, number)
    if member.left is not None:
        raise ClubState("member_left", None, member=number)
    return member


def unerased_member(club: Club, number: int) -> Member:
    """Return the member. Raises what :func:`member_of` raises, and ``ClubState`` if the member is erased."""
    member = member_of(club, number)
    if member.erased:
        raise ClubState("member_erased", None, member=number)
    return member


def key_of(club: Club, name: str) -> Key:
    """Return the key, valid or not. Raises ``AgainstTheClub`` for an unknown key."""
    key = club.key(name)
    if key is None:
        raise AgainstTheClub("no_such_key", None, key=name)
    return key


def valid_key(club: Club, name: str, at: datetime) -> Key:
    """Return the valid key. Raises what :func:`key_of` raises, and ``ClubState`` if the key is revoked or expired."""
    key = key_of(club, name)
    if key.revoked or key.expires_at <= at:
        raise ClubState("key_ended", None, key=name)
    return key


def evening_of(club: Club, number: int) -> Evening:
    """Return the evening. Raises ``AgainstTheClub`` if it does not exist."""
    if not 1 <= number <= len(club.evenings):
        raise AgainstTheClub("no_such_evening", None, evening=number, last=len(club.evenings))
    return club.evenings[number - 1]


def key_of_actor(club: Club, actor: Actor) -> Key | None:
    """Return the key that an actor uses; ``None``: the actor uses no key."""
    return club.key(actor.removeprefix("key:")) if uses_key(actor) else None


def is_program(club: Club, actor: Actor) -> bool:
    """Return whether the actor uses a key that no member holds."""
    key = key_of_actor(club, actor)
    return key is not None and key.member is None


def member_of_actor(club: Club, actor: Actor) -> int | None:
    """Return the member whose key an actor uses; ``None`` for a program or without a key."""
    key = key_of_actor(club, actor)
    return None if key is None else key.member
