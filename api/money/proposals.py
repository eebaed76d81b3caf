"""The call that lists the proposals of a club."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from litestar import get
from msgspec.structs import replace

from api.access.clubs import ClubCaller, must_have, sees_proposals
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, numbered_page, page_reply
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, encode
from api.http.threads import in_thread
from api.runtime.call import ApiCall
from api.runtime.service import Service
from projections.journal import Author
from referee import wire_types
from referee.clubs.commands import PayeeAct, ProposedAct
from referee.clubs.facts import MoneyDraft, account_of
from referee.clubs.proposals import SECOND_PERSON_SCOPES, other_parties, refusal_to_confirm, scopes_to_confirm
from referee.clubs.state import Proposal
from referee.store.clock import utc_now
from referee.value import EventNumber, Time, Value, Version


class ProposalSeen(Value):
    """An act that waits for a confirmation."""

    proposal: wire_types.ProposalNumber
    """Number of the proposal, for `confirm` and `decline`."""
    act: ProposedAct
    """Act. Callers see its payment numbers if they may confirm it, or may see the payee's numbers."""
    draft: MoneyDraft | None
    """Entry that the act makes; null: the act makes no entry."""
    by: Author
    """Sender of the act."""
    at: Time
    event: EventNumber
    """Number of the proposal's event in the club."""
    other: wire_types.MemberNumber | None
    """Other party, if the sender is a party of a `pay` or its reversal; otherwise null. They confirm with `self`. A
    treasurer who is neither party may confirm instead."""
    yours: bool
    """True: the caller may confirm."""


class ProposalPage(Value):
    """A page of proposals, by number."""

    version: Version
    items: Annotated[tuple[ProposalSeen, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/proposals",
    operation_id="list_proposals",
    summary="List the waiting proposals of a club",
    description="Returns a page of the acts that wait for a second member, by number: payments between members, "
    "payouts above the limit, reversals of matches, payments and, above the limit, deposits, and all acts with money "
    "by programs and the operator; if two members hold `keys` or `audit`, also looser settings, payees, closings and "
    "keys. Keys with `audit` or `treasury` see all proposals. Keys with `keys` see those that they may confirm. With "
    "a different key a member sees the proposals that they sent or that concern them.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=ProposalPage, errors=(400, 401, 403, 404, 409, 503)),
)
async def list_proposals(
    request: ApiCall,
    club_id: ClubId,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    state, own = caller.club.state, caller.member
    if own is None and not sees_proposals(caller, SECOND_PERSON_SCOPES):
        must_have(caller, "audit")
    waiting = sorted(state.proposals.items())
    page = numbered_page((one for one in waiting if _may_see(caller, one[1])), cursor, limit)
    times = await in_thread(_times_of_events, service, club_id, [one.event for _, one in page.items])
    found = [
        await _proposal_seen(service, caller, number, one, at)
        for (number, one), at in zip(page.items, times, strict=True)
    ]
    shown = ProposalPage(version=caller.club.version, items=tuple(found), next=page.next)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS)


async def _proposal_seen(
    service: Service, caller: ClubCaller, number: int, proposal: Proposal, time: Any
) -> ProposalSeen:
    yours = refusal_to_confirm(caller.club.state, proposal, caller.actor, utc_now()) is None
    act, others = proposal.act, other_parties(proposal)
    if isinstance(act, PayeeAct):
        act = replace(act, **await service.member_names.visible_numbers(caller, act, confirms=yours))
    return ProposalSeen(
        proposal=number,
        act=act,
        draft=proposal.draft,
        by=Author(actor=proposal.by, member=proposal.member, match=None),
        at=time,
        event=proposal.event,
        other=others[0] if len(others) == 1 else None,
        yours=yours,
    )


def _may_see(caller: ClubCaller, proposal: Proposal) -> bool:
    """Return whether the caller sees the books, has a scope to confirm, sent the proposal, or is concerned by it."""
    member = caller.member
    if sees_proposals(caller, scopes_to_confirm(proposal.act)):
        return True
    if member is None:
        return caller.actor == proposal.by
    if member in (proposal.member, getattr(proposal.act, "member", None)):
        return True
    return proposal.draft is not None and any(one.account == account_of(member) for one in proposal.draft.postings)


def _times_of_events(service: Service, club: UUID, events: Sequence[int]) -> list[Any]:
    return [service.referee.history(club, after=one - 1, to=one)[0].at for one in events]
