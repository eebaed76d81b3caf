"""Proposals: commands that wait until another member confirms or declines them.

A command is decided when it is sent and again when it is confirmed. A member who confirms a proposal of a program or
the operator becomes its sender. The command may then need yet another member.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from referee.actors import Actor
from referee.clubs import commands, facts
from referee.clubs.commands import ProposedAct
from referee.clubs.facts import MoneyPosted, Scope
from referee.clubs.lookup import key_of_actor, member_of_actor
from referee.clubs.proposal_events import ProposalConfirmed, ProposalDeclined, ProposalMade
from referee.clubs.scopes import default_scopes, needed_scope, scopes_of
from referee.clubs.state import Club, Key, Proposal
from referee.refusals import AgainstTheClub, ClubState, NotGranted, Refused
from referee.ruleset import Moment
from referee.visibility import Event

PROPOSALS_MAX = 1000
SECOND_PERSON_SCOPES: tuple[Scope, ...] = ("keys", "audit")
STRONG_SCOPES: tuple[Scope, ...] = ("keys", "treasury", "audit", "officiate")
"""Scopes for which an invitation to a key needs two persons."""
NEEDS_SECOND: dict[str, Callable[[Any, Any], bool]] = {
    "payout_limit": lambda now, new: now is not None and new > now,
    "keep_years": lambda now, new: bool(new < now),
    "currencies": lambda now, new: bool(new != now),
    "stakes_need": lambda now, new: new == "secretary" != now,
    "stake_limit": lambda now, new: now is not None and new > now,
}
"""Functions by setting. Each returns whether a change from the first value to the second needs a second person."""


# Commands that need two persons


def needs_second_person(club: Club, request: commands.ClubRequest, actor: Actor) -> bool:
    """Return whether a command must be confirmed if the club has a second person or a program sends it."""
    match request:
        case commands.CloseBooksSent():
            return True
        case commands.Invite():
            return actor != "operator" and any(scope in STRONG_SCOPES for scope in default_scopes(request))
        case commands.Set():
            given = {name: getattr(request, name) for name in NEEDS_SECOND}
            return any(
                new is not None and NEEDS_SECOND[name](getattr(club, name), new) for name, new in given.items()
            )
        case commands.SetPayee() | commands.SetClubPayee():
            payee = commands.member_of_payee_act(request)
            return payee is None or payee != member_of_actor(club, actor)
    return False


def has_second_person(club: Club, at: datetime) -> bool:
    """Return whether at least two members have keys of :func:`_counts_as_second`."""
    return len({key.member for key in club.keys if key.member is not None and _counts_as_second(key, at)}) > 1


def _counts_as_second(key: Key, at: datetime) -> bool:
    """Return whether a key is redeemed, has `keys` or `audit`, and has not expired.

    A revoked key counts until ``counts_until``.
    """
    if not key.hash or not any(scope in key.scopes for scope in SECOND_PERSON_SCOPES):
        return False
    ends_at = key.counts_until if key.revoked else key.expires_at
    return ends_at is not None and at < ends_at


# Members who may confirm or decline


def refusal_to_confirm(club: Club, proposal: Proposal, actor: Actor, at: datetime) -> Refused | None:
    """Return the refusal if a caller may not confirm a proposal, else ``None``.

    A proposing member's key must still be valid, unless the command is `pay`.
    """
    me, act = member_of_actor(club, actor), proposal.act
    if me is None:
        return NotGranted("confirmed_by_member", None)
    if proposal.member is None:  # the confirmer becomes the sender
        scope = needed_scope(club, act, actor)
        return None if scope is None else _refusal_without_any(club, actor, (scope,))
    if parties := parties_of(proposal):
        if me == proposal.member or not (me in parties or "treasury" in scopes_of(club, actor)):
            return NotGranted("confirmed_by_other", None, members=other_parties(proposal))
        refused = _refusal_without_any(club, actor, ("self",) if me in parties else ("treasury",))
        return refused if isinstance(act, commands.PaySent) else refused or _refusal_of_ended_key(club, proposal, at)
    if me == proposal.member:
        return NotGranted("second_person_needed", None)
    return _refusal_without_any(club, actor, scopes_to_confirm(act)) or _refusal_of_ended_key(club, proposal, at)


def scopes_to_confirm(act: ProposedAct) -> tuple[Scope, ...]:
    """Return the scopes, apart from a party's `self`, of which a member needs one to confirm or decline."""
    match act:
        case commands.CloseBooksSent():
            return ("treasury", *SECOND_PERSON_SCOPES)
        case commands.MoneyAct():
            return ("treasury",)
    return SECOND_PERSON_SCOPES


def _refusal_without_any(club: Club, actor: Actor, scopes: tuple[Scope, ...]) -> NotGranted | None:
    """Return the refusal if a caller has none of these scopes."""
    mine = scopes_of(club, actor)
    return None if any(one in mine for one in scopes) else NotGranted("confirmed_with", None, scopes=scopes)


def _refusal_of_ended_key(club: Club, proposal: Proposal, at: datetime) -> Refused | None:
    """Return the refusal if the proposing key is revoked or expired."""
    key = key_of_actor(club, proposal.by)
    assert key is not None, "a member proposed it with a key"
    if not key.revoked and at < key.expires_at:
        return None
    return ClubState("proposer_key_ended", None, key=str(proposal.by).removeprefix("key:"))


def parties_of(proposal: Proposal) -> frozenset[int]:
    """Return payer and payee if the command records or reverses a payment between members; else none."""
    draft = proposal.draft
    if draft is None or "pay" not in (draft.kind, draft.reversed_kind):
        return frozenset()
    return frozenset(member for one in draft.postings if (member := facts.member_of(one.account)) is not None)


def other_parties(proposal: Proposal) -> tuple[int, ...]:
    return tuple(sorted(parties_of(proposal) - {proposal.member}))


def waiting_proposal(club: Club, number: int) -> Proposal:
    """Return the proposal. Raises ``AgainstTheClub`` for an unknown number, ``ClubState`` if it waits no more."""
    proposal = club.proposals.get(number)
    if proposal is None and number > club.proposed:
        raise AgainstTheClub("no_such_proposal", None, proposal=number, last=club.proposed)
    if proposal is None:
        raise ClubState("proposal_settled", None, proposal=number)
    return proposal


# Decisions and changes


def propose(club: Club, request: commands.ClubRequest, events: tuple[Event, ...], moment: Moment) -> ProposalMade:
    """Propose a command. Raises ``ClubState`` if too many proposals wait.

    ``events``: those that the command would make now. The proposal keeps only the draft of an entry.
    """
    if len(club.proposals) >= PROPOSALS_MAX:
        raise ClubState("proposals_wait", None, most=PROPOSALS_MAX)
    draft = next((event.draft for event in events if isinstance(event, MoneyPosted)), None)
    return ProposalMade(
        proposal=club.proposed + 1, act=commands.without_added_values(request), by=moment.actor, draft=draft
    )


def decline(club: Club, request: commands.Decline, moment: Moment) -> tuple[Event, ...]:
    """Decline a proposal. Raises what :func:`waiting_proposal` raises.

    Raises ``NotGranted`` unless the caller has the proposing key, or is a member with a scope of
    :func:`scopes_to_confirm`. For the proposer and a payment's parties, `self` is enough.
    """
    proposal = waiting_proposal(club, request.proposal)
    me, act = member_of_actor(club, moment.actor), proposal.act
    concerned = me is not None and me in {proposal.member, *parties_of(proposal)}
    scopes = (*scopes_to_confirm(act), *(("self",) if concerned else ()))
    if moment.actor != proposal.by:
        if me is None:
            raise NotGranted("confirmed_by_member", None)
        if (refused := _refusal_without_any(club, moment.actor, scopes)) is not None:
            raise refused
    return (ProposalDeclined(proposal=request.proposal, act=act, by=proposal.by),)


def _on_made(club: Club, event: ProposalMade, number: int) -> Club:
    member = member_of_actor(club, event.by)
    proposal = Proposal(act=event.act, by=event.by, member=member, event=number, draft=event.draft)
    return replace(club, proposed=event.proposal, proposals=club.proposals | {event.proposal: proposal})


def _on_confirmed(club: Club, event: ProposalConfirmed, number: int) -> Club:
    return _without_proposal(club, event.proposal)


def _on_declined(club: Club, event: ProposalDeclined, number: int) -> Club:
    """Return the club without the proposal, but with its payment numbers, so that an erasure finds them."""
    club = _without_proposal(club, event.proposal)
    if not isinstance(event.act, commands.PayeeAct):
        return club
    whose = commands.member_of_payee_act(event.act)
    payee = club.payee_of(whose)
    return club.with_payee(whose, replace(payee, numbers=(*payee.numbers, *payment_numbers_of(event.act))))


def payment_numbers_of(act: commands.PayeeAct | facts.PayeeSet) -> tuple[str, ...]:
    return tuple(number for number in (act.swish, act.iban) if number is not None)


def _without_proposal(club: Club, number: int) -> Club:
    return replace(club, proposals={one: each for one, each in club.proposals.items() if one != number})


EVOLVE: dict[type[Event], Callable[[Club, Any, int], Club]] = {
    ProposalMade: _on_made,
    ProposalConfirmed: _on_confirmed,
    ProposalDeclined: _on_declined,
}
