"""Whoever sends a request, as far as one match is concerned."""

from uuid import UUID

from api.access.tokens import must_be_official, must_be_seat
from api.access.tried import tries
from api.http.headers import Req
from api.http.problems import Problem
from referee.actors import Actor
from referee.acts import Request
from referee.events import Viewer
from referee.store.desk import Command
from referee.store.match import Match
from referee.value import Value


class Credential(Value):
    """What somebody shows with a request to be let in; of which match or whose it is, nobody has looked yet."""

    held: str
    """What is kept of it: its SHA-256."""


class Caller(Value):
    """Who asks something of a match: what he may see of it, and as whom he acts in it."""

    viewer: Viewer
    """As whom he sees what is not over."""
    actor: Actor | None = None
    """As whom he acts; ``None``: he only looks on."""
    held: str | None = None
    """The SHA-256 of the token of the match that he acts by, which the desk looks at again."""
    audits: bool = False
    """Whether he sees as the official what is over."""

    def sees_as(self, public: bool) -> Viewer:
        """As whom he sees what happened in a deal; ``public``: it is over, and its cards lie open."""
        return "official" if self.audits and public else self.viewer

    @property
    def acting(self) -> Actor:
        """As whom he acts, who may."""
        assert self.actor is not None, "who may only look is refused before"
        return self.actor

    def tries(self, request: Req, match: Match, asked: Value) -> None:
        """He wants this of a match: say so before anything can refuse it."""
        tries(request, match.id, self.acting, asked)

    def command(
        self, match_id: UUID, asked: Request, *, key: str | None = None, expected: int | None = None
    ) -> Command:
        """What he asks of the match, for the desk."""
        return Command(id=match_id, actor=self.acting, request=asked, key=key, expected=expected, token=self.held)

    def must_be_seat(self, seat: int) -> None:
        """403 unless he may act for this seat."""
        must_be_seat(self.acting, seat)

    def must_be_official(self) -> None:
        """403 unless he is an official."""
        must_be_official(self.acting)

    def must_know_acts(self, match: Match, whose: Viewer) -> None:
        """403 unless he may be told what somebody may do now: himself, in a tally any seat, an official all."""
        if self.viewer not in (whose, "official") and match.opened.dealing != "tally":
            raise Problem("not_your_seat", seat=whose, yours=self.viewer)


SPECTATOR = Caller(viewer="spectator")
"""Who shows nothing."""
