"""Records a knock, and lists and returns the cases of a match."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Annotated, ClassVar, Literal, get_type_hints
from uuid import UUID

from litestar import get, post
from msgspec import Meta
from sqlalchemy import Connection

from api.access.caller import Caller
from api.cases.case import Case, appealable_tag, case_of, entries_of, language_headers, rule_link
from api.cases.entries import entries_up_to, read_entries
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE, TOKEN, described
from api.http.faults import Fault, type_of
from api.http.headers import matching_etag, tag_in_language
from api.http.long_answers import long_reply
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, after_of, next_link, page_by_number
from api.http.params import CaseNumber, MatchId, MinVersion
from api.http.problems import Problem
from api.http.replies import Reply, encode, not_modified, versioned_reply
from api.http.writes import replay_headers
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from referee import wire_types
from referee.actors import is_official
from referee.acts import Knock, Note, Offence, Result
from referee.events import KnockDismissed, KnockUpheld
from referee.officials.events.cases import CaseOpened, CaseStated
from referee.requests import NumberSent, OpenCase
from referee.store.clock import utc_now
from referee.value import CaseKind, SeatSent, Value


class KnockSent(Value, forbid_unknown_fields=True, tag_field="act", tag="knock"):
    """A knock on the table: ``seat`` says that ``accused`` broke a rule."""

    SCHEMA: ClassVar[str] = "Knock"
    seat: SeatSent | None = None
    """Seat that knocks; null or left out: an official."""
    accused: SeatSent | None = None
    """Accused seat; null or left out with `entry` and `misclick`."""
    offence: (
        Annotated[
            Offence | Literal["entry", "misclick"],
            Meta(
                title="Knocked",
                description="An offence, `entry` for a wrong line of the protocol, or `misclick` to take back the "
                "last act although not all players agreed (J11).",
            ),
        ]
        | None
    ) = None
    note: Note = ""
    deal: NumberSent | None = None
    """Deal that the knock is about, with `entry` or from an official. Null or left out: the deal under way."""
    result: Result | None = None
    """Right result, with `entry` only."""


KNOCK: Body[KnockSent] = Body(KnockSent)
_TYPE_HINTS = get_type_hints(KnockSent, include_extras=True)
FIELD_TYPES = {name: type_of(_TYPE_HINTS[name]) for name in KnockSent.__struct_fields__}
REQUIRED_FIELDS: Mapping[CaseKind, tuple[str, ...]] = {"entry": ("deal", "result"), "misclick": ()}
"""Required fields by kind, except for offences. A player must also send ``seat``."""
FORBIDDEN_FIELDS: Mapping[CaseKind, tuple[str, ...]] = {
    "entry": ("accused",),
    "misclick": ("accused", "deal", "result"),
}


def _kind_and_offence(sent: KnockSent) -> tuple[CaseKind, Offence | None]:
    match sent.offence:
        case "entry" | "misclick" as kind:
            return kind, None
        case offence:
            return "offence", offence


def request_of(caller: Caller, sent: KnockSent, *, tally: bool) -> Knock | OpenCase:
    """Return ``Knock`` for a player's knock on an offence, else ``OpenCase``.

    Raises Problem: 422 if the fields do not fit the kind of knock, 403 if the caller may not knock for
    the seat. In a ``tally`` a seat may knock for others on an offence.
    """
    (kind, offence), official = _kind_and_offence(sent), is_official(caller.required_actor)
    if sent.seat is not None and (official or kind != "offence" or not tally):
        caller.must_be_seat(sent.seat, itself=kind != "offence")
    needs = (
        REQUIRED_FIELDS[kind] if kind != "offence" else ("accused", "offence") if official else ("seat", "accused")
    )
    missing = [name for name in needs if getattr(sent, name) is None]
    if not official and sent.seat is None and "seat" not in missing:
        missing.insert(0, "seat")
    has_no = FORBIDDEN_FIELDS[kind] if kind != "offence" else ("result",) if official else ("deal", "result")
    unknown = [name for name in has_no if getattr(sent, name) is not None]
    if missing or unknown:
        names = [name for name in FIELD_TYPES if name not in has_no]
        faults = [Fault("missing", (name,), expected=FIELD_TYPES[name], facts={"name": name}) for name in missing]
        faults += [Fault("unknown", (name,), facts={"name": name, "fields": names}) for name in unknown]
        raise Problem("unfit_knock", faults=faults)
    if not official and kind == "offence":
        assert sent.seat is not None, "missing fields are refused above"
        assert sent.accused is not None, "missing fields are refused above"
        return Knock(seat=sent.seat, accused=sent.accused, offence=offence, note=sent.note)
    return OpenCase(
        kind=kind,
        seat=sent.seat,
        accused=sent.accused,
        offence=offence,
        note=sent.note,
        deal=sent.deal,
        result=sent.result,
    )


@post(
    "/matches/{match:uuid}/knocks",
    operation_id="send_knock",
    summary="Record a knock",
    description="Records a knock, which says that `accused` broke a rule, and returns the ruling. The referee "
    "rules at once from the recorded events. In a tally the token of any seat or scribe records knocks for all "
    "seats. Without `offence` the referee looks for the oldest open breach. 422 if the fields do not fit the kind of "
    "knock.\n\n"
    "In a match with officials (`adjudication`) a knock that the events cannot decide opens a case (J1): "
    "`verdict` is `pending`, the knock costs nothing (J6), and the seats make statements until the seat that "
    "would pay agrees or an official rules. A further knock for the same error joins that case as a statement "
    "(`knocked`), and the case is returned. An official knocks with `accused` and `offence`, without `seat`.\n\n"
    "`entry` says that the line of a scored deal is wrong. `result` is the right result of the deal with all its "
    "knocks, in the form of a tally's act `result`. If it is impossible, `facts.at` in the problem shows where. "
    "The line is corrected when all other seats agree (J2, J9). `misclick` says that the last act was a mistake. "
    "That act is taken back when all other seats agree or an official rules so, if no act has followed it (J11).",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        body=KnockSent,
        gives=Case,
        status=201,
        says="The ruling, or the case that was opened or joined.",
        headers=("ETag", "Location", "Link", "Content-Language", "Idempotency-Replayed"),
        takes=(IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE),
        errors=(400, 401, 403, 404, 409, 412, 413, 415, 422, 503),
    ),
)
async def send_knock(request: ApiCall, match_id: MatchId) -> Reply:
    service = request.service
    shown = request.require_credential()
    key, expected, sent = request.idempotency_key, request.expected_version, await KNOCK.read(request)
    match, caller = await service.access.identify_actor(request, match_id, shown)
    caller.note_attempt(request, match, sent)
    knock = request_of(caller, sent, tally=match.opened.dealing == "tally")
    outcome = await service.commands.do(caller.command(match_id, knock, key=key, expected=expected))
    language, version = request.language, outcome.events[-1].originator_version
    first = outcome.events[0].event
    assert isinstance(first, KnockUpheld | KnockDismissed | CaseOpened | CaseStated), (
        "a knock makes a case or joins it"
    )
    after, texts = await service.member_names.with_names(match_of(outcome.aggregate), caller.texts)
    if isinstance(first, CaseStated):
        entries = await entries_up_to(service, after, first.case, version, caller)
    else:
        entries = entries_of(outcome.events, first.case, caller)
    case = case_of(after, entries, version, language, utc_now())
    headers = {"Location": f"/v1/matches/{match_id}/knocks/{case.case}", **rule_link(case)}
    headers |= {"ETag": tag_in_language(version, language), **language_headers(language), **replay_headers(outcome)}
    return versioned_reply(case, version, texts, status=201, headers=headers)


class KnockPage(Value):
    """A page of knocks and cases, in order of number."""

    items: Annotated[tuple[Case, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None


@get(
    "/matches/{match:uuid}/knocks",
    operation_id="list_knocks",
    summary="List the knocks and cases of a match",
    description="Returns one page of the knocks of the match with their rulings, in order, as the caller may see "
    "them.",
    tags=["Knocks"],
    operation_class=described(
        gives=KnockPage,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def list_knocks(
    request: ApiCall,
    match_id: MatchId,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    min_version: MinVersion = 0,
) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    cases, language, at = service.projections.cases, request.language, utc_now()
    after = after_of(cursor)

    def read_page(connection: Connection, match_id: UUID) -> tuple[bytes, dict[str, str]]:
        found = cases.answer(connection, match_id, caller.viewer, after, limit + 1)
        page = page_by_number(found, limit, attrgetter("case"))
        shown = tuple(case_of(match, one.entries, match.version, language, at) for one in page.items)
        return encode(KnockPage(items=shown, next=page.next)), next_link(request, page.next)

    page, link = await service.projections.ask_of(cases, match_id, match.version, read_page)
    tag = tag_in_language(match.version, language, *appealable_tag(match, at))
    headers = language_headers(language) | link
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has, headers)
    return await long_reply(request, page, tag, caller.texts, headers=headers)


@get(
    "/matches/{match:uuid}/knocks/{knock:int}",
    operation_id="get_knock",
    summary="Get a knock or a case",
    description="Returns a knock with its ruling: the rule, the payer, the events that prove the offence, and "
    "the reason. A case also has its statements. Every caller sees the texts of players and officials when the "
    "deal is over. 404 `no-such-case` if the match has no such case.",
    tags=["Knocks"],
    operation_class=described(
        gives=Case,
        headers=("Content-Language",),
        takes=(LANGUAGE,),
        errors=(400, 401, 404, 409, 503),
    ),
)
async def get_knock(request: ApiCall, match_id: MatchId, case: CaseNumber, min_version: MinVersion = 0) -> Reply:
    service = request.service
    match, caller = await service.access.identify_viewer(request, match_id, min_version)
    language, at = request.language, utc_now()
    entries = await read_entries(service, match, case, match.version, caller)
    answer = case_of(match, entries, match.version, language, at)
    tag = tag_in_language(match.version, language, *appealable_tag(match, at))
    headers = language_headers(language) | rule_link(answer)
    if has := matching_etag(request, tag, caller.texts):
        return not_modified(has, headers)
    return await long_reply(request, encode(answer), tag, caller.texts, headers=headers)
