"""The call that exports a club's books."""

from datetime import date, timedelta
from typing import Annotated, NamedTuple
from uuid import UUID

from litestar import get
from litestar.params import PathParameter, QueryParameter
from msgspec import Meta, field
from sqlalchemy import Connection

from api.access.clubs import ClubCaller, must_see_books
from api.http.describe import KEY, Text, described
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply
from api.http.threads import in_long_thread
from api.money.ledger_access import (
    Day,
    EntryFields,
    FromDay,
    InCurrency,
    ToDay,
    ask_the_books,
    currency_of,
    must_be_period,
    names_by_member,
)
from api.runtime.call import ApiCall
from api.runtime.service import Service
from projections.exports import EXPORTS
from projections.journal import Journal, in_currency
from projections.ledger import Ledger
from referee import wire_types
from referee.actors import Actor
from referee.clubs.facts import TRIAL_MAX, Account, Currencies, Ref, Trial, day_of
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.value import Value

KIND = "^(hledger|beancount|sie|csv|json)$"
LAST_DAY = date.max - timedelta(days=1)
"""Latest last day of a file, because some formats name the day after it."""


class AccountFiled(Value):
    """An account of the journal."""

    account: Account
    name: Ref | None
    """Name of the member; null: an account of the club, an erased name, or names not requested."""


class EntryFiled(EntryFields):
    """An entry of the journal. Its postings add up to 0."""

    by: Actor
    """Actor who sent the act, or whose event entered the match's result."""
    text: wire_types.Note
    """Text of the entry, or empty."""


class JournalFiled(Value):
    """A club's journal: ``opening`` plus the postings of ``entries`` is ``closing``."""

    club: wire_types.Name
    """Name of the club."""
    currencies: Currencies
    """Currencies of the file."""
    first: Annotated[Day, Meta(description="First day.")] = field(name="from")
    last: Annotated[Day, Meta(description="Last day.")] = field(name="to")
    made: Day
    """Day of the export, in the club's timezone."""
    accounts: Annotated[tuple[AccountFiled, ...], wire_types.at_most(TRIAL_MAX)]
    """Accounts of the club, then of members with a balance or posting."""
    opening: Trial
    """Balances before the first day."""
    entries: Annotated[tuple[EntryFiled, ...], wire_types.at_most(wire_types.ENTRIES_MAX)]
    """Entries in order of number."""
    closing: Trial
    """Balances after the last day."""


@get(
    "/clubs/{club:uuid}/export/{kind:str}",
    operation_id="get_export",
    summary="Export the books as a file",
    description="Returns the entries of some days, with the balances before and after, as a file: `hledger` (also "
    "for ledger), `beancount`, `sie` (SIE 4I, one currency), `csv` or `json`. The file has numbers instead of the "
    "names of members, unless `names` is true. 422 if those days have no entry. Requires `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=JournalFiled,
        others={
            "text/plain": Text("File for hledger, ledger, beancount or, in CP437, SIE.", begins=""),
            "text/csv": Text("A row for each posting.", begins='"entry",'),
        },
        headers=("Content-Disposition",),
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def export_books(
    request: ApiCall,
    club_id: ClubId,
    kind: Annotated[
        str, PathParameter(description="Format of the file.", schema_extra={"pattern": KIND, "maxLength": 9})
    ],
    first: FromDay = None,
    last: ToDay = None,
    currency: InCurrency = None,
    names: Annotated[bool, QueryParameter(description="True: the file has the names of members.")] = False,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    export = EXPORTS.get(kind)
    if export is None:
        raise Problem("no_such_export", allowed=list(EXPORTS))
    must_be_period(first, last)
    unit = currency_of(caller, currency) if currency is not None or export.one_currency else None
    part = _Part(first, last, unit, await _unerased_names(service, caller) if names else {})

    def read(connection: Connection, _: UUID) -> Journal:
        return _journal(service.projections.ledger, connection, caller.club, part)

    journal = await ask_the_books(service, caller.club, read, fresh=fresh)
    body = await in_long_thread(export.write, journal)
    name = f"{journal.first}--{journal.last}{export.suffix}"
    headers = PRIVATE | {"Content-Disposition": f'attachment; filename="{name}"'}
    return await marked_reply(request, body, NO_TEXTS, headers=headers, media_type=export.media_type)


class _Part(NamedTuple):
    """The part of the books in a file, and the names by member. ``None``: all days or currencies."""

    first: date | None
    last: date | None
    currency: str | None
    names: dict[int, Ref]


async def _unerased_names(service: Service, caller: ClubCaller) -> dict[int, Ref]:
    """Return the unerased names by member; none for the operator."""
    members = caller.club.state.members
    names = await names_by_member(service, caller, range(1, len(members) + 1))
    return {number: name for number, name in names.items() if name != members[number - 1].name}


def _journal(ledger: Ledger, connection: Connection, club: Club, part: _Part) -> Journal:
    """Return the part of the books. Raises ``Problem`` (422 empty_period) if it has no entry."""
    low, high = ledger.numbers_of_days(connection, club.id, part.first, part.last)
    entries = tuple(ledger.read(connection, club.id, after=low - 1, to=high))
    if not any(part.currency in (None, entry.currency) for entry in entries):
        raise Problem("empty_period")
    state = club.state
    journal = Journal(
        club=state.name,
        currencies=state.currencies,
        first=part.first or entries[0].date,
        last=min(part.last or entries[-1].date, LAST_DAY),
        made=day_of(utc_now(), state.timezone),
        opening=ledger.balances_at(connection, club.id, low - 1),
        entries=entries,
        closing=ledger.balances_at(connection, club.id, high),
        names=part.names,
        sie=state.sie,
    )
    return journal if part.currency is None else in_currency(journal, part.currency)
