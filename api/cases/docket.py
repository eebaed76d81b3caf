"""The cases that wait for an official, and those that are ruled on: of all matches in which the token is one's."""

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
    """The number of its first event."""
    opened_at: Time
    """When."""
    ruleset: RulesetSeen
    status: Status
    """Whether it can still change."""
    kind: CaseKind
    deal: wire_types.DealNumber | None
    """Which deal it is about; null: the one in which the referee ruled at once."""
    by: Actor
    """Who opened it: a seat, or an official."""
    accused: Seat | None
    """Who is said to have done wrong; null: nobody, for it is about a line of the protocol."""
    offence: OffenceText | None
    """What was found, and until then what is said; null: nothing is named."""
    note: wire_types.Text
    verdict: Came
    """What came of it; after several rulings, of the last one."""
    rule: RuleId | None
    """What the last ruling is based on; null: there is none yet."""
    official: Actor | None
    """Who ruled last; null: the referee, or nobody yet."""
    appeal_until: Time | None
    """Before this a party may appeal; null: not now."""


class CasePage(Value):
    """Some cases in the order in which they were opened."""

    cases: Annotated[tuple[CaseListed, ...], wire_types.at_most(PAGE_MAX)]
    """The cases."""
    next: wire_types.Cursor | None
    """The `cursor` for more; null: these are the last."""
    behind: wire_types.Lag
    """How many stored events the list has not taken in yet."""


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
    summary="The cases of an official",
    description="A page of the cases of all matches in which the token is an official's, in the order in which they "
    "were opened. Whoever gave the SHA-256 of one token of his own to several matches "
    "(`adjudication.officials[].token_sha256`) has the cases of all of them; of any other token the list is empty. "
    "`status=pending` and `status=appealed` are those that wait for a ruling; `rule` is that of the last ruling. To "
    "go on, give `next` as `cursor` with the same filters. Answered at once with what the list has, and `behind` "
    "tells how many events are still to come. With `fresh=true` it waits a few seconds for what was stored before it "
    "was asked.",
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
        QueryParameter(description="Only those that stand so now."),
    ] = "any",
    ruleset: OfRuleset = None,
    rule: Annotated[
        str | None,
        QueryParameter(
            description="Only those last ruled on by this rule.",
            pattern=RULE_ID["pattern"],
            max_length=RULE_ID["maxLength"],
        ),
    ] = None,
    limit: PageLimit = 50,
    cursor: PageCursor = None,
    fresh: Fresh = False,
) -> Reply:
    """The cases of an official."""
    access = request.service.access
    request.must_show()
    sight = await access.listing(request)
    service, at = request.service, utc_now()
    book = service.projections.cases

    must_be_ruleset(ruleset)
    with must_be_cursor():
        (found, following), behind = await service.projections.ask_of_all(
            book,
            lambda connection: book.page(
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
