"""Opening a match: what must hold for every game is checked here, the rest by the ruleset itself."""

import re
from typing import Annotated, Any
from uuid import UUID, uuid4

import msgspec
from litestar import post
from msgspec import Meta

from api.access.tokens import hash_of, new_token
from api.docs.options import options_schema
from api.http.bodies import Body
from api.http.describe import described, link
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply, of_match
from api.matches.shown import RulesetSeen
from api.service import match_of, service_of
from referee.events import Dealing, Enforcement, MatchOpened, Stakes
from referee.games import RULESETS
from referee.ruleset import Ruleset
from referee.store.desk import Command
from referee.value import Seat, Time, Value, Version, tied

POINTS_MAX = 1_000_000
"""More than any match comes to, and small enough to be added up anywhere."""


class Player(Value, forbid_unknown_fields=True):
    """Somebody who plays."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=r"\S")]


class StakesSet(Value, forbid_unknown_fields=True):
    """What a point is worth: ``unit`` minor units (öre, cents) of an ISO 4217 ``currency``."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$", examples=["SEK"])]
    unit: Annotated[int, Meta(ge=1, le=POINTS_MAX)]


class Opening(Value, forbid_unknown_fields=True):
    """Where a match begun on paper stands. ``pot`` only in games that have one."""

    points: tuple[Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)], ...]
    pot: Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)] | None = None


class OpenMatch(Value, forbid_unknown_fields=True):
    """A match to open. Options left out have their defaults; a ``first_dealer`` left out is drawn by lot."""

    ruleset: RulesetSeen
    players: Annotated[tuple[Player, ...], tied("ruleset", "players")]
    """By seat, clockwise."""
    options: Annotated[dict[str, Any], tied("ruleset", "options")] = msgspec.field(default_factory=dict)
    first_dealer: Annotated[int, tied("ruleset", "first_dealer")] | None = None
    dealing: Dealing = "house"
    enforcement: Enforcement = "refuse"
    stakes: StakesSet | None = None
    opening: Opening | None = None


class SeatGiven(Value):
    """A seat and the token of whoever plays for it."""

    seat: Seat
    name: str
    token: str


class MatchMade(Value):
    """A match just opened. The tokens are shown this once and kept only as hashes."""

    id: UUID
    version: Version
    ruleset: RulesetSeen
    edition: int
    options: Annotated[dict[str, Any], tied("ruleset", "resolved")]
    dealing: Dealing
    enforcement: Enforcement
    seats: tuple[SeatGiven, ...]
    official_token: str
    opened_at: Time


BODY: Body[OpenMatch] = Body(OpenMatch)


def options_of(rules: Ruleset, given: dict[str, Any]) -> dict[str, Any]:
    """All options of a match, those not given with their defaults. 422 for what the ruleset does not know."""
    known = rules.options.__struct_fields__
    for name in given:
        if name not in known:
            raise Problem("unknown_option", option=name, allowed=list(known))
    try:
        resolved: dict[str, Any] = msgspec.to_builtins(msgspec.convert(given, rules.options))
    except msgspec.ValidationError as error:
        reason, _, path = str(error).partition(" - at `$.")
        name = re.split(r"[.\[`]", path)[0]
        schema = options_schema(rules.key)["properties"].get(name, {})
        allowed = {key: schema[key] for key in ("type", "enum", "minimum", "maximum", "default") if key in schema}
        if "enum" in allowed:
            reason += f"; it is one of {', '.join(map(str, allowed['enum']))}"
        raise Problem("bad_option", option=name, reason=reason, allowed=allowed) from None
    return resolved


def opened_by(body: OpenMatch, tokens: tuple[str, ...], official: str) -> MatchOpened:
    """The first event of a match. Raises :class:`~api.http.problems.Problem` or ``Refused``."""
    rules = RULESETS.get(body.ruleset)
    if rules is None:
        raise Problem("unknown_ruleset", ruleset=body.ruleset, allowed=list(RULESETS))
    options, seats = options_of(rules, body.options), len(body.players)
    if not rules.players_min <= seats <= rules.players_max:
        raise Problem("players_count", players_min=rules.players_min, players_max=rules.players_max)
    if body.first_dealer is not None and not 0 <= body.first_dealer < seats:
        raise Problem("no_such_first_dealer", last=seats - 1)
    points, pot = (rules.start_points,) * seats, 0
    if body.opening is not None:
        if body.opening.pot is not None and not rules.has_pot:
            raise Problem("no_pot", ruleset=rules.key)
        points, pot = body.opening.points, body.opening.pot or 0
        if len(points) != seats:
            raise Problem("opening_points_count", players=seats)
    stakes = body.stakes
    opened = MatchOpened(
        ruleset=rules.key,
        edition=rules.edition,
        options=options,
        players=tuple(player.name for player in body.players),
        dealing=body.dealing,
        enforcement=body.enforcement,
        points=points,
        pot=pot,
        taken_over=body.opening is not None,
        first_dealer=body.first_dealer,
        stakes=Stakes(currency=stakes.currency, unit=stakes.unit) if stakes else None,
        tokens=tuple(map(hash_of, tokens)),
        official=hash_of(official),
    )
    rules.opening(opened)
    return opened


def _match_links() -> dict[str, Any]:
    of = {"match": "$response.body#/id"}
    calls = ("get_match", "list_legal_acts", "send_act", "send_knock", "list_events", "replay_match", "get_protocol")
    return {name: link(name, **of) for name in calls}


@post(
    "/matches",
    operation_id="open_match",
    summary="Open a match",
    description="Opens a match. The answer holds a token for each seat and one for the official: they are shown this "
    "once. Whoever holds a seat's token acts for the seat; the official may void a deal and sees everything.\n\n"
    "`dealing`: the server deals (`house`), or cards lie on a real table (`table`). `enforcement`: what the rules "
    "forbid is refused (`refuse`), or stands until somebody knocks (`penalise`). `opening` takes over a match begun "
    "on paper; in Rams `points` are the balances, and they and `pot` count minor units of money where `stakes` are "
    "set, else tricks.",
    tags=["Matches"],
    operation_class=described(
        body=OpenMatch,
        gives=MatchMade,
        status=201,
        says="The match is open.",
        headers=("Location", "ETag"),
        errors=(400, 413, 415, 422, 503),
        links=_match_links(),
    ),
)
async def open_match(request: Req) -> Reply:
    """Opens a match."""
    body = await BODY.read(request)
    tokens, official = tuple(new_token() for _ in body.players), new_token()
    opened = opened_by(body, tokens, official)
    match_id: UUID = uuid4()
    outcome = await service_of(request).do(Command(id=match_id, actor="official", request=opened))
    match = match_of(outcome.aggregate)
    made = MatchMade(
        id=match_id,
        version=match.version,
        ruleset=opened.ruleset,
        edition=opened.edition,
        options=opened.options,
        dealing=opened.dealing,
        enforcement=opened.enforcement,
        seats=tuple(
            SeatGiven(seat=seat, name=name, token=token)
            for seat, (name, token) in enumerate(zip(opened.players, tokens, strict=True))
        ),
        official_token=official,
        opened_at=match.opened_at,
    )
    headers = {"Location": f"/v1/matches/{match_id}", "Cache-Control": "no-store"}
    return of_match(made, match.version, status=201, headers=headers)
