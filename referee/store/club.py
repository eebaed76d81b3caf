"""A club: the aggregate that begins with its founding."""

from collections.abc import Callable
from hmac import compare_digest
from typing import Any, ClassVar

from referee.actors import Actor
from referee.clubs import facts
from referee.clubs.commands import ClubRequest, club_request_of
from referee.clubs.rules import EVOLVE, RULES
from referee.clubs.state import Club as State
from referee.store.aggregate import Aggregate, Rules
from referee.visibility import Event, Recorded


class Club(Aggregate):
    opened: facts.ClubFounded
    state: State

    OPENING: ClassVar[type[Event]] = facts.ClubFounded
    FACTS: ClassVar[tuple[type[Event], ...]] = (facts.ClubFounded, *EVOLVE)
    REQUEST_OF: ClassVar[Callable[[bytes], ClubRequest]] = club_request_of

    @classmethod
    def rules_for(cls, opened: facts.ClubFounded) -> Rules:
        return RULES

    @property
    def before_request(self) -> Callable[[Any, Recorded], Any]:
        """Function that stores a request's time in the state, for ``payout_limit``."""
        return _at_time_of_act

    def has_token(self, actor: Actor, token_sha256: str) -> bool:
        """Return whether the actor's key is not revoked, and its present or previous secret has this SHA-256.

        Does not check expiry.
        """
        key = self.state.key(actor.removeprefix("key:"))
        if key is None or key.revoked:
            return False
        return any(compare_digest(known, token_sha256) for known in (key.hash, key.before) if known is not None)

    def may_act(self, actor: Actor, token_sha256: str) -> bool:
        """Return whether the actor's key is not revoked, and its present secret has this SHA-256."""
        key = self.state.key(actor.removeprefix("key:"))
        return key is not None and not key.revoked and compare_digest(key.hash, token_sha256)

    def sole_actor(self, request: Any) -> Actor | None:
        """Return ``None``: scopes decide (:func:`referee.clubs.scopes.needed_scope`)."""
        return None


def _at_time_of_act(state: State, recorded: Recorded) -> State:
    return RULES.at_time_of_act(state, recorded.at)
