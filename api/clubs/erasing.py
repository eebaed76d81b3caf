"""The erasure of a member: its preview and its stored plan."""

from collections.abc import Mapping
from typing import Annotated, Any

from api.access.clubs import ClubCaller
from api.http.member_texts import NO_TEXTS
from api.http.replies import Reply, versioned_reply
from api.http.threads import in_long_thread, in_thread
from api.money.decision_basis import read_basis
from api.personal_data.erasures import prepare_erasure
from api.runtime.service import Service
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import Erase, EraseSent
from referee.store.club import Club
from referee.store.command import Stale
from referee.value import Value, Version

LISTED_MAX = 1000
"""Maximum number of texts in a preview."""


class TextsErased(Value):
    """Numbers of texts that an erasure deletes and changes."""

    deleted: wire_types.Tally
    """Number of texts by the member, and of texts that only name the member as an official."""
    changed: wire_types.Tally
    """Number of other texts, in which the member's names and numbers are replaced."""


class TextForeseen(Value):
    """A text that an erasure would delete or change."""

    match: wire_types.MatchId
    deleted: bool
    """True: deleted; false: changed."""
    places: wire_types.Tally
    """Number of replacements in the text."""


class ErasureForeseen(Value):
    """The changes that an erasure would make now."""

    version: Version
    member: wire_types.MemberNumber
    erased: TextsErased
    """Numbers of texts, including texts that are not listed."""
    texts: Annotated[tuple[TextForeseen, ...], wire_types.at_most(LISTED_MAX)]
    """First 1000 texts of matches that the caller may see, the oldest first."""


async def preview_reply(service: Service, caller: ClubCaller, sent: EraseSent, expected: int | None) -> Reply:
    """Return the changes that an erasure would make. Carry out recorded erasures first.

    Raises ``Refused``, ``Stale`` unless the club has the ``expected`` version, and ``Problem`` (503)
    if the books are not up to date.
    """
    club = await service.reader.newest_club(caller.club)
    if expected not in (None, club.version):
        raise Stale(club.version)
    basis = await read_basis(service, club, sent)
    erasures, referee = service.erasures, service.referee
    _, plan = await in_long_thread(prepare_erasure, erasures, referee, club, caller.actor, sent, basis)
    matches = [one.match for one in plan.texts if one.match is not None]
    listed_matches = service.projections.matches
    visible, _ = await service.projections.ask_of_all(
        listed_matches, lambda connection: listed_matches.visible(connection, caller.sight, matches)
    )
    listed = [one for one in plan.texts if one.match in visible][:LISTED_MAX]
    answer = ErasureForeseen(
        version=club.version,
        member=sent.member,
        erased=TextsErased(deleted=plan.deleted_count, changed=plan.changed_count),
        texts=tuple(
            TextForeseen(match=str(one.match), deleted=one.after is None, places=one.places) for one in listed
        ),
    )
    return versioned_reply(answer, club.version, NO_TEXTS)


async def store_plan(service: Service, club: Club, actor: Actor, sent: EraseSent, basis: Mapping[str, Any]) -> Erase:
    """Store the plan of an erasure, and return the request that records it. Raises ``Refused``."""
    request, plan = await in_long_thread(prepare_erasure, service.erasures, service.referee, club, actor, sent, basis)
    await in_thread(service.erasures.keep, plan)
    return request
