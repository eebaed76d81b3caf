"""The facts of a club. Members are numbers, and never a name: of names and of other texts stands here what
:data:`Ref` tells, and who may read them is told the text in its place."""

from datetime import date
from typing import Annotated, ClassVar, Literal, get_args

from msgspec import Meta

from referee import told
from referee.events import Event, Hidden
from referee.value import Time, Value

Ref = Annotated[
    str,
    Meta(
        title="NameSeen",
        description="A name, for who may read it; for others, and where it is erased, what stands on record of it: "
        "`hmac:` and its HMAC-SHA256 under a salt that lies beside the name, so that another in its place shows, and "
        "nothing is left of it when it is erased.",
        extra_json_schema={"pattern": told.NAME, "maxLength": told.NAME_MAX},
    ),
]
Scope = Literal["open", "play", "officiate", "treasury", "audit", "read", "keys", "hooks"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""In the order in which they are told."""
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
    tuple[Scope, ...], Meta(title="Scopes", description="What a key is good for.", extra_json_schema={"maxItems": 8})
]
SEASON_MAX = 40
Season = Annotated[
    str,
    Meta(
        title="Season",
        description="What a club calls a season: `2026/27`. Evenings of the same name belong together.",
        examples=["2026/27"],
        extra_json_schema={"pattern": told.NAME, "maxLength": SEASON_MAX},
    ),
]
APP_MAX = 40
AppName = Annotated[
    str,
    Meta(
        title="AppName",
        description="A program that a key is for, by a name of the club's own.",
        examples=["Scoreboard"],
        extra_json_schema={"pattern": told.NAME, "maxLength": APP_MAX},
    ),
]
Currencies = Annotated[tuple[told.Currency, ...], told.at_most(10)]
Zone = Annotated[
    str,
    Meta(examples=["Europe/Stockholm"], extra_json_schema={"pattern": "^[A-Za-z0-9_+/-]{1,64}$", "maxLength": 64}),
]
"""A timezone by its name in the IANA database: the dates of a club's evenings are those of the clock there."""
Account = Annotated[str, Meta(examples=["1910"], extra_json_schema={"pattern": "^[1-9][0-9]{3}$", "maxLength": 4})]


class SieAccounts(Value, forbid_unknown_fields=True):
    """The accounts that stand for the club's own in a SIE file."""

    cash: Account = "1910"
    bank: Account = "1930"
    members: Account = "2890"
    """What the club owes its members; below zero what they owe."""
    pot: Account = "2890"
    fees: Account = "3990"
    opening: Account = "2061"


class ClubFounded(Event):
    """A club was founded. Its first member joins, and has a key with all scopes, with the next events."""

    TOPIC: ClassVar[str] = "club/founded"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    name: told.Name
    """The club's."""
    currencies: Currencies
    """ISO 4217; the first is meant where none is named."""
    timezone: Zone
    founder: Ref
    """The first member's name."""
    hash: told.HiddenHash
    """Of the founder's key, as SHA-256: told to nobody."""
    expires_at: Time
    """When that key does."""


class ClubSet(Event):
    """The club's settings changed; what is left out stayed as it was."""

    TOPIC: ClassVar[str] = "club/set"
    name: told.Name | None = None
    currencies: Currencies | None = None
    timezone: Zone | None = None
    payout_limit: told.Money | None = None
    """Above it a payout needs a second person: minor units."""
    keep_years: told.Years | None = None
    """So long the books must be kept; 0: nothing demands it."""
    sie: SieAccounts | None = None


class MemberJoined(Event):
    """Somebody became a member, under the next number."""

    TOPIC: ClassVar[str] = "member/joined"
    member: told.MemberNumber
    name: Ref


class MemberNamed(Event):
    """A member goes by another name."""

    TOPIC: ClassVar[str] = "member/named"
    member: told.MemberNumber
    name: Ref


class MemberLeft(Event):
    """A member left. The number stays his, and his keys have just been revoked."""

    TOPIC: ClassVar[str] = "member/left"
    member: told.MemberNumber
    on: date
    """By UTC."""


class MemberErased(Event):
    """The name of a former member and what he wrote are erased; the number stays in all that he played."""

    TOPIC: ClassVar[str] = "member/erased"
    member: told.MemberNumber
    balances: Annotated[tuple[told.Money, ...], told.at_most(10)] = ()
    """What the books said of him then, by currency of the club: nothing but zeros."""


class KeyIssued(Event):
    """A key was made, for a member or for a program."""

    TOPIC: ClassVar[str] = "key/issued"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    scopes: Scopes
    hash: told.HiddenHash
    """Of the whole key, as SHA-256: told to nobody."""
    expires_at: Time
    member: told.MemberNumber | None = None
    app: AppName | None = None


class KeyRotated(Event):
    """A key has another secret, and the same id and scopes; until then the old one is good as well."""

    TOPIC: ClassVar[str] = "key/rotated"
    HIDDEN: ClassVar[Hidden] = {"hash": "nobody"}
    key: KeyId
    hash: told.HiddenHash
    """Of the new key, as SHA-256: told to nobody."""
    until: Time
    """When the old one ends."""


class KeyRevoked(Event):
    """A key is good for nothing from here on."""

    TOPIC: ClassVar[str] = "key/revoked"
    key: KeyId


class EveningOpened(Event):
    """An evening began, on the club's own date."""

    TOPIC: ClassVar[str] = "evening/opened"
    evening: told.EveningNumber
    on: date
    season: Season


class EveningClosed(Event):
    """An evening is over: no match is opened on it any more."""

    TOPIC: ClassVar[str] = "evening/closed"
    evening: told.EveningNumber
