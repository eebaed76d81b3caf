"""What can be asked of a club: one tagged union, tag ``act``. What is sent lacks what the service makes: secrets."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, ClassVar

import msgspec
from msgspec import Meta

from referee import told
from referee.clubs.facts import APP_MAX, KEY_ID, SEASON_MAX, KeyId, Scope, SieAccounts, Zone
from referee.value import Value

PERSON = r"^[^\x00-\x1F\x7F]*[^\s\x00-\x1F\x7F\x85][^\x00-\x1F\x7F]*$(?!\n)"
"""A name: no control characters, and not only blanks."""
PersonName = Annotated[
    str,
    Meta(
        title="PersonName",
        description="A member's name. On record stands what tells whether it is the same, not the name.",
        min_length=1,
        max_length=told.NAME_MAX,
        pattern=PERSON,
    ),
]
MemberSent = Annotated[int, Meta(ge=1, le=told.MEMBERS_MAX)]
EveningSent = Annotated[int, Meta(ge=1, le=told.MEMBERS_MAX)]
KeySent = Annotated[KeyId, Meta(pattern=KEY_ID, max_length=6)]
AppSent = Annotated[str, Meta(min_length=1, max_length=APP_MAX, pattern=PERSON, examples=["Scoreboard"])]
ScopesSent = Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=8)]
SeasonSent = Annotated[str, Meta(min_length=1, max_length=SEASON_MAX, pattern=PERSON)]
CurrencySent = Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3, examples=["SEK"])]
CurrenciesSent = Annotated[tuple[CurrencySent, ...], Meta(min_length=1, max_length=10)]
ZoneSent = Annotated[Zone, Meta(min_length=1, max_length=64)]
ClubName = Annotated[str, Meta(min_length=1, max_length=told.NAME_MAX, pattern=PERSON)]
TimeSent = Annotated[datetime, Meta(tz=True)]
OVERLAP_MAX = 604_800
"""A week, in seconds."""


class ClubAct(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act"):
    """Anything that can be sent to a club as an act."""


class Join(ClubAct, tag="join"):
    """Somebody becomes a member."""

    name: PersonName


class Rename(ClubAct, tag="rename"):
    """A member goes by another name."""

    member: MemberSent
    name: PersonName


class Leave(ClubAct, tag="leave"):
    """A member leaves; his keys end."""

    member: MemberSent


class EraseSent(ClubAct, tag="erase"):
    """The name of somebody who has left, and what he wrote, are erased for ever."""

    SCHEMA: ClassVar[str] = "Erase"
    member: MemberSent


class Erase(EraseSent, kw_only=True, tag="erase"):
    """And what the books say of him, by currency of the club: erased is only who owes nothing and is owed nothing."""

    balances: Annotated[tuple[told.Money, ...], told.at_most(10)] = ()


class IssueKeySent(ClubAct, tag="issue_key"):
    """A key for a member or for a program, good until then."""

    SCHEMA: ClassVar[str] = "IssueKey"
    scopes: ScopesSent
    expires_at: TimeSent
    """At most 400 days ahead."""
    member: MemberSent | None = None
    """Whose it is; left out: a program's."""
    app: AppSent | None = None
    """Which program it is for, by a name that stays on record for ever; left out: a member's."""


class IssueKey(IssueKeySent, kw_only=True, tag="issue_key"):
    """And the SHA-256 of it."""

    hash: told.HiddenHash


class RotateKeySent(ClubAct, tag="rotate_key"):
    """Another secret for a key; so long the old one is good as well."""

    SCHEMA: ClassVar[str] = "RotateKey"
    key: KeySent
    overlap_seconds: Annotated[int, Meta(ge=0, le=OVERLAP_MAX)] = 0


class RotateKey(RotateKeySent, kw_only=True, tag="rotate_key"):
    """And the SHA-256 of the new one."""

    hash: told.HiddenHash


class RevokeKey(ClubAct, tag="revoke_key"):
    """A key is good for nothing any more."""

    key: KeySent


class Set(ClubAct, tag="set"):
    """Settings of the club; what is left out stays as it is."""

    SCHEMA: ClassVar[str] = "SetClub"
    name: ClubName | None = None
    currencies: CurrenciesSent | None = None
    """ISO 4217; the first is meant where none is named. None that is there can be taken away."""
    timezone: ZoneSent | None = None
    payout_limit: Annotated[int, Meta(ge=0, le=told.EXACT_MAX)] | None = None
    """Minor units: above it a payout needs a second person."""
    keep_years: Annotated[int, Meta(ge=0, le=100)] | None = None
    """So long nobody is erased, from the year on in which he left: 7 where the law on bookkeeping holds."""
    sie: SieAccounts | None = None


class OpenEvening(ClubAct, tag="open_evening"):
    """An evening begins."""

    on: date
    """The club's own date."""
    season: SeasonSent


class CloseEvening(ClubAct, tag="close_evening"):
    """An evening is over: no match is opened on it any more. Those that were go on."""

    evening: EveningSent


ClubSent = (
    Join | Rename | Leave | EraseSent | IssueKeySent | RotateKeySent | RevokeKey | Set | OpenEvening | CloseEvening
)
"""What a client sends."""
ClubRequest = Join | Rename | Leave | Erase | IssueKey | RotateKey | RevokeKey | Set | OpenEvening | CloseEvening
"""What is decided, and stands on record."""

club_request_of: Callable[[bytes], ClubRequest] = msgspec.json.Decoder(ClubRequest).decode
"""What was asked, from how it stands on record."""
