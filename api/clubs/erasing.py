"""The erasure of a member: its preview, and its plan while it is put on record."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import UUID

from api.access.clubs import ClubCaller
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, of_match
from api.http.threads import in_long_thread, in_thread
from api.money.decision_basis import booked
from api.personal_data.erasures import prepare_erasure
from api.runtime.commands import REFUSED
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import Erase, EraseSent
from referee.store.club import Club
from referee.store.command import Stale
from referee.value import Value, Version

LISTED_MAX = 1000
"""Texts that a preview lists."""


class TextsErased(Value):
    """How many texts an erasure changes."""

    deleted: wire_types.Tally
    """Texts that the member wrote: they are deleted."""
    changed: wire_types.Tally
    """Texts of others in which a name or number of the member is replaced."""


class TextForeseen(Value):
    """A text that an erasure would delete or change."""

    match: wire_types.MatchId
    """The match in which it was written."""
    deleted: bool
    """Whether it would be deleted; false: it would be changed."""
    places: wire_types.Tally
    """How many names and numbers in it would be replaced."""


class ErasureForeseen(Value):
    """What an erasure would change if it were done now. Nothing is stored."""

    version: Version
    """The version of the club."""
    member: wire_types.MemberNumber
    """Who would be erased."""
    erased: TextsErased
    """All texts that it would change."""
    texts: Annotated[tuple[TextForeseen, ...], wire_types.at_most(LISTED_MAX)]
    """The first 1000 of them, in the order in which they were written, without those of matches that the caller may
    not see."""


async def foreseen(service: Service, caller: ClubCaller, sent: EraseSent, expected: int | None) -> Reply:
    """Answer what an erasure would change.

    Raises: Refused if the act would be refused, Stale if the club is not at the expected version.
    """
    club = await service.reader.newest_club(caller.club)
    if expected not in (None, club.version):
        raise Stale(club.version)
    says = await booked(service, club, sent)
    erasures, referee = service.erasures, service.referee
    _, plan = await in_long_thread(prepare_erasure, erasures, referee, club, caller.actor, sent, says)
    matches = [one.match for one in plan.texts if one.match is not None]
    seen = await _visible(service, caller, matches)
    listed = [one for one in plan.texts if one.match in seen][:LISTED_MAX]
    answer = ErasureForeseen(
        version=club.version,
        member=sent.member,
        erased=TextsErased(deleted=plan.deleted, changed=plan.changed),
        texts=tuple(
            TextForeseen(match=str(one.match), deleted=one.after is None, places=one.places) for one in listed
        ),
    )
    return of_match(answer, club.version, NO_TEXTS)


async def _visible(service: Service, caller: ClubCaller, matches: list[UUID]) -> set[UUID]:
    book = service.projections.matches
    found, _ = await service.projections.ask_of_all(
        book, lambda connection: book.visible(connection, caller.sight, matches)
    )
    return found


@asynccontextmanager
async def planned(
    service: Service, club: Club, actor: Actor, sent: EraseSent, says: Mapping[str, Any]
) -> AsyncIterator[Erase]:
    """Store the plan of an erasure and give the request that puts it on record. Deletes the plan if that is refused.

    Raises: Refused if the act would be refused.
    """
    request, plan = await in_long_thread(prepare_erasure, service.erasures, service.referee, club, actor, sent, says)
    await in_thread(service.erasures.keep, plan)
    try:
        yield request
    except REFUSED:
        await in_thread(service.erasures.drop, plan.digest)
        raise
