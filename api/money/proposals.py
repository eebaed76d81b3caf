"""The proposals of a club: acts that wait until another member confirms them."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from litestar import get
from msgspec.structs import replace

from api.access.clubs import ClubCaller, must_have, sees_proposals
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.number_pages import LIMIT_MAX, Cursor, Limit, page_reply, some
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply
from api.http.threads import in_thread
from api.runtime.member_names import numbers_seen
from api.runtime.service import Service, service_of
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import ProposedAct, SetPayee
from referee.clubs.facts import MoneyDraft, account_of
from referee.clubs.proposals import SECOND, confirmers, not_for, others_of
from referee.clubs.state import Proposal
from referee.store.clock import utc_now
from referee.value import EventNumber, Time, Value, Version


class ProposalSeen(Value):
    """An act that waits for another member to confirm it."""

    proposal: wire_types.ProposalNumber
    """Its number: the one that `confirm` and `decline` name."""
    act: ProposedAct
    """The act as it was sent. Numbers of a payee are shown to those who may confirm it or read the numbers."""
    draft: MoneyDraft | None
    """The entry that the act makes in the books; null: none."""
    by: Actor
    """The sender of the act."""
    at: Time
    """The time of the proposal."""
    event: EventNumber
    """The number of its event in the club."""
    other: wire_types.MemberNumber | None
    """Of `pay`, or of its reversal by a party, the other party, who confirms it with any key of their own, or else a
    treasurer who is neither; null: another member than the sender confirms it."""
    yours: bool
    """Whether the caller may confirm it with this key."""


class ProposalPage(Value):
    """Some proposals by number."""

    version: Version
    """How far the club had come: the number of its last event."""
    proposals: Annotated[tuple[ProposalSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Those of this page that wait."""
    next: wire_types.Cursor | None
    """What to give as `cursor` for more; null: these are the last."""


@get(
    "/clubs/{club:uuid}/proposals",
    operation_id="list_proposals",
    summary="The proposals of a club",
    description="A page of the acts that another member has to confirm, by number: payments between members, payouts "
    "above the limit, reversals of matches, payments and deposits, and, in a club of which two members hold "
    "`keys` or `audit`, looser settings, payees, closings and keys. Those that were confirmed or declined are "
    "left out. With `audit` or `treasury`; with `keys` those that it may confirm; with any other key of their own "
    "a member sees those that they sent or that concern them.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=ProposalPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_proposals(
    request: Req,
    club: ClubId,
    limit: Limit = 200,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """Return a page of proposals."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    now, own = caller.club.standing, caller.member
    if own is None and not sees_proposals(caller, SECOND):
        must_have(caller, "audit")
    waiting = sorted(now.proposals.items())
    page = some((one for one in waiting if _sees(caller, one[1])), cursor, limit)
    times = await in_thread(_times, service, club, [one.event for _, one in page.found])
    found = [
        await _seen(service, caller, number, one, at) for (number, one), at in zip(page.found, times, strict=True)
    ]
    return await page_reply(
        request, ProposalPage(version=caller.club.version, proposals=tuple(found), next=page.next), page.next
    )


async def _seen(service: Service, caller: ClubCaller, number: int, one: Proposal, at: Any) -> ProposalSeen:
    yours = not_for(caller.club.standing, one, caller.actor, utc_now()) is None
    act, others = one.act, others_of(one)
    if isinstance(act, SetPayee):
        act = replace(act, **await numbers_seen(service, caller, act, confirms=yours))
    return ProposalSeen(
        proposal=number,
        act=act,
        draft=one.draft,
        by=one.by,
        at=at,
        event=one.event,
        other=others[0] if len(others) == 1 else None,
        yours=yours,
    )


def _sees(caller: ClubCaller, proposal: Proposal) -> bool:
    """Return whether a caller reads the books, confirms such acts, sent this one, or is a member whom it concerns."""
    member = caller.member
    if sees_proposals(caller, confirmers(proposal.act)):
        return True
    if member is None:
        return caller.actor == proposal.by
    if member in (proposal.member, getattr(proposal.act, "member", None)):
        return True
    return proposal.draft is not None and any(one.account == account_of(member) for one in proposal.draft.postings)


def _times(service: Service, club: UUID, events: Sequence[int]) -> list[Any]:
    """Return the times of events of a club."""
    return [service.referee.history(club, after=one - 1, to=one)[0].at for one in events]
