"""The rules of a club: decisions on commands, and changes by events."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Any

from msgspec.structs import asdict, replace

from referee.actors import Actor
from referee.clubs import commands, facts, keys, money, proposals
from referee.clubs.currencies import DECIMALS
from referee.clubs.facts import SCOPES
from referee.clubs.keys import responsible_members
from referee.clubs.lookup import evening_of, is_program, member_of, present_member, unerased_member
from referee.clubs.proposal_events import ProposalConfirmed
from referee.clubs.state import Club, Evening, Member, Payee
from referee.refusals import AgainstTheClub, ClubState
from referee.ruleset import Moment
from referee.value import with_item
from referee.visibility import Event
from referee.wire_types import MEMBERS_MAX

Events = tuple[Event, ...]


class ClubRules:
    state = Club

    def start(self, opened: facts.ClubFounded) -> Club:
        return Club(
            name=opened.name,
            currencies=opened.currencies,
            timezone=opened.timezone,
            founder=opened.founder,
            founder_hash=opened.hash,
            founder_expires=opened.expires_at,
        )

    def begin(self, club: Club, moment: Moment) -> Events:
        """Return the events that add the founder as a member, with a key that has all scopes."""
        first = facts.KeyIssued(
            key="k1", scopes=SCOPES, hash=club.founder_hash, expires_at=club.founder_expires, member=1
        )
        return facts.MemberJoined(member=1, name=club.founder), first

    def take(self, club: Club, request: commands.ClubRequest, moment: Moment) -> tuple[Events, Club]:
        """Return the events of a command, and the club after them. Raises ``Refused``."""
        club = self.at_time_of_act(club, moment.at)
        events = _events_or_proposal(club, request, moment)
        for number, event in enumerate(events, moment.version + 1):
            club = self.evolve(club, event, number)
        return events, club

    def at_time_of_act(self, club: Club, at: datetime) -> Club:
        """Return the club with the time of an act, so that :meth:`evolve` can date a payout."""
        return replace(club, acted_at=at)

    def evolve(self, club: Club, event: Event, number: int) -> Club:
        return EVOLVE[type(event)](club, event, number)


RULES = ClubRules()


def _events_or_proposal(club: Club, request: commands.ClubRequest, moment: Moment) -> Events:
    """Return the events of an act, or a proposal if the act waits for another member. Raises ``Refused``.

    An act of :func:`money.needs_second_member` always waits. An act of :func:`proposals.needs_second_person` waits if
    the club has a second person or a program sends it; otherwise its events are marked ``alone``.
    """
    events = DECIDE[type(request)](club, request, moment)
    money.check_planned(club, request)
    if money.needs_second_member(club, request, moment):
        return (proposals.propose(club, request, events, moment),)
    if not proposals.needs_second_person(club, request, moment.actor):
        return events
    if proposals.has_second_person(club, moment.at) or is_program(club, moment.actor):
        return (proposals.propose(club, request, events, moment),)
    return tuple(replace(event, alone=True) for event in events)


def _confirm(club: Club, request: commands.Confirm, moment: Moment) -> Events:
    """Return the confirmation and the events of the act. Raises ``Refused``.

    An act of a program or the operator becomes the confirmer's, and may wait again.
    """
    proposal = proposals.waiting_proposal(club, request.proposal)
    if (refused := proposals.refusal_to_confirm(club, proposal, moment.actor, moment.at)) is not None:
        raise refused
    act: Any = request.complete or proposal.act
    if isinstance(act, commands.PaySent):
        act = commands.Pay(**asdict(act))
    assert commands.without_added_values(act) == proposal.act, "the act of the proposal is confirmed"
    confirmed = ProposalConfirmed(proposal=request.proposal, by=proposal.by)
    if proposal.member is None:
        after = RULES.evolve(club, confirmed, moment.version + 1)
        return (confirmed, *_events_or_proposal(after, act, moment))
    events = DECIDE[type(act)](club, act, replace(moment, actor=proposal.by))
    return (confirmed, *(_confirmed_event(club, event, request.proposal, moment.actor) for event in events))


def _confirmed_event(club: Club, event: Event, proposal: int, actor: Actor) -> Event:
    """Return the event of a confirmed act: an entry names its proposal, an invitation also the confirming member."""
    if isinstance(event, facts.MoneyPosted):
        return replace(event, proposal=proposal)
    if isinstance(event, facts.KeyInvited):
        return replace(event, given_by=tuple(sorted({*event.given_by, *responsible_members(club, actor)})))
    return event


# Decisions: return the events of a command, or raise ``Refused``


def _join(club: Club, request: commands.Join, moment: Moment) -> Events:
    member = len(club.members) + 1
    if member > MEMBERS_MAX:
        raise ClubState("club_full", None, most=MEMBERS_MAX)
    return (facts.MemberJoined(member=member, name=request.name),)


def _rename(club: Club, request: commands.Rename, moment: Moment) -> Events:
    present_member(club, request.member)
    return (facts.MemberNamed(member=request.member, name=request.name),)


def _leave(club: Club, request: commands.Leave, moment: Moment) -> Events:
    present_member(club, request.member)
    theirs = ((f"k{n}", key) for n, key in enumerate(club.keys, 1) if key.member == request.member)
    revoked = [keys.revocation(club, name, key, moment) for name, key in theirs if not key.revoked]
    return (*revoked, facts.MemberLeft(member=request.member, on=facts.day_of(moment.at, club.timezone)))


def _set_payee(club: Club, request: commands.PayeeAct, moment: Moment) -> Events:
    member = commands.member_of_payee_act(request)
    if member is not None:
        unerased_member(club, member)  # because a former member may have a balance
    return (facts.PayeeSet(member=member, swish=request.swish, iban=request.iban),)


def _erase(club: Club, request: commands.Erase, moment: Moment) -> Events:
    """Return the erasure. Raises ``ClubState`` if membership, matches, books or ``keep_years`` prevent it."""
    member = member_of(club, request.member)
    if member.left is None:
        raise ClubState("member_here", None, member=request.member)
    if member.erased and not (request.deleted or request.changed):  # because texts may have been written since
        raise ClubState("member_erased", None, member=request.member)
    if request.matches:
        raise ClubState("matches_left", None, member=request.member, matches=request.matches)
    if any(request.balances):
        raise ClubState("balance_left", None, member=request.member)
    if request.entry > club.closed_through:
        raise ClubState("books_open", None, member=request.member, entry=request.entry)
    until = date(member.left.year + club.keep_years + 1, 1, 1)  # because the year of leaving does not count
    if club.keep_years and facts.day_of(moment.at, club.timezone) < until:
        raise ClubState("books_kept", None, member=request.member, until=until.isoformat())
    given = asdict(request)
    del given["matches"]
    return (facts.MemberErased(**given),)


def _set(club: Club, request: commands.Set, moment: Moment) -> Events:
    given = {name: getattr(request, name) for name in request.__struct_fields__}
    changes = {name: value for name, value in given.items() if value is not None and value != getattr(club, name)}
    if not changes:
        raise AgainstTheClub("nothing_to_set", None)
    if request.currencies is not None:
        check_currencies(request.currencies)
        if gone := [one for one in club.currencies if one not in request.currencies]:
            raise AgainstTheClub("currency_kept", None, currencies=tuple(gone))
    return (facts.ClubSet(**changes),)


def check_currencies(currencies: tuple[str, ...]) -> None:
    """Raise ``AgainstTheClub`` unless all currencies are known and different, and have hundredths."""
    for currency in currencies:
        if currency not in DECIMALS:
            raise AgainstTheClub("unknown_currency", None, currency=currency)
        if (decimals := DECIMALS[currency]) != 2:
            raise AgainstTheClub("currency_decimals", None, currency=currency, decimals=decimals)
    if twice := sorted({one for one in currencies if currencies.count(one) > 1}):
        raise AgainstTheClub("currency_twice", None, currency=twice[0])


def _open_evening(club: Club, request: commands.OpenEvening, moment: Moment) -> Events:
    evening = len(club.evenings) + 1
    if evening > MEMBERS_MAX:
        raise ClubState("club_full", None, most=MEMBERS_MAX)
    return (facts.EveningOpened(evening=evening, on=request.on, season=request.season),)


def _close_evening(club: Club, request: commands.CloseEvening, moment: Moment) -> Events:
    open_evening(club, request.evening)
    return (facts.EveningClosed(evening=request.evening),)


def open_evening(club: Club, number: int) -> Evening:
    """Return the evening. Raises what :func:`evening_of` raises, and ``ClubState`` if it is closed."""
    evening = evening_of(club, number)
    if evening.closed:
        raise ClubState("evening_closed", None, evening=number)
    return evening


def check_present_members(club: Club, numbers: tuple[int, ...]) -> None:
    """Raise ``Refused`` unless all are different, present members."""
    for number in numbers:
        present_member(club, number)
    if twice := [number for number in numbers if numbers.count(number) > 1]:
        raise AgainstTheClub("member_twice", None, member=twice[0])


DECIDE: dict[type, Callable[[Club, Any, Moment], Events]] = {
    commands.Join: _join,
    commands.Rename: _rename,
    commands.Leave: _leave,
    commands.SetPayee: _set_payee,
    commands.SetClubPayee: _set_payee,
    commands.Erase: _erase,
    commands.Set: _set,
    commands.OpenEvening: _open_evening,
    commands.CloseEvening: _close_evening,
    commands.Confirm: _confirm,
    commands.Decline: proposals.decline,
    **keys.DECIDE,
    **money.DECIDE,
}


# Changes: return the club after an event


def _with_changed_member(club: Club, number: int, **changes: Any) -> Club:
    member = replace(club.members[number - 1], **changes)
    return replace(club, members=with_item(club.members, number - 1, member))


def _on_set(club: Club, event: facts.ClubSet, number: int) -> Club:
    given = {name: getattr(event, name) for name in event.__struct_fields__ if name != "alone"}
    return replace(club, **{name: value for name, value in given.items() if value is not None})


def _on_joined(club: Club, event: facts.MemberJoined, number: int) -> Club:
    return replace(club, members=(*club.members, Member(name=event.name, names=(event.name,))))


def _on_named(club: Club, event: facts.MemberNamed, number: int) -> Club:
    names = club.members[event.member - 1].names
    return _with_changed_member(club, event.member, name=event.name, names=(*names, event.name))


def _on_left(club: Club, event: facts.MemberLeft, number: int) -> Club:
    return _with_changed_member(club, event.member, left=event.on)


def _on_erased(club: Club, event: facts.MemberErased, number: int) -> Club:
    club = replace(club, erasures=(*club.erasures, event.texts))
    return _with_changed_member(club, event.member, erased=True, payee=Payee())


def _on_payee_set(club: Club, event: facts.PayeeSet, number: int) -> Club:
    numbers = (*club.payee_of(event.member).numbers, *proposals.payment_numbers_of(event))
    return club.with_payee(event.member, Payee(swish=event.swish, iban=event.iban, numbers=numbers))


def _on_opened(club: Club, event: facts.EveningOpened, number: int) -> Club:
    return replace(club, evenings=(*club.evenings, Evening(on=event.on, season=event.season)))


def _on_closed(club: Club, event: facts.EveningClosed, number: int) -> Club:
    evening = replace(club.evenings[event.evening - 1], closed=True)
    return replace(club, evenings=with_item(club.evenings, event.evening - 1, evening))


EVOLVE: dict[type[Event], Callable[[Club, Any, int], Club]] = {
    facts.ClubSet: _on_set,
    facts.MemberJoined: _on_joined,
    facts.MemberNamed: _on_named,
    facts.MemberLeft: _on_left,
    facts.MemberErased: _on_erased,
    facts.PayeeSet: _on_payee_set,
    facts.EveningOpened: _on_opened,
    facts.EveningClosed: _on_closed,
    **keys.EVOLVE,
    **proposals.EVOLVE,
    **money.EVOLVE,
}
