"""What is said and ruled in a case."""

from typing import Annotated, Any
from uuid import UUID

from litestar import post
from litestar.params import QueryParameter
from msgspec.structs import replace

from api.access.caller import Caller
from api.cases.case import Case, appealable, case_of, entries_of, in_language, ruled_by
from api.cases.entries import entries_to
from api.http.bodies import Body
from api.http.describe import IDEMPOTENCY_KEY, IF_MATCH, LANGUAGE, TOKEN, described
from api.http.headers import tag_in, tag_of
from api.http.params import CaseNumber, MatchId
from api.http.problems import Problem
from api.http.replies import PRIVATE, Reply, encode, of_match
from api.http.threads import in_long_thread
from api.http.writes import replayed
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
    """Who opened a case withdraws it."""

    seat: SeatSent | None = None
    """Who opened it; null or left out: an official."""


class Preview(Value):
    """What a ruling would come to if it were given now. Nothing is stored."""

    version: Version
    """The match as it stands."""
    case: Case
    """The case as it would be."""
    events: wire_types.Many[EventSeen]
    """What would happen, in order; what is left to chance is not told before it has happened."""
    protocol: Protocol
    """The protocol as it would stand: lines that are corrected, with what they `was`, those that are `struck`, the
    points, and who would have won."""


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


def _fields(sent: Any) -> dict[str, Any]:
    return {name: getattr(sent, name) for name in sent.__struct_fields__}


async def _heard(
    request: ApiCall, service: Service, match_id: UUID, case: int, caller: Caller, asked: Request
) -> Reply:
    """Has a request decided and stored, and answers with the case after it."""
    key, expected = request.idempotency_key, request.expected_version
    outcome = await service.commands.do(caller.command(match_id, asked, key=key, expected=expected))
    match, texts = await service.member_names.named(match_of(outcome.aggregate), caller.texts)
    version = outcome.events[-1].originator_version
    language, at = request.language, utc_now()
    entries = await entries_to(service, match, case, version, caller)
    told_of = case_of(match, entries, version, language, at)
    tag = tag_in(version, language, *(() if outcome.repeated else appealable(match, at)))
    headers = {"ETag": tag, **in_language(language), **replayed(outcome), **ruled_by(told_of)}
    return of_match(told_of, version, texts, status=201, headers=headers)


@post(
    "/matches/{match:uuid}/knocks/{case:int}/statements",
    operation_id="state_in_case",
    summary="Make a statement",
    description="A seat says how it was, while the case waits for a ruling. What it says last counts. When who would "
    "pay agrees, or of a wrong line all others do, the referee rules at once (J2); what changes a line of the "
    "protocol, when the deal under way is over (J9). The text is the writer's and the officials' until then.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=StatementSent, says="Said; the case after it.", **WRITES),
)
async def state_in_case(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    """Makes a statement."""
    service = request.service
    shown = request.must_show()
    sent = await STATEMENT.read(request)
    asked = Statement(case=case, **_fields(sent))
    _, caller = await service.access.acts(request, match_id, shown, asked)
    await service.reader.match_with_case(match_id, case)
    return await _heard(request, service, match_id, case, caller, asked)


@post(
    "/matches/{match:uuid}/knocks/{case:int}/withdrawal",
    operation_id="withdraw_case",
    summary="Withdraw a case",
    description="By who opened it, while it waits for its first ruling and no knock of another seat has joined it.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=WithdrawalSent, says="Withdrawn; the case after it.", **WRITES),
)
async def withdraw_case(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    """Withdraws a case."""
    service = request.service
    shown = request.must_show()
    sent = await WITHDRAWAL.read(request)
    asked = Withdrawal(case=case, seat=sent.seat)
    _, caller = await service.access.acts(request, match_id, shown, asked)
    await service.reader.match_with_case(match_id, case)
    return await _heard(request, service, match_id, case, caller, asked)


@post(
    "/matches/{match:uuid}/knocks/{case:int}/appeal",
    operation_id="appeal_ruling",
    summary="Appeal",
    description="A party that the ruling went against asks for another official, once and before `appeal_until` "
    "(J7). An upheld knock is appealed by the accused or the payer, a dismissed one by the player who knocked. The "
    "line of a deal is appealed by a seat that did not get what it said and is not better off. The referee's own "
    "rulings can be appealed, too. An official who "
    "finds an error in the ruling that he gave last opens the case again, without `seat` and at any time (J10).",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(body=AppealSent, says="Appealed; the case after it.", **WRITES),
)
async def appeal_ruling(request: ApiCall, match_id: MatchId, case: CaseNumber) -> Reply:
    """Appeals."""
    service = request.service
    shown = request.must_show()
    sent = await APPEAL.read(request)
    asked = Appeal(case=case, **_fields(sent))
    _, caller = await service.access.acts(request, match_id, shown, asked)
    await service.reader.match_with_case(match_id, case)
    return await _heard(request, service, match_id, case, caller, asked)


@post(
    "/matches/{match:uuid}/knocks/{case:int}/ruling",
    operation_id="rule_on_case",
    summary="Rule on a case",
    description="By an official who has not ruled on it, who finds what happened and names the rule; the game says "
    "the price (J3). `remedy` says what else follows. With `preview` it is only told what would follow.\n\n"
    "A deal that stands in the protocol is scored anew, and all that hung on it (J9): with the price before its "
    "score, or as `remedy.result` tells it, in the form of the act `result` of any tally; where that cannot be, "
    "`facts.at` in the problem is the place in it. This is done between two deals or after the last (409 "
    "`deal-under-way`), and when the correction time is over only beyond reasonable doubt (J8). Where the end of a "
    "later deal hung on the number (409 `line-hangs`), `remedy.strike` names it. What an earlier ruling on the case "
    "had corrected counts no more: the last ruling counts.",
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
    preview: Annotated[bool, QueryParameter(description="Only say what would follow.")] = False,
) -> Reply:
    """Rules on a case."""
    service = request.service
    shown = request.must_show()
    sent = await RULING.read(request)
    asked = Ruling(case=case, **_fields(sent))
    # A preview would change nothing, so with it nothing is tried.
    _, caller = await service.access.acts(request, match_id, shown, asked, noted=not preview)
    match = await service.reader.match_with_case(match_id, case)
    _must_be_rule(match, sent.rule)
    await _must_be_ruled(service, match, sent.precedents)
    if preview:
        caller.must_not_be_held_back()
        named, texts = await service.member_names.named(match, caller.texts)
        return await _preview(request, service, named, replace(caller, texts=texts), asked)
    return await _heard(request, service, match_id, case, caller, asked)


def _must_be_rule(match: Match, rule: str) -> None:
    """422 for a rule that neither the game nor the procedure has."""
    for book in (match.opened.ruleset, rulebook.PROCEDURE):
        if any(entry.id == rule for entry in rulebook.load(book).entries):
            return
    raise Problem("no_such_rule", status=422, ruleset=match.opened.ruleset, rule_id=rule)


async def _must_be_ruled(service: Service, match: Match, precedents: tuple[PrecedentSent, ...]) -> None:
    """422 for an earlier ruling that there is not."""
    for place, one in enumerate(precedents):
        if not await service.reader.has_ruled(UUID(one.match), one.case, match.opened.club):
            raise Problem("no_such_precedent", at=f"/precedents/{place}", match=one.match, case=one.case)


def _foreseen(recorded: Recorded, caller: Caller) -> dict[str, Any]:
    """An event that has not happened: its row has no place in the chain."""
    told_of = event_seen(recorded, caller, public=False)
    return {name: value for name, value in told_of.items() if name not in ("digest", "prev")}


async def _preview(request: ApiCall, service: Service, match: Match, caller: Caller, asked: Ruling) -> Reply:
    expected, at, actor = request.expected_version, utc_now(), caller.acting
    if expected is not None and expected != match.version:
        raise Stale(match.version)
    moment = Moment(match.version, at, "", actor)
    decided = await in_long_thread(service.desk.whole, match.version, decide, match, asked, moment)
    if decided.refused is not None:
        raise decided.refused
    made = [
        Recorded(match.id, number, at, actor, "~", "", "", event)
        for number, event in enumerate(decided.events, match.version + 1)
        if not isinstance(event, ShuffleCommitted)  # which comes last, and of a seed that there is not yet
    ]
    entries = await entries_to(service, match, asked.case, match.version, caller)
    told_entries = entries_of(made, asked.case, caller, match.version + len(made))
    language, book = request.language, service.projections.protocols
    sheet = await service.projections.ask_of(
        book, match.id, match.version, lambda connection, match_id: book.foreseen(connection, match_id, made)
    )
    if sheet is None or sheet.version != match.version + len(made):
        raise Busy  # somebody has acted meanwhile
    answer = {
        "protocol": replace(sheet, players=match.opened.players),
        "version": match.version,
        "case": case_of(match, (*entries, *told_entries), match.version, language, at),
        "events": [_foreseen(one, caller) for one in made],
    }
    body = await in_long_thread(encode, answer)  # which is as long as the protocol
    return Reply(body, caller.texts, headers={"ETag": tag_of(match.version), **PRIVATE, **in_language(language)})
