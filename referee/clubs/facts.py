"""The facts of a club. Members are numbers, and never a name: of names and of other texts stands here what
:data:`Ref` tells, and who may read them is told the text in its place."""

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
        title="NameSeen",
        description="A name, for who may read it; for others, and where it is erased, what stands on record of it: "
        "`hmac:` and its HMAC-SHA256 under a salt that lies beside the name, so that another in its place shows, and "
        "nothing is left of it when it is erased.",
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": wire_types.NAME_MAX},
    ),
]
NumberRef = Annotated[
    str,
    Meta(
        title="NumberSeen",
        description="A number by which somebody is paid, for who may read it; else, as it stands on record, `hmac:` "
        "and its HMAC-SHA256 under a salt that lies beside the number, of which nothing is left when it is erased.",
        examples=["0701234567"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": wire_types.NAME_MAX},
    ),
]
Scope = Literal["open", "play", "self", "officiate", "treasury", "audit", "read", "keys", "hooks"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""In the order in which they are listed."""
KEY_ID = r"^k[1-9][0-9]{0,4}$(?!\n)"
KeyId = Annotated[
    str,
    Meta(
        title="KeyId",
        description="A key of a club: `k1`, `k2` and so on; no id is given twice.",
        examples=["k3"],
        extra_json_schema={"pattern": "^k[1-9][0-9]{0,4}$", "maxLength": 6},
    ),
]
Scopes = Annotated[
    tuple[Scope, ...], Meta(title="Scopes", description="What a key is good for.", extra_json_schema={"maxItems": 9})
]
SEASON_MAX = 40
Season = Annotated[
    str,
    Meta(
        title="Season",
        description="What a club calls a season: `2026/27`. Evenings of the same name belong together.",
        examples=["2026/27"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": SEASON_MAX},
    ),
]
Label = Annotated[
    str,
    Meta(
        title="ClosingLabel",
        description="What a club calls a closing of its books: `2026`.",
        examples=["2026"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": SEASON_MAX},
    ),
]
APP_MAX = 40
AppName = Annotated[
    str,
    Meta(
        title="AppName",
        description="A program that a key is for, by a name of the club's own.",
        examples=["Scoreboard"],
        extra_json_schema={"pattern": wire_types.NAME, "maxLength": APP_MAX},
    ),
]
Currencies = Annotated[tuple[wire_types.Currency, ...], wire_types.at_most(10)]
Zone = Annotated[
    str,
    Meta(examples=["Europe/Stockholm"], extra_json_schema={"pattern": "^[A-Za-z0-9_+/-]{1,64}$", "maxLength": 64}),
]
"""A timezone by its name in the IANA database: the dates of a club's evenings are those of the clock there."""
SieAccount = Annotated[str, Meta(examples=["1910"], extra_json_schema={"pattern": "^[1-9][0-9]{3}$", "maxLength": 4})]


class SieAccounts(Value, forbid_unknown_fields=True):
    """The accounts that stand for the club's own in a SIE file."""

    cash: SieAccount = "1910"
    bank: SieAccount = "1930"
    members: SieAccount = "2890"
    """What the club owes its members; below zero what they owe."""
    pot: SieAccount = "2890"
    fees: SieAccount = "3990"
    opening: SieAccount = "2061"


OWN = ("cash", "bank", "pot", "fees", "opening")
"""The accounts of the club itself."""
MEMBER = "member:"
"""Before a member's number in the name of his account."""
ACCOUNT = f"^(member:[1-9][0-9]{{0,4}}|{'|'.join(OWN)})$"
Account = Annotated[
    str,
    Meta(
        title="Account",
        description="An account of the club's books: `cash`, `bank`, `pot`, `fees`, `opening`, and `member:5` of a "
        "member.",
        examples=["member:5"],
        extra_json_schema={"pattern": ACCOUNT, "maxLength": 12},
    ),
]
EntryKind = Annotated[
    Literal["match", "deposit", "payout", "pay", "fee", "opening", "reverse"],
    Meta(
        title="EntryKind",
        description="What an entry of the books stands for. `match`: what a match came to. `deposit`, `payout`: a "
        "member paid the club, or the club him. `pay`: one member paid another. `fee`: he owes the club something. "
        "`opening`: what stood there when the books were begun. `reverse`: an earlier entry, taken back.",
    ),
]


class Posting(Value):
    """What an entry writes on one account."""

    account: Account
    amount: wire_types.Money
    """Minor units: debit above zero, credit below."""


class Balance(Value):
    """What stands on an account in one currency: debit above zero."""

    account: Account
    currency: wire_types.Currency
    amount: wire_types.Money


Postings = Annotated[tuple[Posting, ...], wire_types.at_most(9)]
"""They add up to 0."""
TRIAL_MAX = 10 * (wire_types.MEMBERS_MAX + len(OWN))
Trial = Annotated[tuple[Balance, ...], wire_types.at_most(TRIAL_MAX)]
"""By currency and account; what is left out is 0."""


AMOUNT_MAX = 10**10
"""Minor units that one act about money may name."""
MATCHES_MAX = wire_types.EXACT_MAX - VERSION_MAX * AMOUNT_MAX
"""The largest balance to which a match may take an account. As many acts as a club may have keep it exact in JSON."""
LIMIT_DAYS = timedelta(days=30)
"""``payout_limit`` counts the payouts of this time."""


def day_of(at: datetime, zone: str) -> date:
    """The date at a time in a club's timezone, by its IANA name."""
    return at.astimezone(ZoneInfo(zone)).date()


def account_of(member: int) -> Account:
    """The account of a member."""
    return f"{MEMBER}{member}"


def member_of(account: Account) -> int | None:
    """The member whose account it is."""
    return int(account.removeprefix(MEMBER)) if account.startswith(MEMBER) else None


class MoneyDraft(Value, omit_defaults=True):
    """An entry as it is asked for: it has no number before it stands in the books."""

    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    evening: wire_types.EveningNumber | None = None
    reverses: wire_types.EntryNumber | None = None
    """The entry that it takes back."""
    reversed_kind: EntryKind | None = None
    """The kind of that entry."""
    plan: wire_types.Digest | None = None
    """Of `pay`: the payment of a plan that it is."""


class ClubFounded(Event):
    """A club was founded. Its first member joins, and has a key with all scopes, with the next events."""

    TOPIC: ClassVar[str] = "club/founded"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    name: wire_types.Name
    """The club's."""
    currencies: Currencies
    """ISO 4217; the first is meant where none is named."""
    timezone: Zone
    founder: Ref
    """The first member's name."""
    hash: wire_types.HiddenHash
    """Of the founder's key, as SHA-256: told to nobody."""
    expires_at: Time
    """When that key does."""


class ClubSet(Event):
    """The club's settings changed; what is left out stayed as it was."""

    TOPIC: ClassVar[str] = "club/set"
    name: wire_types.Name | None = None
    currencies: Currencies | None = None
    timezone: Zone | None = None
    payout_limit: wire_types.Money | None = None
    """Minor units. A payout that takes a member above this sum within 30 days needs a second person."""
    keep_years: wire_types.Years | None = None
    """So long the books must be kept; 0: nothing demands it."""
    sie: SieAccounts | None = None
    stakes_need: StakesNeed | None = None
    """Who agrees to the stakes of matches that are opened from then on."""
    stake_limit: wire_types.Money | None = None
    """Minor units: the most that one match may move which is opened from then on."""
    alone: bool = False
    """Whether the change takes two persons, and one person made it alone because the club had no second one."""


class MemberJoined(Event):
    """Somebody became a member, under the next number."""

    TOPIC: ClassVar[str] = "member/joined"
    member: wire_types.MemberNumber
    name: Ref


class MemberNamed(Event):
    """A member goes by another name."""

    TOPIC: ClassVar[str] = "member/named"
    member: wire_types.MemberNumber
    name: Ref


class MemberLeft(Event):
    """A member left. The number stays his, and his keys have just been revoked."""

    TOPIC: ClassVar[str] = "member/left"
    member: wire_types.MemberNumber
    on: date
    """By UTC."""


class MemberErased(Event):
    """The name of a former member and what the member wrote are erased; the number stays in all matches."""

    TOPIC: ClassVar[str] = "member/erased"
    member: wire_types.MemberNumber
    texts: wire_types.Hash
    """SHA-256 over what is deleted and what replaces what. The list itself lies beside the texts."""
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(10)] = ()
    """What the books said of him then, by currency of the club: nothing but zeros."""
    entry: wire_types.EntryCount = 0
    """The last entry on his account, which was closed; 0: there was none."""
    deleted: wire_types.Tally = 0
    """How many texts that the member wrote are deleted."""
    changed: wire_types.Tally = 0
    """In how many texts of others a name or number of the member is replaced."""


class PayeeSet(Event):
    """How somebody is paid from here on: what is left out, there is none of any more."""

    TOPIC: ClassVar[str] = "payee/set"
    member: wire_types.MemberNumber | None = None
    """Who; left out: the club."""
    swish: NumberRef | None = None
    """A Swish number, for kronor."""
    iban: NumberRef | None = None
    """An account that SEPA reaches, for euros."""
    alone: bool = False
    """Whether the change takes two persons, and one person made it alone because the club had no second one."""


class KeyIssued(Event):
    """A key was made, for a member or for a program."""

    TOPIC: ClassVar[str] = "key/issued"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    scopes: Scopes
    hash: wire_types.HiddenHash
    """Of the whole key, as SHA-256: told to nobody."""
    expires_at: Time
    member: wire_types.MemberNumber | None = None
    app: AppName | None = None


class KeyInvited(Event):
    """A member was invited to a key. Its secret is shown to the member when they redeem the invitation's code."""

    TOPIC: ClassVar[str] = "key/invited"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    member: wire_types.MemberNumber
    scopes: Scopes
    hash: wire_types.HiddenHash
    """SHA-256 of the code. It is shown to nobody."""
    expires_at: Time
    """When the key ends."""
    until: Time
    """The code can be redeemed until then."""
    by: Actor
    """The sender of the act. If the act was a proposal, the actor of this event confirmed it."""
    alone: bool = False
    """Whether the key takes two persons, and one person invited alone because the club had no second one."""


class KeyRedeemed(Event):
    """A member redeemed the invitation to a key, which is good from here on."""

    TOPIC: ClassVar[str] = "key/redeemed"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    hash: wire_types.HiddenHash
    """SHA-256 of the whole key. It is shown to nobody."""


class KeyRotated(Event):
    """A key has another secret, and the same id and scopes; until then the old one is good as well."""

    TOPIC: ClassVar[str] = "key/rotated"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    hash: wire_types.HiddenHash
    """Of the new key, as SHA-256: told to nobody."""
    until: Time
    """When the old one ends."""


class KeyRevoked(Event):
    """A key is good for nothing from here on."""

    TOPIC: ClassVar[str] = "key/revoked"
    key: KeyId
    counts_until: Time | None = None
    """Until then its member counts as a second person, because another member revoked it; left out: they do not."""


class EveningOpened(Event):
    """An evening began, on the club's own date."""

    TOPIC: ClassVar[str] = "evening/opened"
    evening: wire_types.EveningNumber
    on: date
    season: Season


class EveningClosed(Event):
    """An evening is over: no match is opened on it any more."""

    TOPIC: ClassVar[str] = "evening/closed"
    evening: wire_types.EveningNumber


class MoneyPosted(Event):
    """An entry of the books. Its number there is that which it has in the order of the log."""

    TOPIC: ClassVar[str] = "money/posted"
    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    by: Actor
    """The sender of the act. If the act was a proposal, the actor of this event confirmed it."""
    evening: wire_types.EveningNumber | None = None
    reverses: wire_types.EntryNumber | None = None
    """The entry that it takes back."""
    reversed_kind: EntryKind | None = None
    """The kind of that entry."""
    proposal: wire_types.ProposalNumber | None = None
    """The proposal that was confirmed; left out: the act needed no second person."""
    plan: wire_types.Digest | None = None
    """Of `pay`: the payment of a plan that it is."""
    balance: wire_types.Money | None = None
    """The member's balance before a `payout`, or before the reversal of a `deposit`: below zero what they were to
    receive."""

    @property
    def draft(self) -> MoneyDraft:
        """The entry as a proposal of it names it."""
        return MoneyDraft(**{name: getattr(self, name) for name in MoneyDraft.__struct_fields__})


class BooksClosed(Event):
    """The entries up to one stand for ever: what comes later has later numbers."""

    TOPIC: ClassVar[str] = "books/closed"
    closing: wire_types.ClosingNumber
    """Its number among the closings of the club, from 1 on."""
    through: wire_types.EntryNumber
    """The last entry that is closed."""
    digest: wire_types.Hash
    """SHA-256 over the digest of the closing before and the entries since."""
    trial: Trial
    """What stood on each account then, but where it was 0."""
    label: Label
    """What the club calls the closing."""
    alone: bool = False
    """Whether one person closed the books alone because the club had no second one."""
