"""What a club has, by the numbers and names that requests give; refused where it has it not."""

from datetime import datetime

from referee.actors import Actor
from referee.clubs.state import Club, Evening, Key, Member
from referee.refusals import AgainstTheClub, ClubState


def member_of(club: Club, number: int) -> Member:
    """Who has this number, a member or one who was."""
    member = club.member(number)
    if member is None:
        raise AgainstTheClub("no_such_member", None, member=number, last=len(club.members))
    return member


def member_here(club: Club, number: int) -> Member:
    """A member now."""
    member = member_of(club, number)
    if member.left is not None:
        raise ClubState("member_left", None, member=number)
    return member


def not_erased(club: Club, number: int) -> Member:
    """Somebody who has an account: a member, or who was one and is not erased."""
    member = member_of(club, number)
    if member.erased:
        raise ClubState("member_erased", None, member=number)
    return member


def key_of(club: Club, name: str) -> Key:
    """The key of this id, good or not."""
    key = club.key(name)
    if key is None:
        raise AgainstTheClub("no_such_key", None, key=name)
    return key


def good_key(club: Club, name: str, at: datetime) -> Key:
    """The same, good."""
    key = key_of(club, name)
    if key.revoked or key.expires_at <= at:
        raise ClubState("key_ended", None, key=name)
    return key


def evening_of(club: Club, number: int) -> Evening:
    """The evening of this number."""
    evening = club.evening(number)
    if evening is None:
        raise AgainstTheClub("no_such_evening", None, evening=number, last=len(club.evenings))
    return evening


def key_by(club: Club, actor: Actor) -> Key | None:
    """The key that somebody acts with."""
    return club.key(actor.removeprefix("key:")) if isinstance(actor, str) and actor.startswith("key:") else None


def is_program(club: Club, actor: Actor) -> bool:
    """Return whether the caller acts by a key that no member holds. The operator has no key."""
    key = key_by(club, actor)
    return key is not None and key.member is None


def member_by(club: Club, actor: Actor) -> int | None:
    """The member whose key that is."""
    key = key_by(club, actor)
    return None if key is None else key.member
