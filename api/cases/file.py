"""The operation that returns the file of a case."""

from collections.abc import Iterable

from litestar import get
from msgspec.structs import replace

from api.cases.case import Case, case_of, language_headers
from api.cases.documents import CaseFile, Draft, file_of, read_draft
from api.cases.entries import read_entries
from api.cases.pages import page_of
from api.docs.pages import policy_of_kind
from api.http.describe import LANGUAGE, TOKEN, Text, described, header_parameter
from api.http.headers import matching_etag, prefers, tag_of_body
from api.http.long_answers import long_reply
from api.http.params import CaseNumber, MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import HTML, JSON, Reply, encode, not_modified
from api.http.threads import in_long_thread, in_thread
from api.runtime.call import ApiCall
from api.runtime.service import Service
from projections.cases import Listed
from projections.visibility import Sight
from referee.officials.events.cases import CaseRuled
from referee.sentences import Language
from referee.store.clock import utc_now
from referee.store.match import Match
from referee.tokens import encrypt_or_decrypt
from referee.visibility import Viewer


def _must_be_official_or_party(case: Case, viewer: Viewer) -> None:
    """Raise Problem (403 for_parties) for other viewers. In a case about a wrong line all seats are parties."""
    if viewer == "official" or (isinstance(viewer, int) and case.kind == "entry"):
        return
    knocked = [said.seat for said in case.statements if said.knocked]
    if viewer not in (case.seat, *knocked, case.accused, case.payer):
        raise Problem("for_parties", case=case.case)


def _file_and_tag(
    drafted: Draft, earlier: Iterable[tuple[Listed, CaseRuled]], viewer: Viewer, language: Language, as_page: bool
) -> tuple[bytes, str]:
    """Return the file as JSON or a page, and its ETag: a hash, because rulings on other cases change the file."""
    file = file_of(drafted, earlier, viewer, language, utc_now())
    body = encode(file)
    tag = tag_of_body(encode(replace(file, made_at=drafted.match.changed_at)) + HTML.encode() * as_page)
    return page_of(file, language) if as_page else body, tag


async def _sight_of_first_official(service: Service, match: Match) -> Sight:
    """Return the sight of the match's first official; without officials, an empty one."""
    secret = await in_thread(lambda: service.referee.secret)
    tokens = encrypt_or_decrypt(secret, match.id, match.opened.dockets)
    return Sight(credential_sha256=tokens[0] if tokens else None)


@get(
    "/matches/{match:uuid}/knocks/{knock:int}/file",
    operation_id="get_case_file",
    summary="Get the file of a case",
    description="Returns one document with everything that an official needs to rule on a case. It has the "
    "agreed and disputed claims of the seats, the events of the deal and of the case, the text of each cited "
    "rule, and earlier rulings by the same rules. Each event has links to itself and to the match after the event. "
    "While the case waits, an official also gets a form with the consequences of each verdict and the price of "
    "each offence. Nothing is stored.\n\n"
    "Officials see the whole file. Parties see it without the form and without hidden fields. Parties are the seats "
    "that knocked, are accused or pay; for a wrong line, all seats. Auditors see it without the form when the deal "
    "is over. Other callers get 403 `for-parties`. With `Accept: text/html` the "
    "answer is an HTML page without JavaScript, for reading and printing.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        gives=CaseFile,
        others={HTML: Text("The file as a page.", begins="<!doctype html>")},
        headers=("Content-Language",),
        takes=(header_parameter("Accept", "`application/json` or `text/html`.", example=HTML), LANGUAGE),
        errors=(400, 401, 403, 404, 409, 503),
    ),
)
async def get_case_file(request: ApiCall, match_id: MatchId, case: CaseNumber, min_version: MinVersion = 0) -> Reply:
    service = request.service
    request.require_credential()
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    caller.must_not_be_held_back()
    language, as_page = request.language, prefers(request.accepted, HTML)
    entries = await read_entries(service, match, case, match.version, caller)
    # The match is read again, because the projection may have newer events.
    if (last := entries[-1].event) > match.version:
        match, caller = await service.access.identify_viewer(request, match_id, last)
    viewer = caller.deal_viewer(entries[0].event <= match.public_to)
    at = utc_now()
    the_case = case_of(match, entries, match.version, language, at)
    _must_be_official_or_party(the_case, viewer)
    drafted = await in_long_thread(
        service.desk.run_on_history, match.version, read_draft, match, the_case, caller.without_texts, language, at
    )
    # Other viewers use the first official's sight, because they have none.
    official = caller.viewer == "official"
    sight, within = (caller.sight, None) if official else (await _sight_of_first_official(service, match), match.id)
    cases = service.projections.cases
    earlier = await service.projections.ask_of(
        cases,
        match.id,
        match.version,
        lambda connection, match_id: cases.earlier(
            connection, sight, drafted.cited, caller.viewer, match=within, except_case=(match_id, case)
        ),
    )
    matches = {match.id, *(one.match for one, _ in earlier)}
    texts = caller.texts._replace(resolver=service.member_names.texts_in_all(matches).resolver)
    body, tag = await in_long_thread(_file_and_tag, drafted, earlier, viewer, language, as_page)
    headers = language_headers(language) | {"Vary": "Authorization, Accept, Accept-Language"}
    if as_page:
        headers |= {"Content-Security-Policy": policy_of_kind("case")}
    if has := matching_etag(request, tag, texts):
        return not_modified(has, headers)
    return await long_reply(request, body, tag, texts, headers=headers, media_type=HTML if as_page else JSON)
