"""Who holds which keys of a club, and whether two members stood behind what needs two."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from projections.audit.findings import Findings
from projections.journal import decimal
from referee.actors import Actor
from referee.clubs.commands import ProposedAct, SetPayee
from referee.clubs.facts import (
    LIMIT_DAYS,
    AppName,
    BooksClosed,
    ClubFounded,
    ClubSet,
    KeyId,
    KeyInvited,
    KeyIssued,
    KeyRevoked,
    MemberErased,
    MemberJoined,
    MemberNamed,
    MoneyDraft,
    MoneyPosted,
    PayeeSet,
    Scopes,
    member_of,
)
from referee.clubs.proposal_events import ProposalConfirmed, ProposalDeclined, ProposalMade
from referee.value import Time, Value
from referee.visibility import Recorded
from referee.wire_types import MemberNumber, ProposalNumber


class KeyHeld(Value):
    """A key of the club: whose it is, what it is good for, and from when until when."""

    key: KeyId
    member: MemberNumber | None
    """The member whose it is; null: a program's."""
    app: AppName | None
    """The program that it is for; null: a member's."""
    scopes: Scopes
    since: Time
    """When it was issued, or its member invited."""
    expires_at: Time
    """When it ends by itself."""
    revoked_at: Time | None
    """When it was revoked; null: it was not."""


class Waiting(Value):
    """An act that waits for another member to confirm it."""

    proposal: ProposalNumber
    act: ProposedAct
    """The act as it was sent."""
    draft: MoneyDraft | None
    """The entry that it makes in the books; null: none."""
    by: Actor
    """The sender of the act."""
    at: Time
    """The time of the proposal."""


class People:
    """A club's members, keys and proposals as its events make them."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.name = ""
        self.keys: dict[str, KeyHeld] = {}
        self.names: dict[int, list[str]] = {}
        """By member all refs of names that he has gone by, and of numbers by which he was paid."""
        self.replaced: set[str] = set()
        """Refs of numbers that others have taken the place of."""
        self._paid_by: dict[int | None, set[str]] = {}
        self.erasures: dict[str, tuple[UUID, int]] = {}
        """By digest, in their order, where each erasure is on record."""
        self.proposals: dict[int, Waiting] = {}
        self._confirmed: dict[int, Waiting] = {}
        """Those that were confirmed, until their entry is posted."""
        self._limit: int | None = None
        self._paid: dict[tuple[str, str], list[tuple[datetime, int]]] = {}
        """Payouts of the last 30 days by account and currency, each with its time."""

    def take(self, recorded: Recorded, kind_of: Callable[[int], str | None]) -> None:
        """An event of the club; ``kind_of``: what kind of entry has a number."""
        self.take_names(recorded)
        match recorded.event:
            case ClubFounded(name=name):
                self.name = name
            case ClubSet(name=name, payout_limit=limit):
                self.name = self.name if name is None else name
                self._limit = self._limit if limit is None else limit
            case KeyIssued() | KeyInvited() as issued:
                self.keys[issued.key] = KeyHeld(
                    key=issued.key,
                    member=issued.member,
                    app=issued.app if isinstance(issued, KeyIssued) else None,
                    scopes=issued.scopes,
                    since=recorded.at,
                    expires_at=issued.expires_at,
                    revoked_at=None,
                )
            case KeyRevoked(key=key) if key in self.keys:
                self.keys[key] = replace(self.keys[key], revoked_at=recorded.at)
            case ProposalMade(proposal=number, act=act, draft=draft, by=by):
                self.proposals[number] = Waiting(proposal=number, act=act, draft=draft, by=by, at=recorded.at)
            case ProposalConfirmed(proposal=number) if number in self.proposals:
                self._confirmed = {number: self.proposals.pop(number)}
            case ProposalDeclined(proposal=number):
                self.proposals.pop(number, None)
            case MoneyPosted() as posted:
                self._posted(recorded, posted, kind_of)
            case BooksClosed():
                self._must_be_a_member(recorded)

    def take_names(self, recorded: Recorded) -> None:
        """The same, as far as names and numbers come or go by it."""
        match recorded.event:
            case MemberJoined(member=member, name=ref) | MemberNamed(member=member, name=ref):
                self.names.setdefault(member, []).append(ref)
            case PayeeSet(member=whose, swish=swish, iban=iban):
                numbers = {ref for ref in (swish, iban) if ref is not None}
                self.replaced |= self._paid_by.get(whose, set()) - numbers
                self._paid_by[whose] = numbers
                if whose is not None:
                    self.names.setdefault(whose, []).extend(sorted(numbers))
            case ProposalMade(act=SetPayee(member=int(whose)) as payee):
                self.names.setdefault(whose, []).extend(_numbers(payee))
            case ProposalDeclined(act=SetPayee() as payee):
                self.replaced.update(_numbers(payee))
            case MemberErased(texts=digest):
                self.erasures[digest] = recorded.originator_id, recorded.originator_version

    def _must_be_a_member(self, recorded: Recorded) -> None:
        """Say so if no member made an act about money."""
        if self._member(recorded.actor) is None:
            where = {"aggregate": str(recorded.originator_id), "event": recorded.originator_version}
            self.findings.say("two_persons", "no_member", **where, stands=recorded.actor)

    def _posted(self, recorded: Recorded, posted: MoneyPosted, kind_of: Callable[[int], str | None]) -> None:
        """Look for the second person of an entry that takes two.

        A payment between members, or its reversal, is confirmed by a party or a treasurer who is neither; anything
        else by another treasurer.
        """
        proposal = None if posted.proposal is None else self._confirmed.pop(posted.proposal, None)
        taken_back = None if posted.reverses is None else kind_of(posted.reverses)
        pay = "pay" in (posted.kind, taken_back)
        needs = pay or taken_back == "match"
        if posted.kind == "payout" or taken_back == "deposit":
            for one in posted.postings:
                if member_of(one.account) is not None:
                    paid = self._paid_out((one.account, posted.currency), recorded.at, one.amount)
                    needs = needs or (self._limit is not None and paid > self._limit)
        if not needs and proposal is None:
            self._must_be_a_member(recorded)
            return
        parties = {member_of(one.account) for one in posted.postings} if pay else set()
        asked, confirmed = self._member(posted.by), self._member(recorded.actor)
        where = {"aggregate": str(recorded.originator_id), "event": recorded.originator_version}
        who = {"stands": f"{posted.by}, {recorded.actor}", "should": "treasury"}
        if proposal is None or proposal.by != posted.by:
            self.findings.say("two_persons", "not_proposed", **where, **who)
        elif (draft := posted.draft) != proposal.draft:
            said = {"stands": _told(draft), "should": "" if proposal.draft is None else _told(proposal.draft)}
            self.findings.say("two_persons", "proposed_otherwise", **where, **said)
        elif confirmed not in parties - {None} and not self._is_treasurer(recorded.actor):
            self.findings.say("two_persons", "no_treasurer", **where, **who)
        elif asked is None or confirmed is None or asked == confirmed:
            self.findings.say("two_persons", "one_person", **where, **who)

    def _paid_out(self, whose: tuple[str, str], at: datetime, amount: int) -> int:
        """Add a payout, and return the sum of those that count against the limit."""
        recent = [one for one in self._paid.get(whose, ()) if one[0] > at - LIMIT_DAYS]
        self._paid[whose] = [*recent, (at, amount)]
        return sum(some for _, some in self._paid[whose])

    def _member(self, actor: Actor) -> int | None:
        """Whose key it is; ``None``: a program's, or no key."""
        key = self._key(actor)
        return None if key is None else key.member

    def _is_treasurer(self, actor: Actor) -> bool:
        key = self._key(actor)
        return key is not None and "treasury" in key.scopes

    def _key(self, actor: Actor) -> KeyHeld | None:
        return self.keys.get(actor.removeprefix("key:")) if isinstance(actor, str) else None


def _numbers(payee: SetPayee) -> list[str]:
    return [ref for ref in (payee.swish, payee.iban) if ref is not None]


def _told(draft: MoneyDraft) -> str:
    parts = [f"{one.account} {decimal(one.amount)} {draft.currency}" for one in draft.postings]
    return ", ".join([draft.kind, *parts])
