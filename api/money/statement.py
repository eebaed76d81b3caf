"""The call that gives a statement of account."""

from datetime import date
from typing import Annotated, Any
from uuid import UUID

import msgspec
from litestar import get
from litestar.params import PathParameter, QueryParameter
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, LANGUAGE, Text, described, in_header
from api.http.headers import chosen, held, tag_by
from api.http.long_answers import long_reply
from api.http.member_texts import NO_TEXTS
from api.http.pages import next_link
from api.http.params import ClubId, ClubMinVersion, Fresh
from api.http.problems import Problem
from api.http.query import must_be_told
from api.http.replies import HTML, JSON, PRIVATE, Reply, encode, not_modified
from api.money import statements
from api.money.ledger_access import (
    AfterEntry,
    Lines,
    OneCurrency,
    account_in,
    ask_the_books,
    currency_of,
    names_by_member,
)
from api.money.statements import Checkpointed, Statement, StatementLine
from api.runtime.call import ApiCall
from api.runtime.proofs import signed_last
from projections.cursors import page_of
from projections.ledger.tables import Line
from referee.clubs.facts import ACCOUNT, EntryKind, member_of
from referee.log.facts import LogSigned
from referee.log.notes import base64, checkpoint_in

CSV = "text/csv"


@get(
    "/clubs/{club:uuid}/accounts/{account:str}/statement",
    operation_id="get_statement",
    summary="A statement of account",
    description="What was written on an account in one currency, by number of the entry, and what stood there after "
    "each: those after `after`, of the days `from` to `to`. With `Accept: text/csv` as a table, with "
    "`Accept: text/html` as a page without a script, to be read or printed. Of his own account a member has it with "
    "any key of his, of the others who has `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=Statement,
        others={
            CSV: Text("A row for each line.", begins='"entry",'),
            HTML: Text("A page.", begins="<!doctype html>"),
        },
        headers=("Content-Language",),
        takes=(in_header("Accept", "`application/json`, `text/csv` or `text/html`.", example=CSV), LANGUAGE),
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
    after: AfterEntry = 0,
    first: Annotated[
        date | None, QueryParameter(name="from", schema_extra={"maxLength": 10}, description="Not before this day.")
    ] = None,
    last: Annotated[
        date | None, QueryParameter(name="to", schema_extra={"maxLength": 10}, description="Not after this day.")
    ] = None,
    limit: Lines = 200,
    fresh: Fresh = False,
    min_version: ClubMinVersion = 0,
) -> Reply:
    """A statement of account."""
    must_be_told(request, **{"from": (first, date), "to": (last, date)})
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    owner = member_of(account) if account.startswith("member:") and account[7:].isdecimal() else None
    must_see_books(caller, owner)
    account, unit = account_in(caller, account), currency_of(caller, currency)
    if first is not None and last is not None and last < first:
        raise Problem("bad_period", first=first.isoformat(), last=last.isoformat())
    named = await names_by_member(service, caller, () if owner is None else (owner,))
    ledger, signed = service.projections.ledger, await signed_last(service)

    def read(connection: Connection, club_id: UUID) -> Statement:
        span: dict[str, Any] = {"after": after, "first": first, "last": last}
        found = ledger.statement(connection, club_id, account, unit, **span, limit=limit + 1)
        page = page_of(found, limit, lambda last: last.number)
        lines = tuple(map(_line, page.entries))
        if lines:
            before, end = lines[0].balance - lines[0].amount, lines[-1].balance
        else:
            _, to = ledger.days(connection, club_id, None, last)
            before = end = ledger.balance(connection, club_id, account, unit, before=to + 1)
        return Statement(
            club=caller.club.standing.name,
            account=account,
            name=None if owner is None else named.get(owner),
            currency=unit,
            before=before,
            lines=lines,
            after=end,
            next=page.next,
            checkpoint=None if signed is None else checkpointed(signed),
        )

    statement = await ask_the_books(service, caller.club, read, fresh=fresh)
    kind = chosen(request.accepted, (JSON, CSV, HTML)) or JSON
    language = request.language
    headers = PRIVATE | {"Vary": "Authorization, Accept, Accept-Language"}
    if kind == HTML:
        body = statements.page(statement, language)
        headers |= {"Content-Language": language, "Content-Security-Policy": statements.policy()}
    else:
        body = statements.csv(statement) if kind == CSV else encode(statement)
    headers |= next_link(request, statement.next, by="after")
    tag = tag_by(body)
    if has := held(request, tag, NO_TEXTS):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, NO_TEXTS, headers=headers, media_type=kind)


def checkpointed(signed: LogSigned) -> Checkpointed:
    """What a statement names of a checkpoint."""
    says = checkpoint_in(signed.note)
    return Checkpointed(size=says.size, root=base64(says.root))


def _line(line: Line) -> StatementLine:
    kind = msgspec.convert(line.kind, EntryKind)
    return StatementLine(**{**line._asdict(), "date": line.date.isoformat(), "kind": kind})
