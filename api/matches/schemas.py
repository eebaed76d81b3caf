"""A match and its events as somebody may see them: what several calls answer with."""

from typing import Annotated, Any
from uuid import UUID

from msgspec import Meta

from api.access.caller import Caller
from api.http.headers import tag_of
from api.http.schemas import phases_of
from referee import wire_types
from referee.actors import Actor
from referee.acts import AnyAct
from referee.events import Adjudication, Dealing, Enforcement, Stakes, TokenEnded, TokenMade, Visibility
from referee.games import RULESETS
from referee.officials import shuffle, takeback
from referee.officials.events.seating import InvitationRedeemed, Invited
from referee.requests import Request
from referee.ruleset import DueAct, Shown
from referee.store.clock import utc_now
from referee.store.match import Match
from referee.value import EventNumber, Seat, Time, Value, Version, tied
from referee.visibility import Recorded, Viewer, seen

_ACT_SAYS = "What a seat does, or the official: `act` tells what, and which fields go with it."
ActSent = Annotated[AnyAct, Meta(title="Act", description=_ACT_SAYS)]
ActShown = Annotated[AnyAct, Meta(title="ActShown", description=_ACT_SAYS)]
AskedSeen = Annotated[
    Request,
    Meta(title="Asked", description="What was asked of the match: an act, or a knock, told apart by `act`."),
]
PhaseSeen = Annotated[
    str,
    Meta(
        title="Phase",
        description="What a match waits for; which phases there are depends on its game.",
        extra_json_schema={"enum": sorted({phase for rules in RULESETS.values() for phase in phases_of(rules)})},
    ),
]
RulesetSeen = Annotated[
    str, Meta(title="Ruleset", description="The key of a game.", extra_json_schema={"enum": list(RULESETS)})
]


class Seated(Value):
    """Who sits where."""

    seat: Seat
    name: wire_types.Name
    member: wire_types.MemberNumber | None
    """Which member of the club; null: it is no club's match."""


class ShufflingSeen(Value):
    """The shuffle of the deal that comes or is under way, where the server commits to it. Tuples go by seat."""

    commitment: wire_types.Hash
    """The SHA-256 of the seed that the server shuffles by; the seed is shown when the deal is over."""
    entropy: wire_types.BySeat[wire_types.Entropy | None]
    """By seat, what each has added; null: nothing."""
    awaited: wire_types.Seats
    """Seats that may still add something; empty when the cards are out."""
    until: Time | None
    """Until then the deal waits for them; null: it does not wait."""


class TakingBackSeen(Value):
    """The last act, which who did it wants to take back (J11)."""

    first: EventNumber
    """Its first event."""
    last: EventNumber
    """Its last event."""
    agreed: wire_types.Seats
    """Seats that want it to be taken back; the first did it."""
    awaited: wire_types.Seats
    """Seats that have to agree still."""


class MatchSeen(Shown, kw_only=True):
    """A match as the caller may see it. Tuples go by seat unless said otherwise; ``null`` where it does not apply."""

    id: UUID
    version: Version
    viewer: Viewer
    ruleset: RulesetSeen
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], tied("ruleset", "resolved")]
    players: wire_types.BySeat[Seated]
    dealing: Dealing
    enforcement: Enforcement
    stakes: Stakes | None
    club: UUID | None
    """Whose match it is; null: nobody's."""
    evening: wire_types.EveningNumber | None
    """On which of the club's evenings it is played."""
    table: wire_types.TableNumber | None
    """At which table of that evening."""
    visibility: Visibility
    """Who may see it."""
    opened_at: Time
    changed_at: Time
    adjudication: Adjudication | None
    """The officials who attend to it, and their time limits; null: what events cannot decide, nobody rules on."""
    provisional: bool
    """It is over, and what it came to may still be changed: a case is open, or scores may be corrected (J8)."""
    shuffling: ShufflingSeen | None
    """The shuffle as the server has committed to it; null: it does not, or the match is over."""
    taking_back: TakingBackSeen | None
    """What somebody wants to take back; null: nothing, or an act has been done since."""


def shuffling(match: Match) -> ShufflingSeen | None:
    """The shuffle of the deal that comes or is under way."""
    docket = match.docket
    if docket is None or docket.shuffle is None or (commitment := docket.shuffle.commitment) is None:
        return None
    return ShufflingSeen(
        commitment=commitment.hash,
        entropy=tuple(hex or None for hex in commitment.entropy),
        awaited=shuffle.awaited(match.standing),
        until=commitment.until,
    )


def taking_back(match: Match) -> TakingBackSeen | None:
    """What somebody wants to take back."""
    docket = match.docket
    if docket is None or (last := docket.last) is None or not last.asked:
        return None
    waiting = takeback.awaited(match.standing)
    return TakingBackSeen(first=last.first, last=last.last, agreed=last.asked, awaited=waiting)


def seated(match: Match) -> tuple[Seated, ...]:
    """The players by seat."""
    names, members = match.opened.players, match.opened.members
    return tuple(
        Seated(seat=seat, name=name, member=members[seat] if members else None) for seat, name in enumerate(names)
    )


def tag_now(match: Match) -> str:
    """The ETag of a match as it stands: by its version, and by what ends with time alone."""
    return tag_of(match.version, *(("provisional",) if match.provisional(utc_now()) else ()))


def seen_fields(match: Match, viewer: Viewer) -> dict[str, Any]:
    """The fields of :class:`MatchSeen`, ready to encode."""
    opened = match.opened
    shown = match.shown(viewer)
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
        "club": opened.club,
        "evening": opened.evening,
        "table": opened.table,
        "visibility": opened.visibility,
        "opened_at": match.opened_at,
        "changed_at": match.changed_at,
        "adjudication": opened.adjudication,
        "provisional": match.provisional(utc_now()),
        "shuffling": shuffling(match),
        "taking_back": taking_back(match),
        **{name: getattr(shown, name) for name in shown.__struct_fields__},
    }


class StateSeen(Value):
    """Who is awaited, as the caller may see it: ``version``, ``phase``, ``to_act`` and ``due`` of the match."""

    version: Version
    phase: PhaseSeen
    """What the match waits for."""
    to_act: wire_types.Seats
    """Seats that are awaited now; while play is held for a case, none."""
    due: wire_types.Many[DueAct]
    """Acts that the rules demand before the play goes on: ``ask``, ``answer``, ``knock_out``."""


def state_seen(match: Match, viewer: Viewer) -> StateSeen:
    """Who is awaited in the match as it stands."""
    shown = match.shown(viewer)
    return StateSeen(version=match.version, phase=shown.phase, to_act=shown.to_act, due=shown.due)


NAMES_A_HASH = (TokenEnded, TokenMade, Invited, InvitationRedeemed)
"""Events whose request names the hash of a token or of a code. The request is shown to nobody."""


class EventSeen(Value, omit_defaults=True):
    """One event of a match. ``act`` is the Idempotency-Key of the act that made it, for its sender and the official.

    The official also gets ``digest`` (of what was asked), ``prev`` and ``hash`` (the chain of SHA-256 over rows), and
    with the first event of an act the ``request``: what was asked.
    """

    number: EventNumber
    at: Time
    actor: Actor
    act: Annotated[wire_types.Key | None, Meta(description="null: made without a key, or not the caller's to know.")]
    topic: str
    event: Annotated[dict[str, Any], tied("topic", "event")]
    digest: wire_types.Digest | None = None
    prev: wire_types.Hash | None = None
    hash: wire_types.Hash | None = None
    request: AskedSeen | None = None


def event_seen(recorded: Recorded, caller: Caller, public: bool, hashed: str | None = None) -> dict[str, Any]:
    """An event as the caller may see it, ready to encode. ``public``: its deal is over."""
    viewer = caller.sees_as(public)
    official = viewer == "official"
    mine = official or recorded.actor == caller.actor
    told = {
        "number": recorded.originator_version,
        "at": recorded.at,
        "actor": recorded.actor,
        "act": recorded.act_id if mine and not recorded.act_id.startswith("~") else None,
        "topic": recorded.event.TOPIC,
        "event": seen(recorded.event, viewer, public),
    }
    if official:
        told |= {"digest": recorded.digest, "prev": recorded.prev}
        if hashed is not None:
            told["hash"] = hashed
        if recorded.request is not None and not isinstance(recorded.event, NAMES_A_HASH):
            told["request"] = recorded.request
    return told
