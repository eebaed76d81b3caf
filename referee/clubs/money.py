"""A club's money: entries in the books, and closings.

The books are a projection, so a command contains the balance or entry on which it is decided. A balance below zero is
the club's debt to a member.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from msgspec.structs import asdict, replace

from referee.actors import Actor
from referee.clubs import commands, facts
from referee.clubs.facts import (
    LIMIT_DAYS,
    MATCH_BALANCE_MAX,
    Account,
    EntryKind,
    MoneyDraft,
    Posting,
    account_of,
    member_of,
)
from referee.clubs.lookup import evening_of, member_of_actor, present_member, unerased_member
from referee.clubs.state import Club, PaidOut
from referee.refusals import AgainstTheClub, ClubState, NotGranted
from referee.ruleset import Moment
from referee.visibility import Event

Events = tuple[Event, ...]


def needs_second_member(club: Club, request: commands.ClubRequest, moment: Moment) -> bool:
    """Return whether a command waits for another member even if the club has no second person.

    True for payments between members, payouts above ``payout_limit``, and reversals of matches, of payments, and of
    deposits above the limit. True for every ``MoneyAct`` of a caller who is not a member.
    """
    if isinstance(request, commands.MoneyAct) and member_of_actor(club, moment.actor) is None:
        return True
    match request:
        case commands.Pay() | commands.Reverse(found=commands.EntryFound(kind="match" | "pay")):
            return True
        case commands.Payout(member=member, amount=amount, currency=currency):
            return _above_the_limit(club, account_of(member), currency or club.currencies[0], amount, moment.at)
        case commands.Reverse(found=commands.EntryFound(kind="deposit") as found):
            paid_in, _ = _member_posting(found)
            return _above_the_limit(club, paid_in.account, found.currency, -paid_in.amount, moment.at)
    return False


# Decisions: return the events of a command, or raise ``Refused``


def _deposit(club: Club, request: commands.Deposit, moment: Moment) -> Events:
    draft = _member_draft(club, request, "deposit", {request.via: request.amount}, -request.amount)
    return (_posting_event(draft, moment.actor),)


def _payout(club: Club, request: commands.Payout, moment: Moment) -> Events:
    draft = _member_draft(club, request, "payout", {request.via: -request.amount}, request.amount)
    _check_covered(request.amount, request.balance, draft.currency)
    return (_posting_event(draft, moment.actor, balance=request.balance),)


def _fee(club: Club, request: commands.Fee, moment: Moment) -> Events:
    present_member(club, request.member)
    draft = _member_draft(club, request, "fee", {"fees": -request.amount}, request.amount)
    return (_posting_event(draft, moment.actor),)


def _member_draft(
    club: Club,
    request: commands.Deposit | commands.Payout | commands.Fee,
    kind: EntryKind,
    other: Mapping[Account, int],
    amount: int,
) -> MoneyDraft:
    """Return an entry of ``amount`` on the member's account and ``other`` amounts by account. Raises ``Refused``."""
    unerased_member(club, request.member)
    postings = {account_of(request.member): amount, **other}
    return _draft(club, kind, request.currency, postings, request.evening)


def _draft(
    club: Club, kind: EntryKind, currency: str | None, postings: Mapping[Account, int], evening: int | None = None
) -> MoneyDraft:
    """Return an entry of amounts by account, by default in the club's first currency.

    Raises ``AgainstTheClub`` for an unknown evening or currency.
    """
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


def _check_covered(amount: int, balance: int, currency: str) -> None:
    """Raise ``ClubState`` if the club owes the member less than this amount."""
    if amount > -balance:
        raise ClubState("payout_too_high", None, most=max(0, -balance), currency=currency)


def _above_the_limit(club: Club, account: Account, currency: str, amount: int, at: datetime) -> bool:
    """Return whether ``amount`` takes the account's payouts within :data:`LIMIT_DAYS` above ``payout_limit``."""
    if club.payout_limit is None:
        return False
    paid = club.paid_out.get(_paid_key(account, currency), ())
    return amount + sum(one.amount for one in _within_limit_days(paid, at)) > club.payout_limit


def _paid_key(account: Account, currency: str) -> str:
    return f"{account} {currency}"


def _within_limit_days(paid: Iterable[PaidOut], at: datetime) -> tuple[PaidOut, ...]:
    return tuple([one for one in paid if one.at > at - LIMIT_DAYS])


def _pay(club: Club, request: commands.Pay, moment: Moment) -> Events:
    payer, payee = request.payer, request.payee
    for member in (payer, payee):
        unerased_member(club, member)
    if payer == payee:
        raise AgainstTheClub("pays_himself", None, member=payer)
    if member_of_actor(club, moment.actor) not in (payer, payee):
        raise NotGranted("payment_of_others", None, members=(payer, payee))
    postings = {account_of(payee): request.amount, account_of(payer): -request.amount}
    draft = _draft(club, "pay", request.currency, postings, request.evening)
    return (_posting_event(replace(draft, plan=request.plan), moment.actor),)


def check_planned(club: Club, request: commands.ClubRequest) -> None:
    """Raise ``Refused`` if a payment with a ``plan`` is not in the plan, differs from it, or is already proposed.

    A confirmation is not checked, because the payment was made even if the plan has changed.
    """
    if not isinstance(request, commands.Pay) or request.plan is None:
        return
    if (waiting := proposal_for_plan(club, request.plan)) is not None:
        raise ClubState("planned_already", None, proposal=waiting)
    planned = request.planned
    if planned is None:
        raise ClubState("payment_not_planned", None, plan=request.plan)
    if (request.payer, request.payee, request.amount) != (planned.payer, planned.payee, planned.amount):
        raise AgainstTheClub(
            "planned_otherwise", None, payer=planned.payer, payee=planned.payee, amount=planned.amount
        )


def proposal_for_plan(club: Club, plan: str | None) -> int | None:
    """Return the number of the waiting proposal for this planned payment, else ``None``."""
    for number, proposal in club.proposals.items():
        if plan is not None and isinstance(proposal.act, commands.PaySent) and proposal.act.plan == plan:
            return number
    return None


def _open_account(club: Club, request: commands.OpenAccount, moment: Moment) -> Events:
    if request.account == "opening":
        raise AgainstTheClub("opening_of_opening", None)
    if request.amount == 0:
        raise AgainstTheClub("nothing_to_open", None)
    member = member_of(request.account)
    if member is not None:
        unerased_member(club, member)
    postings = {request.account: request.amount, "opening": -request.amount}
    return (_posting_event(_draft(club, "opening", request.currency, postings), moment.actor),)


def _reverse(club: Club, request: commands.Reverse, moment: Moment) -> Events:
    """Return the negative of an entry. A deposit is not reversed if the club owes the member less."""
    found = _reversible_entry(request.entry, request.found)
    for one in found.postings:
        if (member := member_of(one.account)) is not None:
            unerased_member(club, member)
    balance = None
    if found.kind == "deposit":
        paid_in, balance = _member_posting(found)
        _check_covered(-paid_in.amount, balance, found.currency)
    if found.kind == "match":
        _check_balances_after_reversal(found)
    draft = MoneyDraft(
        kind="reverse",
        currency=found.currency,
        postings=tuple([replace(one, amount=-one.amount) for one in found.postings]),
        evening=found.evening,
        reverses=request.entry,
        reversed_kind=found.kind,
    )
    return (_posting_event(draft, moment.actor, balance=balance),)


def _member_posting(found: commands.EntryFound) -> tuple[Posting, int]:
    """Return the only posting on a member's account, and that account's present balance."""
    ((posting, balance),) = (
        one for one in zip(found.postings, found.balances, strict=True) if member_of(one[0].account) is not None
    )
    return posting, balance


def _check_balances_after_reversal(found: commands.EntryFound) -> None:
    """Raise ``ClubState`` if a balance would be too large after the reversal."""
    for posting, balance in zip(found.postings, found.balances, strict=True):
        if abs(balance - posting.amount) > MATCH_BALANCE_MAX:
            raise ClubState("balance_too_large", None, account=posting.account)


def _reversible_entry(entry: int, found: commands.EntryFound | None) -> commands.EntryFound:
    """Return ``found``. Raises ``Refused`` if it is ``None``, a reversal, or already reversed."""
    if found is None:
        raise AgainstTheClub("no_such_entry", None, entry=entry)
    if found.kind == "reverse":
        raise AgainstTheClub("entry_is_reversal", None, entry=entry)
    if found.reversed:
        raise ClubState("entry_reversed", None, entry=entry)
    return found


def _close_books(club: Club, request: commands.CloseBooks, moment: Moment) -> Events:
    if request.through <= club.closed_through:
        raise ClubState("nothing_to_close", None, last=club.closed_through)
    return (facts.BooksClosed(closing=club.closings + 1, **asdict(request)),)


def _posting_event(draft: MoneyDraft, by: Actor, balance: int | None = None) -> Event:
    return facts.MoneyPosted(**asdict(draft), by=by, balance=balance)


DECIDE: dict[type, Callable[[Club, Any, Moment], Events]] = {
    commands.Deposit: _deposit,
    commands.Payout: _payout,
    commands.Pay: _pay,
    commands.Fee: _fee,
    commands.OpenAccount: _open_account,
    commands.Reverse: _reverse,
    commands.CloseBooks: _close_books,
}


# Changes: return the club after an event


def _on_posted(club: Club, event: facts.MoneyPosted, number: int) -> Club:
    """Return the club with a payout or reversed deposit counted against ``payout_limit``."""
    if event.kind != "payout" and event.reversed_kind != "deposit":
        return club
    assert club.acted_at is not None, "an act posts the entry"
    (posting,) = (one for one in event.postings if member_of(one.account) is not None)
    paid_out = {
        key: recent for key, paid in club.paid_out.items() if (recent := _within_limit_days(paid, club.acted_at))
    }
    key = _paid_key(posting.account, event.currency)
    new = PaidOut(at=club.acted_at, amount=posting.amount)
    return replace(club, paid_out=paid_out | {key: (*paid_out.get(key, ()), new)})


def _on_closed(club: Club, event: facts.BooksClosed, number: int) -> Club:
    return replace(club, closings=event.closing, closed_through=event.through, digest=event.digest)


EVOLVE: dict[type[Event], Callable[[Club, Any, int], Club]] = {
    facts.MoneyPosted: _on_posted,
    facts.BooksClosed: _on_closed,
}
