"""The events of a club. Names and payment numbers of members are refs (:data:`Ref`)."""

from datetime import date, datetime, timedelta
from typing import Annotated, ClassVar, Literal, get_args
from zoneinfo import ZoneInfo

from msgspec import Meta

from referee import wire_types
from referee.actors import Actor
from referee.events import StakesNeed
from referee.value import VERSION_MAX, Time, Value
from referee.visibility import Event, Hidden

Ref = Annotated[
    str,
    Meta(
        description="A name, for readers who may see it. Other readers, and all after its erasure, see the stored "
        "value: `hmac:` and its HMAC-SHA256 under a salt that is kept with the name. A changed name "
        "would not match it, and the erasure deletes name and salt.",
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": wire_types.NAME_MAX},
    ),
]
NumberRef = Annotated[
    str,
    Meta(
        description="A payment number, for readers who may see it. Other readers, and all after its erasure, see the "
        "stored value: `hmac:` and its HMAC-SHA256 under a salt that is kept with the number. The "
        "erasure deletes number and salt.",
        examples=["0701234567"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": wire_types.NAME_MAX},
    ),
]
IbanRef = Annotated[NumberRef, Meta(examples=["SE4550000000058398257466"])]
Scope = Literal["open", "play", "self", "officiate", "treasury", "audit", "read", "keys"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
KEY_ID = r"^k[1-9][0-9]{0,4}$(?!\n)"
KeyId = Annotated[
    str,
    Meta(
        title="KeyId",
        description="A key of a club: `k1`, `k2` and so on; no id is used twice.",
        examples=["k3"],
        extra_json_schema={"pattern": "^k[1-9][0-9]{0,4}$", "maxLength": 6},
    ),
]
Scopes = Annotated[
    tuple[Scope, ...],
    Meta(title="Scopes", description="The scopes that a key grants.", extra_json_schema={"maxItems": len(SCOPES)}),
]
SEASON_MAX = 40
Season = Annotated[
    str,
    Meta(
        description="A club's name for a season: `2026/27`. Evenings of the same name belong together.",
        examples=["2026/27"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": SEASON_MAX},
    ),
]
Label = Annotated[
    str,
    Meta(
        description="A club's name for a closing of its books: `2026`.",
        examples=["2026"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": SEASON_MAX},
    ),
]
APP_MAX = 40
AppName = Annotated[
    str,
    Meta(
        description="The program that a key is for, by a name that the club chose.",
        examples=["Scoreboard"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": APP_MAX},
    ),
]
Currencies = Annotated[tuple[wire_types.Currency, ...], wire_types.at_most(10)]
Zone = Annotated[
    str,
    Meta(examples=["Europe/Stockholm"], extra_json_schema={"pattern": "^[A-Za-z0-9_+/-]{1,64}$", "maxLength": 64}),
]
"""Timezone of the IANA database."""
SieAccount = Annotated[str, Meta(examples=["1910"], extra_json_schema={"pattern": "^[1-9][0-9]{3}$", "maxLength": 4})]


class SieAccounts(Value, forbid_unknown_fields=True):
    """Account numbers in a SIE file for the accounts of the club's books."""

    cash: SieAccount = "1910"
    bank: SieAccount = "1930"
    members: SieAccount = "2890"
    """Account for debts between the club and its members."""
    pot: SieAccount = "2890"
    fees: SieAccount = "3990"
    opening: SieAccount = "2061"


OWN = ("cash", "bank", "pot", "fees", "opening")
MEMBER = "member:"
ACCOUNT = f"^(member:[1-9][0-9]{{0,4}}|{'|'.join(OWN)})$"
Account = Annotated[
    str,
    Meta(
        title="Account",
        description="An account of the club's books: `cash`, `bank`, `pot`, `fees`, `opening`, and `member:5` for a "
        "member.",
        examples=["member:5"],
        extra_json_schema={"pattern": ACCOUNT, "maxLength": 12},
    ),
]
EntryKind = Annotated[
    Literal["match", "deposit", "payout", "pay", "fee", "opening", "reverse"],
    Meta(
        title="EntryKind",
        description="The kind of an entry. `match`: the result of a match. `deposit`, `payout`: a member paid the "
        "club, or the club a member. `pay`: a member paid another member. `fee`: a member owes the "
        "club a sum. `opening`: a balance from before the books began. `reverse`: an earlier entry, "
        "reversed.",
    ),
]


class Posting(Value):
    """The amount of an entry on one account."""

    account: Account
    amount: wire_types.Money
    """Minor units: debit above zero, credit below."""


class Balance(Value):
    """The balance of an account in one currency; debit is above zero."""

    account: Account
    currency: wire_types.Currency
    amount: wire_types.Money


Postings = Annotated[tuple[Posting, ...], wire_types.at_most(9)]
"""Postings of an entry, which add up to 0."""
TRIAL_MAX = 10 * (wire_types.MEMBERS_MAX + len(OWN))
Trial = Annotated[tuple[Balance, ...], wire_types.at_most(TRIAL_MAX)]


AMOUNT_MAX = 10**10
"""Maximum amount of one command, in minor units."""
MATCH_BALANCE_MAX = wire_types.EXACT_MAX - VERSION_MAX * AMOUNT_MAX
"""Maximum balance after a match, so that it stays an exact JSON number after all later commands."""
LIMIT_DAYS = timedelta(days=30)
"""Time for which a payout or reversed deposit counts against ``payout_limit``."""


def day_of(at: datetime, zone: str) -> date:
    """Return the date in an IANA timezone."""
    return at.astimezone(ZoneInfo(zone)).date()


def account_of(member: int) -> Account:
    return f"{MEMBER}{member}"


def member_of(account: Account) -> int | None:
    """Return the member who has this account; ``None`` for an account of the club itself."""
    return int(account.removeprefix(MEMBER)) if account.startswith(MEMBER) else None


class MoneyDraft(Value, omit_defaults=True):
    """An entry that a command would post."""

    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    evening: wire_types.EveningNumber | None = None
    reverses: wire_types.EntryNumber | None = None
    reversed_kind: EntryKind | None = None
    plan: wire_types.Digest | None = None


class ClubFounded(Event):
    """A club was founded. The next events add its first member, with a key that has all scopes."""

    TOPIC: ClassVar[str] = "club/founded"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    name: wire_types.Name
    currencies: Currencies
    timezone: Zone
    founder: Ref
    hash: wire_types.HiddenHash
    """SHA-256 of the founder's key."""
    expires_at: Time


class ClubSet(Event):
    """Settings of the club changed. Settings that are left out kept their values."""

    TOPIC: ClassVar[str] = "club/set"
    name: wire_types.Name | None = None
    currencies: Currencies | None = None
    timezone: Zone | None = None
    payout_limit: wire_types.Money | None = None
    """Sum of a member's payouts and reversed deposits in one currency within 30 days, in minor units. Another member
    must confirm one above it."""
    keep_years: wire_types.Years | None = None
    """Years after the year of leaving in which a member cannot be erased."""
    sie: SieAccounts | None = None
    stakes_need: StakesNeed | None = None
    """People who agree to the stakes of later matches."""
    stake_limit: wire_types.Money | None = None
    """Maximum sum of the payments of one later match, in minor units."""
    alone: bool = False
    """True if the club had no second person to confirm the change."""


class MemberJoined(Event):
    """A member joined, with the next number."""

    TOPIC: ClassVar[str] = "member/joined"
    member: wire_types.MemberNumber
    name: Ref


class MemberNamed(Event):
    """The name of a member changed."""

    TOPIC: ClassVar[str] = "member/named"
    member: wire_types.MemberNumber
    name: Ref


class MemberLeft(Event):
    """A member left. The number is not used again. The events before this one revoked the member's keys."""

    TOPIC: ClassVar[str] = "member/left"
    member: wire_types.MemberNumber
    on: date


class MemberErased(Event):
    """The names and texts of a former member were erased. The member's number stays in all matches."""

    TOPIC: ClassVar[str] = "member/erased"
    member: wire_types.MemberNumber
    texts: wire_types.Hash
    """SHA-256 of the list of deletions and replacements, which is stored with the texts."""
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(10)] = ()
    """Member's balances, by currency of the club: all 0."""
    entry: wire_types.EntryCount = 0
    """Number of the last entry on the member's account, which a closing covers; 0: no entry."""
    deleted: wire_types.Tally = 0
    """Number of texts by the member that were deleted."""
    changed: wire_types.Tally = 0
    """Number of other texts in which a name or number of the member was replaced."""


class PayeeSet(Event):
    """The payment numbers of a member or of the club changed. A number that is left out was removed."""

    TOPIC: ClassVar[str] = "payee/set"
    member: wire_types.MemberNumber | None = None
    """Left out: the club."""
    swish: NumberRef | None = None
    """Swish number, for kronor."""
    iban: IbanRef | None = None
    """IBAN, for euros."""
    alone: bool = False


class KeyIssued(Event):
    """A key was issued to a member or to a program."""

    TOPIC: ClassVar[str] = "key/issued"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    scopes: Scopes
    hash: wire_types.HiddenHash
    """SHA-256 of the whole key."""
    expires_at: Time
    member: wire_types.MemberNumber | None = None
    app: AppName | None = None
    given_by: wire_types.Givers = ()
    """Members who hold or gave the key that issued this key, and may know its secret."""


class KeyInvited(Event):
    """A member was invited to a key, whose secret is shown when the member redeems the invitation's code."""

    TOPIC: ClassVar[str] = "key/invited"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    member: wire_types.MemberNumber
    scopes: Scopes
    hash: wire_types.HiddenHash
    """SHA-256 of the code."""
    expires_at: Time
    until: Time
    """Time until which the code can be redeemed."""
    by: Actor
    alone: bool = False
    given_by: wire_types.Givers = ()
    """Members who invited, or gave the inviting program's key, and the member who confirmed the invitation."""


class KeyRedeemed(Event):
    """A member redeemed the invitation to a key, which is valid from now on."""

    TOPIC: ClassVar[str] = "key/redeemed"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    hash: wire_types.HiddenHash
    """SHA-256 of the whole key."""


class KeyRotated(Event):
    """The secret of a key was replaced."""

    TOPIC: ClassVar[str] = "key/rotated"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    hash: wire_types.HiddenHash
    """SHA-256 of the new key."""
    until: Time
    """Time at which the old secret ends."""
    given_by: wire_types.Givers = ()
    """Members who hold or gave the key that rotated this key, and may know its new secret."""


class KeyRevoked(Event):
    """A key was revoked."""

    TOPIC: ClassVar[str] = "key/revoked"
    key: KeyId
    counts_until: Time | None = None
    """Time until which the key still makes its member a second person; left out: it no longer does."""


class EveningOpened(Event):
    """An evening began. The club chose its date."""

    TOPIC: ClassVar[str] = "evening/opened"
    evening: wire_types.EveningNumber
    on: date
    season: Season


class EveningClosed(Event):
    """An evening ended. No further match can be opened on it."""

    TOPIC: ClassVar[str] = "evening/closed"
    evening: wire_types.EveningNumber


class MoneyPosted(Event):
    """An entry was posted in the books. A club's entries are numbered from 1, in the order of the log."""

    TOPIC: ClassVar[str] = "money/posted"
    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    by: Actor
    evening: wire_types.EveningNumber | None = None
    reverses: wire_types.EntryNumber | None = None
    reversed_kind: EntryKind | None = None
    proposal: wire_types.ProposalNumber | None = None
    """Number of the confirmed proposal; left out: no member proposed the act."""
    plan: wire_types.Digest | None = None
    balance: wire_types.Money | None = None
    """Balance of the member before a `payout` or the reversal of a `deposit`; below zero: the club's debt."""

    @property
    def draft(self) -> MoneyDraft:
        return MoneyDraft(**{name: getattr(self, name) for name in MoneyDraft.__struct_fields__})


class BooksClosed(Event):
    """The books were closed up to entry ``through``."""

    TOPIC: ClassVar[str] = "books/closed"
    closing: wire_types.ClosingNumber
    """Number of the closing in the club, from 1."""
    through: wire_types.EntryNumber
    """Number of the last closed entry."""
    digest: wire_types.Hash
    """SHA-256 over the digest of the previous closing and the entries since that closing."""
    trial: Trial
    """Balances other than 0 at the closing, by currency and account."""
    label: Label
    alone: bool = False
