"""The erasure of a member: its preview, and its plan, which is stored before the erasure is recorded."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any
from uuid import UUID

from api.access.clubs import ClubCaller
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, of_match
from api.http.threads import in_long_thread, in_thread
from api.money.decision_basis import read_basis
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
"""Limit on the texts that a preview lists."""


class TextsErased(Value):
    """Numbers of texts that an erasure deletes and changes."""

    deleted: wire_types.Tally
    """Number of texts by the member, which are deleted."""
    changed: wire_types.Tally
    """Number of other texts in which a name or number of the member is replaced."""


class TextForeseen(Value):
    """A text that an erasure would delete or change."""

    match: wire_types.MatchId
    """Match of the text."""
    deleted: bool
    """True: deleted; false: changed."""
    places: wire_types.Tally
    """Number of names and numbers that would be replaced in the text."""


class ErasureForeseen(Value):
    """The changes that an erasure would make now. Nothing is stored."""

    version: Version
    """Number of the club's last event."""
    member: wire_types.MemberNumber
    """Member to erase."""
    erased: TextsErased
    """Numbers of all texts that would be deleted or changed."""
    texts: Annotated[tuple[TextForeseen, ...], wire_types.at_most(LISTED_MAX)]
    """First 1000 of these texts, in the order of writing. Texts of matches that the caller may not see are left
    out."""


async def preview_reply(service: Service, caller: ClubCaller, sent: EraseSent, expected: int | None) -> Reply:
    """Return the changes that an erasure would make.

    Raises ``Refused`` if the erasure would be refused, ``Stale`` if the club is not at the ``expected`` version.
    """
    club = await service.reader.newest_club(caller.club)
    if expected not in (None, club.version):
        raise Stale(club.version)
    basis = await read_basis(service, club, sent)
    erasures, referee = service.erasures, service.referee
    _, plan = await in_long_thread(prepare_erasure, erasures, referee, club, caller.actor, sent, basis)
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
    projection = service.projections.matches
    found, _ = await service.projections.ask_of_all(
        projection, lambda connection: projection.visible(connection, caller.sight, matches)
    )
    return found


@asynccontextmanager
async def stored_plan(
    service: Service, club: Club, actor: Actor, sent: EraseSent, basis: Mapping[str, Any]
) -> AsyncIterator[Erase]:
    """Store an erasure's plan and yield the request that records the erasure.

    Delete the plan if the request is refused. Raises ``Refused`` if the erasure would be refused.
    """
    request, plan = await in_long_thread(prepare_erasure, service.erasures, service.referee, club, actor, sent, basis)
    await in_thread(service.erasures.keep, plan)
    try:
        yield request
    except REFUSED:
        await in_thread(service.erasures.drop, plan.digest)
        raise
