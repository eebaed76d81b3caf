"""A club's keys and proposals in the audit, and the check of acts that need two members."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from projections.audit.findings import Findings
from projections.journal import Author, decimal
from referee.actors import Actor
from referee.clubs.commands import PayeeAct, ProposedAct, SetPayee
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
    """A key of the club: its owner, its scopes, and its lifetime."""

    key: KeyId
    member: MemberNumber | None
    """Member who owns the key; null: a program owns it."""
    app: AppName | None
    """Program that owns the key; null: a member owns it."""
    scopes: Scopes
    since: Time
    """Time when the key was issued, or its member was invited."""
    expires_at: Time
    revoked_at: Time | None
    """Time when the key was revoked; null: it was not revoked."""


class Waiting(Value):
    """An act that waits for a different member to confirm it."""

    proposal: ProposalNumber
    act: ProposedAct
    """Proposed act."""
    draft: MoneyDraft | None
    """Entry that the act would make; null: none."""
    by: Author
    """Sender of the act."""
    at: Time


class People:
    """A club's members, keys and proposals, from its events."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.name = ""
        self.keys: dict[str, KeyHeld] = {}
        self.names: dict[int, list[str]] = {}
        """References to names and payment numbers, by member."""
        self.replaced: set[str] = set()
        """References to replaced and declined payment numbers."""
        self._paid_by: dict[int | None, set[str]] = {}
        self.erasures: dict[str, tuple[UUID, int]] = {}
        """Club and event number of each erasure, by its digest."""
        self.proposals: dict[int, Waiting] = {}
        self._confirmed: dict[int, Waiting] = {}
        """Last confirmed proposal, by number, until its entry is posted."""
        self._limit: int | None = None
        self._paid: dict[tuple[str, str], list[tuple[datetime, int]]] = {}
        """Payouts and reversed deposits, by account and currency: times and minor units."""

    def add_event(self, recorded: Recorded, kind_of: Callable[[int], str | None]) -> None:
        """Apply and check an event. ``kind_of``: returns the kind of the entry with a number, if any."""
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
                self.proposals[number] = Waiting(
                    proposal=number,
                    act=act,
                    draft=draft,
                    by=Author(actor=by, member=self._member(by), match=None),
                    at=recorded.at,
                )
            case ProposalConfirmed(proposal=number) if number in self.proposals:
                self._confirmed = {number: self.proposals.pop(number)}
            case ProposalDeclined(proposal=number):
                self.proposals.pop(number, None)
            case MoneyPosted() as posted:
                self._check_entry(recorded, posted, kind_of)
            case BooksClosed():
                self._report_unless_member(recorded)

    def take_names(self, recorded: Recorded) -> None:
        """Apply only the names and payment numbers of an event."""
        match recorded.event:
            case MemberJoined(member=member, name=ref) | MemberNamed(member=member, name=ref):
                self.names.setdefault(member, []).append(ref)
            case PayeeSet(member=whose, swish=swish, iban=iban):
                numbers = {ref for ref in (swish, iban) if ref is not None}
                self.replaced |= self._paid_by.get(whose, set()) - numbers
                self._paid_by[whose] = numbers
                if whose is not None:
                    self.names.setdefault(whose, []).extend(sorted(numbers))
            case ProposalMade(act=SetPayee(member=whose) as payee):
                self.names.setdefault(whose, []).extend(_payment_refs(payee))
            case ProposalDeclined(act=act) if isinstance(act, PayeeAct):
                self.replaced.update(_payment_refs(act))
            case MemberErased(texts=digest):
                self.erasures[digest] = recorded.originator_id, recorded.originator_version

    def _report_unless_member(self, recorded: Recorded) -> None:
        if self._member(recorded.actor) is None:
            where = {"aggregate": str(recorded.originator_id), "event": recorded.originator_version}
            self.findings.add("two_persons", "no_member", **where, stands=recorded.actor)

    def _check_entry(self, recorded: Recorded, posted: MoneyPosted, kind_of: Callable[[int], str | None]) -> None:
        """Report an entry by no member. If it was proposed or needs two members, report it unless a different member
        confirmed it unchanged: a treasurer, or a party of a payment or its reversal.
        """
        proposal = None if posted.proposal is None else self._confirmed.pop(posted.proposal, None)
        reversed_kind = None if posted.reverses is None else kind_of(posted.reverses)
        pay = "pay" in (posted.kind, reversed_kind)
        needs = pay or reversed_kind == "match"
        if posted.kind == "payout" or reversed_kind == "deposit":
            for one in posted.postings:
                if member_of(one.account) is not None:
                    paid = self._add_payout((one.account, posted.currency), recorded.at, one.amount)
                    needs = needs or (self._limit is not None and paid > self._limit)
        if not needs and proposal is None:
            self._report_unless_member(recorded)
            return
        parties = {member_of(one.account) for one in posted.postings} if pay else set()
        sender, confirmed = self._member(posted.by), self._member(recorded.actor)
        where = {"aggregate": str(recorded.originator_id), "event": recorded.originator_version}
        who = {"stands": f"{posted.by}, {recorded.actor}", "should": "treasury"}
        if proposal is None or proposal.by.actor != posted.by:
            self.findings.add("two_persons", "not_proposed", **where, **who)
        elif (draft := posted.draft) != proposal.draft:
            values = {
                "stands": _draft_text(draft),
                "should": "" if proposal.draft is None else _draft_text(proposal.draft),
            }
            self.findings.add("two_persons", "proposed_otherwise", **where, **values)
        elif confirmed not in parties - {None} and not self._is_treasurer(recorded.actor):
            self.findings.add("two_persons", "no_treasurer", **where, **who)
        elif sender is None or confirmed is None or sender == confirmed:
            self.findings.add("two_persons", "one_person", **where, **who)

    def _add_payout(self, whose: tuple[str, str], at: datetime, amount: int) -> int:
        """Add minor units paid out of an account. Return the sum of its last 30 days."""
        recent = [one for one in self._paid.get(whose, ()) if one[0] > at - LIMIT_DAYS]
        self._paid[whose] = [*recent, (at, amount)]
        return sum(some for _, some in self._paid[whose])

    def _member(self, actor: Actor) -> int | None:
        """Return the member who owns an actor's key, if any."""
        key = self._key(actor)
        return None if key is None else key.member

    def _is_treasurer(self, actor: Actor) -> bool:
        key = self._key(actor)
        return key is not None and "treasury" in key.scopes

    def _key(self, actor: Actor) -> KeyHeld | None:
        return self.keys.get(actor.removeprefix("key:"))


def _payment_refs(payee: PayeeAct) -> list[str]:
    return [ref for ref in (payee.swish, payee.iban) if ref is not None]


def _draft_text(draft: MoneyDraft) -> str:
    parts = [f"{one.account} {decimal(one.amount)} {draft.currency}" for one in draft.postings]
    return ", ".join([draft.kind, *parts])
