"""The plan that settles a club's debts."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from api.http.threads import in_long_thread
from api.money.ledger_access import ask_the_books
from api.runtime.service import Service
from projections.journal import Balance
from projections.plan import Plan, plan
from referee.clubs.commands import PaySent, PlannedPayment
from referee.clubs.facts import member_of
from referee.store.club import Club


class ClubPlan(NamedTuple):
    """A plan, and the number of the last entry at the planning."""

    entry: int
    plan: Plan


async def plan_of(
    service: Service, club: Club, evening: int | None, currency: str, *, fresh: bool = False
) -> ClubPlan:
    """Return the plan for an evening, or for all entries (``None``). Raises what :func:`ask_the_books` raises."""
    ledger = service.projections.ledger

    def read(connection: Connection, club_id: UUID) -> tuple[int, tuple[Balance, ...]]:
        if evening is None:
            return ledger.balances_now(connection, club_id, currency)
        last = ledger.last_number(connection, club_id)
        return last, ledger.sums_of_evening(connection, club_id, evening, last, currency)

    entry, found = await ask_the_books(service, club, read, fresh=fresh)
    owed = {member: one.amount for one in found if (member := member_of(one.account)) is not None}
    purpose = f"{club.id}\n{evening or 'all'}\n{currency}"
    return ClubPlan(entry, await in_long_thread(plan, owed, purpose))


async def planned_payment(service: Service, club: Club, sent: PaySent) -> PlannedPayment | None:
    """Return the payment with the id ``sent.plan``. Raises what :func:`ask_the_books` raises.

    ``None``: the plan does not list it, or the club pays or is paid.
    """
    currency = sent.currency or club.state.currencies[0]
    made = await plan_of(service, club, sent.evening, currency)
    for one in made.plan.payments:
        if one.id == sent.plan and one.payer is not None and one.payee is not None:
            return PlannedPayment(payer=one.payer, payee=one.payee, amount=one.amount)
    return None
