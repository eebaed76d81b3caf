"""What goes over the wire beside acts and events: bodies in (strict), answers out."""

import re
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from referee.events import Dealing, Enforcement, Recorded, Stakes, Viewer
from referee.games import RULESETS
from referee.ruleset import Shown
from referee.store.match import Match
from referee.value import Value

POINTS_MAX = 1_000_000
"""Beyond what any match comes to, and small enough to be added up anywhere."""

# Opening a match. What depends on the game is only described here; the game says 422.

_RULE = re.compile(r"([A-Z])(?:(\d+)-\1(\d+)|(?:-O)?\d+)(?:, )?")


def _rules_named(description: str) -> list[str]:
    """The ids with which an option's description begins, ranges written out: ``B72, B75-B76: …``."""
    head, colon, _ = description.partition(": ")
    named: list[str] = []
    if colon:
        for found in _RULE.finditer(head):
            letter, first, last = found.groups()
            ids = [f"{letter}{n}" for n in range(int(first), int(last) + 1)] if first else [found[0].rstrip(", ")]
            named += ids
    return named


def _written_out(schema: Any, components: dict[str, Any]) -> Any:
    """The schema with the parts that it refers to in their places."""
    if isinstance(schema, list):
        return [_written_out(part, components) for part in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {name: _written_out(part, components) for name, part in schema.items() if name != "$ref"}
    return {**_written_out(components[schema["$ref"]], components), **rest} if "$ref" in schema else rest


@cache
def options_schema(name: str) -> dict[str, Any]:
    """The options of a ruleset as a JSON Schema that stands by itself."""
    ((top,), components) = msgspec.json.schema_components((RULESETS[name].options,), ref_template="{name}")
    schema = _written_out(top, components)
    properties = {}
    for option, described_as in schema["properties"].items():
        properties[option] = {**described_as, "x-rules": _rules_named(described_as.get("description", ""))}
    return {**schema, "title": f"Options of {name}", "properties": properties}


_SEATS = {
    "minItems": min(rules.players_min for rules in RULESETS.values()),
    "maxItems": max(rules.players_max for rules in RULESETS.values()),
}
_OPTIONS = {"anyOf": list(map(options_schema, RULESETS))}
_DEALER = {"minimum": 0, "maximum": _SEATS["maxItems"] - 1}


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
    """A match to open. Options left out have their defaults; without ``first_dealer`` the deal is drawn for."""

    ruleset: Annotated[str, Meta(extra_json_schema={"enum": list(RULESETS)})]
    players: Annotated[tuple[Player, ...], Meta(description="By seat, clockwise.", extra_json_schema=_SEATS)]
    options: Annotated[dict[str, Any], Meta(extra_json_schema=_OPTIONS)] = msgspec.field(default_factory=dict)
    first_dealer: Annotated[int, Meta(extra_json_schema=_DEALER)] | None = None
    dealing: Dealing = "house"
    enforcement: Enforcement = "refuse"
    stakes: StakesSet | None = None
    opening: Opening | None = None


class SeatGiven(Value):
    """A seat and the token that speaks for it."""

    seat: int
    name: str
    token: str


class MatchMade(Value):
    """A match just opened. The tokens are shown this once and kept only as hashes."""

    id: UUID
    version: int
    ruleset: str
    edition: int
    options: dict[str, Any]
    dealing: Dealing
    enforcement: Enforcement
    seats: tuple[SeatGiven, ...]
    official_token: str
    opened_at: datetime


# A match as somebody may see it


class Seated(Value):
    """Who sits where."""

    seat: int
    name: str


class MatchSeen(Shown, kw_only=True):
    """A match as the caller may see it. Tuples go by seat unless said otherwise; ``null`` where it does not apply."""

    id: UUID
    version: int
    viewer: Viewer
    ruleset: str
    edition: int
    options: dict[str, Any]
    players: tuple[Seated, ...]
    dealing: Dealing
    enforcement: Enforcement
    stakes: Stakes | None
    opened_at: datetime
    changed_at: datetime


class Replayed(MatchSeen, kw_only=True):
    """A match as it stood after event ``version``, with what each seat could do then, as far as it may be known.

    When the deal of that event is over, its cards lie open for everybody.
    """

    legal_acts: tuple[tuple[dict[str, Any], ...] | None, ...]
    """By seat; ``null``: not for the caller to know."""


def seated(match: Match) -> tuple[Seated, ...]:
    """The players by seat."""
    return tuple(Seated(seat=seat, name=name) for seat, name in enumerate(match.opened.players))


def seen_fields(match: Match, viewer: Viewer) -> dict[str, Any]:
    """The fields of :class:`MatchSeen`, ready to encode."""
    opened = match.opened
    shown = match.rules.view(match.state, viewer)
    return {
        "id": match.id,
        "version": match.version,
        "viewer": viewer,
        "ruleset": opened.ruleset,
        "edition": opened.edition,
        "options": opened.options,
        "players": seated(match),
        "dealing": opened.dealing,
        "enforcement": opened.enforcement,
        "stakes": opened.stakes,
        "opened_at": match.opened_at,
        "changed_at": match.changed_at,
        **{name: getattr(shown, name) for name in shown.__struct_fields__},
    }


# Events


class EventSeen(Value, omit_defaults=True):
    """One event of a match. ``act`` is the Idempotency-Key of the act that made it, for who sent it and officials.

    The official also gets ``digest`` (of what was asked), ``prev`` and ``hash`` (the chain of SHA-256 over rows).
    """

    number: int
    at: datetime
    actor: int | Literal["official"] | str
    act: Annotated[str | None, Meta(description="null: made without a key, or not the caller's to know.")]
    topic: str
    event: dict[str, Any]
    digest: str | None = None
    prev: str | None = None
    hash: str | None = None


def event_seen(recorded: Recorded, viewer: Viewer, public: bool, hashed: str | None = None) -> dict[str, Any]:
    """An event as the viewer may see it, ready to encode. ``public``: its deal is over."""
    official = viewer == "official"
    mine = official or recorded.actor == viewer
    seen = {
        "number": recorded.originator_version,
        "at": recorded.at,
        "actor": recorded.actor,
        "act": recorded.act if mine and not recorded.act.startswith("~") else None,
        "topic": recorded.event.TOPIC,
        "event": recorded.event.seen_by(viewer, public),
    }
    if official:
        seen |= {"digest": recorded.digest, "prev": recorded.prev}
        if hashed is not None:
            seen["hash"] = hashed
    return seen


class ActDone(Value):
    """An act was accepted: the version of the match after it, and the events it made as the caller may see them."""

    version: int
    events: tuple[EventSeen, ...]


class EventPage(Value):
    """Some events in order. ``next``: what to give as ``after`` for more, ``null`` when these are the last."""

    events: tuple[EventSeen, ...]
    next: int | None
    version: int


# Knocks


class Case(Value):
    """A knock and what was ruled on it.

    ``named`` is the offence that the knock named, ``offence`` the one that was found; ``rests_on`` the events that
    show it. Upheld: ``payer`` goes up ``penalty``. Dismissed: ``reason`` says why; a ``fine`` is the knocker's.
    """

    case: int
    seat: int
    accused: int
    named: str | None
    note: str
    verdict: Literal["upheld", "dismissed", "pending"]
    offence: str | None
    rule: str
    penalty: int
    payer: int | None
    fine: int
    rests_on: tuple[int, ...]
    reason: str | None
    why: str
    event: int
    version: int


# Rulesets


class RulesetShown(Value):
    """A game that can be refereed. ``version`` is its edition, which a match keeps.

    ``options`` is a JSON Schema in which ``x-rules`` names what each option answers.
    """

    ruleset: str
    title: str
    source: str
    edition: int
    version: int
    seats: "SeatRange"
    start_points: int
    pack: tuple[str, ...]
    options: dict[str, Any]
    acts: tuple[str, ...]
    offences: tuple[str, ...]


class SeatRange(Value):
    """How many may play."""

    min: int
    max: int


class RuleShown(Value):
    """A rule of the source, or the reading of a point that it leaves open (``kind`` is ``reading``)."""

    id: str
    kind: str
    text: str
    options: tuple[str, ...]


class RulesShown(Value):
    """The numbered rules of a game in our own words, and how open points are read."""

    ruleset: str
    source: str
    title: str
    language: Literal["en", "sv"]
    rules: tuple[RuleShown, ...]
    readings: tuple[RuleShown, ...]


# Operators


class Health(Value):
    """``up``, and for readiness how far the books are behind."""

    status: Literal["up"]
    follower_lag: int | None = None
