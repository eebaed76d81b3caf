"""The state of a club."""

from datetime import date, datetime

from msgspec import field
from msgspec.structs import replace

from referee.actors import Actor
from referee.clubs.commands import ProposedAct
from referee.clubs.facts import (
    AppName,
    Currencies,
    KeyId,
    MoneyDraft,
    NumberRef,
    Ref,
    Scopes,
    Season,
    SieAccounts,
    Zone,
)
from referee.events import StakesNeed
from referee.invitations import Invitation
from referee.value import Value, with_item
from referee.wire_types import Hash

NO_DIGEST = "0" * 64
"""Digest before the first closing."""


class Payee(Value):
    """Payment numbers of a member or the club. ``numbers``: all so far, and those of declined proposals."""

    swish: NumberRef | None = None
    iban: NumberRef | None = None
    numbers: tuple[NumberRef, ...] = ()


class Member(Value):
    """A present or former member. ``names``: all names so far."""

    name: Ref
    names: tuple[Ref, ...]
    left: date | None = None
    """Day of leaving; ``None``: still a member."""
    erased: bool = False
    payee: Payee = Payee()


class Key(Value):
    """A key of a member or program.

    ``hash``: SHA-256 of the secret; empty until an invited key is redeemed. ``before``: hash of the previous secret,
    which is valid until ``until``.
    """

    scopes: Scopes
    hash: str
    expires_at: datetime
    member: int | None = None
    app: AppName | None = None
    before: str | None = None
    until: datetime | None = None
    revoked: bool = False
    counts_until: datetime | None = None
    """Time until which the key still makes its member a second person, though revoked."""
    invitation: Invitation | None = None
    """``None``: the key was issued."""
    given_by: tuple[int, ...] = ()
    """Members who gave or confirmed the invitation, or hold or gave a key that issued or rotated this key."""

    @property
    def behind(self) -> frozenset[int]:
        """The members who may know the secret or gave the key."""
        return frozenset(self.given_by if self.member is None else (self.member, *self.given_by))


class Evening(Value):
    on: date
    season: Season
    closed: bool = False


class Proposal(Value):
    """An act that waits for another member."""

    act: ProposedAct
    by: Actor
    member: int | None
    """Member who proposed; ``None``: a program or the operator."""
    event: int
    """Number of the proposal's event."""
    draft: MoneyDraft | None = None


class PaidOut(Value):
    """A payout or reversed deposit that counts against ``payout_limit``."""

    at: datetime
    amount: int
    """Minor units."""


class Club(Value):
    """Members, keys and evenings are numbered from 1, in order."""

    name: str
    currencies: Currencies
    timezone: Zone
    founder: Ref
    founder_hash: str
    founder_expires: datetime
    payout_limit: int | None = None
    keep_years: int = 0
    sie: SieAccounts = SieAccounts()
    stakes_need: StakesNeed = "members"
    stake_limit: int | None = None
    """Maximum sum of the payments of one match, in minor units; ``None``: no limit."""
    payee: Payee = Payee()
    acted_at: datetime | None = None
    """Time of the club's last act; ``None`` before the first."""
    members: tuple[Member, ...] = ()
    keys: tuple[Key, ...] = ()
    evenings: tuple[Evening, ...] = ()
    erasures: tuple[Hash, ...] = ()
    """Digests of the erasures."""
    proposed: int = 0
    """Number of proposals so far."""
    proposals: dict[int, Proposal] = field(default_factory=dict)
    paid_out: dict[str, tuple[PaidOut, ...]] = field(default_factory=dict)
    """Recent payouts, by account and currency (``member:5 SEK``)."""
    closings: int = 0
    closed_through: int = 0
    """Number of the last closed entry."""
    digest: str = NO_DIGEST

    def member(self, number: int) -> Member | None:
        """Return the present or former member; ``None`` if the number was never given."""
        return self.members[number - 1] if 1 <= number <= len(self.members) else None

    def key(self, key: KeyId) -> Key | None:
        number = int(key[1:])
        return self.keys[number - 1] if 1 <= number <= len(self.keys) else None

    def payee_of(self, member: int | None) -> Payee:
        """Return the payment numbers of an existing member, or of the club (``None``)."""
        return self.payee if member is None else self.members[member - 1].payee

    def with_payee(self, member: int | None, payee: Payee) -> "Club":
        if member is None:
            return replace(self, payee=payee)
        changed = replace(self.members[member - 1], payee=payee)
        return replace(self, members=with_item(self.members, member - 1, changed))
