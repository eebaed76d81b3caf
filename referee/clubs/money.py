"""What may be done with a club's money, and what comes of it: entries for its books, proposals, closings.

The books are a projection of these events and of the matches; what a decision needs of them (a balance, an entry)
comes with the request. Debit is above zero: below zero stands what a member is to receive.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from referee.actors import Actor
from referee.clubs import asked, facts
from referee.clubs.facts import (
    LIMIT_DAYS,
    Account,
    EntryKind,
    MoneyDraft,
    Posting,
    Postings,
    Scope,
    account_of,
    member_of,
)
from referee.clubs.lookup import evening_of, key_by, member_by, member_here, not_erased
from referee.clubs.standing import Club, PaidOut, Proposal
from referee.refusals import AgainstTheClub, ClubState, NotGranted
from referee.ruleset import Moment
from referee.sight import Event

PROPOSALS_MAX = 1000
"""That may wait at a time."""

Events = tuple[Event, ...]


def needs(club: Club, request: asked.MoneyAct, actor: Actor) -> Scope | None:
    """The scope that a holder needs to ask this; ``None``: any key of his own will do, since it is his own money."""
    match request:
        case asked.PaySent():
            return None
        case asked.ConfirmSent(proposal=number) | asked.Decline(proposal=number):
            proposal = club.proposals.get(number)
            mine = proposal is not None and member_by(club, actor) in parties_of(proposal.draft)
            return None if mine else "treasury"
    return "treasury"


def parties_of(draft: MoneyDraft) -> frozenset[int]:
    """The members between whom it is, where it is a payment of theirs."""
    if draft.kind != "pay":
        return frozenset()
    return frozenset(member for one in draft.postings if (member := member_of(one.account)) is not None)


def _is_treasurer(club: Club, actor: Actor) -> bool:
    key = key_by(club, actor)
    return actor == "operator" or (key is not None and "treasury" in key.scopes)


# Decisions


def _deposit(club: Club, request: asked.Deposit, moment: Moment) -> Events:
    draft = _of_member(club, request, "deposit", {request.via: request.amount}, -request.amount)
    return (_posted(draft, moment.actor),)


def _payout(club: Club, request: asked.Payout, moment: Moment) -> Events:
    draft = _of_member(club, request, "payout", {request.via: -request.amount}, request.amount)
    _covered(request.amount, request.balance, draft.currency)
    if not _above_the_limit(club, draft, moment.at):
        return (_posted(draft, moment.actor, balance=request.balance),)
    return (_proposed_by_two(club, draft, moment),)


def _fee(club: Club, request: asked.Fee, moment: Moment) -> Events:
    member_here(club, request.member)
    draft = _of_member(club, request, "fee", {"fees": -request.amount}, request.amount)
    return (_posted(draft, moment.actor),)


def _of_member(
    club: Club,
    request: asked.Deposit | asked.Payout | asked.Fee,
    kind: EntryKind,
    other: Mapping[Account, int],
    amount: int,
) -> MoneyDraft:
    """An entry between a member and an account of the club."""
    not_erased(club, request.member)
    postings = {account_of(request.member): amount, **other}
    return _draft(club, kind, request.currency, postings, request.evening)


def _draft(
    club: Club, kind: EntryKind, currency: str | None, postings: Mapping[Account, int], evening: int | None = None
) -> MoneyDraft:
    if evening is not None:
        evening_of(club, evening)
    if currency is not None and currency not in club.currencies:
        raise AgainstTheClub("currency_not_kept", None, currency=currency, currencies=club.currencies)
    return MoneyDraft(
        kind=kind,
        currency=currency or club.currencies[0],
        postings=tuple([Posting(account=account, amount=amount) for account, amount in postings.items()]),
        evening=evening,
    )


def _owners(club: Club, postings: Postings) -> None:
    """Everybody on whose account something would be written has one."""
    for one in postings:
        if (member := member_of(one.account)) is not None:
            not_erased(club, member)


def _covered(amount: int, balance: int, currency: str) -> None:
    if amount > -balance:
        raise ClubState("payout_too_high", None, most=max(0, -balance), currency=currency)


def _above_the_limit(club: Club, draft: MoneyDraft, at: datetime) -> bool:
    """Return whether a payout takes the member above ``payout_limit``, counted over :data:`LIMIT_DAYS`."""
    if club.payout_limit is None:
        return False
    account, amount = _paid(draft)
    return amount + sum(one.amount for one in _recent(club.paid_out.get(account, ()), at)) > club.payout_limit


def _recent(paid: Iterable[PaidOut], at: datetime) -> tuple[PaidOut, ...]:
    """Return the payouts that still count against ``payout_limit`` at a time."""
    return tuple([one for one in paid if one.at > at - LIMIT_DAYS])


def _paid(draft: MoneyDraft) -> tuple[str, int]:
    """To whom a payout goes, by account and currency, and how much it is."""
    (posting,) = (one for one in draft.postings if member_of(one.account) is not None)
    return f"{posting.account} {draft.currency}", posting.amount


def _pay(club: Club, request: asked.Pay, moment: Moment) -> Events:
    payer, payee = request.payer, request.payee
    for member in (payer, payee):
        not_erased(club, member)
    if payer == payee:
        raise AgainstTheClub("pays_himself", None, member=payer)
    if member_by(club, moment.actor) not in (payer, payee):
        raise NotGranted("payment_of_others", None, members=(payer, payee))
    postings = {account_of(payee): request.amount, account_of(payer): -request.amount}
    draft = _draft(club, "pay", request.currency, postings, request.evening)
    if request.plan is not None:
        _must_be_planned(club, request)
    return (_proposed(club, replace(draft, plan=request.plan), moment),)


def _must_be_planned(club: Club, request: asked.Pay) -> None:
    """Raise ``Refused`` unless the plan lists this payment, and no proposal of it waits."""
    if (waiting := waiting_for(club, request.plan)) is not None:
        raise ClubState("planned_already", None, proposal=waiting)
    planned = request.planned
    if planned is None:
        raise ClubState("payment_not_planned", None, plan=request.plan)
    if (request.payer, request.payee, request.amount) != (planned.payer, planned.payee, planned.amount):
        raise AgainstTheClub(
            "planned_otherwise", None, payer=planned.payer, payee=planned.payee, amount=planned.amount
        )


def waiting_for(club: Club, plan: str | None) -> int | None:
    """Return the number of the proposal that waits for a planned payment, or ``None``."""
    return next((number for number, one in club.proposals.items() if plan and one.draft.plan == plan), None)


def _open_account(club: Club, request: asked.OpenAccount, moment: Moment) -> Events:
    if request.account == "opening":
        raise AgainstTheClub("opening_of_opening", None)
    if request.amount == 0:
        raise AgainstTheClub("nothing_to_open", None)
    member = member_of(request.account)
    if member is not None:
        not_erased(club, member)
    postings = {request.account: request.amount, "opening": -request.amount}
    return (_posted(_draft(club, "opening", request.currency, postings), moment.actor),)


def _reverse(club: Club, request: asked.Reverse, moment: Moment) -> Events:
    found = _reversible(request.entry, request.found)
    _owners(club, found.postings)
    draft = MoneyDraft(
        kind="reverse",
        currency=found.currency,
        postings=tuple([replace(one, amount=-one.amount) for one in found.postings]),
        evening=found.evening,
        reverses=request.entry,
    )
    if found.kind == "match":
        return (_proposed_by_two(club, draft, moment),)
    return (_posted(draft, moment.actor),)


def _reversible(entry: int, found: asked.EntryFound | None) -> asked.EntryFound:
    if found is None:
        raise AgainstTheClub("no_such_entry", None, entry=entry)
    if found.kind == "reverse":
        raise AgainstTheClub("entry_is_reversal", None, entry=entry)
    if found.reversed:
        raise ClubState("entry_reversed", None, entry=entry)
    return found


def _confirm(club: Club, request: asked.Confirm, moment: Moment) -> Events:
    proposal = _waits(club, request.proposal)
    draft = proposal.draft
    if (refused := not_for(club, proposal, moment.actor)) is not None:
        raise refused
    _owners(club, draft.postings)  # somebody may have been erased since it was asked
    if draft.kind == "payout":
        assert request.balance is not None, "it comes with what the books say"
        _covered(_paid(draft)[1], request.balance, draft.currency)
    if draft.reverses is not None:
        _reversible(draft.reverses, request.found)
    return (_posted(draft, proposal.by, request.proposal, request.balance),)


def not_for(club: Club, proposal: Proposal, actor: Actor) -> NotGranted | None:
    """Why it is for somebody else to confirm a proposal; ``None``: this one may."""
    me = member_by(club, actor)
    if proposal.draft.kind == "pay":
        # The other party, or a treasurer who is neither.
        if me == proposal.member or not (me in parties_of(proposal.draft) or _is_treasurer(club, actor)):
            return NotGranted("confirmed_by_other", None, members=others_of(proposal))
        return None
    if not _is_treasurer(club, actor):
        return NotGranted("for_treasurers", None)
    return NotGranted("second_person_needed", None) if me is None or me == proposal.member else None


def others_of(proposal: Proposal) -> tuple[int, ...]:
    """Of a payment the party that did not tell it; else nobody."""
    return tuple(sorted(parties_of(proposal.draft) - {proposal.member}))


def _decline(club: Club, request: asked.Decline, moment: Moment) -> Events:
    proposal = _waits(club, request.proposal)
    if member_by(club, moment.actor) not in parties_of(proposal.draft):
        _must_be_treasurer(club, moment.actor)
    return (facts.MoneyDeclined(proposal=request.proposal, draft=proposal.draft, by=moment.actor),)


def _must_be_treasurer(club: Club, actor: Actor) -> None:
    if not _is_treasurer(club, actor):
        raise NotGranted("for_treasurers", None)


def _waits(club: Club, number: int) -> Proposal:
    proposal = club.proposals.get(number)
    if proposal is None and number > club.proposed:
        raise AgainstTheClub("no_such_proposal", None, proposal=number, last=club.proposed)
    if proposal is None:
        raise ClubState("proposal_settled", None, proposal=number)
    return proposal


def _close_books(club: Club, request: asked.CloseBooks, moment: Moment) -> Events:
    if request.through <= club.closed_through:
        raise ClubState("nothing_to_close", None, last=club.closed_through)
    return (
        facts.BooksClosed(
            closing=club.closings + 1,
            through=request.through,
            digest=request.digest,
            trial=request.trial,
            label=request.label,
        ),
    )


def _proposed_by_two(club: Club, draft: MoneyDraft, moment: Moment) -> Event:
    """Another member has to confirm it: so it is a member who asks."""
    if member_by(club, moment.actor) is None:
        raise NotGranted("second_person_needed", None)
    return _proposed(club, draft, moment)


def _proposed(club: Club, draft: MoneyDraft, moment: Moment) -> Event:
    if len(club.proposals) >= PROPOSALS_MAX:
        raise ClubState("proposals_wait", None, most=PROPOSALS_MAX)
    return facts.MoneyProposed(proposal=club.proposed + 1, draft=draft, by=moment.actor)


def _posted(draft: MoneyDraft, by: Actor, proposal: int | None = None, balance: int | None = None) -> Event:
    return facts.MoneyPosted(
        kind=draft.kind,
        currency=draft.currency,
        postings=draft.postings,
        by=by,
        evening=draft.evening,
        reverses=draft.reverses,
        proposal=proposal,
        plan=draft.plan,
        balance=balance,
    )


DECIDE: dict[type, Callable[[Club, Any, Moment], Events]] = {
    asked.Deposit: _deposit,
    asked.Payout: _payout,
    asked.Pay: _pay,
    asked.Fee: _fee,
    asked.OpenAccount: _open_account,
    asked.Reverse: _reverse,
    asked.Confirm: _confirm,
    asked.Decline: _decline,
    asked.CloseBooks: _close_books,
}


# What comes of an event


def _on_proposed(club: Club, event: facts.MoneyProposed, number: int) -> Club:
    proposal = Proposal(draft=event.draft, by=event.by, member=member_by(club, event.by), event=number)
    return replace(club, proposed=event.proposal, proposals=club.proposals | {event.proposal: proposal})


def _without(club: Club, number: int | None) -> dict[int, Proposal]:
    return {one: proposal for one, proposal in club.proposals.items() if one != number}


def _on_declined(club: Club, event: facts.MoneyDeclined, number: int) -> Club:
    return replace(club, proposals=_without(club, event.proposal))


def _on_posted(club: Club, event: facts.MoneyPosted, number: int) -> Club:
    if event.proposal is not None:
        club = replace(club, proposals=_without(club, event.proposal))
    if event.kind != "payout":
        return club
    assert club.acted_at is not None, "an act posts it"
    whose, amount = _paid(MoneyDraft(kind=event.kind, currency=event.currency, postings=event.postings))
    paid_out = {one: recent for one, paid in club.paid_out.items() if (recent := _recent(paid, club.acted_at))}
    new = PaidOut(at=club.acted_at, amount=amount)
    return replace(club, paid_out=paid_out | {whose: (*paid_out.get(whose, ()), new)})


def _on_closed(club: Club, event: facts.BooksClosed, number: int) -> Club:
    return replace(club, closings=event.closing, closed_through=event.through, digest=event.digest)


EVOLVE: dict[type[Event], Callable[[Club, Any, int], Club]] = {
    facts.MoneyProposed: _on_proposed,
    facts.MoneyDeclined: _on_declined,
    facts.MoneyPosted: _on_posted,
    facts.BooksClosed: _on_closed,
}
