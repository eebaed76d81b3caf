"""The call that lists account balances."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, described
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, must_be_cursor, page_reply
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.replies import Reply, encode
from api.money.ledger_access import InCurrency, ask_the_books, currency_of, names_by_member
from api.runtime.call import ApiCall
from projections.cursors import Page, page_of, read_cursor
from projections.journal import Balance
from referee import wire_types
from referee.clubs.facts import Account, Ref, member_of
from referee.clubs.lookup import evening_of
from referee.value import Value


class AccountSeen(Value):
    """The balance of an account in one currency."""

    account: Account
    currency: wire_types.Currency
    balance: wire_types.Money
    """Minor units. A member's debt, like any debit, is above zero."""
    to_receive: wire_types.Money | None
    """`balance` with the opposite sign: above zero for a debt of the club; null: an account of the club."""
    name: Ref | None
    """Name of the member; null: an account of the club."""


class AccountPage(Value):
    """A page of the balances of a club."""

    entry: wire_types.EntryCount
    """Number of the last entry in the balances: `at`, but at most the club's last entry."""
    items: Annotated[tuple[AccountSeen, ...], wire_types.at_most(LIMIT_MAX)]
    """Balances by currency and account. In each currency the balances of all pages add up to 0."""
    next: wire_types.Cursor | None


@get(
    "/clubs/{club:uuid}/accounts",
    operation_id="list_accounts",
    summary="List the account balances of a club",
    description="Returns the balance of each account that has postings: now, or after the entry `at`. With `evening` "
    "it returns the sums of that evening's postings. The `Link` to the next page sends the page's `entry` as `at`, "
    "so that no page includes later entries. If you send `cursor` yourself, send `at` too. `fresh` waits for "
    "matches that have just ended. Requires `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(gives=AccountPage, errors=(400, 401, 403, 404, 409, 422, 503)),
)
async def list_accounts(
    request: ApiCall,
    club_id: ClubId,
    currency: InCurrency = None,
    at: Annotated[
        int | None,
        QueryParameter(
            ge=0,
            le=wire_types.ENTRIES_MAX,
            schema_extra={"minimum": 0},
            description="Balances after this entry.",
        ),
    ] = None,
    evening: Annotated[
        int | None, QueryParameter(ge=1, le=wire_types.MEMBERS_MAX, description="Only entries of this evening.")
    ] = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    unit = None if currency is None else currency_of(caller, currency)
    if evening is not None:
        evening_of(caller.club.state, evening)
    ledger = service.projections.ledger

    def read(connection: Connection, club_id: UUID) -> tuple[int, tuple[Balance, ...]]:
        if at is None and evening is None:
            return ledger.balances_now(connection, club_id, unit)
        last = ledger.last_number(connection, club_id)
        to = last if at is None else min(at, last)
        if evening is None:
            return to, ledger.balances_at(connection, club_id, to, unit, with_zeros=True)
        return to, ledger.sums_of_evening(connection, club_id, evening, to, unit)

    entry, found = await ask_the_books(service, caller.club, read, fresh=fresh)
    page = _page_after(found, cursor, limit)
    whose = [(one, member_of(one.account)) for one in page.items]
    names = await names_by_member(service, caller, (member for _, member in whose if member is not None))
    seen = tuple(
        AccountSeen(
            account=one.account,
            currency=one.currency,
            balance=one.amount,
            to_receive=None if member is None else -one.amount,
            name=None if member is None else names.get(member),
        )
        for one, member in whose
    )
    shown = AccountPage(entry=entry, items=seen, next=page.next)
    return await page_reply(request, encode(shown), page.next, NO_TEXTS, at=entry)


def _page_after(balances: Sequence[Balance], cursor: str | None, limit: int) -> Page[Balance]:
    """Return the page after a cursor. Raises ``Problem`` (400) for a malformed cursor or one of a different list."""
    with must_be_cursor():
        after = ("", "") if cursor is None else read_cursor(cursor, tuple[str, str])
    found = [one for one in balances if (one.currency, one.account) > after]
    return page_of(found, limit, attrgetter("currency", "account"))
