"""What waits in a club to be confirmed."""

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from litestar import get

from api.access.clubs import must_see_books, sees_books
from api.clubs.pages import LIMIT_MAX, Cursor, Limit, page_reply, some
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply
from api.service import Service, service_of
from api.threads import in_thread
from referee import told
from referee.actors import Actor
from referee.clubs.facts import EntryKind, Postings, account_of
from referee.clubs.money import not_for, others_of
from referee.clubs.standing import Proposal
from referee.value import EventNumber, Time, Value, Version


class ProposalSeen(Value):
    """An entry that waits for somebody else to confirm it."""

    proposal: told.ProposalNumber
    """Its number: what `confirm` and `decline` name."""
    kind: EntryKind
    currency: told.Currency
    postings: Postings
    evening: told.EveningNumber | None
    """Of the club's evenings the one that it belongs to; null: none."""
    reverses: told.EntryNumber | None
    """The entry that it takes back; null: none."""
    plan: told.Digest | None
    """Of `pay` the payment of a plan that it is; null: none, or not told."""
    by: Actor
    """Who asks for it."""
    at: Time
    """When it was asked for."""
    event: EventNumber
    """The number of the event in the club that says so."""
    other: told.MemberNumber | None
    """Of `pay` who confirms it with any key of his own, or else a treasurer who is neither; null: another member with
    `treasury` than who asked."""
    yours: bool
    """Whether the caller may confirm it with the key that he shows."""


class ProposalPage(Value):
    """Some proposals by number."""

    version: Version
    """How far the club had come: the number of its last event."""
    proposals: Annotated[tuple[ProposalSeen, ...], told.at_most(LIMIT_MAX)]
    """Those of this page that wait."""
    next: told.Cursor | None
    """What to give as `cursor` for more; null: these are the last."""


@get(
    "/clubs/{club:uuid}/proposals",
    operation_id="list_proposals",
    summary="What waits to be confirmed",
    description="A page of the entries that somebody else has to confirm, by number: payments that one of the two "
    "has told, payouts above the limit, reversals of matches. What was confirmed or declined is no more among them. "
    "With `audit` or `treasury`; with any other key of his own a member has those that write on his account.",
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
    """What waits to be confirmed."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    own = caller.member
    must_see_books(caller, own)
    now = caller.club.standing
    whose = None if sees_books(caller) or own is None else account_of(own)
    waiting = sorted(now.proposals.items())
    page = some((one for one in waiting if whose is None or _writes_on(one[1], whose)), cursor, limit)
    times = await in_thread(_times, service, club, [one.event for _, one in page.found])

    def seen(number: int, one: Proposal, at: Any) -> ProposalSeen:
        draft, others = one.draft, others_of(one)
        return ProposalSeen(
            proposal=number,
            kind=draft.kind,
            currency=draft.currency,
            postings=draft.postings,
            evening=draft.evening,
            reverses=draft.reverses,
            plan=draft.plan,
            by=one.by,
            at=at,
            event=one.event,
            other=others[0] if others else None,
            yours=not_for(now, one, caller.actor) is None,
        )

    found = tuple(seen(number, one, at) for (number, one), at in zip(page.found, times, strict=True))
    return await page_reply(
        request, ProposalPage(version=caller.club.version, proposals=found, next=page.next), page.next
    )


def _writes_on(proposal: Proposal, account: str) -> bool:
    return any(one.account == account for one in proposal.draft.postings)


def _times(service: Service, club: UUID, events: Sequence[int]) -> list[Any]:
    """When events of a club were stored."""
    return [service.referee.history(club, after=one - 1, to=one)[0].at for one in events]
