"""Schemas of a match and its events, filled from its state."""

from typing import Annotated, Any, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from api.access.caller import Caller, ViewerSeen, viewer_seen
from api.http.headers import tag_of
from api.http.problems import Document
from api.http.schemas import PHASE
from referee import wire_types
from referee.actors import Actor
from referee.acts import Knock
from referee.events import Adjudication, Dealing, Enforcement, Stakes, TokenEnded, TokenMade, Visibility
from referee.games import RULESETS, ActOfAnyGame
from referee.officials import shuffle, takeback
from referee.officials.events.seating import InvitationRedeemed, Invited
from referee.requests import Appeal, Correct, OpenCase, Ruling, Statement, Withdrawal
from referee.ruleset import DueAct, Shown
from referee.store.clock import utc_now
from referee.store.match import Match
from referee.store.rows import RawRow
from referee.value import EventNumber, Points, Seat, Time, Value, Version, type_depends_on
from referee.visibility import Recorded, Viewer, as_seen_by, with_topic

_ACT_SAYS = (
    "An act of a seat or the official: `act` is its name and decides which fields go with it. An act of "
    "`list_legal_acts` can be sent as it is. The service refuses other fields."
)
ActSchema = Annotated[ActOfAnyGame, Meta(title="Act", description=_ACT_SAYS)]
AskedSeen = Annotated[
    ActOfAnyGame | Knock | OpenCase | Statement | Withdrawal | Appeal | Ruling | Correct,
    Meta(title="Asked", description="An act, a knock or a request to the officials. `act` is its name."),
]
RulesetSeen = Annotated[
    str, Meta(title="Ruleset", description="The key of a game.", extra_json_schema={"enum": list(RULESETS)})
]

SeatOfRole = Annotated[Seat | None, Meta(description="The seat; null: the role has none.")]
OfficialOfRole = Annotated[
    wire_types.OfficialPlace | None,
    Meta(description="The number of the official, from 1; null: a different role."),
]


class Seated(Value):
    """A player."""

    seat: Seat
    name: wire_types.Name
    member: wire_types.MemberNumber | None


class ShufflingSeen(Value):
    """The committed shuffle of the next or present deal."""

    commitment: wire_types.Hash
    """SHA-256 of the seed, which is shown after the deal."""
    entropy: wire_types.BySeat[wire_types.Entropy | None]
    """Contribution of each seat; null: none yet."""
    awaited: wire_types.Seats
    """Seats that may still contribute; none after dealing."""
    until: Time | None
    """Time at which the wait for contributions ends; null: no wait."""


class TakingBackSeen(Value):
    """The last act, if a seat has asked to take it back (J11)."""

    first: EventNumber
    """First event of the act."""
    last: EventNumber
    """Last event of the act."""
    agreed: wire_types.Seats
    """Seats that have sent `take_back`, in order."""
    awaited: wire_types.Seats
    """Seats that have not agreed yet."""


class MatchSeen(Shown, kw_only=True):
    """A match as the caller may see it. Arrays are by seat unless described otherwise; ``null``: the field does
    not apply."""

    id: UUID
    version: Version
    viewer: ViewerSeen
    ruleset: RulesetSeen
    edition: wire_types.Edition
    options: Annotated[dict[str, Any], type_depends_on("ruleset", "resolved")]
    players: wire_types.BySeat[Seated]
    dealing: Dealing
    enforcement: Enforcement
    stakes: Stakes | None
    club: UUID | None
    evening: wire_types.EveningNumber | None
    table: wire_types.TableNumber | None
    visibility: Visibility
    opened_at: Time
    changed_at: Time
    adjudication: Adjudication | None
    provisional: bool
    """The match is over, and its result may still change (J8)."""
    shuffling: ShufflingSeen | None
    """Committed shuffle; null: none, or the match is over."""
    taking_back: TakingBackSeen | None
    """Act to be taken back; null: none."""


def shuffling_seen(match: Match) -> ShufflingSeen | None:
    """Return the shuffle; ``None`` without a commitment."""
    docket = match.docket
    if docket is None or docket.shuffle is None or (commitment := docket.shuffle.commitment) is None:
        return None
    return ShufflingSeen(
        commitment=commitment.hash,
        entropy=tuple(hex or None for hex in commitment.entropy),
        awaited=shuffle.seats_to_add(match.state),
        until=commitment.until,
    )


def taking_back_seen(match: Match) -> TakingBackSeen | None:
    """Return the last act if a seat has asked to take it back."""
    docket = match.docket
    if docket is None or (last := docket.last) is None or not last.asked:
        return None
    waiting = takeback.seats_to_agree(match.state)
    return TakingBackSeen(first=last.first, last=last.last, agreed=last.asked, awaited=waiting)


def seated_players(match: Match) -> tuple[Seated, ...]:
    names, members = match.opened.players, match.opened.members
    return tuple(
        Seated(seat=seat, name=name, member=members[seat] if members else None) for seat, name in enumerate(names)
    )


def tag_now(match: Match) -> str:
    """Return the ETag of a match. It also depends on ``provisional``, which ends without an event."""
    return tag_of(match.version, *(("provisional",) if match.is_provisional(utc_now()) else ()))


def seen_fields(match: Match, viewer: Viewer) -> dict[str, Any]:
    """Return a :class:`MatchSeen` for the viewer as a dict."""
    opened = match.opened
    shown = match.shown(viewer)
    return {
        "id": match.id,
        "version": match.version,
        "viewer": viewer_seen(viewer),
        "ruleset": opened.ruleset,
        "edition": opened.edition,
        "options": opened.options,
        "players": seated_players(match),
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
        "provisional": match.is_provisional(utc_now()),
        "shuffling": shuffling_seen(match),
        "taking_back": taking_back_seen(match),
        **{name: getattr(shown, name) for name in shown.__struct_fields__},
    }


class StateSeen(Value):
    """The state of a match after an act, in a stream; fields as in ``MatchSeen``."""

    topic: Literal["state"]
    """Topic of the message."""
    version: Version
    phase: PHASE
    to_act: wire_types.Seats
    """Seats that the match waits for; empty while play waits for a ruling."""
    due: wire_types.Many[DueAct]
    """Acts that must come before play continues, for example ``ask`` or ``announce``."""
    points: wire_types.BySeat[Points]
    line: wire_types.DealNumber | None
    """Number of the last scored deal; null: none."""


EndReason = Literal["match_over", "token_ended", "refused"]


class StreamEnd(Value):
    """The last message of a stream. Close the EventSource then, because otherwise it reconnects."""

    topic: Literal["end"]
    """Topic of the message."""
    reason: Annotated[EndReason, Meta(title="EndReason", description="The reason for the end of a stream.")]
    """Reason: the match is over, the token has ended, or the ticket was refused."""
    problem: Document | None
    """Problem of the ticket; null: not refused."""


def state_seen(match: Match, viewer: Viewer) -> StateSeen:
    shown = match.shown(viewer)
    return StateSeen(
        topic="state",
        version=match.version,
        phase=shown.phase,
        to_act=shown.to_act,
        due=shown.due,
        points=shown.points,
        line=match.play.table.deal - 1 or None,
    )


HIDDEN_REQUESTS = (TokenEnded, TokenMade, Invited, InvitationRedeemed)
"""Types of events whose requests are never shown, because they contain hashes of secrets."""


class EventSeen(Value, omit_defaults=True):
    """An event of a match. Only the sender and the official get ``act``, the act's Idempotency-Key.

    Only the official gets ``digest``, ``prev`` and, in lists and streams, ``hash``. After the deal an auditor also
    gets all four.
    """

    number: EventNumber
    act_number: EventNumber
    """Number of the first event of the act."""
    at: Time
    actor: Actor
    act: Annotated[wire_types.Key | None, Meta(description="null: the act had no key, or the caller may not see it.")]
    event: Annotated[dict[str, Any], type_depends_on("topic", "match")]
    digest: wire_types.Digest | None = None
    prev: wire_types.Hash | None = None
    hash: wire_types.Hash | None = None


class ActSeen(Value):
    """An act of a match, for the official."""

    number: EventNumber
    """Number of the first event of the act."""
    request: AskedSeen
    """Request, exactly as stored."""


def event_seen(recorded: Recorded, caller: Caller, public: bool, act_number: int) -> dict[str, Any]:
    """Return an :class:`EventSeen` as a dict for the caller, without ``hash``. ``public``: the deal is over."""
    viewer = caller.deal_viewer(public)
    event = with_topic(as_seen_by(recorded.event, viewer, public))
    return event_fields(recorded, recorded.originator_version, act_number, event, caller, viewer == "official")


def event_fields(
    recorded: Recorded | RawRow, number: int, act_number: int, event: msgspec.Raw, caller: Caller, as_official: bool
) -> dict[str, Any]:
    """Return an :class:`EventSeen` as a dict, without ``hash``. ``event``: the event as the caller may see it."""
    act = recorded.act_id
    mine = as_official or recorded.actor == caller.actor
    fields: dict[str, Any] = {
        "number": number,
        "act_number": act_number,
        "at": recorded.at,
        "actor": recorded.actor,
        "act": act if mine and act[:1] != "~" else None,
        "event": event,
    }
    if as_official:
        fields |= {"digest": recorded.digest, "prev": recorded.prev}
    return fields
