"""The calls for the plan of payments and their QR codes."""

from typing import Annotated, Literal, NamedTuple

from litestar import get
from litestar.params import PathParameter, QueryParameter
from msgspec import Meta, field

from api.access.clubs import ClubCaller, must_have, must_see_books, sees_books
from api.http.describe import KEY, Text, described, header_parameter
from api.http.headers import preferred_media_type
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.problems import Problem
from api.http.replies import JSON, PRIVATE, SVG, Reply, encode
from api.http.threads import in_long_thread
from api.money.ledger_access import OneCurrency, currency_of
from api.money.plan_source import plan_of
from api.runtime.call import ApiCall
from api.runtime.member_names import Numbers, may_see_payment_numbers
from api.runtime.service import Service
from projections import payable
from projections.journal import decimal
from projections.plan import Node, Payment, Plan
from referee import wire_types
from referee.clubs.lookup import evening_of
from referee.value import Value

CODES = {"SEK": ("swish", payable.SWISH_AMOUNT_MAX), "EUR": ("iban", payable.EPC_AMOUNT_MAX)}
"""The payment number that a code needs, and the maximum amount in minor units, by currency."""
SwishCode = Annotated[
    str,
    Meta(
        description="Content of a QR code for Swish: number, amount and text, which the payer cannot change.",
        examples=["C0701234567;5,00;Knackarna;0"],
        extra_json_schema={"pattern": "^C[0-9]{10};[0-9]{1,12},[0-9]{2};[A-Za-z0-9%._~-]*;0$", "maxLength": 400},
    ),
]
EpcCode = Annotated[
    str,
    Meta(
        description="Content of a QR code for a SEPA credit transfer in a bank's app: EPC069-12, version 002.",
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
    """Id of the payment, constant while the plan lists it: `plan` of `pay`."""
    payer: Node = field(name="from")
    payee: Node = field(name="to")
    amount: wire_types.Money
    """Minor units."""
    text: wire_types.Name
    """Text for the payee."""
    swish: SwishCode | None
    """Content of the QR code for kronor; null: none, or hidden from the caller."""
    epc: EpcCode | None
    """Content of the QR code for euros; null: none, or hidden from the caller."""


class PlanSeen(Value):
    """The payments that settle debts in one currency."""

    entry: wire_types.EntryCount
    """Number of the club's last entry at the planning."""
    payments: Annotated[tuple[PaymentPlanned, ...], wire_types.at_most(wire_types.MEMBERS_MAX)]
    """Payments by payer and payee, the club last. Without `audit` or `treasury`, only the caller's payments."""
    count: wire_types.Tally
    """Number of payments."""
    minimal: bool | None
    """True: no plan has fewer payments; false: unknown; null: only the caller's payments are shown."""
    groups: wire_types.Tally | None
    """Number of groups whose debts cancel within the group; null: only the caller's payments are shown."""


class PaymentCode(Value):
    """The QR code of a planned payment, for a client that draws it."""

    payload: Annotated[
        str, Meta(extra_json_schema={"pattern": "^(C[0-9]{10};|BCD\n002\n1\nSCT\n)", "maxLength": 400})
    ]
    """Content of the code, in the plan `swish` or `epc`: UTF-8 without a designator of the encoding (ECI)."""
    error_correction: Literal["M"]
    """Level of error correction."""
    quiet_zone: wire_types.Tally
    """Light modules on each side of the code."""
    title: wire_types.Sentence
    """Amount, currency and text of the payment, for people who cannot see the code."""


@get(
    "/clubs/{club:uuid}/plan",
    operation_id="get_plan",
    summary="Plan the payments that settle all debts",
    description="Returns the fewest payments found that settle the debts from all entries or one evening's. "
    "The club pays or receives the amounts that members cannot settle among themselves. After a payment a member "
    "sends `pay` with the `id` as `plan` and, for an evening's plan, the `evening`; repetitions make only one "
    "proposal. For payments to or from the club the treasurer sends `deposit` or `payout`. Requires `audit` or "
    "`treasury`; with a different key a member sees only their own payments.\n\n"
    "If `set_payee` or `set_club_payee` has set a number for the payee, `swish` or `epc` is the content of a QR code "
    "for a bank's app. Keys with `treasury` or `keys` see it, and the payer and the payee. If the payee is the club, "
    "all keys that list the payment see it. `plan/{id}` draws the code.",
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
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    made = await _visible_plan(service, caller, evening, currency, fresh=fresh)
    whole, payments = made.plan, made.payments
    codes = await _qr_contents(service, made, payments)
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
    "/clubs/{club:uuid}/plan/{payment:str}",
    operation_id="get_payment_code",
    summary="Get the QR code of a payment",
    description="Returns the QR code of a planned payment: SEK for Swish, EUR for banks' apps that read EPC069-12. "
    "The answer is JSON with what a client needs to draw it; `Accept: image/svg+xml` gets the picture, black on "
    "white. Send the `evening` and `currency` of the plan. Requires a key that sees the content in the plan. "
    "404 if the plan does not list the payment (any more), 409 if the payee has set no number.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=PaymentCode,
        others={SVG: Text("A picture, in modules of four pixels.", begins="<svg ")},
        takes=(header_parameter("Accept", "`application/json` or `image/svg+xml`.", example=SVG),),
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def get_payment_code(
    request: ApiCall,
    club_id: ClubId,
    payment_id: Annotated[
        str,
        PathParameter(
            name="payment",
            description="`id` of the payment in the plan.",
            schema_extra={"pattern": "^[0-9a-f]{16}$", "maxLength": 16},
        ),
    ],
    evening: Evening = "all",
    currency: OneCurrency = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    made = await _visible_plan(service, caller, evening, currency, fresh=fresh)
    payment = next((one for one in made.payments if one.id == payment_id), None)
    if payment is None:
        raise Problem("no_such_payment")
    if not made.sees_payee_number(payment):
        must_have(caller, "treasury")
    if made.currency not in CODES:
        raise Problem("no_code_in_currency", currency=made.currency, allowed=list(CODES))
    number, most = CODES[made.currency]
    if payment.amount > most:
        raise Problem("beyond_code", most=decimal(most), currency=made.currency)
    (payload,) = await _qr_contents(service, made, (payment,))
    if payload is None:
        raise Problem("payee_without_number", payee=payment.payee, needs=number)
    title = f"{decimal(payment.amount)} {made.currency}, {made.text}"
    return await _code_reply(request, payload, title)


async def _code_reply(request: ApiCall, payload: str, title: str) -> Reply:
    """Return a code as JSON, or as a picture if the client prefers it."""
    kind = preferred_media_type(request.accepted, (JSON, SVG)) or JSON
    if kind == SVG:
        body = (await in_long_thread(payable.svg, payload, title)).encode()
    else:
        content = PaymentCode(
            payload=payload,
            error_correction=payable.ERROR_CORRECTION,
            quiet_zone=payable.QUIET_ZONE,
            title=title,
        )
        body = encode(content)
    headers = PRIVATE | {"Vary": "Authorization, Accept"}
    return await marked_reply(request, body, NO_TEXTS, headers=headers, media_type=kind)


class _VisiblePlan(NamedTuple):
    """A plan, and the payments that the caller may see."""

    caller: ClubCaller
    entry: int
    currency: str
    text: str
    plan: Plan
    payments: tuple[Payment, ...]

    def sees_payee_number(self, payment: Payment) -> bool:
        return may_see_payment_numbers(self.caller, payment.payee) or _is_among(self.caller.member, payment.payer)


def _is_among(member: int | None, *nodes: Node) -> bool:
    """Return whether the member is one of the nodes; False for ``None``, which as a node means the club."""
    return member is not None and member in nodes


async def _visible_plan(
    service: Service, caller: ClubCaller, evening: str, currency: str | None, *, fresh: bool
) -> _VisiblePlan:
    """Return the plan with the payments that the caller may see: all, or only their own.

    Raises ``Problem`` (403) for a program without `treasury` or `audit`, ``AgainstTheClub`` for an unknown evening
    or currency, and what :func:`plan_of` raises.
    """
    own = caller.member
    must_see_books(caller, own)
    unit = currency_of(caller, currency)
    number = None if evening == "all" else int(evening)
    if number is not None:
        evening_of(caller.club.state, number)
    made = await plan_of(service, caller.club, number, unit, fresh=fresh)
    state = caller.club.state
    text = state.name if number is None else f"{state.name} {state.evenings[number - 1].on}"
    shown = tuple(one for one in made.plan.payments if sees_books(caller) or _is_among(own, one.payer, one.payee))
    return _VisiblePlan(caller, made.entry, unit, text[: wire_types.NAME_MAX], made.plan, shown)


async def _qr_contents(service: Service, made: _VisiblePlan, payments: tuple[Payment, ...]) -> list[str | None]:
    """Return each payment's QR code as text; ``None`` if it is impossible or hidden from the caller."""
    if made.currency not in CODES:
        return [None] * len(payments)
    club = made.caller.club
    payees = {one.payee for one in payments if made.sees_payee_number(one)}
    numbers = await service.member_names.numbers_of(club, payees)
    members = {one: club.state.members[one - 1] for one in payees if one is not None}
    names = await service.member_names.names_of(club, members) if made.currency == "EUR" else {}

    def code(payment: Payment) -> str | None:
        payee = payment.payee
        known = numbers.get(payee, Numbers())
        name = club.state.name if payee is None else names.get(members[payee].name) if payee in members else None
        try:
            if made.currency == "SEK":
                return known.swish and payable.swish(known.swish, payment.amount, made.text)
            return known.iban and name and payable.epc(name, known.iban, payment.amount, made.text)
        except ValueError:  # the amount is too large, or the name has no visible character
            return None

    return [code(one) if made.sees_payee_number(one) else None for one in payments]
