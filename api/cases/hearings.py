"""Records statements, withdrawals, appeals and rulings in a case."""

from collections.abc import Callable
from typing import Annotated, Any
from uuid import UUID

from litestar import post
from litestar.params import QueryParameter
from msgspec.structs import replace

from api.access.caller import Caller
from api.cases.case import Case, appealable_tag, case_of, entries_of, language_headers, rule_link
from api.cases.entries import entries_up_to
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE, TOKEN, described
from api.http.headers import tag_in_language, tag_of
from api.http.params import CaseNumber, MatchId
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode, versioned_reply
from api.http.threads import in_long_thread
from api.http.writes import replay_headers
from api.matches.schemas import EventSeen, event_seen
from api.runtime.aggregate_reader import match_of
from api.runtime.call import ApiCall
from api.runtime.service import Service
from projections.protocols import Protocol
from referee import rulebook, wire_types
from referee.officials.events.shuffle import ShuffleCommitted
from referee.requests import (
    Appeal,
    AppealSent,
    PrecedentSent,
    Request,
    Ruling,
    RulingSent,
    Statement,
    StatementSent,
    Withdrawal,
)
from referee.ruleset import Moment
from referee.store.clock import utc_now
from referee.store.command import Busy, Stale
from referee.store.match import Match
from referee.store.whole import decide
from referee.value import SeatSent, Value, Version
from referee.visibility import Recorded


class WithdrawalSent(Value, forbid_unknown_fields=True):
    """The withdrawal of a case by its opener."""

    seat: SeatSent | None = None
    """Seat that opened the case; null or left out: an official."""


class Preview(Value):
    """The consequences that a ruling would have now."""

    version: Version
    case: Case
    """Case after the ruling."""
    events: wire_types.Many[EventSeen]
    """Events of the ruling, in order, without commitments to seeds."""
    protocol: Protocol
    """Protocol after the ruling, with `was` and `struck` for lines that it changes."""


STATEMENT: Body[StatementSent] = Body(StatementSent)
WITHDRAWAL: Body[WithdrawalSent] = Body(WithdrawalSent)
APPEAL: Body[AppealSent] = Body(AppealSent)
RULING: Body[RulingSent] = Body(RulingSent)
ERRORS = (400, 401, 403, 404, 409, 412, 413, 415, 422, 503)
WRITES: dict[str, Any] = {
    "gives": Case,
    "status": 201,
    "headers": ("ETag", "Link", "Content-Language", "Idempotency-Replayed"),
    "takes": (IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE),
    "errors": ERRORS,
}


def _fields_by_name(sent: Any) -> dict[str, Any]:
    return {name: getattr(sent, name) for name in sent.__struct_fields__}


async def _read_and_record(
    request: ApiCall, match_id: UUID, case: int, body: Body[Any], request_class: Callable[..., Request]
) -> Reply:
    """Record a request of ``request_class`` made from the body, and return the case after it.

    Raises Problem for an invalid body, a missing case or a caller without the right, and what :func:`_record` raises.
    """
    shown = request.require_credential()
    case_request = request_class(case=case, **_fields_by_name(await body.read(request)))
    _, caller = await request.service.access.identify_actor(request, match_id, shown, case_request)
    await request.service.reader.match_with_case(match_id, case)
    return await _record(request, match_id, case, caller, case_request)


async def _record(request: ApiCall, match_id: UUID, case: int, caller: Caller, case_request: Request) -> Reply:
    """Store a request and return the case after it. Raises what :meth:`Commands.do` raises."""
    service, key, expected = request.service, request.idempotency_key, request.expected_version
    outcome = await service.commands.do(caller.command(match_id, case_request, key=key, expected=expected))
    match, texts = await service.member_names.with_names(match_of(outcome.aggregate), caller.texts)
    version = outcome.events[-1].originator_version
    language, at = request.language, utc_now()
    entries = await entries_up_to(service, match, case, version, caller)
    decided = case_of(match, entries, version, language, at)
    tag = tag_in_language(version, language, *(() if outcome.repeated else appealable_tag(match, at)))
    headers = {"ETag": tag, **language_headers(language), **replay_headers(outcome), **rule_link(decided)}
    return versioned_reply(decided, version, texts, status=201, headers=headers)


@post(
    "/matches/{match:uuid}/knocks/{knock:int}/statements",
    operation_id="state_in_case",
    summary="Record a statement in a case",
    description="Records a statement of a seat while the case waits for a ruling, and returns the case. The last "
    "statement of each seat counts. The referee rules at once when the seat that would pay agrees; for a wrong "
    "line or a misclick, when all other seats agree (J2, J11). A ruling that changes the protocol waits until the "
    "deal under way is over (J9). Until that deal is over, only the writer and the officials see the text. 409 if "
    "the case does not wait for a ruling.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=StatementSent, says="Said; the case after it.", **WRITES),
)
async def state_in_case(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    return await _read_and_record(request, match_id, case, STATEMENT, Statement)


@post(
    "/matches/{match:uuid}/knocks/{knock:int}/withdrawal",
    operation_id="withdraw_case",
    summary="Withdraw a case",
    description="Withdraws a case and returns it. Only its opener may do this (else 403). The case must still "
    "wait for its first ruling, and no knock of a different seat may have joined it (else 409).",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=WithdrawalSent, says="Withdrawn; the case after it.", **WRITES),
)
async def withdraw_case(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    return await _read_and_record(request, match_id, case, WITHDRAWAL, Withdrawal)


@post(
    "/matches/{match:uuid}/knocks/{knock:int}/appeal",
    operation_id="appeal_ruling",
    summary="Appeal a ruling",
    description="Records an appeal to a different official and returns the case. The party that lost may appeal "
    "once, before `appeal_until` (J7): the accused or the payer if the knock was upheld, the players who knocked "
    "if it was dismissed. In a case about a line, the opener and the seats that agreed may appeal a dismissal; "
    "the seats that do not gain by it may appeal a ruling that upholds the case. The opener may appeal a "
    "ruling that upholds the case only if it does more than the opener asked for. The referee's own rulings can be "
    "appealed too. Other callers get 403, late appeals 409.\n\n"
    "An official who finds an error in their own last ruling opens the case again, without `seat` and at any "
    "time (J10).",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=AppealSent, says="Appealed; the case after it.", **WRITES),
)
async def appeal_ruling(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    return await _read_and_record(request, match_id, case, APPEAL, Appeal)


@post(
    "/matches/{match:uuid}/knocks/{knock:int}/ruling",
    operation_id="rule_on_case",
    summary="Rule on a case",
    description="Records the ruling of an official and returns the case. The official must not have ruled on it "
    "before, except after finding an error in their own ruling (J10). The ruling says what happened and names the "
    "rule; the game sets the price (J3). `remedy` has further "
    "consequences. With `preview` nothing is stored: the answer has the consequences that the ruling would have.\n\n"
    "A deal that is already in the protocol is scored again, with all that depends on it (J9): with the price "
    "added before its score, or with `remedy.result` in the form of a tally's act `result`. If that result is "
    "impossible, `facts.at` in the problem shows where. Such a ruling is possible between two deals or after the "
    "last (else 409 `deal-under-way`). After the correction time it must be beyond reasonable doubt (J8). If the "
    "end of a later deal depended on the changed number (409 `line-hangs`), name that deal in `remedy.strike`. "
    "The last ruling on a case counts: corrections by earlier ones no longer apply.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        body=RulingSent,
        says="Ruled; the case after it.",
        beside={200: ("With `preview`: what would follow.", Preview)},
        **WRITES,
    ),
)
async def rule_on_case(
    request: ApiCall,
    match_id: MatchId,
    case: CaseNumber,
    preview: Annotated[bool, QueryParameter(description="Only return the consequences, without a ruling.")] = False,
) -> Reply:
    service = request.service
    shown = request.require_credential()
    sent = await RULING.read(request)
    ruling = Ruling(case=case, **_fields_by_name(sent))
    _, caller = await service.access.identify_actor(request, match_id, shown, ruling, noted=not preview)
    match = await service.reader.match_with_case(match_id, case)
    _must_be_known_rule(match, sent.rule)
    await _must_be_citable(service, match, sent.precedents)
    if preview:
        caller.must_not_be_held_back()
        named, texts = await service.member_names.with_names(match, caller.texts)
        return await _preview(request, service, named, replace(caller, texts=texts), ruling)
    return await _record(request, match_id, case, caller, ruling)


def _must_be_known_rule(match: Match, rule: str) -> None:
    """Raise Problem (422) if neither the game nor the procedure has this rule."""
    ruleset = match.opened.ruleset
    if not any(entry.id == rule for key in (ruleset, rulebook.PROCEDURE) for entry in rulebook.load(key).entries):
        raise Problem("no_such_rule", status=422, ruleset=ruleset, rule_id=rule)


async def _must_be_citable(service: Service, match: Match, precedents: tuple[PrecedentSent, ...]) -> None:
    """Raise Problem (422) for a precedent that has no ruling or is hidden from this match's club."""
    for place, one in enumerate(precedents):
        if not await service.reader.has_ruled(UUID(one.match), one.case, match.opened.club):
            raise Problem("no_such_precedent", at=f"/precedents/{place}", match=one.match, case=one.case)


def _preview_event(recorded: Recorded, caller: Caller, act_number: int) -> dict[str, Any]:
    """Return an event of a preview, without hashes."""
    shown = event_seen(recorded, caller, public=False, act_number=act_number)
    return {name: value for name, value in shown.items() if name not in ("digest", "prev")}


async def _preview(request: ApiCall, service: Service, match: Match, caller: Caller, ruling: Ruling) -> Reply:
    """Return the consequences of a ruling.

    Raises ``Refused`` if the match refuses it, ``Stale`` for another version in ``If-Match``, ``Busy`` if an event
    was stored meanwhile.
    """
    expected, at, actor = request.expected_version, utc_now(), caller.required_actor
    if expected is not None and expected != match.version:
        raise Stale(match.version)
    moment = Moment(match.version, at, "", actor)
    decided = await in_long_thread(service.desk.run_on_history, match.version, decide, match, ruling, moment)
    if decided.refused is not None:
        raise decided.refused
    made = [
        Recorded(match.id, number, at, actor, "~", "", "", event)
        for number, event in enumerate(decided.events, match.version + 1)
        if not isinstance(event, ShuffleCommitted)  # because its seed does not exist yet
    ]
    entries = await entries_up_to(service, match, ruling.case, match.version, caller)
    new_entries = entries_of(made, ruling.case, caller, match.version + len(made))
    language, protocols = request.language, service.projections.protocols
    sheet = await service.projections.ask_of(
        protocols,
        match.id,
        match.version,
        lambda connection, match_id: protocols.with_events(connection, match_id, made),
        threads=in_long_thread,
    )
    if sheet is None or sheet.version != match.version + len(made):
        raise Busy
    answer = {
        "protocol": replace(sheet, players=match.opened.players),
        "version": match.version,
        "case": case_of(match, (*entries, *new_entries), match.version, language, at),
        "events": [_preview_event(one, caller, match.version + 1) for one in made],
    }
    # The answer is encoded in a thread, because a protocol may be long.
    body = await in_long_thread(encode, answer)
    return Reply(body, caller.texts, headers={"ETag": tag_of(match.version), **PRIVATE, **language_headers(language)})
