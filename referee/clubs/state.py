"""How a club stands."""

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
from referee.value import Value
from referee.wire_types import Hash

NO_DIGEST = "0" * 64
"""Before the first closing."""


class Payee(Value):
    """How somebody is paid. ``numbers``: all that have been his, those of now among them."""

    swish: NumberRef | None = None
    iban: NumberRef | None = None
    numbers: tuple[NumberRef, ...] = ()


class Member(Value):
    """A member, or who was one. ``name``: the text that he goes by, ``names``: all that he has gone by."""

    name: Ref
    names: tuple[Ref, ...]
    left: date | None = None
    """On which day."""
    erased: bool = False
    payee: Payee = Payee()


class Key(Value):
    """A key: whose it is and what it is good for. ``hash``: of its text, ``before``: of the one before it, which is
    good until ``until``. An invited key has no ``hash`` until it is redeemed."""

    scopes: Scopes
    hash: str
    expires_at: datetime
    member: int | None = None
    app: AppName | None = None
    before: str | None = None
    until: datetime | None = None
    revoked: bool = False
    counts_until: datetime | None = None
    """Until then its member counts among those who hold its scopes, although another member revoked it."""
    invitation: Invitation | None = None
    """The invitation by which its member gets it; ``None``: it was issued."""


class Evening(Value):
    """An evening."""

    on: date
    season: Season
    closed: bool = False


class Proposal(Value):
    """An act that waits for another member."""

    act: ProposedAct
    by: Actor
    member: int | None
    """The member who sent it; ``None``: a program or the operator."""
    event: int
    """The number of its event in the club."""
    draft: MoneyDraft | None = None
    """The entry that the act makes in the books, if it makes one."""


class PaidOut(Value):
    """A payout that counts against the club's ``payout_limit``."""

    at: datetime
    amount: int
    """Minor units."""


class Club(Value):
    """All that is decided on. Members, keys and evenings are numbered from 1 in their order."""

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
    """Minor units that one match may move; ``None``: as many as its stakes make."""
    payee: Payee = Payee()
    """How the club itself is paid."""
    acted_at: datetime | None = None
    """The time of the club's last act; ``None`` before the first."""
    members: tuple[Member, ...] = ()
    keys: tuple[Key, ...] = ()
    evenings: tuple[Evening, ...] = ()
    erasures: tuple[Hash, ...] = ()
    """The digests of what was erased, in the order of the erasures."""
    proposed: int = 0
    """How many proposals there have been."""
    proposals: dict[int, Proposal] = field(default_factory=dict)
    """Those that wait, by number."""
    paid_out: dict[str, tuple[PaidOut, ...]] = field(default_factory=dict)
    """Recent payouts in their order, by account and currency (``member:5 SEK``)."""
    closings: int = 0
    closed_through: int = 0
    """The last entry that is closed."""
    digest: str = NO_DIGEST
    """Of the last closing."""

    def member(self, number: int) -> Member | None:
        """The member of this number, if there was ever one."""
        return self.members[number - 1] if 1 <= number <= len(self.members) else None

    def is_member(self, number: int) -> bool:
        """Whether somebody has this number and has not left."""
        member = self.member(number)
        return member is not None and member.left is None

    def key(self, key: KeyId) -> Key | None:
        """The key of this id, good or not."""
        number = int(key[1:])
        return self.keys[number - 1] if 1 <= number <= len(self.keys) else None

    def evening(self, number: int) -> Evening | None:
        """The evening of this number."""
        return self.evenings[number - 1] if 1 <= number <= len(self.evenings) else None

    def payee_of(self, member: int | None) -> Payee:
        """Return how a member, who exists, or the club (``None``) is paid."""
        return self.payee if member is None else self.members[member - 1].payee

    def with_payee(self, member: int | None, payee: Payee) -> "Club":
        """Return the club in which a member, who exists, or the club (``None``) is paid so."""
        if member is None:
            return replace(self, payee=payee)
        before = self.members[member - 1]
        return replace(
            self, members=(*self.members[: member - 1], replace(before, payee=payee), *self.members[member:])
        )
