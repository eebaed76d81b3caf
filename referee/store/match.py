"""A match: the aggregate that begins with its opening, played by the ruleset that is named there."""

from collections.abc import Callable
from datetime import datetime
from hmac import compare_digest
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from referee import events
from referee.actors import Actor, officials, place_of
from referee.acts import Act, AgreeStakes, Knock, Result, SeatAct
from referee.admission import Invite, RedeemInvitation
from referee.events import DealScored, MatchOpened, event_kinds_in
from referee.games import RULESETS
from referee.officials import corrections, takeback
from referee.officials import events as official_events
from referee.officials.attended import attended, attends, before_request
from referee.officials.state import Attended, AttendedState, Docket, holding, status_at
from referee.phases import Over
from referee.requests import Proceeding, Request, request_of
from referee.ruleset import Ruleset, Shown
from referee.seating import Seating
from referee.store.aggregate import Aggregate, Rules
from referee.tokens import in_match
from referee.visibility import Event, Recorded, Viewer, seen

OF_A_SEAT = (SeatAct, Knock)
"""Requests that always name the seat that asks."""


def _facts() -> tuple[type[Event], ...]:
    """Those that all games have, those of the officials, and then those of each game."""
    names = [f"{official_events.__name__}.{module.name}" for module in iter_modules(official_events.__path__)]
    kinds = [kind for module in (events, *map(import_module, names)) for kind in event_kinds_in(module)]
    own = [kind for ruleset in RULESETS.values() for kind in ruleset.events]
    return tuple(dict.fromkeys((*kinds, *own)))


class Match(Aggregate):
    """A match as it stands after event number ``version``."""

    opened: MatchOpened

    OPENING: ClassVar[type[Event]] = MatchOpened
    FACTS: ClassVar[tuple[type[Event], ...]] = _facts()
    REQUEST_OF: ClassVar[Callable[[bytes], Request]] = request_of
    LAYS_OPEN: ClassVar[frozenset[type[Event]]] = events.LAYS_OPEN
    ENDS: ClassVar[frozenset[type[Event]]] = corrections.ENDS
    SNAPSHOT_AFTER: ClassVar[frozenset[type[Event]]] = frozenset((DealScored,))

    @classmethod
    def rules_for(cls, opened: MatchOpened) -> Rules:
        """The ruleset that a match so opened is played by, with its officials where they attend to it."""
        rules = RULESETS[opened.ruleset]
        return attended(rules) if attends(opened) else rules

    @property
    def asked(self) -> Callable[[Any, Recorded], Any] | None:
        """Where an act can be taken back, what keeps how the match stood before it."""
        return None if takeback.takes_back(self.opened) is None else _asked

    @property
    def rules(self) -> Ruleset:
        """The ruleset that it is played by."""
        return RULESETS[self.opened.ruleset]

    @property
    def state(self) -> Any:
        """The phase of the game."""
        standing = self.standing
        return standing.play if type(standing) is Attended else standing

    @property
    def seating(self) -> Seating:
        """Who may act in it, and who has agreed to its stakes."""
        seating: Seating = self.state.table.seating
        return seating

    @property
    def docket(self) -> Docket | None:
        """What lies before its officials; ``None`` where they do not attend to it."""
        standing = self.standing
        return standing.docket if type(standing) is Attended else None

    @classmethod
    def ended(cls, event: Event, at: datetime, before: datetime | None) -> datetime | None:
        """What is corrected ended when it did; a match that a correction has opened again, not yet."""
        return corrections.ended(event, at, before)

    def held(self, actor: Actor, token: str) -> bool:
        """Return whether this is the SHA-256 of the token that the actor has now."""
        seating, token = self.seating, in_match(self.id, token)
        if isinstance(actor, int):
            return compare_digest(seating.seats[actor], token)
        if actor in ("scribe", "watcher"):
            return compare_digest(getattr(seating, actor), token)
        place = place_of(actor)
        return place is not None and compare_digest(seating.officials[place], token)

    def holder(self, token: str) -> Actor | None:
        """Return the actor whose token has this SHA-256: ``"watcher"`` for one that only looks, ``None`` if it is no
        token of the match. Compares all tokens."""
        seating, token = self.seating, in_match(self.id, token)
        found: Actor | None = None
        for actor, known in zip(officials(len(seating.officials)), seating.officials, strict=True):
            if compare_digest(token, known):
                found = actor
        for seat, known in enumerate(seating.seats):
            if compare_digest(token, known):
                found = seat
        for role, known in (("scribe", seating.scribe), ("watcher", seating.watcher)):
            if known and compare_digest(token, known):
                found = role
        return found

    def whose(self, request: Request) -> Actor | None:
        """A seat's acts are its own; where only the tally is kept, anybody of the match writes them down."""
        if isinstance(request, OF_A_SEAT):
            return None if self.opened.dealing == "tally" else request.seat
        if isinstance(request, AgreeStakes):
            return "official" if request.seat is None else request.seat
        if isinstance(request, Invite):
            return request.seat if request.role == "seat" else "official"
        if isinstance(request, RedeemInvitation):
            return self.seating.invitations[request.invitation - 1].seat
        seat: int | None = getattr(request, "seat", None) if isinstance(request, Proceeding) else None
        if seat is not None:  # who speaks for itself
            return seat
        return None if isinstance(request, Result) else "official"

    def legal(self, viewer: Viewer) -> tuple[Act, ...]:
        """What somebody may do now, in the game and about its last act; a seat nothing while play is held for a case
        (J5)."""
        standing = self.standing
        if type(standing) is not Attended or viewer == "official":
            return self.rules.legal(self.state, viewer)
        if holding(standing.docket):
            return ()
        acts = self.rules.legal(standing.play, viewer)
        return acts + takeback.offers(standing, viewer) if isinstance(viewer, int) else acts

    def shown(self, viewer: Viewer) -> Shown:
        """The match as somebody may see it. While play is held for a case nobody is awaited (J5)."""
        shown, docket = self.rules.view(self.state, viewer), self.docket
        return shown if docket is None or not holding(docket) else replace(shown, to_act=())

    def provisional(self, at: datetime) -> bool:
        """J8: whether it is over, and what it came to may still change."""
        docket, ended_at, state = self.docket, self.ended_at, self.state
        if docket is None or docket.terms is None or ended_at is None or not isinstance(state, Over):
            return False
        if state.by == "abandoned":
            return False
        if at < corrections.correctable_until(docket.terms, ended_at):
            return True
        return any(status_at(case, at) not in ("final", "withdrawn") for case in docket.cases)

    def seen(self, recorded: Recorded, viewer: Viewer) -> Recorded:
        """A recorded event as the viewer may see it."""
        event = seen(recorded.event, viewer, recorded.originator_version <= self.public_to)
        return recorded if event is recorded.event else msgspec.structs.replace(recorded, event=event)


def _asked(standing: AttendedState, recorded: Recorded) -> AttendedState:
    """How a match stands before the first event that came of a request."""
    assert recorded.request is not None, "it was asked for"
    return before_request(standing, request_of(recorded.request), recorded.actor, recorded.originator_version)
