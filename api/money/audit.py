"""The call that audits a club's books."""

from functools import partial
from uuid import UUID

from litestar import get
from sqlalchemy import Connection

from api.access.clubs import must_see_books
from api.docs.pages import policy_of_kind
from api.http.describe import KEY, LANGUAGE, Text, described, header_parameter
from api.http.headers import preferred_media_type
from api.http.long_answers import marked_reply
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion
from api.http.problems import Problem
from api.http.replies import HTML, JSON, PRIVATE, Reply, encode
from api.http.threads import in_long_thread, in_thread
from api.money import audit_page, audit_texts
from api.money.audit_report import Audit, audit_books
from api.money.ledger_access import ask_the_books, names_by_member
from api.runtime.call import ApiCall
from api.runtime.signer import stored_log
from projections.audit.tree import Checkpoint


@get(
    "/clubs/{club:uuid}/audit",
    operation_id="get_audit",
    summary="Audit a club's books",
    description="Calculates the books again from the rows of the log, and compares the two. Returns a trial balance "
    "of both, and the differences that each check found, each with its place and a sentence (`Accept-Language`: "
    "`en` or `sv`). Also lists unfinished matches, waiting proposals, reversals and keys, and counts the entries "
    "since the last closing. Names the persons who issued, rotated and revoked each key, changed settings and "
    "payment numbers, erased members, and closed the books. Lists acts that one person did alone, acts of two "
    "related persons (one invited the other, or a third person invited both), and stakes that one person confirmed "
    "for other members or invited them to. `attempts` lists requests for the officials' view of a match by a key or "
    "token that a player of that match held or gave. `Accept: text/html` returns a printable page without scripts. "
    "The call reads every row of the log, which takes time. Requires `audit` or `treasury`.",
    tags=["Money"],
    security=KEY,
    operation_class=described(
        gives=Audit,
        others={HTML: Text("A page.", begins="<!doctype html>")},
        headers=("Content-Language",),
        takes=(header_parameter("Accept", "`application/json` or `text/html`.", example=HTML), LANGUAGE),
        errors=(400, 401, 403, 404, 409, 503),
    ),
)
async def get_audit(request: ApiCall, club_id: ClubId, min_version: ClubMinVersion = 0) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    must_see_books(caller)
    books, language = service.projections, request.language
    log = await in_thread(stored_log, service.desk)
    last = log.state.last if log else None
    signed = None if last is None else Checkpoint(last.size, last.root)
    head = await in_thread(books.head)

    def nothing(_: Connection, __: UUID) -> None:
        """Read nothing, because the call only waits for the ledger."""

    await ask_the_books(service, caller.club, nothing, fresh=True)
    await books.catch_up(books.tree)
    at = books.follower.positions()
    to = min(at[books.ledger.name], at[books.tree.name])
    if to < head:
        raise Problem("books_behind", headers={"Retry-After": "1"})
    members = await names_by_member(service, caller, range(1, len(caller.club.state.members) + 1))
    found = await in_long_thread(
        audit_books,
        books,
        service.names,
        caller.club.id,
        to,
        signed,
        partial(audit_texts.sentence, language=language),
        members,
    )
    kind = preferred_media_type(request.accepted, (JSON, HTML)) or JSON
    headers = PRIVATE | {"Vary": "Authorization, Accept, Accept-Language", "Content-Language": language}
    if kind == HTML:
        body = audit_page.page(found, language)
        headers |= {"Content-Security-Policy": policy_of_kind("statement")}
    else:
        body = encode(found)
    return await marked_reply(request, body, NO_TEXTS, headers=headers, media_type=kind)
