"""A match: the aggregate that begins with ``match/opened``."""

from collections.abc import Callable, Iterable
from datetime import datetime
from hmac import compare_digest
from importlib import import_module
from itertools import chain
from pkgutil import iter_modules
from typing import Any, ClassVar

import msgspec
from msgspec.structs import replace

from referee import events
from referee.actors import SEATS, Actor, actor_at, officials, place_of, seat_of
from referee.acts import Act, AgreeStakes, Knock, Result, SeatAct
from referee.admission import Invite, RedeemInvitation
from referee.events import DealScored, MatchOpened, event_kinds_in
from referee.games import RULESETS, request_of
from referee.officials import corrections, takeback
from referee.officials import events as official_events
from referee.officials.attended import has_docket, procedure_of
from referee.officials.state import Attended, AttendedState, Docket, cases_holding_play, status_at
from referee.phases import Over
from referee.requests import Proceeding, Request
from referee.ruleset import Ruleset, Shown
from referee.seating import Seating
from referee.store.aggregate import Aggregate, Rules
from referee.store.damaged import NotInstalled
from referee.tokens import hash_in_match
from referee.visibility import Event, Recorded, Viewer, as_seen_by

OF_A_SEAT = (SeatAct, Knock)
"""Requests that always name their seat."""


def _event_types() -> tuple[type[Event], ...]:
    names = [f"{official_events.__name__}.{module.name}" for module in iter_modules(official_events.__path__)]
    kinds = [kind for module in (events, *map(import_module, names)) for kind in event_kinds_in(module)]
    own = [kind for ruleset in RULESETS.values() for kind in ruleset.events]
    return tuple(dict.fromkeys((*kinds, *own)))


def check_installed(games: Iterable[str]) -> None:
    """Raise :class:`NotInstalled` if one of these games is not installed."""
    if missing := set(games) - RULESETS.keys():
        raise NotInstalled(missing)


class Match(Aggregate):
    opened: MatchOpened

    OPENING: ClassVar[type[Event]] = MatchOpened
    FACTS: ClassVar[tuple[type[Event], ...]] = _event_types()
    REQUEST_OF: ClassVar[Callable[[bytes], Request]] = request_of
    LAYS_OPEN: ClassVar[frozenset[type[Event]]] = events.DEAL_ENDS
    ENDS: ClassVar[frozenset[type[Event]]] = corrections.ENDS
    SNAPSHOT_AFTER: ClassVar[frozenset[type[Event]]] = frozenset((DealScored,))

    @classmethod
    def rules_for(cls, opened: MatchOpened) -> Rules:
        """Return the ruleset; for an attended match, with the officials' procedures. Raises ``NotInstalled``."""
        check_installed((opened.ruleset,))
        rules = RULESETS[opened.ruleset]
        return procedure_of(rules) if has_docket(opened) else rules

    @property
    def before_request(self) -> Callable[[Any, Recorded], Any] | None:
        """Function that prepares take-backs; ``None`` if the match has none."""
        return None if takeback.take_back_mode(self.opened) is None else _state_before_request

    @property
    def rules(self) -> Ruleset:
        return RULESETS[self.opened.ruleset]

    @property
    def play(self) -> Any:
        """State of the game, without the officials' part."""
        state = self.state
        return state.play if type(state) is Attended else state

    @property
    def seating(self) -> Seating:
        seating: Seating = self.play.table.seating
        return seating

    @property
    def docket(self) -> Docket | None:
        """Officials' part of the state; ``None`` if the match is not attended."""
        state = self.state
        return state.docket if type(state) is Attended else None

    @classmethod
    def end_time_after(cls, event: Event, at: datetime, before: datetime | None) -> datetime | None:
        """Return the time of the end; ``None`` after a correction if the match goes on."""
        return corrections.end_time_after(event, at, before)

    def has_token(self, actor: Actor, token_sha256: str) -> bool:
        seating, token = self.seating, hash_in_match(self.id, token_sha256)
        seat = seat_of(actor)
        if seat is not None:
            return compare_digest(seating.seats[seat], token)
        if actor in ("scribe", "watcher"):
            return compare_digest(getattr(seating, actor), token)
        place = place_of(actor)
        return place is not None and compare_digest(seating.officials[place], token)

    def holder(self, token_sha256: str) -> Actor | None:
        """Return the actor whose token has this SHA-256, if any. Takes equally long for all tokens."""
        seating, token = self.seating, hash_in_match(self.id, token_sha256)
        found: Actor | None = None
        of_officials = zip(officials(len(seating.officials)), seating.officials, strict=True)
        for actor, known in chain(of_officials, zip(SEATS, seating.seats, strict=False)):
            if compare_digest(token, known):
                found = actor
        for role, known in (("scribe", seating.scribe), ("watcher", seating.watcher)):
            if known and compare_digest(token, known):
                found = role
        return found

    def sole_actor(self, request: Request) -> Actor | None:
        """Return the only actor who may make a request; ``None`` if any actor may. ``official``: every official.

        A redeemed invitation must exist.
        """
        if isinstance(request, OF_A_SEAT):
            return None if self.opened.dealing == "tally" else actor_at(request.seat)
        if isinstance(request, RedeemInvitation):
            invited = self.seating.invitations[request.invitation - 1].seat
            return None if invited is None else actor_at(invited)
        of_a_seat = isinstance(request, AgreeStakes | Proceeding) or (
            isinstance(request, Invite) and request.role == "seat"
        )
        seat: int | None = getattr(request, "seat", None) if of_a_seat else None
        if seat is not None:
            return actor_at(seat)
        return None if isinstance(request, Result) else "official"

    def legal(self, viewer: Viewer) -> tuple[Act, ...]:
        """Return the acts that a viewer may make. While a case stops play, only officials have any (J5)."""
        state = self.state
        if type(state) is not Attended or viewer == "official":
            return self.rules.legal(self.play, viewer)
        if cases_holding_play(state.docket):
            return ()
        acts = self.rules.legal(state.play, viewer)
        return acts + takeback.take_back_acts(state, viewer) if isinstance(viewer, int) else acts

    def shown(self, viewer: Viewer) -> Shown:
        """Return the match as the viewer may see it. ``to_act`` is empty while a case stops play (J5)."""
        shown, docket = self.rules.view(self.play, viewer), self.docket
        return shown if docket is None or not cases_holding_play(docket) else replace(shown, to_act=())

    def is_provisional(self, at: datetime) -> bool:
        """Return whether the match is over, but a correction in time or a case may change its result (J7, J8)."""
        docket, ended_at, play = self.docket, self.ended_at, self.play
        if docket is None or docket.terms is None or ended_at is None or not isinstance(play, Over):
            return False
        if play.by == "abandoned":
            return False
        if at < corrections.correctable_until(docket.terms, ended_at):
            return True
        return any(status_at(case, at) not in ("final", "withdrawn") for case in docket.cases)

    def event_seen_by(self, recorded: Recorded, viewer: Viewer) -> Recorded:
        """Return the event as a viewer may see it, with hidden fields emptied or replaced."""
        event = as_seen_by(recorded.event, viewer, recorded.originator_version <= self.public_to)
        return recorded if event is recorded.event else msgspec.structs.replace(recorded, event=event)


def _state_before_request(state: AttendedState, recorded: Recorded) -> AttendedState:
    assert recorded.request is not None, "the caller checks this"
    return takeback.before_request(state, request_of(recorded.request), recorded.actor, recorded.originator_version)
