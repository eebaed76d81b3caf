"""Opening a match: what must hold for every game is checked here, the rest by the ruleset itself."""

from datetime import UTC, datetime, timedelta
from hmac import compare_digest
from itertools import islice
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import msgspec
from litestar import post
from msgspec import Meta

from api.access.derived import Derived
from api.access.tokens import hash_of, new_token, token_of
from api.docs.options import options_schema
from api.http.bodies import Body
from api.http.describe import OPENING_KEY, described, link
from api.http.faults import FAULTS_MAX, faults_in, type_of
from api.http.headers import Req
from api.http.problems import Problem
from api.http.replies import Reply, of_match
from api.http.strict import told_apart
from api.http.writes import opening_key_of
from api.matches.shown import RulesetSeen
from api.service import Service, match_of, service_of
from api.threads import in_thread
from referee import told
from referee.actors import Actor, officials
from referee.events import Adjudication, Dealing, Enforcement, MatchOpened, Shuffling, Stakes
from referee.games import RULESETS
from referee.officials import takeback
from referee.ruleset import Ruleset
from referee.store.desk import Command, KeyReused
from referee.store.match import Match
from referee.value import Seat, Time, Value, Version, tied

POINTS_MAX = 1_000_000
"""More than any match comes to, and small enough to be added up anywhere."""

ENTROPY_SECONDS = 30
"""So long a deal waits for what seats add to the shuffle, where nothing was said: enough for programs and people."""

REPEATED_FOR = timedelta(hours=24)
"""So long a key that opened a match is answered with its tokens."""


class Player(Value, forbid_unknown_fields=True):
    """Somebody who plays."""

    name: Annotated[str, Meta(min_length=1, max_length=told.NAME_MAX, pattern=told.NAME)]


class StakesSet(Value, forbid_unknown_fields=True):
    """What a point is worth: ``unit`` minor units (öre, cents) of an ISO 4217 ``currency``."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3, examples=["SEK"])]
    unit: Annotated[int, Meta(ge=1, le=POINTS_MAX)]


class Opening(Value, forbid_unknown_fields=True):
    """Where a match begun on paper stands. ``pot`` only in games that have one."""

    points: told.BySeat[Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)]]
    pot: Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)] | None = None


class OfficialNamed(Value, forbid_unknown_fields=True):
    """An official of a match."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=told.NAME)]
    """By which rulings name whoever gave them."""
    token_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)] | None = None
    """The SHA-256 of a token of the official's own, in hex; null or left out: the match gives one."""


MinutesSent = Annotated[int, Meta(ge=0, le=told.MINUTES_MAX)]


class AdjudicationSet(Value, forbid_unknown_fields=True):
    """How a match is attended to. The first of the ``officials`` acts as ``official``, the second as ``official:2``;
    all of them see everything."""

    officials: Annotated[tuple[OfficialNamed, ...], Meta(min_length=1, max_length=told.OFFICIALS_MAX)] = (
        OfficialNamed(name="official"),
    )
    """Who they are."""
    appeal_minutes: MinutesSent = 30
    """So long a ruling may be appealed (J7); 0: not at all."""
    correction_minutes: MinutesSent = 30
    """So long after the end of the match a score may be corrected (J8)."""
    pending: Literal["play_on", "hold"] = "play_on"
    """Whether play goes on while a case waits for its ruling (J5)."""
    take_back: bool = False
    """Whether the last act may be taken back where all agree (J11): only where what the rules forbid is refused, or
    only the tally is kept."""


class OpenMatch(Value, forbid_unknown_fields=True):
    """A match to open. Options left out have their defaults; a ``first_dealer`` left out is drawn by lot, but with
    ``tally`` it must be named."""

    ruleset: RulesetSeen
    players: Annotated[tuple[Player, ...], tied("ruleset", "players")]
    """By seat, clockwise."""
    options: Annotated[dict[str, Any], tied("ruleset", "options")] = msgspec.field(default_factory=dict)
    first_dealer: Annotated[int, tied("ruleset", "first_dealer")] | None = None
    dealing: Dealing = "house"
    enforcement: Enforcement | None = None
    """Left out: `refuse`, but with `tally` `penalise`, for there nothing else can be."""
    stakes: StakesSet | None = None
    opening: Opening | None = None
    adjudication: AdjudicationSet | msgspec.UnsetType | None = msgspec.UNSET
    """How officials attend to the match; null: what events cannot decide, nobody rules on. Left out: at a real table
    one official does, in house dealing nobody."""
    shuffle: Shuffling | None = None
    """`committed`: the shuffle of each deal can be checked when it is over. Only where the server deals."""
    entropy_seconds: Annotated[int, Meta(ge=0, le=told.ENTROPY_SECONDS_MAX)] | None = None
    """With `shuffle`: so many seconds a deal waits for what the seats add (`entropy`); 30 where it is left out."""


class SeatGiven(Value):
    """A seat and the token of whoever plays for it."""

    seat: Seat
    name: told.Name
    token: told.Token


class OfficialGiven(Value):
    """An official and the token that the match gives."""

    actor: Actor
    """As whom the events name whoever acts with it."""
    name: told.Name
    token: told.Token | None
    """null: the official has a token of his own."""


class MatchMade(Value):
    """A match just opened. The tokens are shown this once and kept only as hashes."""

    id: UUID
    version: Version
    ruleset: RulesetSeen
    edition: told.Edition
    options: Annotated[dict[str, Any], tied("ruleset", "resolved")]
    dealing: Dealing
    enforcement: Enforcement
    shuffle: Shuffling | None
    """`committed`: the shuffle of each deal can be checked when it is over. null: it cannot."""
    entropy_seconds: told.EntropySeconds
    """So many seconds a deal waits for what the seats add to the shuffle."""
    seats: told.BySeat[SeatGiven]
    official_token: told.Token | None
    adjudication: Adjudication | None
    """How officials attend to the match; null: nobody rules on what events cannot decide."""
    officials: Annotated[tuple[OfficialGiven, ...], told.at_most(told.OFFICIALS_MAX)]
    """The officials in the order in which they were named; the first has `official_token`."""
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
    except msgspec.ValidationError:
        faults = tuple(islice(faults_in(type_of(rules.options), given, ("options",)), FAULTS_MAX))
        name = str(faults[0].at[1])
        schema = options_schema(rules.key)["properties"][name]
        allowed = {key: schema[key] for key in ("type", "enum", "minimum", "maximum", "default") if key in schema}
        raise Problem("bad_option", faults=faults, option=name, allowed=allowed) from None
    return resolved


def house_rules(rules: Ruleset) -> list[str]:
    """By what a table may say who pays, where the game's source does not."""
    values = options_schema(rules.key)["properties"].get("money", {}).get("enum", [])
    return [value for value in values if value != "none"]


def officials_of(body: OpenMatch) -> tuple[OfficialNamed, ...]:
    """Who attends to a match that is opened so; in any case one official can end it."""
    terms = terms_of(body)
    return (OfficialNamed(name="official"),) if terms is None else terms.officials


def terms_of(body: OpenMatch) -> AdjudicationSet | None:
    """How officials attend to a match that is opened so."""
    if isinstance(body.adjudication, msgspec.UnsetType):
        return None if body.dealing == "house" else AdjudicationSet()
    return body.adjudication


def opened_by(body: OpenMatch, tokens: tuple[str, ...], hashes: tuple[str, ...]) -> MatchOpened:
    """The first event of a match; ``hashes``: of the officials' tokens. Raises
    :class:`~api.http.problems.Problem` or ``Refused``."""
    rules = RULESETS.get(body.ruleset)
    if rules is None:
        raise Problem("unknown_ruleset", ruleset=body.ruleset, allowed=list(RULESETS))
    options, seats = options_of(rules, body.options), len(body.players)
    if not rules.players_min <= seats <= rules.players_max:
        raise Problem("players_count", players_min=rules.players_min, players_max=rules.players_max)
    told_apart(player.name for player in body.players)
    if body.first_dealer is not None and not 0 <= body.first_dealer < seats:
        raise Problem("no_such_first_dealer", last=seats - 1)
    tally = body.dealing == "tally"
    if tally and rules.script is None:
        raise Problem("no_tally", ruleset=rules.key)
    if tally and body.enforcement == "refuse":
        raise Problem("tally_penalises")
    if tally and body.first_dealer is None:
        raise Problem("tally_needs_first_dealer", last=seats - 1)
    points, pot = (rules.start_points,) * seats, 0
    if body.opening is not None:
        if body.opening.pot is not None and not rules.has_pot:
            raise Problem("no_pot", ruleset=rules.key)
        points, pot = body.opening.points, body.opening.pot or 0
        if len(points) != seats:
            raise Problem("opening_points_count", players=seats)
    if body.stakes is not None and rules.basis(options) is None:
        raise Problem("no_money_rule", ruleset=rules.key, allowed=house_rules(rules))
    if twice := [place for place, one in enumerate(hashes) if hashes.count(one) > 1]:
        raise Problem("same_official_token", places=twice)
    stakes, terms = body.stakes, terms_of(body)
    if terms is not None:
        told_apart((one.name for one in terms.officials), officials=True)
    if body.shuffle is not None and body.dealing != "house":
        raise Problem("shuffle_needs_house", dealing=body.dealing)
    if body.shuffle is None and body.entropy_seconds is not None:
        raise Problem("entropy_needs_shuffle")
    seconds = ENTROPY_SECONDS if body.entropy_seconds is None else body.entropy_seconds
    opened = MatchOpened(
        ruleset=rules.key,
        edition=rules.edition,
        options=options,
        players=tuple(player.name for player in body.players),
        dealing=body.dealing,
        enforcement=body.enforcement or ("penalise" if tally else "refuse"),
        points=points,
        pot=pot,
        taken_over=body.opening is not None,
        first_dealer=body.first_dealer,
        stakes=Stakes(currency=stakes.currency, unit=stakes.unit) if stakes else None,
        tokens=tuple(map(hash_of, tokens)),
        official=hashes[0],
        officials=hashes[1:],
        adjudication=None if terms is None else _attending(terms),
        shuffle=body.shuffle,
        entropy_seconds=seconds if body.shuffle is not None else 0,
    )
    rules.opening(opened)
    takeback.check_opening(opened)
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
    "`dealing`: the server deals (`house`), or cards lie on a real table (`table`); with `tally` nobody tells which, "
    "only who took each trick (`trick`), or a whole deal as its score sheet has it (`result`), and any token of the "
    "match writes for everybody. `enforcement`: what the rules "
    "forbid is refused (`refuse`), or stands until somebody knocks (`penalise`). `opening` takes over a match begun "
    "on paper; in Rams `points` are the balances, and they and `pot` count minor units of money where `stakes` are "
    "set, else tricks. `stakes` are for games whose source says who pays whom, and elsewhere need a house rule, the "
    "option `money`; what a match comes to is at `…/settlement`.\n\n"
    "`adjudication` names the officials who hear what events cannot decide. At a real table one does unless it is "
    "null: there a seat may report what the cards cannot show, and should not by itself put points on anybody.\n\n"
    '`shuffle: "committed"`: before each deal the server publishes the hash of a seed and the seats may add to it '
    "(act `entropy`); when the deal is over the seed is shown, and anybody can compute the cards. "
    "`openapi/guides/shuffle.md` says how, `openapi/shuffle.py` does it.\n\n"
    "With an `Idempotency-Key` of 16 characters or more a lost answer loses no match: for 24 hours the same key with "
    "the same body is answered with the same match and the same tokens, by any process and after a restart; with "
    "another body 422. Whoever knows the key and the body can have the tokens, so make it a random UUID and keep it "
    "as you keep them. It is not stored: in the audit trail the match's own id stands for it.",
    tags=["Matches"],
    operation_class=described(
        body=OpenMatch,
        gives=MatchMade,
        status=201,
        says="The match is open.",
        headers=("Location", "ETag", "Idempotency-Replayed"),
        takes=(OPENING_KEY,),
        errors=(400, 413, 415, 422, 503),
        links=_match_links(),
    ),
)
async def open_match(request: Req) -> Reply:
    """Opens a match."""
    token_of(request)
    service, key, body = service_of(request), opening_key_of(request), await BODY.read(request)
    match_id: UUID
    named = officials_of(body)
    if key is None:
        match_id, make = uuid4(), _make
    else:
        derived = Derived(await in_thread(_secret, service), key, msgspec.json.encode(body, order="deterministic"))
        match_id, make = derived.match_id, derived.token
    tokens = tuple(make(f"seat {seat}") for seat, _ in enumerate(body.players))
    given = tuple(
        OfficialGiven(actor=actor, name=one.name, token=make(str(actor)) if one.token_sha256 is None else None)
        for actor, one in zip(officials(len(named)), named, strict=True)
    )
    hashes = tuple(
        hash_of(one.token) if one.token is not None else str(own.token_sha256)
        for one, own in zip(given, named, strict=True)
    )
    opened = opened_by(body, tokens, hashes)
    match, version, headers = await _opened(service, match_id, opened, keyed=key is not None)
    made = MatchMade(
        id=match_id,
        version=version,
        ruleset=match.opened.ruleset,
        edition=match.opened.edition,
        options=match.opened.options,
        dealing=match.opened.dealing,
        enforcement=match.opened.enforcement,
        shuffle=match.opened.shuffle,
        entropy_seconds=match.opened.entropy_seconds,
        seats=tuple(
            SeatGiven(seat=seat, name=name, token=token)
            for seat, (name, token) in enumerate(zip(match.opened.players, tokens, strict=True))
        ),
        official_token=given[0].token,
        adjudication=match.opened.adjudication,
        officials=() if match.opened.adjudication is None else given,
        opened_at=match.opened_at,
    )
    headers |= {"Location": f"/v1/matches/{match_id}", "Cache-Control": "no-store"}
    return of_match(made, version, status=201, headers=headers)


def _attending(terms: AdjudicationSet) -> Adjudication:
    return Adjudication(
        officials=tuple(one.name for one in terms.officials),
        appeal_minutes=terms.appeal_minutes,
        correction_minutes=terms.correction_minutes,
        pending=terms.pending,
        take_back=terms.take_back,
    )


def _make(whose: str) -> str:
    return new_token()


def _secret(service: Service) -> bytes:
    return service.referee.secret


async def _opened(
    service: Service, match_id: UUID, opened: MatchOpened, *, keyed: bool
) -> tuple[Match, int, dict[str, str]]:
    """The match, its version when it had been opened, and the headers that tell whether that was done before."""
    own_key = str(match_id) if keyed else None  # the client's is nowhere stored
    before = await in_thread(service.referee.act, match_id, "official", own_key) if own_key else None
    if before is None:
        outcome = await service.do(Command(id=match_id, actor="official", request=opened, key=own_key))
        match, version, repeated = (
            match_of(outcome.aggregate),
            outcome.events[-1].originator_version,
            outcome.repeated,
        )
    else:
        match, version, repeated = await service.opened(match_id), before.last, True
    if repeated:
        if not compare_digest(match.opened.tokens[0], opened.tokens[0]):  # which the body goes into
            raise KeyReused
        if datetime.now(UTC) - match.opened_at > REPEATED_FOR:
            raise Problem("opening_key_expired", hours=REPEATED_FOR // timedelta(hours=1))
    return match, version, {"Idempotency-Replayed": "true"} if repeated else {}
