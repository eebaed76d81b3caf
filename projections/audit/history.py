"""The audit's lists of changes in a club, and of acts without an independent second member."""

from collections import deque
from collections.abc import Mapping
from typing import Any, Literal

from projections.audit.findings import ShownValue
from referee import wire_types
from referee.actors import Actor
from referee.clubs.facts import (
    AppName,
    BooksClosed,
    ClubFounded,
    ClubSet,
    KeyId,
    KeyInvited,
    KeyIssued,
    KeyRedeemed,
    KeyRevoked,
    KeyRotated,
    Label,
    MemberErased,
    PayeeSet,
    Ref,
)
from referee.clubs.proposal_events import ProposalConfirmed, ProposalDeclined, ProposalMade
from referee.value import EventNumber, Time, Value
from referee.visibility import Event, Recorded

LISTED_MAX = 1000
"""Maximum items of a list."""


class Person(Value):
    """The caller who made an act, and the owner of the key."""

    actor: Actor
    """Key, or the operator."""
    member: wire_types.MemberNumber | None
    """Member who owns the key; null: a program or the operator."""
    name: Ref | None
    """Member's name."""
    app: AppName | None
    """Program that owns the key; null: a member or the operator."""


class Change(Value):
    """A change in a club, and its author."""

    event: EventNumber
    at: Time
    by: Person
    """Sender of the act."""
    confirmed_by: Person | None
    """Member who confirmed the act; null: it was no proposal."""


KeyChanged = Literal["issued", "invited", "redeemed", "rotated", "revoked"]
KEY_CHANGES: dict[type[Event], KeyChanged] = {
    KeyIssued: "issued",
    KeyInvited: "invited",
    KeyRedeemed: "redeemed",
    KeyRotated: "rotated",
    KeyRevoked: "revoked",
}


class KeyChange(Change):
    """A change of a key."""

    what: KeyChanged
    """Change. `invited`: the member was invited to the key. `redeemed`: the member redeemed the invitation.
    `rotated`: the key got a new secret."""


class SettingChange(Change):
    """A change of a setting of the club."""

    setting: wire_types.Code
    """Setting."""
    before: ShownValue
    """Value before the change; empty: it was not set."""
    after: ShownValue
    """Value after the change."""


class PayeeChange(Change):
    """A change of the payment numbers of the club or a member."""

    member: wire_types.MemberNumber | None
    """Member who is paid; null: the club."""
    name: Ref | None
    """Member's name."""
    swish: bool
    """True if a Swish number is set now."""
    iban: bool
    """True if an IBAN is set now."""


class Erasure(Change):
    """The erasure of a former member's names and texts."""

    member: wire_types.MemberNumber
    """Former member."""
    deleted: wire_types.Tally
    """Number of deleted texts by the member."""
    changed: wire_types.Tally
    """Number of other people's texts in which the name or number was replaced."""


class BooksClosing(Change):
    """A closing of the books."""

    closing: wire_types.ClosingNumber
    """Number of the closing."""
    through: wire_types.EntryNumber
    """Number of the last closed entry."""
    label: Label


class LoneAct(Change):
    """An act that needs two members, made by one member because the club had no second one."""

    topic: wire_types.Topic
    """Topic of the act's event."""


class ActOfTwo(Change):
    """An act of two members. One invited the other, or the same person invited both."""

    proposal: wire_types.ProposalNumber
    act: wire_types.Code
    how: Literal["one_invited_the_other", "invited_by_the_same"]
    """Relation between the two members."""
    inviter: Person
    """Person who gave one or both of the members a key."""


class History:
    """``keys`` has no limit; the other lists keep the last :data:`LISTED_MAX`."""

    def __init__(self, names: Mapping[int, Ref]) -> None:
        """``names``: members' names by number."""
        self._names = names
        self.keys: dict[KeyId, list[KeyChange]] = {}
        self.settings: deque[SettingChange] = deque(maxlen=LISTED_MAX)
        self.payees: deque[PayeeChange] = deque(maxlen=LISTED_MAX)
        self.erasures: deque[Erasure] = deque(maxlen=LISTED_MAX)
        self.closings: deque[BooksClosing] = deque(maxlen=LISTED_MAX)
        self.alone: deque[LoneAct] = deque(maxlen=LISTED_MAX)
        self.related: deque[ActOfTwo] = deque(maxlen=LISTED_MAX)
        self._persons: dict[KeyId, Person] = {}
        self._current_settings: dict[str, Any] = {}
        self._givers_of_member: dict[int, dict[int | Actor, Person]] = {}
        """Others who gave a member keys, by their member number or actor."""
        self._givers_of_program: dict[Actor, dict[int | Actor, Person]] = {}
        """Persons who gave each program its key, by member number or actor."""
        self._open_proposals: dict[int, ProposalMade] = {}
        self._proposer: Actor | None = None
        """Sender of the proposal that the present request confirms."""

    def add_event(self, recorded: Recorded) -> None:
        event = recorded.event
        if recorded.request is not None:
            self._proposer = None
        self._add_event(recorded, event, self._change_fields(recorded))
        if getattr(event, "alone", False):
            self.alone.append(LoneAct(**self._change_fields(recorded), topic=event.TOPIC))

    def _add_event(self, recorded: Recorded, event: Event, done: dict[str, Any]) -> None:
        match event:
            case ClubFounded(name=name, currencies=currencies, timezone=timezone):
                self._current_settings = {"name": name, "currencies": currencies, "timezone": timezone}
            case ClubSet():
                self._setting_changed(event, done)
            case PayeeSet(member=member, swish=swish, iban=iban):
                done |= {"member": member, "name": self._name(member)}
                self.payees.append(PayeeChange(**done, swish=swish is not None, iban=iban is not None))
            case MemberErased(member=member, deleted=deleted, changed=changed):
                self.erasures.append(Erasure(**done, member=member, deleted=deleted, changed=changed))
            case BooksClosed(closing=closing, through=through, label=label):
                self.closings.append(BooksClosing(**done, closing=closing, through=through, label=label))
            case KeyIssued() | KeyInvited():
                self._key_given(recorded, event, done)
            case KeyRedeemed(key=key) | KeyRotated(key=key) | KeyRevoked(key=key):
                self.keys.setdefault(key, []).append(KeyChange(**done, what=KEY_CHANGES[type(event)]))
            case ProposalMade(proposal=number):
                self._open_proposals[number] = event
            case ProposalConfirmed(proposal=number, by=by):
                self._proposer = by
                self._proposal_confirmed(recorded, self._open_proposals.pop(number, None))
            case ProposalDeclined(proposal=number):
                self._open_proposals.pop(number, None)

    def person(self, actor: Actor) -> Person:
        known = self._persons.get(actor.removeprefix("key:"))
        return known or Person(actor=actor, member=None, name=None, app=None)

    def _change_fields(self, recorded: Recorded) -> dict[str, Any]:
        place: dict[str, Any] = {"event": recorded.originator_version, "at": recorded.at}
        by, sender = self.person(recorded.actor), self._proposer
        if sender is None:
            return {**place, "by": by, "confirmed_by": None}
        return {**place, "by": self.person(sender), "confirmed_by": by}

    def _name(self, member: int | None) -> Ref | None:
        return None if member is None else self._names.get(member)

    def _setting_changed(self, event: ClubSet, done: dict[str, Any]) -> None:
        for setting in event.__struct_fields__:
            after = getattr(event, setting)
            if after is not None and setting != "alone":
                before = self._current_settings.get(setting)
                self._current_settings[setting] = after
                self.settings.append(
                    SettingChange(**done, setting=setting, before=_setting_text(before), after=_setting_text(after))
                )

    def _key_given(self, recorded: Recorded, event: KeyIssued | KeyInvited, done: dict[str, Any]) -> None:
        app = event.app if isinstance(event, KeyIssued) else None
        actor = f"key:{event.key}"
        name = self._name(event.member)
        self._persons[event.key] = Person(actor=actor, member=event.member, name=name, app=app)
        self._record_giver(recorded, actor, event.member)
        if isinstance(event, KeyIssued):  # because the club's founder may issue it to themselves
            done = self._change_fields(recorded)
        self.keys[event.key] = [KeyChange(**done, what=KEY_CHANGES[type(event)])]

    def _record_giver(self, recorded: Recorded, key: Actor, member: int | None) -> None:
        """The givers are the sender of the act and the member who confirmed it, without the owner."""
        givers = self._key_givers(recorded.actor)
        if self._proposer is not None:
            givers |= self._key_givers(self._proposer)
        if member is None:
            self._givers_of_program[key] = givers
        else:
            others = {giver: person for giver, person in givers.items() if giver != member}
            self._givers_of_member.setdefault(member, {}).update(others)

    def _key_givers(self, actor: Actor) -> dict[int | Actor, Person]:
        """Return, by number or actor, the member who owns a key, the givers of a program's key, or the operator."""
        person = self.person(actor)
        if person.member is not None:
            return {person.member: person}
        return dict(self._givers_of_program.get(actor, {actor: person}))

    def _proposal_confirmed(self, recorded: Recorded, proposal: ProposalMade | None) -> None:
        """List the act if one member gave the other a key, or one person gave keys to both."""
        if proposal is None:
            return
        one, other = self.person(proposal.by), self.person(recorded.actor)
        if one.member is None or other.member is None:
            return
        ones, others = self._givers_of_member.get(one.member, {}), self._givers_of_member.get(other.member, {})
        done = self._change_fields(recorded) | {"proposal": proposal.proposal, "act": _act_name(proposal.act)}
        if inviter := ones.get(other.member) or others.get(one.member):
            self.related.append(ActOfTwo(**done, how="one_invited_the_other", inviter=inviter))
        elif both := [ones[key] for key in ones if key in others]:
            self.related.append(ActOfTwo(**done, how="invited_by_the_same", inviter=both[0]))


def _act_name(act: Any) -> str:
    return str(act.__struct_config__.tag)


def _setting_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, Value):
        return ", ".join(f"{name} {getattr(value, name)}" for name in value.__struct_fields__)
    return ", ".join(value) if isinstance(value, tuple) else str(value)
