"""What a key lets somebody see in lists."""

from api.access.clubs import KeyHolder
from projections.sight import Sight
from referee.clubs.facts import Scope

SEES_PRIVATE: tuple[Scope, ...] = ("open", "officiate", "audit")
"""With one of these a key sees the private matches of its club."""


def sight_of(key: KeyHolder) -> Sight:
    """What a good key lets somebody see in lists."""
    member = key.key.member
    return Sight(
        club=key.club.id,
        whole_club=any(map(key.may, SEES_PRIVATE)),
        member=member if key.may("play") else None,
        officiates=key.may("officiate"),
        sits=member,
    )
