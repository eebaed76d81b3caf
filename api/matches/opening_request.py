"""The request that opens a match, its checks, and the match's first event."""

from collections.abc import Mapping
from itertools import islice
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, structs

from api.http.faults import FAULTS_MAX, faults_in, faults_of_part, type_of
from api.http.problems import Problem
from api.http.ruleset_schemas import options_schema
from api.http.strict import must_be_distinct
from api.matches.schemas import RulesetSeen
from referee import wire_types
from referee.clubs.commands import EveningSent, MemberSent
from referee.clubs.rules import check_present_members, open_evening
from referee.clubs.stakes import check_limit, stakes_need_of
from referee.clubs.state import Club
from referee.events import (
    Adjudication,
    Dealing,
    Enforcement,
    MatchOpened,
    Shuffling,
    Stakes,
    StakesNeed,
    Visibility,
)
from referee.games import RULESETS
from referee.officials import takeback
from referee.refusals import AgainstTheClub
from referee.ruleset import Ruleset
from referee.value import Value, type_depends_on

POINTS_MAX = 1_000_000

OFFICIAL = "official"
"""Default name of an official."""

ENTROPY_SECONDS = 30
"""Default for ``entropy_seconds``."""


class Player(Value, forbid_unknown_fields=True):
    """A player: a name, or in a club's match a member."""

    name: Annotated[str, Meta(min_length=1, max_length=wire_types.NAME_MAX, pattern=wire_types.NAME)] | None = None
    """Name, which is stored permanently; left out for a member."""
    member: MemberSent | None = None
    """Number in the club; left out without a club."""


class StakesSet(Value, forbid_unknown_fields=True):
    """The value of a point in minor units (öre, cents) of an ISO 4217 currency."""

    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3, examples=["SEK"])]
    unit: Annotated[int, Meta(ge=1, le=POINTS_MAX)]


class Opening(Value, forbid_unknown_fields=True):
    """The points of a match begun on paper."""

    points: wire_types.BySeat[Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)]]
    pot: Annotated[int, Meta(ge=-POINTS_MAX, le=POINTS_MAX)] | None = None


class OfficialNamed(Value, forbid_unknown_fields=True):
    """An official of a match."""

    name: Annotated[str, Meta(min_length=1, max_length=100, pattern=wire_types.NAME)]
    """Name in rulings, stored permanently; in a club's match it can be erased."""
    token_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$", max_length=64)] | None = None
    """SHA-256, in hex, of the official's token for several matches (`POST /v1/official-tokens`); never shown.
    Null or left out: the match makes a token."""


MinutesSent = Annotated[int, Meta(ge=0, le=wire_types.MINUTES_MAX)]


class AdjudicationSet(Value, forbid_unknown_fields=True):
    """The officials of a match, and their time limits. All officials have the same view."""

    officials: Annotated[tuple[OfficialNamed, ...], Meta(min_length=1, max_length=wire_types.OFFICIALS_MAX)] = (
        OfficialNamed(name=OFFICIAL),
    )
    """Officials. The first acts as `official`, the second as `official:2`."""
    appeal_minutes: MinutesSent = 30
    """Minutes in which a ruling may be appealed (J7); 0: no appeal."""
    correction_minutes: MinutesSent = 30
    """Minutes after the end of the match in which a score may be corrected (J8)."""
    pending: Literal["play_on", "hold"] = "play_on"
    """While a case waits for its ruling, play continues (`play_on`) or waits (`hold`) (J5)."""
    take_back: bool = False
    """The last act may be taken back by agreement (J11). Needs `enforcement: refuse` or `dealing: tally`."""


class OpenMatch(Value, forbid_unknown_fields=True):
    """A match to open. With `tally` it needs `first_dealer`."""

    ruleset: RulesetSeen
    players: Annotated[tuple[Player, ...], type_depends_on("ruleset", "players")]
    """Players, clockwise."""
    options: Annotated[dict[str, Any], type_depends_on("ruleset", "options")] = msgspec.field(default_factory=dict)
    first_dealer: Annotated[int, type_depends_on("ruleset", "first_dealer")] | None = None
    dealing: Dealing = "house"
    enforcement: Enforcement | None = None
    """Left out: `refuse`, but `penalise` with `dealing: tally`, which requires it."""
    stakes: StakesSet | None = None
    opening: Opening | None = None
    adjudication: AdjudicationSet | msgspec.UnsetType | None = msgspec.UNSET
    """Officials; null: no official rules on cases. Left out: one official, but null if the server deals."""
    shuffle: Shuffling | None = None
    """`committed`: each shuffle can be checked when its deal is over. Only if the server deals."""
    entropy_seconds: Annotated[int, Meta(ge=0, le=wire_types.ENTROPY_SECONDS_MAX)] | None = None
    """Seconds that a deal waits for contributions (`entropy`); only with `shuffle`. Left out: 30."""
    club: UUID | None = None
    """Club, which requires one of its keys with `open`. Left out: a match without a club."""
    evening: EveningSent | None = None
    """Evening; required with `club`."""
    table: Annotated[int, Meta(ge=1, le=999)] | None = None
    visibility: Visibility | None = None
    """Left out: `club` in a club's match, else `public`."""


def options_of(rules: Ruleset, given: dict[str, Any]) -> dict[str, Any]:
    """Return the ``given`` options, with defaults for the others.

    Raises Problem (422) for an unknown option or a bad value.
    """
    known = rules.options.__struct_fields__
    for name in given:
        if name not in known:
            raise Problem("unknown_option", option=name, allowed=list(known))
    try:
        resolved: dict[str, Any] = msgspec.to_builtins(msgspec.convert(given, rules.options))
    except msgspec.ValidationError:
        faults = tuple(islice(faults_of_part("options", faults_in(type_of(rules.options), given)), FAULTS_MAX))
        name = str(faults[0].at[1])
        schema = options_schema(rules.key)["properties"][name]
        allowed = {key: schema[key] for key in ("type", "enum", "minimum", "maximum", "default") if key in schema}
        raise Problem("bad_option", faults=faults, option=name, allowed=allowed) from None
    return resolved


def _money_rules(rules: Ruleset) -> list[str]:
    """Return the values of a game's option ``money``, without ``none``."""
    values = options_schema(rules.key)["properties"].get("money", {}).get("enum", [])
    return [value for value in values if value != "none"]


def officials_of(body: OpenMatch) -> tuple[OfficialNamed, ...]:
    """Return the officials of the request: without adjudication one, who can end the match."""
    terms = adjudication_of(body)
    return (OfficialNamed(name=OFFICIAL),) if terms is None else terms.officials


def adjudication_of(body: OpenMatch) -> AdjudicationSet | None:
    """Return the adjudication of the request, or its default if left out. None: no adjudication."""
    if isinstance(body.adjudication, msgspec.UnsetType):
        return None if body.dealing == "house" else AdjudicationSet()
    return body.adjudication


def _members_of(body: OpenMatch, club: Club | None) -> tuple[int, ...]:
    """Return the members by seat; empty without a club.

    Raises Problem (422) if players, evening, table or visibility do not fit ``club``. Raises ``Refused`` if the club
    refuses a member or the evening.
    """
    if club is None:
        if given := [name for name in ("evening", "table") if getattr(body, name) is not None]:
            raise Problem("no_club_named", fields=given)
        if body.visibility == "club":
            raise Problem("no_club_named", fields=["visibility"])
        if unnamed := [seat for seat, player in enumerate(body.players) if player.name is None or player.member]:
            raise Problem("players_by_name", seat=unnamed[0])
        return ()
    members = tuple(player.member for player in body.players if player.member is not None and player.name is None)
    if len(members) < len(body.players):
        raise Problem("players_by_member")
    if body.evening is None:
        raise Problem("evening_needed")
    check_present_members(club, members)
    open_evening(club, body.evening)
    return members


def opening_event(
    body: OpenMatch,
    seat_hashes: tuple[str, ...],
    official_hashes: tuple[str, ...],
    club: Club | None = None,
    dockets: tuple[str, ...] = (),
) -> MatchOpened:
    """Return the first event of a match. Raises Problem (422) or ``Refused`` if game or club exclude the request.

    ``seat_hashes``, ``official_hashes``: of the tokens of seats and officials. ``dockets``: encrypted SHA-256 of
    each official's token.
    """
    rules = _ruleset_of(body)
    options = options_of(rules, body.options)
    if not rules.players_min <= len(body.players) <= rules.players_max:
        raise Problem("players_count", players_min=rules.players_min, players_max=rules.players_max)
    members = _members_of(body, club)
    players = tuple(f"M{member}" for member in members) or tuple(str(player.name) for player in body.players)
    must_be_distinct(players)
    _check_dealing(body, rules)
    points, pot = _opening_points(body, rules)
    stakes = _stakes_of(body, rules, options, club)
    if twice := [place for place, one in enumerate(official_hashes) if official_hashes.count(one) > 1]:
        raise Problem("same_official_token", places=twice)
    need: StakesNeed = "members"
    if stakes is not None and club is not None:
        check_limit(club, rules, stakes, points, pot)
        need = stakes_need_of(club, rules, body.dealing, points, pot)
    terms = adjudication_of(body)
    if terms is not None:
        must_be_distinct((one.name for one in terms.officials), officials=True)
    opened = MatchOpened(
        ruleset=rules.key,
        edition=rules.edition,
        options=options,
        players=players,
        dealing=body.dealing,
        enforcement=body.enforcement or ("penalise" if body.dealing == "tally" else "refuse"),
        points=points,
        pot=pot,
        taken_over=body.opening is not None,
        first_dealer=body.first_dealer,
        stakes=stakes,
        tokens=seat_hashes,
        official=official_hashes[0],
        officials=official_hashes[1:],
        dockets=dockets,
        adjudication=None if terms is None else _adjudication_settings(terms),
        shuffle=body.shuffle,
        entropy_seconds=_entropy_seconds(body),
        club=body.club,
        evening=body.evening,
        table=body.table,
        members=members,
        visibility=body.visibility or ("public" if club is None else "club"),
        stakes_need=need,
        stake_limit=None if club is None or stakes is None else club.stake_limit,
    )
    rules.opening(opened)
    takeback.check_opening(opened)
    return opened


def _ruleset_of(body: OpenMatch) -> Ruleset:
    """Return the ruleset. Raises Problem (422) for an unknown one."""
    rules = RULESETS.get(body.ruleset)
    if rules is None:
        raise Problem("unknown_ruleset", ruleset=body.ruleset, allowed=list(RULESETS))
    return rules


def _check_dealing(body: OpenMatch, rules: Ruleset) -> None:
    """Raise Problem (422) for an unknown first dealer, or a tally that the game or the other settings exclude."""
    last = len(body.players) - 1
    if body.first_dealer is not None and not 0 <= body.first_dealer <= last:
        raise Problem("no_such_first_dealer", last=last)
    if body.dealing != "tally":
        return
    if rules.script is None:
        raise Problem("no_tally", ruleset=rules.key)
    if body.enforcement == "refuse":
        raise Problem("tally_penalises")
    if body.first_dealer is None:
        raise Problem("tally_needs_first_dealer", last=last)


def _opening_points(body: OpenMatch, rules: Ruleset) -> tuple[tuple[int, ...], int]:
    """Return the points by seat, and the pot. Raises Problem (422) for an impossible pot or number of points."""
    count = len(body.players)
    if body.opening is None:
        return (rules.start_points,) * count, 0
    if body.opening.pot is not None and not rules.has_pot:
        raise Problem("no_pot", ruleset=rules.key)
    if len(body.opening.points) != count:
        raise Problem("opening_points_count", players=count)
    return body.opening.points, body.opening.pot or 0


def _stakes_of(body: OpenMatch, rules: Ruleset, options: Mapping[str, Any], club: Club | None) -> Stakes | None:
    """Return the stakes; None: no money. Raises Problem (422) if the game with these options has no rule for money.

    Raises ``Refused`` if the club does not use the currency.
    """
    if body.stakes is None:
        return None
    if rules.basis(options) is None:
        raise Problem("no_money_rule", ruleset=rules.key, allowed=_money_rules(rules))
    if club is not None and body.stakes.currency not in club.currencies:
        raise AgainstTheClub("currency_not_kept", None, currency=body.stakes.currency, currencies=club.currencies)
    return Stakes(currency=body.stakes.currency, unit=body.stakes.unit)


def _entropy_seconds(body: OpenMatch) -> int:
    """Return the seconds that a deal waits for contributions; 0 without ``shuffle``.

    Raises Problem (422) for ``shuffle`` if the server does not deal, or for seconds without ``shuffle``.
    """
    if body.shuffle is not None and body.dealing != "house":
        raise Problem("shuffle_needs_house", dealing=body.dealing)
    if body.shuffle is None and body.entropy_seconds is not None:
        raise Problem("entropy_needs_shuffle")
    if body.shuffle is None:
        return 0
    return ENTROPY_SECONDS if body.entropy_seconds is None else body.entropy_seconds


def official_names(opened: MatchOpened) -> tuple[str, ...]:
    """Return the names of the officials, without the default name; empty without adjudication."""
    terms = opened.adjudication
    return () if terms is None else tuple(name for name in terms.officials if name != OFFICIAL)


def with_official_names(opened: MatchOpened, names: Mapping[str, str]) -> MatchOpened:
    """Return the event with new names of officials. ``names``: by old name."""
    terms = opened.adjudication
    if terms is None or not names:
        return opened
    officials = tuple(names.get(name, name) for name in terms.officials)
    return structs.replace(opened, adjudication=structs.replace(terms, officials=officials))


def _adjudication_settings(terms: AdjudicationSet) -> Adjudication:
    return Adjudication(
        officials=tuple(one.name for one in terms.officials),
        appeal_minutes=terms.appeal_minutes,
        correction_minutes=terms.correction_minutes,
        pending=terms.pending,
        take_back=terms.take_back,
    )
