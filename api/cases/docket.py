"""The operation that lists the cases of an official in all their matches."""

from datetime import datetime
from typing import Annotated, Literal

from litestar import get
from litestar.params import QueryParameter

from api.cases.case import Came, Status
from api.http.describe import TOKEN, described, link
from api.http.pages import must_be_cursor, page_reply
from api.http.params import PAGE_MAX, RULE_ID, Fresh, OfRuleset, PageCursor, PageLimit
from api.http.query import must_be_ruleset
from api.http.replies import Reply, encode
from api.matches.schemas import RulesetSeen
from api.runtime.call import ApiCall
from projections.cases import Listed
from referee import wire_types
from referee.actors import Actor
from referee.store.clock import utc_now
from referee.value import CaseKind, EventNumber, OffenceText, RuleId, Seat, Time, Value


class CaseListed(Value):
    """A case in the list of an official."""

    match: wire_types.MatchId
    case: wire_types.CaseNumber
    event: EventNumber
    """The number of the event that opened the case."""
    opened_at: Time
    """The time at which the case was opened."""
    ruleset: RulesetSeen
    status: Status
    """The status of the case."""
    kind: CaseKind
    deal: wire_types.DealNumber | None
    """The deal that the case is about; null: the referee ruled at once, during the deal."""
    by: Actor
    """The seat or official who opened the case."""
    accused: Seat | None
    """The seat that is accused; null: the case is about a line of the protocol or a misclick."""
    offence: OffenceText | None
    """The offence that was found, before a ruling the one that was named; null: none."""
    note: wire_types.Text
    verdict: Came
    """The verdict of the last ruling."""
    rule: RuleId | None
    """The rule of the last ruling; null: no ruling yet."""
    official: Actor | None
    """The official of the last ruling; null: the referee, or no ruling yet."""
    appeal_until: Time | None
    """The time until which a party may appeal; null: no appeal is possible now."""


class CasePage(Value):
    """One page of cases in the order in which they were opened."""

    cases: Annotated[tuple[CaseListed, ...], wire_types.at_most(PAGE_MAX)]
    """The cases of this page."""
    next: wire_types.Cursor | None
    """The `cursor` for more; null: these are the last."""
    behind: wire_types.Lag
    """The number of stored events that the list does not contain yet."""


def _listed(one: Listed, at: datetime) -> CaseListed:
    fields = one._asdict()
    status, until = one.status, one.appeal_until
    if status == "ruled" and until is not None and at >= until:
        status = "final"
    fields |= {
        "status": status,
        "match": str(one.match),
        "verdict": one.verdict or ("withdrawn" if status == "withdrawn" else "pending"),
        "appeal_until": until if status == "ruled" else None,
    }
    return CaseListed(**fields)


@get(
    "/cases",
    operation_id="list_cases",
    summary="List the cases of an official",
    description="Returns one page of the cases in all matches whose official has this token, in the order in which "
    "they were opened. A token whose SHA-256 was given to several matches (`adjudication.officials[].token_sha256`) "
    "has the cases of all of them. For a token that is no official's the list is empty. The cases that wait for a "
    "ruling have the status `pending` or `appealed`. For the next page send `next` as `cursor` with the same "
    "filters.\n\n"
    "The answer comes at once from the list; `behind` counts the events that it has not read yet. With `fresh=true` "
    "the request waits a few seconds for all events that were stored before it.",
    tags=["Knocks"],
    security=TOKEN,
    operation_class=described(
        gives=CasePage,
        errors=(400, 422, 503),
        links={
            "file": link("get_case_file", match="$response.body#/cases/0/match", case="$response.body#/cases/0/case")
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
    limit: PageLimit = 50,
    cursor: PageCursor = None,
    fresh: Fresh = False,
) -> Reply:
    access = request.service.access
    request.must_show()
    sight = await access.listing(request)
    service, at = request.service, utc_now()
    projection = service.projections.cases

    must_be_ruleset(ruleset)
    with must_be_cursor():
        (found, following), behind = await service.projections.ask_of_all(
            projection,
            lambda connection: projection.page(
                connection,
                sight,
                at,
                status=None if status == "any" else status,
                ruleset=ruleset,
                rule=rule,
                after=cursor,
                limit=limit,
            ),
            fresh=fresh,
        )
    page = CasePage(cases=tuple(_listed(one, at) for one in found), next=following, behind=behind)
    texts = service.member_names.texts_in_all({one.match for one in found})
    return await page_reply(request, encode(page), following, texts)
