"""Settling up: as few payments as can be, and a code for each that a bank's app reads."""

from typing import Annotated, NamedTuple

from litestar import get
from litestar.params import PathParameter, QueryParameter
from msgspec import Meta, field

from api.access.clubs import ClubCaller, must_have, must_see_books, sees_books
from api.http.describe import KEY, Text, described
from api.http.headers import matching_etag, tag_by
from api.http.long_answers import long_reply, marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.problems import Problem
from api.http.replies import Reply, encode, not_modified
from api.http.threads import in_long_thread
from api.money.ledger_access import OneCurrency, currency_of
from api.money.plan_source import plan_of
from api.runtime.call import ApiCall
from api.runtime.member_names import Numbers, sees_numbers
from api.runtime.service import Service
from projections import payable
from projections.journal import decimal
from projections.plan import CLUB, Node, Payment, Plan
from referee import wire_types
from referee.clubs.lookup import evening_of
from referee.value import Value

SVG = "image/svg+xml"
CODES = {"SEK": ("swish", payable.SWISH_MAX), "EUR": ("iban", payable.EPC_MAX)}
"""By currency which number of the payee a code needs, and how much one payment is at most, in minor units."""
CODE = "^[0-9a-f]{16}[.]svg$"
SwishCode = Annotated[
    str,
    Meta(
        title="SwishCode",
        description="What a QR code holds that Swish reads: number, amount and text; the payer changes none.",
        examples=["C0701234567;5,00;Knackarna;0"],
        extra_json_schema={"pattern": "^C[0-9]{10};[0-9]{1,12},[0-9]{2};[A-Za-z0-9%._~-]*;0$", "maxLength": 400},
    ),
]
EpcCode = Annotated[
    str,
    Meta(
        title="EpcCode",
        description="What a QR code holds that apps of banks read as a SEPA credit transfer: EPC069-12, version 002.",
        examples=["BCD\n002\n1\nSCT\n\nBerit Borg\nSE4550000000058398257466\nEUR5.00\n\n\nKnackarna"],
        extra_json_schema={"pattern": "^BCD\n002\n1\nSCT\n", "maxLength": payable.EPC_BYTES_MAX},
    ),
]
Evening = Annotated[
    str,
    QueryParameter(
        description="The number of an evening, or `all`.",
        pattern="^(all|[1-9][0-9]{0,4})$",
        max_length=5,
    ),
]


class PaymentPlanned(Value):
    """A payment of the plan."""

    id: wire_types.Digest
    """Stays the same as long as the plan lists this payment. `pay` sends it as `plan`."""
    payer: Node = field(name="from")
    payee: Node = field(name="to")
    amount: wire_types.Money
    """Minor units."""
    text: wire_types.Name
    """What to write with it."""
    swish: SwishCode | None
    """Of a payment in kronor to who has a Swish number; null: it is another, or not the caller's to know."""
    epc: EpcCode | None
    """Of a payment in euros to who has an IBAN; null: it is another, or not the caller's to know."""


class PlanSeen(Value):
    """Payments after which nobody owes anything."""

    entry: wire_types.EntryCount
    """As the books stand after this entry."""
    payments: Annotated[tuple[PaymentPlanned, ...], wire_types.at_most(wire_types.MEMBERS_MAX)]
    """By payer and payee, the club last: all, or those that the caller pays or is paid."""
    count: wire_types.Tally
    """How many payments there are in ``payments``."""
    minimal: bool | None
    """Whether no plan has fewer payments: for many people that cannot be found out. null: the caller is shown only
    their own payments."""
    groups: wire_types.Tally | None
    """How many groups of members, and the club, are even among themselves. null: the caller is shown only
    their own payments."""


@get(
    "/clubs/{club:uuid}/plan",
    operation_id="get_plan",
    summary="Who pays whom",
    description="As few payments as settle what members owe and are to receive: by the entries of one evening, or by "
    "all. The club pays, or is paid, what members cannot settle among themselves. What was paid is told by `pay`, "
    "with the `id` as its `plan` and, in the plan of an evening, that `evening`: one proposal, however often it is "
    "sent. What the club paid or was paid is told by `payout` and `deposit`. With `audit` or `treasury`; with any "
    "other key of his own a member has the payments that he makes or gets.\n\n"
    "Where the payee has told a number by `set_payee`, `swish` or `epc` is what a QR code holds by which an app of a "
    "bank makes the payment: for keys with `treasury` or `keys`, and for the payer and the payee. The code itself is "
    "at `plan/{id}.svg`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=PlanSeen, errors=(400, 401, 403, 404, 409, 422, 503)),
)
async def get_plan(
    request: ApiCall,
    club_id: ClubId,
    evening: Evening = "all",
    currency: OneCurrency = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """Who pays whom."""
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    made = await _planned(service, caller, evening, currency, fresh=fresh)
    whole, payments = made.plan, made.payments
    codes = await _codes(service, made, payments)
    seen = PlanSeen(
        entry=made.entry,
        payments=tuple(
            PaymentPlanned(
                id=one.id,
                payer=one.payer,
                payee=one.payee,
                amount=one.amount,
                text=made.text,
                swish=code if made.currency == "SEK" else None,
                epc=code if made.currency == "EUR" else None,
            )
            for one, code in zip(payments, codes, strict=True)
        ),
        count=len(payments),
        minimal=whole.minimal if sees_books(caller) else None,
        groups=whole.groups if sees_books(caller) else None,
    )
    return await marked_reply(request, encode(seen), NO_TEXTS)


@get(
    "/clubs/{club:uuid}/plan/{code:str}",
    operation_id="get_payment_code",
    summary="A payment as a QR code",
    description="The code of a payment of the plan, as a picture in black on white: SEK for Swish, EUR for apps of "
    "banks that read EPC069-12. Take the same `evening` and `currency` as of the plan. For keys with `treasury`, and "
    "for the payer and the payee. 404 where the plan has no such payment (any more), 409 where the payee has told no "
    "number for it.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        others={SVG: Text("A picture, in modules of four pixels.", begins="<svg ")},
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def get_payment_code(
    request: ApiCall,
    club_id: ClubId,
    code: Annotated[
        str,
        PathParameter(
            description="The `id` of the payment, and `.svg`.", schema_extra={"pattern": CODE, "maxLength": 20}
        ),
    ],
    evening: Evening = "all",
    currency: OneCurrency = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """A payment as a QR code."""
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    made = await _planned(service, caller, evening, currency, fresh=fresh)
    payment = next((one for one in made.payments if f"{one.id}.svg" == code), None)
    if payment is None:
        raise Problem("no_such_payment")
    if not made.may_make(payment):
        must_have(caller, "treasury")
    if made.currency not in CODES:
        raise Problem("no_code_in_currency", currency=made.currency, allowed=list(CODES))
    number, most = CODES[made.currency]
    if payment.amount > most:
        raise Problem("beyond_code", most=decimal(most), currency=made.currency)
    (payload,) = await _codes(service, made, (payment,))
    if payload is None:
        raise Problem("payee_without_number", payee=payment.payee, needs=number)
    title = f"{decimal(payment.amount)} {made.currency}, {made.text}"
    body = (await in_long_thread(payable.svg, payload, title)).encode()
    tag = tag_by(body)
    if has := matching_etag(request, tag, NO_TEXTS):
        return not_modified(has)
    return await long_reply(request, body, tag, NO_TEXTS, media_type=SVG)


class _Planned(NamedTuple):
    """A plan, and what of it whoever asks is shown."""

    caller: ClubCaller
    entry: int
    currency: str
    text: str
    plan: Plan
    payments: tuple[Payment, ...]
    """All, or those of a member who has no scope for more."""

    def may_make(self, payment: Payment) -> bool:
        """Whether the caller is told by which number it is made."""
        if sees_numbers(self.caller, None if payment.payee == CLUB else payment.payee):
            return True
        return self.caller.member == payment.payer


async def _planned(
    service: Service, caller: ClubCaller, evening: str, currency: str | None, *, fresh: bool
) -> _Planned:
    own = caller.member
    must_see_books(caller, own)
    unit = currency_of(caller, currency)
    number = None if evening == "all" else int(evening)
    if number is not None:
        evening_of(caller.club.standing, number)
    made = await plan_of(service, caller.club, number, unit, fresh=fresh)
    now = caller.club.standing
    text = now.name if number is None else f"{now.name} {now.evenings[number - 1].on}"
    shown = tuple(one for one in made.plan.payments if sees_books(caller) or own in (one.payer, one.payee))
    return _Planned(caller, made.entry, unit, text[: wire_types.NAME_MAX], made.plan, shown)


async def _codes(service: Service, made: _Planned, payments: tuple[Payment, ...]) -> list[str | None]:
    """What the code of each payment holds; ``None`` where there is none, or it is not the caller's to know."""
    if made.currency not in CODES:
        return [None] * len(payments)
    club = made.caller.club
    payees = {None if one.payee == CLUB else one.payee for one in payments if made.may_make(one)}
    numbers = await service.member_names.numbers_of(club, payees)
    members = {one: club.standing.members[one - 1] for one in payees if one is not None}
    names = await service.member_names.names_of(club, members) if made.currency == "EUR" else {}

    def code(payment: Payment) -> str | None:
        payee = None if payment.payee == CLUB else payment.payee
        known = numbers.get(payee, Numbers())
        name = club.standing.name if payee is None else names.get(members[payee].name) if payee in members else None
        try:
            if made.currency == "SEK":
                return known.swish and payable.swish(known.swish, payment.amount, made.text)
            return known.iban and name and payable.epc(name, known.iban, payment.amount, made.text)
        except ValueError:  # more than one payment can be, or a name in which no letter is
            return None

    return [code(one) if made.may_make(one) else None for one in payments]
