"""Returns a club."""

from typing import Annotated
from uuid import UUID

from litestar import get
from msgspec import Meta

from api.http.describe import KEY, described
from api.http.headers import tag_of
from api.http.member_texts import NO_TEXTS
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, uncompressed_reply
from api.runtime.call import ApiCall
from api.runtime.member_names import Numbers, may_see_payment_numbers
from referee import wire_types
from referee.clubs.facts import Currencies, IbanRef, NumberRef, SieAccounts, Zone
from referee.events import StakesNeed
from referee.store.club import Club
from referee.value import Time, Value, Version

Number = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": wire_types.MEMBERS_MAX})]


class ClubSeen(Value):
    """A club."""

    id: UUID
    version: Version
    name: wire_types.Name
    currencies: Currencies
    timezone: Zone
    payout_limit: wire_types.Money | None
    """Sum of payouts to a member within 30 days, in minor units, above which a payout needs two persons; null: no
    limit."""
    keep_years: wire_types.Years
    """Years after the year of leaving in which a member cannot be erased; 0: none."""
    stakes_need: StakesNeed
    """People who must agree to the stakes of later matches."""
    stake_limit: wire_types.Money | None
    """Maximum amount that a later match may move, in minor units; null: no limit."""
    sie: SieAccounts
    swish: NumberRef | None
    """Swish number of the club; null: not set, or not visible to the caller."""
    iban: IbanRef | None
    """IBAN of the club, for euros; null: not set, or not visible to the caller."""
    members: Number
    """Number of present members."""
    open_evenings: Number
    """Number of evenings that are not closed."""
    founded_at: Time
    changed_at: Time


def club_seen(club: Club, numbers: Numbers) -> ClubSeen:
    """``numbers``: the club's payment numbers; empty if the caller may not see them."""
    state = club.state
    return ClubSeen(
        id=club.id,
        version=club.version,
        name=state.name,
        currencies=state.currencies,
        timezone=state.timezone,
        payout_limit=state.payout_limit,
        keep_years=state.keep_years,
        stakes_need=state.stakes_need,
        stake_limit=state.stake_limit,
        sie=state.sie,
        swish=numbers.swish,
        iban=numbers.iban,
        members=sum(member.left is None for member in state.members),
        open_evenings=sum(not evening.closed for evening in state.evenings),
        founded_at=club.opened_at,
        changed_at=club.changed_at,
    )


@get(
    "/clubs/{club:uuid}",
    operation_id="get_club",
    summary="Get a club",
    description="Returns a club at its present version. Requires any key of the club, or the operator's, which does "
    "not see the payment numbers. With `min_version` the call waits briefly for that version.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=ClubSeen, errors=(400, 401, 404, 409, 503)),
)
async def get_club(request: ApiCall, club_id: ClubId, min_version: ClubMinVersion = 0) -> Reply:
    service = request.service
    caller = await service.club_access.caller(request, club_id, min_version)
    found = (
        await service.member_names.numbers_of(caller.club, [None]) if may_see_payment_numbers(caller, None) else {}
    )
    numbers = found.get(None, Numbers())
    return uncompressed_reply(request, tag_of(caller.club.version), lambda: club_seen(caller.club, numbers), NO_TEXTS)
