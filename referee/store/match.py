"""A match: the aggregate that begins with its opening, played by the ruleset that is named there."""

from collections.abc import Callable
from hmac import compare_digest
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, ClassVar

import msgspec

from referee import events, proceedings
from referee.actors import Actor
from referee.acts import Act, Request, request_of
from referee.events import DealScored, Event, MatchOpened, Recorded, Viewer, seen
from referee.games import RULESETS
from referee.officials import asked, attended, attends, takeback
from referee.officials.standing import Attended, Docket, Standing
from referee.ruleset import Ruleset
from referee.store.aggregate import Aggregate, Rules


def _facts() -> tuple[type[Event], ...]:
    """Those that all games have, those of the officials, and then those of each game."""
    parts = (import_module(f"{proceedings.__name__}.{part.name}") for part in iter_modules(proceedings.__path__))
    named = (kind for module in (events, *parts) for kind in vars(module).values())
    kinds = [kind for kind in named if isinstance(kind, type) and issubclass(kind, Event)]
    own = [kind for ruleset in RULESETS.values() for kind in ruleset.events]
    return tuple(dict.fromkeys(kind for kind in (*kinds, *own) if kind is not Event))


class Match(Aggregate):
    """A match as it stands after event number ``version``."""

    opened: MatchOpened

    OPENING: ClassVar[type[Event]] = MatchOpened
    FACTS: ClassVar[tuple[type[Event], ...]] = _facts()
    REQUEST_OF: ClassVar[Callable[[bytes], Request]] = request_of
    LAYS_OPEN: ClassVar[frozenset[type[Event]]] = events.LAYS_OPEN
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
    def docket(self) -> Docket | None:
        """What lies before its officials; ``None`` where they do not attend to it."""
        standing = self.standing
        return standing.docket if type(standing) is Attended else None

    def held(self, actor: Actor, token: str) -> bool:
        """Whether this is the SHA-256 of the token that the actor has now."""
        known = self.opened.official if actor == "official" else self.state.table.tokens[actor]
        return compare_digest(known, token)

    def legal(self, viewer: Viewer) -> tuple[Act, ...]:
        """What somebody may do now, in the game and about its last act."""
        acts, standing = self.rules.legal(self.state, viewer), self.standing
        if type(standing) is Attended and isinstance(viewer, int):
            acts += takeback.offers(standing, viewer)
        return acts

    def seen(self, recorded: Recorded, viewer: Viewer) -> Recorded:
        """A recorded event as the viewer may see it."""
        event = seen(recorded.event, viewer, recorded.originator_version <= self.public_to)
        return recorded if event is recorded.event else msgspec.structs.replace(recorded, event=event)


def _asked(standing: Standing, recorded: Recorded) -> Standing:
    """How a match stands before the first event that came of a request."""
    assert recorded.request is not None, "it was asked for"
    return asked(standing, request_of(recorded.request), recorded.actor, recorded.originator_version)
