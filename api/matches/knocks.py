"""Knocks on the table, and the case files that they leave."""

from typing import Annotated
from uuid import UUID

from litestar import get, post
from litestar.params import QueryParameter
from sqlalchemy import Connection

from api.access.tokens import must_be_seat, required_token
from api.access.tried import tries
from api.http.asked import more
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE, TOKEN, described
from api.http.headers import Req, header, held, language_of, tag_in
from api.http.params import NUMBER_MAX, CaseNumber, MatchId, MinVersion
from api.http.problems import Problem, rule_page
from api.http.replies import PRIVATE, Reply, encode, not_modified, of_match
from api.http.writes import expected_by, key_of, replayed
from api.matches.cases import Case, case_of, ruling_seen
from api.reading import long_reply
from api.service import match_of, service_of
from referee import told
from referee.acts import Knock
from referee.events import KnockUpheld, PenaltyImposed, Recorded
from referee.sentences import Language
from referee.store.desk import Command

KNOCK: Body[Knock] = Body(Knock)
LIMIT_MAX = 1000


def fine_in(events: tuple[Recorded, ...], ruling: Recorded) -> int:
    """What a dismissed knock cost the knocker."""
    if isinstance(ruling.event, KnockUpheld):
        return 0
    return sum(one.event.points for one in events if isinstance(one.event, PenaltyImposed))


@post(
    "/matches/{match:uuid}/knocks",
    operation_id="send_knock",
    summary="Knock",
    description="A knock on the table: `accused` did something wrong. It is judged at once from what the match has "
    "recorded. Without `offence` the referee looks for the oldest that stands open.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        body=Knock,
        gives=Case,
        status=201,
        says="The ruling.",
        headers=("ETag", "Location", "Content-Language", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_knock(request: Req, match: MatchId) -> Reply:
    """Knocks."""
    service, token = service_of(request), required_token(request)
    key, expected, knock = key_of(request), expected_by(request), await KNOCK.read(request)
    viewer, held = await service.holder(match, token)
    tries(request, match, viewer, knock)
    must_be_seat(viewer, knock.seat)
    outcome = await service.do(Command(id=match, actor=viewer, request=knock, key=key, expected=expected, token=held))
    language = language_of(header(request, b"accept-language"))
    ruling, version = outcome.events[0], outcome.events[-1].originator_version
    fine = fine_in(outcome.events, ruling)
    seen = ruling_seen(ruling, viewer, public=False)
    case = case_of(match_of(outcome.aggregate), seen, ruling.originator_version, fine, version, language)
    headers = {"Location": f"/v1/matches/{match}/knocks/{case.case}", **_ruled_by(case)}
    headers |= {"ETag": tag_in(version, language), **_in(language), **replayed(outcome)}
    return of_match(case, version, status=201, headers=headers)


def _in(language: Language) -> dict[str, str]:
    return PRIVATE | {"Content-Language": language, "Vary": "Authorization, Accept-Language"}


def _ruled_by(case: Case) -> dict[str, str]:
    """Where the rule is."""
    page = rule_page(case.rule)
    return {"Link": f'<{page}>; rel="describedby"'} if page else {}


@get(
    "/matches/{match:uuid}/knocks",
    operation_id="list_knocks",
    summary="All case files",
    description="The knocks of the match with their rulings, in order, as the caller may see them. While there are "
    'more the header `Link` says where (`rel="next"`, RFC 8288).',
    tags=["Knocks"],
    operation_class=described(
        gives=Annotated[tuple[Case, ...], told.at_most(LIMIT_MAX)],
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def list_knocks(
    request: Req,
    match: MatchId,
    after: Annotated[int, QueryParameter(ge=0, le=NUMBER_MAX, description="Only cases after this number.")] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=LIMIT_MAX, description="How many at most.")] = 100,
    min_version: MinVersion = 0,
) -> Reply:
    """All case files."""
    service = service_of(request)
    seen, viewer = await service.seen(request, match, min_version)
    book, language = service.books.cases, language_of(header(request, b"accept-language"))
    tag, headers = tag_in(seen.version, language), _in(language)
    if has := held(request, tag):
        return not_modified(has, headers)

    def read_page(connection: Connection, match_id: UUID) -> tuple[bytes, dict[str, str]]:
        if after > (last := book.last(connection, match_id)):
            raise Problem("no_such_case", last=last)
        found = book.answer(connection, match_id, viewer, after, limit + 1)
        cases = [case_of(seen, one.ruling, one.event, one.fine, seen.version, language) for one in found[:limit]]
        if len(found) <= limit:
            return encode(cases), {}
        return encode(cases), more(request, after=cases[-1].case, limit=limit)

    page, link = await service.books.ask_of(book, match, seen.version, read_page)
    return await long_reply(request, page, tag, headers=headers | link)


@get(
    "/matches/{match:uuid}/knocks/{case:int}",
    operation_id="get_knock",
    summary="One case file",
    description="A knock and its ruling: by which rule, who pays, which events it rests on, and why.",
    tags=["Knocks"],
    operation_class=described(
        gives=Case,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_knock(request: Req, match: MatchId, case: CaseNumber, min_version: MinVersion = 0) -> Reply:
    """One case file."""
    service = service_of(request)
    seen, viewer = await service.seen(request, match, min_version)
    book, language = service.books.cases, language_of(header(request, b"accept-language"))
    tag, headers = tag_in(seen.version, language), _in(language)

    def read(connection: Connection, match_id: UUID) -> Case:
        last = book.last(connection, match_id)
        if not 1 <= case <= last:
            raise Problem("no_such_case", last=last)
        found = book.answer(connection, match_id, viewer, case - 1, 1)
        if found[0].ruling.case != case:  # an act was taken back by it
            raise Problem("no_such_case", last=last)
        return case_of(seen, found[0].ruling, found[0].event, found[0].fine, seen.version, language)

    answer = await service.books.ask_of(book, match, seen.version, read)
    if has := held(request, tag):
        return not_modified(has, headers)
    return await long_reply(request, encode(answer), tag, headers=headers | _ruled_by(answer))
