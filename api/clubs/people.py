"""Names of members: kept beside the events, told to whoever shows a key of the club, and erased."""

from collections.abc import Iterable, Mapping
from uuid import UUID

from api.http.problems import Problem
from api.http.strict import shows
from api.service import Service
from api.threads import in_long_thread, in_thread
from referee.clubs.facts import Ref
from referee.clubs.standing import Member
from referee.store.club import Club


def may_be_shown(field: str, name: str) -> None:
    """422 for a name in which nothing can be seen; ``field``: where it stands, as a JSON pointer."""
    if not shows(name):
        raise Problem("unseen_text", field=field)


async def texts_of(service: Service, club_id: UUID, refs: Iterable[Ref]) -> dict[Ref, str]:
    """By ref those that there are."""
    wanted = list(refs)
    return await in_thread(service.names.read, club_id, wanted) if wanted else {}


async def names_of(service: Service, club: Club, members: Mapping[int, Member]) -> dict[Ref, str]:
    """By ref the names of these members. Of one who is erased there is none; if it is still there, since the service
    ended in between, it is erased now."""
    found = await texts_of(service, club.id, (ref for member in members.values() for ref in _refs(member)))
    for number, member in members.items():
        if member.erased and not found.keys().isdisjoint(member.names):
            await erase(service, club, number)
    here = (member.name for member in members.values() if not member.erased)
    return {name: found[name] for name in here if name in found}


async def erase(service: Service, club: Club, number: int) -> None:
    """Deletes the names of a member whose erasure stands on record, and what he wrote; again does no harm."""
    member = club.standing.members[number - 1]
    assert member.erased, "what is not on record is not done"
    await in_long_thread(service.names.erase, club.id, number, member.names)


def _refs(member: Member) -> tuple[Ref, ...]:
    return member.names if member.erased else (member.name,)
