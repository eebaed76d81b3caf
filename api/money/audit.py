"""The call that audits a club's books."""

from functools import partial
from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.http.describe import KEY, LANGUAGE, Text, described, in_header
from api.http.headers import chosen, held, tag_by
from api.http.long_answers import long_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion
from api.http.problems import Problem
from api.http.replies import HTML, JSON, PRIVATE, Reply, encode, not_modified
from api.http.threads import in_long_thread, in_thread
from api.money import audit_page, audit_texts
from api.money.audit_report import Audit, audited
from api.money.ledger_access import ask_the_books, names_by_member
from api.runtime.call import ApiCall
from api.runtime.signer import stored_log
from projections.audit.tree import Signed


@get(
    "/clubs/{club:uuid}/audit",
    operation_id="get_audit",
    summary="The audit of a club's books",
    description="All that the books say, reckoned anew from the rows of the log and held against them: a trial "
    "balance of both, and what each check has found, with its place and in a sentence (`Accept-Language`: `en` or "
    "`sv`). Beside it what an auditor asks for: matches that are not over, proposals that wait, reversals, keys, and "
    "how much has come since the last closing. By name: who issued, rotated and revoked each key, and who changed "
    "settings and payment numbers, erased members and closed the books; what one person did alone; acts of two "
    "persons of whom one invited the other, or whom the same person invited; and who confirmed the stakes of a match "
    "for others, or invited them to it. `attempts` lists who asked for the officials' view of a match with a key or "
    "token that a member who played in it held or gave. With `Accept: text/html` as a page "
    "without a script, to be read or printed. It reads every row of the log, and takes as long. With `audit` or "
    "`treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=Audit,
        others={HTML: Text("A page.", begins="<!doctype html>")},
        headers=("Content-Language",),
        takes=(in_header("Accept", "`application/json` or `text/html`.", example=HTML), LANGUAGE),
        errors=(400, 401, 403, 404, 409, 503),
    ),
)
async def get_audit(request: ApiCall, club_id: ClubId, min_version: ClubMinVersion = 0) -> Reply:
    """The audit of a club's books."""
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    books, language = service.projections, request.language
    standing = await in_thread(stored_log, service.desk)
    last = standing.standing.last if standing else None
    signed = None if last is None else Signed(last.size, last.root)
    head = await in_thread(books.head)

    def come(_: Connection, club_id: UUID) -> UUID:
        return club_id

    await ask_the_books(service, caller.club, come, fresh=True)
    await books.catch_up(books.tree)
    at = books.follower.positions()
    to = min(at[books.ledger.name], at[books.tree.name])
    if to < head:
        raise Problem("books_behind", headers={"Retry-After": "1"})
    members = await names_by_member(service, caller, range(1, len(caller.club.standing.members) + 1))
    found = await in_long_thread(
        audited,
        books,
        service.names,
        caller.club.id,
        to,
        signed,
        partial(audit_texts.sentence, language=language),
        members,
    )
    kind = chosen(request.accepted, (JSON, HTML)) or JSON
    headers = PRIVATE | {"Vary": "Authorization, Accept, Accept-Language", "Content-Language": language}
    if kind == HTML:
        body = audit_page.page(found, language)
        headers |= {"Content-Security-Policy": audit_page.policy()}
    else:
        body = encode(found)
    tag = tag_by(body)
    if has := held(request, tag, NO_TEXTS):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, NO_TEXTS, headers=headers, media_type=kind)
