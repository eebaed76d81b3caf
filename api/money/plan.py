"""Settling up: as few payments as can be."""

from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from msgspec import field
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, described
from api.http.headers import Req
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.replies import Reply, encode
from api.money.asking import OneCurrency, ask_the_books, currency_of
from api.reading import marked_reply
from api.service import service_of
from api.threads import in_long_thread
from projections.journal import Balance
from projections.plan import Node, plan
from referee import told
from referee.clubs.facts import member_of
from referee.clubs.lookup import evening_of
from referee.value import Value


class PaymentPlanned(Value):
    """A payment of the plan."""

    id: told.Digest
    """The same as long as the same payment is proposed: what `pay` names as `plan`."""
    payer: Node = field(name="from")
    payee: Node = field(name="to")
    amount: told.Money
    """Minor units."""
    text: told.Name
    """What to write with it."""


class PlanSeen(Value):
    """Payments after which nobody owes anything."""

    entry: told.EntryCount
    """As the books stand after this entry."""
    payments: Annotated[tuple[PaymentPlanned, ...], told.at_most(told.MEMBERS_MAX)]
    """By payer and payee, the club last."""
    count: told.Tally
    """How many payments."""
    minimal: bool
    """Whether fewer will not do: for many people that cannot be found out."""
    groups: told.Tally
    """How many groups of members, and the club, are even among themselves."""


@get(
    "/clubs/{club:uuid}/plan",
    operation_id="get_plan",
    summary="Who pays whom",
    description="As few payments as settle what members owe and are to receive: by the entries of one evening, or by "
    "all. The club pays, or is paid, what members cannot settle among themselves. What was paid is told by `pay`, "
    "with the `id` as its `plan` and, in the plan of an evening, that `evening`; what the club paid or was "
    "paid by `payout` and `deposit`. With `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=PlanSeen, errors=(400, 401, 403, 404, 409, 422, 503)),
)
async def get_plan(
    request: Req,
    club: ClubId,
    evening: Annotated[
        str,
        QueryParameter(
            description="The number of an evening, or `all`.",
            pattern="^(all|[1-9][0-9]{0,4})$",
            max_length=5,
        ),
    ] = "all",
    currency: OneCurrency = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """Who pays whom."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    must_see_books(caller)
    unit = currency_of(caller, currency)
    if evening != "all":
        evening_of(caller.club.standing, int(evening))
    ledger = service.books.ledger

    def read(connection: Connection, club_id: UUID) -> tuple[int, tuple[Balance, ...]]:
        if evening == "all":
            return ledger.balances_now(connection, club_id, unit)
        last = ledger.last(connection, club_id)
        return last, ledger.sums_of_evening(connection, club_id, int(evening), last, unit)

    entry, found = await ask_the_books(service, caller, read, fresh=fresh)
    owed = {member: one.amount for one in found if (member := member_of(one.account)) is not None}
    made = await in_long_thread(plan, owed, f"{club}\n{evening}\n{unit}")
    name = caller.club.standing.name
    text = name if evening == "all" else f"{name} {caller.club.standing.evenings[int(evening) - 1].on}"
    payments = tuple(
        PaymentPlanned(id=one.id, payer=one.payer, payee=one.payee, amount=one.amount, text=text[: told.NAME_MAX])
        for one in made.payments
    )
    seen = PlanSeen(entry=entry, payments=payments, count=len(payments), minimal=made.minimal, groups=made.groups)
    return await marked_reply(request, encode(seen))
