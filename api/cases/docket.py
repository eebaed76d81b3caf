"""Lists the cases of an official in all their matches."""

from datetime import datetime
from typing import Annotated, Literal

from litestar import get
from litestar.params import QueryParameter

from api.cases.case import Status, VerdictSoFar
from api.http.describe import TOKEN, described, link
from api.http.pages import LIMIT, LIMIT_MAX, Cursor, Limit, page_reply
from api.http.params import RULE_ID, Fresh, OfRuleset
from api.http.replies import Reply, encode
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from api.runtime.list_pages import read_list_page
from projections.cases import Listed
from referee import wire_types
from referee.actors import Actor
from referee.store.clock import utc_now
from referee.value import CaseKind, EventNumber, OffenceText, RuleId, Seat, Time, Value


class CaseListed(Value):
    """A case of an official."""

    match: wire_types.MatchId
    case: wire_types.CaseNumber
    event: EventNumber
    """Event that opened the case."""
    opened_at: Time
    ruleset: RulesetSeen
    status: Status
    kind: CaseKind
    deal: wire_types.DealNumber | None
    """Deal that the case is about; null: it was decided at once."""
    by: Actor
    """Opener of the case."""
    accused: Seat | None
    """Accused seat; null: no seat is accused."""
    offence: OffenceText | None
    """Offence of the last ruling, otherwise the named offence; null: none."""
    note: wire_types.Text
    verdict: VerdictSoFar
    """Last verdict."""
    rule: RuleId | None
    """Rule of the last ruling or take-back; null: none."""
    official: Actor | None
    """Official of the last ruling; null: the referee, or none."""
    appeal_until: Time | None


class CasePage(Value):
    """A page of cases, oldest first."""

    items: Annotated[tuple[CaseListed, ...], wire_types.at_most(LIMIT_MAX)]
    next: wire_types.Cursor | None
    behind: wire_types.Lag


def _case_listed(listed: Listed, at: datetime) -> CaseListed:
    """Return a case, ``final`` if ``at`` is after its time for appeals."""
    fields = listed._asdict()
    status, until = listed.status, listed.appeal_until
    if status == "ruled" and until is not None and at >= until:
        status = "final"
    fields |= {
        "status": status,
        "match": str(listed.match),
        "verdict": listed.verdict or ("withdrawn" if status == "withdrawn" else "pending"),
        "appeal_until": until if status == "ruled" else None,
    }
    return CaseListed(**fields)


@get(
    "/cases",
    operation_id="list_cases",
    summary="List the cases of an official",
    description="Returns one page of the cases in all matches whose official has this token, the oldest first. A "
    "token whose SHA-256 was given to several matches (`adjudication.officials[].token_sha256`) has the cases of "
    "all these matches. A key with the scope `officiate` has the cases of its club, except of matches in which its "
    "member plays. For other credentials the list is empty. The cases that wait for a ruling "
    "have the status `pending` or `appealed`. For the next page send `next` as `cursor` with the same filters.\n\n"
    "The list may lag behind the events: `behind` counts the events that it does not include yet. With "
    "`fresh=true` the request waits a few seconds for all events that were stored before it.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        gives=CasePage,
        errors=(400, 422, 503),
        links={
            "file": link("get_case_file", match="$response.body#/items/0/match", knock="$response.body#/items/0/case")
        },
    ),
)
async def list_cases(
    request: ApiCall,
    status: Annotated[
        Literal["pending", "ruled", "appealed", "withdrawn", "final", "any"],
        QueryParameter(description="Only cases that have this status now."),
    ] = "any",
    ruleset: OfRuleset = None,
    rule: Annotated[
        str | None,
        QueryParameter(
            description="Only cases whose last ruling cites this rule.",
            pattern=RULE_ID["pattern"],
            max_length=RULE_ID["maxLength"],
        ),
    ] = None,
    limit: Limit = LIMIT,
    cursor: Cursor = None,
    fresh: Fresh = False,
) -> Reply:
    service, at = request.service, utc_now()
    request.require_credential()
    found, following, behind = await read_list_page(
        service.projections,
        service.projections.cases,
        sight=await service.access.sight_of(request),
        at=at,
        status=status,
        ruleset=ruleset,
        rule=rule,
        after=cursor,
        limit=limit,
        fresh=fresh,
    )
    page = CasePage(items=tuple(_case_listed(listed, at) for listed in found), next=following, behind=behind)
    texts = service.member_names.texts_in_all({listed.match for listed in found})
    return await page_reply(request, encode(page), following, texts)
