"""Whoever sends a request, as far as one match is concerned."""

from datetime import datetime
from uuid import UUID

from msgspec.structs import replace

from api.access.attempts import tries
from api.access.clubs import KeyHolder, must_have, why_not_taken
from api.access.tokens import must_be_official, must_be_seat, must_be_theirs
from api.http.headers import Req
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.problems import Problem
from projections.visibility import Sight
from referee.actors import Actor
from referee.acts import AgreeStakes, Knock, SeatAct
from referee.admission import Invite, IssueToken
from referee.clubs.facts import Scope
from referee.requests import Request
from referee.store.command import Command
from referee.store.match import Match
from referee.value import Value
from referee.visibility import Viewer

NOT_BY_AN_OLD_SECRET = (AgreeStakes, Invite)
"""Acts that the old secret of a rotated key cannot do."""
OF_A_SCRIBE = (SeatAct, Knock)
"""Acts of a seat that a scribe may do."""
ROLES_OF_PROGRAMS = ("scribe", "watcher")
"""Roles to which a key with `open` may admit: a device of the table, and a screen beside it."""


def seat_of(key: KeyHolder, match: Match) -> int | None:
    """Where the member sits whose key it is; ``None``: nowhere, or it is another club's match."""
    member, members = key.key.member, match.opened.members
    return members.index(member) if member in members and match.opened.club == key.club.id else None


class Caller(Value):
    """Who asks something of a match: what he may see of it, and as whom he acts in it."""

    viewer: Viewer
    """As whom he sees what is not over."""
    actor: Actor | None = None
    """As whom he acts; ``None``: he only looks on."""
    held: str | None = None
    """The SHA-256 of the token of the match that he holds, which the desk looks at again; ``None``: he holds none."""
    key: KeyHolder | None = None
    """Whose key he has shown: of a club, perhaps of another than the match's."""
    texts: MemberTexts = NO_TEXTS
    """The names and texts of members that the caller may read in answers about the match."""
    audits: bool = False
    """Whether he sees as the official what is over."""

    held_back: bool = False
    """Whether the caller sees less than their key or token says, because a member behind it plays in the match."""

    def sees_as(self, public: bool) -> Viewer:
        """As whom he sees what happened in a deal; ``public``: it is over, and its cards lie open."""
        return "official" if self.audits and public else self.viewer

    def knows_names(self, match: Match) -> bool:
        """Whether he is told what the members are called who play: who holds a token of the match, or a key of its
        club."""
        return self.held is not None or (self.key is not None and self.key.club.id == match.opened.club)

    @property
    def without_texts(self) -> "Caller":
        """The caller as work in another process gets them: it cannot read the store of names, and makes no answer."""
        return replace(self, texts=NO_TEXTS)

    @property
    def shown(self) -> str | None:
        """The SHA-256 of what he has shown; ``None``: nothing."""
        return self.held if self.key is None else self.key.held

    @property
    def sight(self) -> Sight:
        """What he is told of in lists."""
        return Sight(held=self.held) if self.key is None else self.key.sight

    @property
    def rests_on(self) -> tuple[UUID, ...]:
        """The clubs whose events may end what he may see."""
        return () if self.key is None else (self.key.club.id,)

    def seconds_left(self, at: datetime) -> float:
        """For how long he may see it, if nothing happens."""
        return float("inf") if self.key is None else max(0.0, (self.key.ends_at - at).total_seconds())

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

    def must_act(self, match: Match, scope: Scope) -> None:
        """403 unless he acts in the match; a key of its club that lacks the ``scope`` for it is told so."""
        if self.actor is not None:
            return
        if self.key is not None and self.key.club.id == match.opened.club:
            must_have(self.key, scope)
        raise Problem("only_looks_on")

    def must_be_theirs(self, match: Match, asked: Request) -> None:
        """Raise 403 unless the caller may ask this.

        A scribe may do what seats do, but makes no statements for them. The old secret of a rotated key cannot make
        invitations or agree to stakes.
        """
        if isinstance(asked, NOT_BY_AN_OLD_SECRET) and self.key is not None and self.key.key.hash != self.key.held:
            raise why_not_taken(self.key)
        if isinstance(asked, Invite):
            self._must_admit(match, asked)
        elif self.actor != "scribe" or not isinstance(asked, OF_A_SCRIBE):
            if isinstance(asked, AgreeStakes) and asked.seat is None and self._by_program:
                raise Problem("confirmed_by_members")
            must_be_theirs(match, self.acting, asked)

    def must_be_seat(self, seat: int, *, itself: bool) -> None:
        """403 unless he may act for this seat; ``itself``: nobody writes that down for it."""
        if itself or self.actor != "scribe":
            must_be_seat(self.acting, seat)

    def must_be_official(self, match: Match) -> None:
        """Raise 403 unless the caller sees the match as one of its officials."""
        self.must_act(match, "officiate")
        self.must_not_be_held_back()
        must_be_official(self.acting)

    def must_not_be_held_back(self) -> None:
        """Raise 403 if a member behind the caller's key or token plays in the match, which is not over."""
        if self.held_back:
            raise Problem("plays_in_match")

    def must_know_acts(self, match: Match, whose: Viewer) -> None:
        """403 unless he may be told what somebody may do now: himself, in a tally any seat, an official all."""
        self.must_act(match, "play")
        if isinstance(whose, int) and self.viewer not in (whose, "official") and match.opened.dealing != "tally":
            must_be_seat(self.acting, whose)

    def reissues(self, match: Match, asked: IssueToken | Invite) -> "Caller":
        """Return the caller as one who may admit a scribe or a watcher: a key of the club with `open` may, but not
        in a match in which its own member plays."""
        key = self.key
        if key is None or key.club.id != match.opened.club or not key.may("open") or seat_of(key, match) is not None:
            return self
        if isinstance(asked, Invite) and asked.role not in ROLES_OF_PROGRAMS:
            return self
        return Caller(viewer=self.viewer, actor=key.actor, key=key)

    def _must_admit(self, match: Match, asked: Invite) -> None:
        """Raise 403 unless the caller may make this invitation.

        A seat invites to itself. In a club's match a key with `officiate` invites to seats and to the officials'
        places; to a seat for money it must be a member's key, so that a person answers for the invitation.
        """
        if asked.role == "seat" and self.actor == asked.seat:
            return
        must_be_official(self.acting)
        if match.opened.club is None or self.key is None:  # what a token of a club's match may not, the match refuses
            return
        if asked.role == "seat" and match.opened.stakes is not None and self._by_program:
            raise Problem("invited_by_members")

    @property
    def _by_program(self) -> bool:
        """Whether the caller has shown a key that no member holds."""
        return self.key is not None and self.key.member is None


SPECTATOR = Caller(viewer="spectator")
"""Who shows nothing."""
