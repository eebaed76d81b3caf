"""A club as it stands."""

from typing import Annotated
from uuid import UUID

from litestar import get
from msgspec import Meta

from api.http.describe import KEY, described
from api.http.headers import Req, tag_of
from api.http.params import ClubId, ClubMinVersion
from api.http.replies import Reply, short
from api.runtime.member_names import Numbers, numbers_of, sees_numbers
from api.runtime.service import service_of
from referee import wire_types
from referee.clubs.facts import Currencies, NumberRef, SieAccounts, Zone
from referee.events import StakesNeed
from referee.store.club import Club
from referee.value import Time, Value, Version

Number = Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": wire_types.MEMBERS_MAX})]


class ClubSeen(Value):
    """A club as it stands."""

    id: UUID
    """The id of the club."""
    version: Version
    """How far the club has come: the number of its last event."""
    name: wire_types.Name
    """The club's."""
    currencies: Currencies
    """ISO 4217; the first is meant where none is named."""
    timezone: Zone
    """The dates of its evenings are those of the clock there."""
    payout_limit: wire_types.Money | None
    """Minor units. A payout that takes a member above this sum within 30 days needs a second person; null: there is
    no limit."""
    keep_years: wire_types.Years
    """So long nobody is erased, from the year on in which he left; 0: nothing demands it."""
    stakes_need: StakesNeed
    """Who agrees to the stakes of matches that are opened now."""
    stake_limit: wire_types.Money | None
    """Minor units, in the currency of the match. The most that a match may move which is opened now; null: there is
    no limit."""
    sie: SieAccounts
    """The accounts that stand for the club's own in a SIE file."""
    swish: NumberRef | None
    """The Swish number by which the club is paid; null: there is none."""
    iban: NumberRef | None
    """The account by which the club is paid in euros; null: there is none."""
    members: Number
    """How many are members now."""
    open_evenings: Number
    """How many evenings go on."""
    founded_at: Time
    """When it was founded."""
    changed_at: Time
    """When its last event was stored."""


def club_seen(club: Club, numbers: Numbers) -> ClubSeen:
    """The club as it stands; ``numbers``: its own."""
    now = club.standing
    return ClubSeen(
        id=club.id,
        version=club.version,
        name=now.name,
        currencies=now.currencies,
        timezone=now.timezone,
        payout_limit=now.payout_limit,
        keep_years=now.keep_years,
        stakes_need=now.stakes_need,
        stake_limit=now.stake_limit,
        sie=now.sie,
        swish=numbers.swish,
        iban=numbers.iban,
        members=sum(member.left is None for member in now.members),
        open_evenings=sum(not evening.closed for evening in now.evenings),
        founded_at=club.opened_at,
        changed_at=club.changed_at,
    )


@get(
    "/clubs/{club:uuid}",
    operation_id="get_club",
    summary="A club as it stands",
    description="With any key of the club; to the operator's the numbers by which it is paid are not told. With "
    "`min_version` it waits briefly for the club to get there.",
    tags=["Clubs"],
    security=KEY,
    operation_class=described(gives=ClubSeen, errors=(400, 401, 404, 409, 503)),
)
async def get_club(request: Req, club: ClubId, min_version: ClubMinVersion = 0) -> Reply:
    """A club as it stands."""
    service = service_of(request)
    caller = await service.club_access.caller(request, club, min_version)
    found = await numbers_of(service, caller.club, [None]) if sees_numbers(caller, None) else {}
    return short(request, tag_of(caller.club.version), lambda: club_seen(caller.club, found.get(None, Numbers())))
