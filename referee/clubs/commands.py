"""What can be asked of a club: one tagged union, tag ``act``. What is sent lacks what the service makes: secrets."""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from referee import wire_types
from referee.clubs.facts import (
    ACCOUNT,
    AMOUNT_MAX,
    APP_MAX,
    KEY_ID,
    SEASON_MAX,
    Account,
    EntryKind,
    KeyId,
    Postings,
    Scope,
    SieAccounts,
    Trial,
    Zone,
)
from referee.events import StakesNeed
from referee.value import VERSION_MAX, Value

PERSON = r"^[^\x00-\x1F\x7F]*[^\s\x00-\x1F\x7F\x85][^\x00-\x1F\x7F]*$(?!\n)"
"""A name: no control characters, and not only blanks."""
PersonName = Annotated[
    str,
    Meta(
        title="PersonName",
        description="A member's name. On record stands what tells whether it is the same, not the name.",
        min_length=1,
        max_length=wire_types.NAME_MAX,
        pattern=PERSON,
    ),
]
NumberSent = Annotated[
    str,
    Meta(
        title="PayeeNumber",
        description="A number by which somebody is paid, blanks and hyphens as one likes. On record stands what "
        "tells whether it is the same, not the number.",
        min_length=1,
        max_length=wire_types.NAME_MAX,
        pattern=PERSON,
        examples=["070-123 45 67"],
    ),
]
MemberSent = Annotated[int, Meta(ge=1, le=wire_types.MEMBERS_MAX)]
EveningSent = Annotated[int, Meta(ge=1, le=wire_types.MEMBERS_MAX)]
KeySent = Annotated[KeyId, Meta(pattern=KEY_ID, max_length=6)]
AppSent = Annotated[str, Meta(min_length=1, max_length=APP_MAX, pattern=PERSON, examples=["Scoreboard"])]
ScopesSent = Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=9)]
SeasonSent = Annotated[str, Meta(min_length=1, max_length=SEASON_MAX, pattern=PERSON)]
CurrencySent = Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3, examples=["SEK"])]
CurrenciesSent = Annotated[tuple[CurrencySent, ...], Meta(min_length=1, max_length=10)]
ZoneSent = Annotated[Zone, Meta(min_length=1, max_length=64)]
ClubName = Annotated[str, Meta(min_length=1, max_length=wire_types.NAME_MAX, pattern=PERSON)]
AmountSent = Annotated[int, Meta(ge=1, le=AMOUNT_MAX, description="Minor units: öre, cents.")]
Via = Annotated[Literal["cash", "bank"], Meta(description="Through which of the club's accounts.")]
AccountSent = Annotated[Account, Meta(pattern=f"{ACCOUNT}(?!\\n)", max_length=12)]
EntrySent = Annotated[int, Meta(ge=1, le=wire_types.ENTRIES_MAX)]
ProposalSent = Annotated[int, Meta(ge=1, le=VERSION_MAX)]
LabelSent = Annotated[str, Meta(min_length=1, max_length=SEASON_MAX, pattern=PERSON)]
TimeSent = Annotated[datetime, Meta(tz=True)]
OVERLAP_MAX = 604_800
"""A week, in seconds."""


class EntryFound(Value, omit_defaults=True):
    """An entry, as the books have it."""

    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    evening: wire_types.EveningNumber | None = None
    reversed: bool = False
    """Whether another takes it back."""
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(9)] = ()
    """The balance of each account of ``postings`` now, debit above zero."""


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


class SetPayee(ClubAct, tag="set_payee"):
    """How a member, or the club, is paid from now on: what is left out or null, there is none of any more."""

    member: MemberSent | None = None
    """Who; left out or null: the club."""
    swish: NumberSent | None = None
    """A Swish number, for kronor: a Swedish mobile number, or 123 and seven figures of an association."""
    iban: NumberSent | None = None
    """An account in a country of SEPA, for euros."""


class EraseSent(ClubAct, tag="erase"):
    """Deletes the names and numbers of a former member and the texts that the member wrote, for ever. In the texts of
    others about matches that the member took part in, the name is replaced."""

    SCHEMA: ClassVar[str] = "Erase"
    member: MemberSent


class Erase(EraseSent, kw_only=True, tag="erase"):
    """With what the books say of the member, by currency of the club, and what is deleted and replaced. A member is
    erased only if their balances are 0 and all their entries are closed."""

    texts: wire_types.Hash
    """SHA-256 over what is deleted and what replaces what."""
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(10)] = ()
    entry: wire_types.EntryCount = 0
    """The last entry on his account; 0: there is none."""
    matches: wire_types.Tally = 0
    """In how many matches that are not over he plays."""
    deleted: wire_types.Tally = 0
    """How many texts that the member wrote are deleted."""
    changed: wire_types.Tally = 0
    """In how many texts of others a name or number of the member is replaced."""


class IssueKeySent(ClubAct, kw_only=True, tag="issue_key"):
    """A key for a member or for a program, good until then."""

    SCHEMA: ClassVar[str] = "IssueKey"
    scopes: ScopesSent | None = None
    """Left out: `play` and `self` for a member, `read` for a program."""
    expires_at: TimeSent
    """At most 400 days ahead."""
    member: MemberSent | None = None
    """Whose it is; left out: a program's."""
    app: AppSent | None = None
    """Which program it is for, by a name that stays on record for ever; left out: a member's."""


class IssueKey(IssueKeySent, kw_only=True, tag="issue_key"):
    """And the SHA-256 of it."""

    hash: wire_types.HiddenHash


class Invite(IssueKeySent, kw_only=True, tag="invite"):
    """A key for another member, who redeems it by a code; this is the SHA-256 of the code."""

    hash: wire_types.HiddenHash


class RedeemKey(ClubAct, tag="redeem_key"):
    """A member redeems the invitation to a key; this is the SHA-256 of the key."""

    key: KeySent
    hash: wire_types.HiddenHash


class RotateKeySent(ClubAct, tag="rotate_key"):
    """Another secret for a key; so long the old one is good as well."""

    SCHEMA: ClassVar[str] = "RotateKey"
    key: KeySent
    overlap_seconds: Annotated[int, Meta(ge=0, le=OVERLAP_MAX)] = 0


class RotateKey(RotateKeySent, kw_only=True, tag="rotate_key"):
    """And the SHA-256 of the new one."""

    hash: wire_types.HiddenHash


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
    payout_limit: Annotated[int, Meta(ge=0, le=wire_types.EXACT_MAX)] | None = None
    """Minor units. A payout that takes a member above this sum within 30 days needs a second person."""
    keep_years: Annotated[int, Meta(ge=0, le=100)] | None = None
    """So long nobody is erased, from the year on in which he left: 7 where the law on bookkeeping holds."""
    sie: SieAccounts | None = None
    stakes_need: StakesNeed | None = None
    """Who agrees to the stakes of matches that are opened from now on. At the start `members`."""
    stake_limit: Annotated[int, Meta(ge=0, le=wire_types.EXACT_MAX)] | None = None
    """Minor units, in the currency of the match. The most that one match may move which is opened from now on: what
    those who pay in it pay together. Above it the books do not count the match."""


class OpenEvening(ClubAct, tag="open_evening"):
    """An evening begins."""

    on: date
    """The club's own date."""
    season: SeasonSent


class CloseEvening(ClubAct, tag="close_evening"):
    """An evening is over: no match is opened on it any more. Those that were go on."""

    evening: EveningSent


class MoneyAct(ClubAct):
    """An act that writes into the club's books, or would."""


class Deposit(MoneyAct, tag="deposit"):
    """A member paid the club."""

    member: MemberSent
    amount: AmountSent
    via: Via
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class PayoutSent(MoneyAct, tag="payout"):
    """The club pays a member something of what he is to receive."""

    SCHEMA: ClassVar[str] = "Payout"
    member: MemberSent
    amount: AmountSent
    via: Via
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class Payout(PayoutSent, kw_only=True, tag="payout"):
    """And what the books say of his account."""

    balance: wire_types.Money
    """In that currency, debit above zero."""


class PlannedPayment(Value):
    """A payment between two members that the club's plan lists."""

    payer: wire_types.MemberNumber
    payee: wire_types.MemberNumber
    amount: wire_types.Money
    """Minor units."""


class PaySent(MoneyAct, tag="pay"):
    """One member paid another; the other confirms it, or a treasurer who is neither."""

    SCHEMA: ClassVar[str] = "Pay"
    payer: MemberSent
    payee: MemberSent
    amount: AmountSent
    currency: CurrencySent | None = None
    evening: EveningSent | None = None
    plan: Annotated[wire_types.Digest, Meta(pattern="^[0-9a-f]{16}$")] | None = None
    """The `id` of the planned payment, if it is one. The plan of this `evening` and `currency` must list it, with
    this payer, payee and amount."""


class Pay(PaySent, kw_only=True, tag="pay"):
    """A payment, and what the plan says of it."""

    planned: PlannedPayment | None = None
    """The payment that the plan lists under the id ``plan``; ``None`` if it lists none between two members."""


class Fee(MoneyAct, tag="fee"):
    """A member owes the club something: a sum a member, and no share of what is played for."""

    member: MemberSent
    amount: AmountSent
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class OpenAccount(MoneyAct, tag="opening"):
    """What stood on an account when the books were begun."""

    account: AccountSent
    amount: Annotated[int, Meta(ge=-AMOUNT_MAX, le=AMOUNT_MAX)]
    """Minor units, debit above zero: what lay in the cash box, or what a member owed; below zero what he was to
    receive. Not 0."""
    currency: CurrencySent | None = None


class ReverseSent(MoneyAct, tag="reverse"):
    """An entry is taken back by its negative: once, and no reversal itself."""

    SCHEMA: ClassVar[str] = "Reverse"
    entry: EntrySent
    """Its number."""


class Reverse(ReverseSent, kw_only=True, tag="reverse"):
    """And how it stands in the books."""

    found: EntryFound | None = None


class CloseBooksSent(MoneyAct, tag="close_books"):
    """All entries until now are closed."""

    SCHEMA: ClassVar[str] = "CloseBooks"
    label: LabelSent


class CloseBooks(CloseBooksSent, kw_only=True, tag="close_books"):
    """And what the books say: their last entry, the digest up to it, and what stands on the accounts."""

    through: wire_types.EntryCount
    digest: wire_types.Hash
    trial: Trial


MoneySent = Deposit | PayoutSent | PaySent | Fee | OpenAccount | ReverseSent | CloseBooksSent
MoneyRequest = Deposit | Payout | Pay | Fee | OpenAccount | Reverse | CloseBooks

ProposedAct = MoneySent | IssueKeySent | Set | SetPayee
"""An act that can wait for a second person."""
CompletedAct = Payout | Reverse | CloseBooks | Invite
"""An act of a proposal that is decided on more than was sent."""
SENT: dict[type, type] = {
    CloseBooks: CloseBooksSent,
    Invite: IssueKeySent,
    Pay: PaySent,
    Payout: PayoutSent,
    Reverse: ReverseSent,
}
"""The type that a client sends, by the type that is decided."""


def sent(request: Any) -> Any:
    """Return a request as the client sent it."""
    kind: Any = SENT.get(type(request), type(request))
    return kind(**{name: getattr(request, name) for name in kind.__struct_fields__})


class ConfirmSent(ClubAct, tag="confirm"):
    """Another member confirms a proposal: its act is done."""

    SCHEMA: ClassVar[str] = "Confirm"
    proposal: ProposalSent


class Confirm(ConfirmSent, kw_only=True, tag="confirm"):
    """A confirmation, with the act of the proposal as it is decided now."""

    complete: CompletedAct | None = None
    """Left out: the act is decided as it was sent."""


class Decline(ClubAct, tag="decline"):
    """A proposal is declined, or withdrawn by its proposer: its act is not done."""

    proposal: ProposalSent


ClubSent = (
    Join
    | Rename
    | Leave
    | SetPayee
    | EraseSent
    | IssueKeySent
    | RotateKeySent
    | RevokeKey
    | Set
    | OpenEvening
    | CloseEvening
    | MoneySent
    | ConfirmSent
    | Decline
)
"""What a client sends."""
ClubRequest = (
    Join
    | Rename
    | Leave
    | SetPayee
    | Erase
    | IssueKey
    | Invite
    | RedeemKey
    | RotateKey
    | RevokeKey
    | Set
    | OpenEvening
    | CloseEvening
    | MoneyRequest
    | Confirm
    | Decline
)
"""What is decided, and stands on record."""

club_request_of: Callable[[bytes], ClubRequest] = msgspec.json.Decoder(ClubRequest).decode
"""What was asked, from how it stands on record."""
