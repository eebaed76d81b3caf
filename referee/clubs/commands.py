"""Commands to a club. The JSON field ``act`` names the type.

Subclasses of structs named ``…Sent`` have values that the service adds.
"""

from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from referee import wire_types
from referee.clubs.facts import (
    ACCOUNT,
    AMOUNT_MAX,
    APP_MAX,
    KEY_ID,
    SCOPES,
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
"""Pattern of a text without control characters that is not only blanks."""
PersonName = Annotated[
    str,
    Meta(
        description="A member's name. The stored rows hold only a keyed hash of it.",
        min_length=1,
        max_length=wire_types.NAME_MAX,
        pattern=PERSON,
    ),
]
NumberSent = Annotated[
    str,
    Meta(
        description="A payment number, with any blanks and hyphens. The stored rows hold only a keyed hash of it.",
        min_length=1,
        max_length=wire_types.NAME_MAX,
        pattern=PERSON,
        examples=["070-123 45 67"],
    ),
]
IbanSent = Annotated[NumberSent, Meta(examples=["SE45 5000 0000 0583 9825 7466"])]
MemberSent = Annotated[int, Meta(ge=1, le=wire_types.MEMBERS_MAX)]
EveningSent = Annotated[int, Meta(ge=1, le=wire_types.MEMBERS_MAX)]
KeySent = Annotated[KeyId, Meta(pattern=KEY_ID, max_length=6)]
AppSent = Annotated[str, Meta(min_length=1, max_length=APP_MAX, pattern=PERSON, examples=["Scoreboard"])]
ScopesSent = Annotated[tuple[Scope, ...], Meta(min_length=1, max_length=len(SCOPES))]
SeasonSent = Annotated[str, Meta(min_length=1, max_length=SEASON_MAX, pattern=PERSON)]
CurrencySent = Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3, examples=["SEK"])]
CurrenciesSent = Annotated[tuple[CurrencySent, ...], Meta(min_length=1, max_length=10)]
ZoneSent = Annotated[Zone, Meta(min_length=1, max_length=64)]
ClubName = Annotated[str, Meta(min_length=1, max_length=wire_types.NAME_MAX, pattern=PERSON)]
AmountSent = Annotated[int, Meta(ge=1, le=AMOUNT_MAX, description="Minor units: öre, cents.")]
Via = Annotated[Literal["cash", "bank"], Meta(description="The account of the club that the money goes through.")]
AccountSent = Annotated[Account, Meta(pattern=f"{ACCOUNT}(?!\\n)", max_length=12)]
EntrySent = Annotated[int, Meta(ge=1, le=wire_types.ENTRIES_MAX)]
ProposalSent = Annotated[int, Meta(ge=1, le=VERSION_MAX)]
LabelSent = Annotated[str, Meta(min_length=1, max_length=SEASON_MAX, pattern=PERSON)]
TimeSent = Annotated[datetime, Meta(tz=True)]
OVERLAP_MAX = 604_800
"""Maximum seconds that a replaced secret stays valid."""


class EntryFound(Value, omit_defaults=True):
    """The entry to reverse."""

    kind: EntryKind
    currency: wire_types.Currency
    postings: Postings
    evening: wire_types.EveningNumber | None = None
    reversed: bool = False
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(9)] = ()
    """Present balances, in the order of ``postings``; debit is above zero."""


class ClubAct(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act"):
    """A command."""


class Join(ClubAct, tag="join"):
    """Add a member."""

    name: PersonName


class Rename(ClubAct, tag="rename"):
    """Change the name of a member."""

    member: MemberSent
    name: PersonName


class Leave(ClubAct, tag="leave"):
    """End a membership, and revoke the member's keys."""

    member: MemberSent


class SetPayeeSent(ClubAct, kw_only=True, tag="set_payee"):
    """Set the payment numbers of a member. A number that is left out is removed."""

    SCHEMA: ClassVar[str] = "SetPayee"
    member: MemberSent | UnsetType = UNSET
    """Member; left out: the member of the caller's key. A program must name a member."""
    swish: NumberSent | None = None
    """Swish number, for kronor: a Swedish mobile number, or 123 and seven digits."""
    iban: IbanSent | None = None
    """IBAN in a country of SEPA, for euros."""


class SetPayee(SetPayeeSent, kw_only=True, tag="set_payee"):
    """Set the payment numbers of this member. A number that is left out is removed."""

    SCHEMA: ClassVar[str] = "SetPayeeProposed"
    member: MemberSent
    """Member whose numbers the command sets."""


class SetClubPayee(ClubAct, tag="set_club_payee"):
    """Set the payment numbers of the club. A number that is left out is removed."""

    swish: NumberSent | None = None
    """Swish number, for kronor: a Swedish mobile number, or 123 and seven digits."""
    iban: IbanSent | None = None
    """IBAN in a country of SEPA, for euros."""


PayeeAct = SetPayee | SetClubPayee


def member_of_payee_act(act: PayeeAct) -> int | None:
    """Return the member whose payment numbers a command sets; ``None``: the club's."""
    return act.member if isinstance(act, SetPayee) else None


class EraseSent(ClubAct, tag="erase"):
    """Permanently delete a former member's names, numbers and texts, and replace names and numbers in other texts."""

    SCHEMA: ClassVar[str] = "Erase"
    member: MemberSent


class Erase(EraseSent, kw_only=True, tag="erase"):
    """An erasure. :class:`~referee.clubs.facts.MemberErased` explains the fields."""

    texts: wire_types.Hash
    balances: Annotated[tuple[wire_types.Money, ...], wire_types.at_most(10)] = ()
    entry: wire_types.EntryCount = 0
    matches: wire_types.Tally = 0
    """Number of unfinished matches in which the member plays."""
    deleted: wire_types.Tally = 0
    changed: wire_types.Tally = 0


class IssueKeySent(ClubAct, kw_only=True, tag="issue_key"):
    """Issue a key to a member or to a program."""

    SCHEMA: ClassVar[str] = "IssueKey"
    scopes: ScopesSent | None = None
    """Scopes; left out: `play` and `self` for a member, `read` for a program."""
    expires_at: TimeSent
    """Time at which the key ends, at most 400 days from now."""
    member: MemberSent | None = None
    """Member who gets the key; left out: a program's key."""
    app: AppSent | None = None
    """Name of the program, which is stored permanently; left out: a member's key."""


class IssueKey(IssueKeySent, kw_only=True, tag="issue_key"):
    """Issue a key. ``hash``: SHA-256 of the key."""

    hash: wire_types.HiddenHash


class Invite(IssueKeySent, kw_only=True, tag="invite"):
    """Invite another member to a key. ``hash``: SHA-256 of the invitation's code."""

    hash: wire_types.HiddenHash


class RedeemKey(ClubAct, tag="redeem_key"):
    """Redeem the invitation to a key. ``hash``: SHA-256 of the key."""

    key: KeySent
    hash: wire_types.HiddenHash


class RotateKeySent(ClubAct, tag="rotate_key"):
    """Replace the secret of a key. The old secret stays valid for ``overlap_seconds``."""

    SCHEMA: ClassVar[str] = "RotateKey"
    key: KeySent
    overlap_seconds: Annotated[int, Meta(ge=0, le=OVERLAP_MAX)] = 0


class RotateKey(RotateKeySent, kw_only=True, tag="rotate_key"):
    """Replace the secret of a key. ``hash``: SHA-256 of the new key."""

    hash: wire_types.HiddenHash


class RevokeKey(ClubAct, tag="revoke_key"):
    """Revoke a key."""

    key: KeySent


class Set(ClubAct, tag="set"):
    """Change settings of the club. Settings that are left out keep their values."""

    SCHEMA: ClassVar[str] = "SetClub"
    name: ClubName | None = None
    currencies: CurrenciesSent | None = None
    """Codes of ISO 4217; the first is the default. Currencies cannot be removed."""
    timezone: ZoneSent | None = None
    payout_limit: Annotated[int, Meta(ge=0, le=wire_types.EXACT_MAX)] | None = None
    """Sum, in minor units, of a member's payouts and reversed deposits in one currency within 30 days. Above it, a
    second person is needed."""
    keep_years: Annotated[int, Meta(ge=0, le=100)] | None = None
    """Years after the year of leaving in which a member cannot be erased: 7 if the Swedish bookkeeping law
    applies."""
    sie: SieAccounts | None = None
    stakes_need: StakesNeed | None = None
    """People who agree to the stakes of later matches. The default is `members`."""
    stake_limit: Annotated[int, Meta(ge=0, le=wire_types.EXACT_MAX)] | None = None
    """Maximum sum of a later match's payments, in minor units of its currency. The books count no match above it."""


class OpenEvening(ClubAct, tag="open_evening"):
    """Begin an evening."""

    on: date
    season: SeasonSent


class CloseEvening(ClubAct, tag="close_evening"):
    """End an evening. No further match can be opened on it, but its open matches continue."""

    evening: EveningSent


class MoneyAct(ClubAct):
    """A command about the club's money or books."""


class Deposit(MoneyAct, tag="deposit"):
    """Record that a member paid the club."""

    member: MemberSent
    amount: AmountSent
    via: Via
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class PayoutSent(MoneyAct, tag="payout"):
    """Pay a member money that the club owes the member."""

    SCHEMA: ClassVar[str] = "Payout"
    member: MemberSent
    amount: AmountSent
    via: Via
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class Payout(PayoutSent, kw_only=True, tag="payout"):
    balance: wire_types.Money
    """Balance of the member in this currency; debit is above zero."""


class PlannedPayment(Value):
    """A payment between two members in the club's plan."""

    payer: wire_types.MemberNumber
    payee: wire_types.MemberNumber
    amount: wire_types.Money
    """Minor units."""


class PaySent(MoneyAct, tag="pay"):
    """Record a payment between two members. The other party, or a treasurer who is no party, confirms it."""

    SCHEMA: ClassVar[str] = "Pay"
    payer: MemberSent
    payee: MemberSent
    amount: AmountSent
    currency: CurrencySent | None = None
    evening: EveningSent | None = None
    plan: Annotated[wire_types.Digest, Meta(pattern="^[0-9a-f]{16}$")] | None = None
    """The `id` of a payment in the plan of this `evening` and `currency`, with this payer, payee and amount."""


class Pay(PaySent, kw_only=True, tag="pay"):
    planned: PlannedPayment | None = None
    """Payment with the id ``plan``; ``None``: not in the plan, or not looked up."""


class Fee(MoneyAct, tag="fee"):
    """Charge a member a fixed sum, which is not a share of the stakes."""

    member: MemberSent
    amount: AmountSent
    currency: CurrencySent | None = None
    evening: EveningSent | None = None


class OpenAccount(MoneyAct, tag="opening"):
    """Enter the balance that an account had when the books were begun."""

    account: AccountSent
    amount: Annotated[int, Meta(ge=-AMOUNT_MAX, le=AMOUNT_MAX)]
    """Minor units, not 0. Above zero (debit): money in the cash box, or a member's debt. Below zero: the club's debt
    to a member."""
    currency: CurrencySent | None = None


class ReverseSent(MoneyAct, tag="reverse"):
    """Post the negative of an entry. A reversal, or an entry already reversed, cannot be reversed."""

    SCHEMA: ClassVar[str] = "Reverse"
    entry: EntrySent
    """Number of the entry."""


class Reverse(ReverseSent, kw_only=True, tag="reverse"):
    found: EntryFound | None = None
    """``None``: the entry does not exist."""


class CloseBooksSent(MoneyAct, tag="close_books"):
    """Close the books, with all entries so far."""

    SCHEMA: ClassVar[str] = "CloseBooks"
    label: LabelSent


class CloseBooks(CloseBooksSent, kw_only=True, tag="close_books"):
    """Close the books. :class:`~referee.clubs.facts.BooksClosed` explains the fields."""

    through: wire_types.EntryCount
    digest: wire_types.Hash
    trial: Trial


MoneySent = Deposit | PayoutSent | PaySent | Fee | OpenAccount | ReverseSent | CloseBooksSent
MoneyRequest = Deposit | Payout | Pay | Fee | OpenAccount | Reverse | CloseBooks

ProposedAct = MoneySent | IssueKeySent | Set | SetPayee | SetClubPayee
"""Command that can wait for a second person."""
CompletedAct = Payout | Reverse | CloseBooks | Invite
"""Proposed command with added values."""
SENT: dict[type, type] = {
    CloseBooks: CloseBooksSent,
    Invite: IssueKeySent,
    Pay: PaySent,
    Payout: PayoutSent,
    Reverse: ReverseSent,
}
"""Type that a client sends, by type with added values, for commands that can wait."""


def without_added_values(request: Any) -> Any:
    """Return a command that can wait for a second person, without added values."""
    kind: Any = SENT.get(type(request), type(request))
    return kind(**{name: getattr(request, name) for name in kind.__struct_fields__})


class ConfirmSent(ClubAct, tag="confirm"):
    """Confirm a proposal. Its command is carried out, unless a further member must confirm it."""

    SCHEMA: ClassVar[str] = "Confirm"
    proposal: ProposalSent


class Confirm(ConfirmSent, kw_only=True, tag="confirm"):
    complete: CompletedAct | None = None
    """Command with added values; left out: none are needed."""


class Decline(ClubAct, tag="decline"):
    """Decline a proposal, or withdraw the caller's own."""

    proposal: ProposalSent


ClubSent = (
    Join
    | Rename
    | Leave
    | SetPayeeSent
    | SetClubPayee
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
ClubRequest = (
    Join
    | Rename
    | Leave
    | SetPayee
    | SetClubPayee
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
"""Command as it is decided and stored."""

club_request_of: Callable[[bytes], ClubRequest] = msgspec.json.Decoder(ClubRequest).decode
