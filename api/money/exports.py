"""A club's books as files for other programs."""

from datetime import date, timedelta
from typing import Annotated
from uuid import UUID

from litestar import get
from litestar.params import PathParameter, QueryParameter
from msgspec import Meta, field
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, Text, described
from api.http.headers import held, tag_by
from api.http.long_answers import long_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.problems import Problem
from api.http.query import must_be_told
from api.http.replies import PRIVATE, Reply, not_modified
from api.http.threads import in_long_thread
from api.money.ledger_access import Day, EntrySeen, InCurrency, ask_the_books, currency_of, names_by_member
from api.runtime.call import ApiCall
from projections.exports import EXPORTS
from projections.journal import Journal, in_currency
from referee import wire_types
from referee.clubs.facts import TRIAL_MAX, Account, Currencies, Ref, Trial, day_of
from referee.store.clock import utc_now
from referee.value import Value

KIND = "^(hledger|beancount|sie|csv|json)$"
LAST_DAY = date.max - timedelta(days=1)
"""Of a file: some speak of the day after."""


class AccountFiled(Value):
    """An account of the journal."""

    account: Account
    name: Ref | None
    """Whose account it is, where names were asked for; null: it is not told, or the club's own."""


class EntryFiled(EntrySeen):
    """An entry of the journal."""

    text: wire_types.Note
    """What was said of it; empty: nothing."""


class JournalFiled(Value):
    """A club's journal over some days: ``opening`` plus what the ``entries`` post gives ``closing``."""

    club: wire_types.Name
    """What the club is called."""
    currencies: Currencies
    """Those that the file is about."""
    first: Annotated[Day, Meta(description="The first of the days.")] = field(name="from")
    last: Annotated[Day, Meta(description="The last of the days.")] = field(name="to")
    made: Day
    """When the file was made, on the club's clock."""
    accounts: Annotated[tuple[AccountFiled, ...], wire_types.at_most(TRIAL_MAX)]
    """The club's own, and then those of the members who have something to do with these days."""
    opening: Trial
    """What stood on the accounts before."""
    entries: Annotated[tuple[EntryFiled, ...], wire_types.at_most(wire_types.ENTRIES_MAX)]
    """By number."""
    closing: Trial
    """What stands on the accounts after them."""


@get(
    "/clubs/{club:uuid}/export/{kind:str}",
    operation_id="get_export",
    summary="The books as a file",
    description="The entries of some days for another program, with what stood on the accounts before and after: "
    "`hledger` (ledger reads it as well), `beancount`, `sie` (SIE 4I, one currency a file), `csv` or `json`. Members "
    "stand in it by number unless `names`. 422 where those days have no entry. With `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=JournalFiled,
        others={
            "text/plain": Text("For hledger, ledger, beancount or, in CP437, programs that read SIE.", begins=""),
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
        str, PathParameter(description="For which program.", schema_extra={"pattern": KIND, "maxLength": 9})
    ],
    first: Annotated[
        date | None,
        QueryParameter(name="from", schema_extra={"maxLength": 10}, description="The first day; left out: of all."),
    ] = None,
    last: Annotated[
        date | None,
        QueryParameter(name="to", schema_extra={"maxLength": 10}, description="The last day; left out: of all."),
    ] = None,
    currency: InCurrency = None,
    names: Annotated[bool, QueryParameter(description="Whether to tell the names of members.")] = False,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """The books as a file."""
    must_be_told(request, **{"from": (first, date), "to": (last, date)})
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    export = EXPORTS.get(kind)
    if export is None:
        raise Problem("no_such_export", allowed=list(EXPORTS))
    if first is not None and last is not None and last < first:
        raise Problem("bad_period", first=first.isoformat(), last=last.isoformat())
    now = caller.club.standing
    one = currency_of(caller, currency) if currency is not None or export.one_currency else None
    asked = range(1, len(now.members) + 1) if names else ()
    known = {
        number: name
        for number, name in (await names_by_member(service, caller, asked)).items()
        if name != now.members[number - 1].name  # of who is erased there is no name, only what stands on record
    }
    made = day_of(utc_now(), now.timezone)
    ledger = service.projections.ledger

    def read(connection: Connection, club_id: UUID) -> Journal:
        low, high = ledger.days(connection, club_id, first, last)
        entries = tuple(ledger.read(connection, club_id, after=low - 1, to=high))
        if not any(one in (None, entry.currency) for entry in entries):
            raise Problem("empty_period")
        whole = Journal(
            club=now.name,
            currencies=now.currencies,
            first=first or entries[0].date,
            last=min(last or entries[-1].date, LAST_DAY),
            made=made,
            opening=ledger.balances_at(connection, club_id, low - 1),
            entries=entries,
            closing=ledger.balances_at(connection, club_id, high),
            names=known,
            sie=now.sie,
        )
        return whole if one is None else in_currency(whole, one)

    journal = await ask_the_books(service, caller.club, read, fresh=fresh)
    body = await in_long_thread(export.write, journal)
    name = f"{journal.first}--{journal.last}{export.suffix}"
    headers = PRIVATE | {"Content-Disposition": f'attachment; filename="{name}"'}
    tag = tag_by(body)
    if has := held(request, tag, NO_TEXTS):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, NO_TEXTS, headers=headers, media_type=export.media_type)
