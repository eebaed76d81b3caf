"""The call that returns a statement of account."""

from datetime import date
from operator import attrgetter
from typing import Annotated, NamedTuple
from uuid import UUID

import msgspec
from litestar import get
from litestar.params import PathParameter
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.docs.pages import policy_of_kind
from api.http.describe import KEY, LANGUAGE, Text, described, header_parameter
from api.http.headers import preferred_media_type
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.pages import LIMIT, Cursor, Limit, after_of, next_link, page_by_number
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.replies import CSV, HTML, JSON, PRIVATE, Reply, encode
from api.money import statements
from api.money.ledger_access import (
    FromDay,
    OneCurrency,
    ToDay,
    ask_the_books,
    currency_of,
    must_be_account,
    must_be_period,
    names_by_member,
)
from api.money.statements import Checkpointed, Statement, StatementLine
from api.runtime.call import ApiCall
from api.runtime.proofs import last_signed_or_none
from projections.ledger import Ledger
from projections.ledger.tables import Line
from referee.clubs.facts import ACCOUNT, Account, EntryKind, member_of
from referee.log.notes import base64, checkpoint_in


@get(
    "/clubs/{club:uuid}/accounts/{account:str}/statement",
    operation_id="get_statement",
    summary="Get a statement of account",
    description="Returns the postings on an account in one currency, by entry number, with the balance after each. "
    "`Accept: text/csv` returns a table, `Accept: text/html` a printable page without scripts. Requires `audit` or "
    "`treasury`; a member sees their own account with any of their keys.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=Statement,
        others={
            CSV: Text(
                "A row for each posting, between two rows with the balances before and after them. The first has the "
                "kind `before`. The last has the kind `after`, or `continued` if `Link` has the address of another "
                "page.",
                begins='"entry",',
            ),
            HTML: Text("A page. It says if another page follows, and its `cursor`.", begins="<!doctype html>"),
        },
        headers=("Content-Language",),
        takes=(header_parameter("Accept", "`application/json`, `text/csv` or `text/html`.", example=CSV), LANGUAGE),
        errors=(400, 401, 403, 404, 409, 422, 503),
    ),
)
async def get_statement(
    request: ApiCall,
    club_id: ClubId,
    account: Annotated[
        str,
        PathParameter(
            description="An account: `member:5`, `cash`, `bank`, `pot`, `fees` or `opening`.",
            schema_extra={"pattern": ACCOUNT, "maxLength": 12},
        ),
    ],
    currency: OneCurrency = None,
    first: FromDay = None,
    last: ToDay = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    owner = member_of(account) if account.startswith("member:") and account[7:].isdecimal() else None
    must_see_books(caller, owner)
    account, unit = must_be_account(caller, account), currency_of(caller, currency)
    must_be_period(first, last)
    names = await names_by_member(service, caller, () if owner is None else (owner,))
    signed = await last_signed_or_none(service)
    checkpoint = None if signed is None else checkpoint_in(signed.note)
    part = _Part(account, unit, after_of(cursor), first, last, limit)

    def read(connection: Connection, club_id: UUID) -> _Lines:
        return _lines(service.projections.ledger, connection, club_id, part)

    found = await ask_the_books(service, caller.club, read, fresh=fresh)
    statement = Statement(
        club=caller.club.state.name,
        account=account,
        name=None if owner is None else names.get(owner),
        currency=unit,
        before=found.balance_before,
        items=found.lines,
        after=found.balance_after,
        next=found.next,
        checkpoint=None if checkpoint is None else Checkpointed(size=checkpoint.size, root=base64(checkpoint.root)),
    )
    return await _negotiated_reply(request, statement)


class _Part(NamedTuple):
    """The postings to return."""

    account: Account
    currency: str
    after_entry: int
    first: date | None
    last: date | None
    limit: int


class _Lines(NamedTuple):
    """Postings, balances in minor units, and the cursor of the next page."""

    lines: tuple[StatementLine, ...]
    balance_before: int
    balance_after: int
    next: str | None


def _lines(ledger: Ledger, connection: Connection, club_id: UUID, part: _Part) -> _Lines:
    """Return the postings of ``part``. Without postings, both balances are the balance after the last day."""
    account, currency, after_entry, first, last, limit = part
    found = ledger.statement(
        connection, club_id, account, currency, after=after_entry, first=first, last=last, limit=limit + 1
    )
    page = page_by_number(found, limit, attrgetter("number"))
    lines = tuple(map(_statement_line, page.items))
    if lines:
        return _Lines(lines, lines[0].balance - lines[0].amount, lines[-1].balance, page.next)
    _, to = ledger.numbers_of_days(connection, club_id, None, last)
    balance = ledger.balance(connection, club_id, account, currency, before=to + 1)
    return _Lines(lines, balance, balance, page.next)


async def _negotiated_reply(request: ApiCall, statement: Statement) -> Reply:
    """Return JSON, CSV or HTML, as the client prefers."""
    kind = preferred_media_type(request.accepted, (JSON, CSV, HTML)) or JSON
    language = request.language
    headers = PRIVATE | {"Vary": "Authorization, Accept, Accept-Language"}
    if kind == HTML:
        body = statements.page(statement, language)
        headers |= {"Content-Language": language, "Content-Security-Policy": policy_of_kind("statement")}
    else:
        body = statements.csv(statement) if kind == CSV else encode(statement)
    headers |= next_link(request, statement.next)
    return await marked_reply(request, body, NO_TEXTS, headers=headers, media_type=kind)


def _statement_line(line: Line) -> StatementLine:
    kind = msgspec.convert(line.kind, EntryKind)
    return StatementLine(**{**line._asdict(), "date": line.date.isoformat(), "kind": kind})
