"""The rights of a caller in one match."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from msgspec.structs import replace

from api.access.clubs import KeyHolder, must_have, why_not_taken
from api.access.tokens import must_be_official, must_be_seat, must_be_theirs
from api.http.headers import Req
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.notes import notes_in
from api.http.problems import Problem
from projections.visibility import Sight
from referee.actors import Actor, actor_at
from referee.acts import AgreeStakes, Knock, SeatAct
from referee.admission import Invite, IssueToken
from referee.clubs.facts import Scope
from referee.requests import Request
from referee.store.command import Command
from referee.store.match import Match
from referee.value import Value
from referee.visibility import Viewer

PRESENT_SECRET_NEEDED = (AgreeStakes, Invite)
"""Requests for which the old secret of a rotated key is refused."""
SCRIBE_REQUESTS = (SeatAct, Knock)
"""Requests that a scribe may make for a seat."""
ROLES_OF_PROGRAMS = ("scribe", "watcher")
"""Roles to which a key with `open` may invite."""


def seat_of_key(key: KeyHolder, match: Match) -> int | None:
    """Return the seat of the member who holds the key; ``None`` if they do not play in this match."""
    member, members = key.key.member, match.opened.members
    return members.index(member) if member in members and match.opened.club == key.club.id else None


ViewerSeen = Annotated[
    str,
    Meta(
        title="Viewer",
        description="The viewer: `seat:2` is seat 2; `official` or `spectator`.",
        extra_json_schema={"pattern": "^(seat:[0-7]|official|spectator)$", "maxLength": len("spectator")},
    ),
]


def viewer_seen(viewer: Viewer) -> ViewerSeen:
    """Return the text for a viewer in answers."""
    return actor_at(viewer) if isinstance(viewer, int) else viewer


class Caller(Value):
    viewer: Viewer
    """Viewer whose view of the current deal the caller gets."""
    actor: Actor | None = None
    """``None``: the caller may only watch."""
    token_hash: str | None = None
    """SHA-256 of the caller's token of the match, which the desk checks again."""
    key: KeyHolder | None = None
    """Holder of the key that was sent, perhaps of a club other than the match's."""
    texts: MemberTexts = NO_TEXTS
    """Names and texts of members that the caller may read in answers about the match."""
    audits: bool = False
    """True: the caller sees finished deals as the official does."""
    held_back: bool = False
    """True: a member who holds or gave the caller's key or token plays in the match. So the caller may not see what
    officials and auditors see."""

    def sees_as(self, public: bool) -> Viewer:
        """Return the viewer whose view of a deal the caller gets. ``public``: it is over and its cards are open."""
        return "official" if self.audits and public else self.viewer

    def knows_names(self, match: Match) -> bool:
        """Return whether the caller has a token of the match or a key of its club."""
        return self.token_hash is not None or (self.key is not None and self.key.club.id == match.opened.club)

    @property
    def without_texts(self) -> "Caller":
        """The caller without names, for a process that cannot read them."""
        return replace(self, texts=NO_TEXTS)

    @property
    def shown(self) -> str | None:
        """SHA-256 of the caller's token or key."""
        return self.token_hash if self.key is None else self.key.secret_hash

    @property
    def sight(self) -> Sight:
        return Sight(held=self.token_hash) if self.key is None else self.key.sight

    @property
    def revoking_club_ids(self) -> tuple[UUID, ...]:
        """Ids of clubs whose events may end the caller's rights."""
        return () if self.key is None else (self.key.club.id,)

    def seconds_left(self, at: datetime) -> float:
        """Return the seconds until the caller's key ends; infinity without a key."""
        return float("inf") if self.key is None else max(0.0, (self.key.ends_at - at).total_seconds())

    @property
    def acting(self) -> Actor:
        """The caller's actor. Use it only after :meth:`must_act`."""
        assert self.actor is not None, "must_act refuses callers who may only watch"
        return self.actor

    def tries(self, request: Req, match: Match, asked: Value) -> None:
        """Note the attempt on the HTTP request. Call this before checks that can refuse it."""
        notes_in(request.scope).tried = match.id, self.acting, asked

    def command(
        self, match_id: UUID, asked: Request, *, key: str | None = None, expected: int | None = None
    ) -> Command:
        """Return the caller's request as a command for the desk."""
        return Command(
            id=match_id, actor=self.acting, request=asked, key=key, expected=expected, token=self.token_hash
        )

    def must_act(self, match: Match, scope: Scope) -> None:
        """Raise Problem (403) unless the caller has an actor in the match.

        Codes: scope_missing if a key of the match's club lacks the ``scope``, else only_looks_on.
        """
        if self.actor is not None:
            return
        if self.key is not None and self.key.club.id == match.opened.club:
            must_have(self.key, scope)
        raise Problem("only_looks_on")

    def must_be_theirs(self, match: Match, asked: Request) -> None:
        """Raise Problem (403) unless the caller may make this request.

        Codes: secret_replaced for requests in :data:`PRESENT_SECRET_NEEDED`; confirmed_by_members,
        invited_by_members, for_seats, not_your_seat, for_officials.
        """
        if isinstance(asked, PRESENT_SECRET_NEEDED) and self.key is not None and self.key.is_replaced:
            raise why_not_taken(self.key)
        if isinstance(asked, Invite):
            self._must_admit(match, asked)
        elif self.actor != "scribe" or not isinstance(asked, SCRIBE_REQUESTS):
            if isinstance(asked, AgreeStakes) and asked.seat is None and self._has_program_key:
                raise Problem("confirmed_by_members")
            must_be_theirs(match, self.acting, asked)

    def must_be_seat(self, seat: int, *, itself: bool) -> None:
        """Raise Problem (403 for_seats or not_your_seat) unless the caller may act for this seat.

        ``itself``: a scribe may not act for the seat.
        """
        if itself or self.actor != "scribe":
            must_be_seat(self.acting, seat)

    def must_be_official(self, match: Match) -> None:
        """Raise Problem (403) unless the caller acts as an official of the match.

        Codes: scope_missing, only_looks_on, plays_in_match, for_officials.
        """
        self.must_act(match, "officiate")
        self.must_not_be_held_back()
        must_be_official(self.acting)

    def must_not_be_held_back(self) -> None:
        """Raise Problem (403 plays_in_match) if the caller is :attr:`held_back`."""
        if self.held_back:
            raise Problem("plays_in_match")

    def must_know_acts(self, match: Match, viewer: Viewer) -> None:
        """Raise Problem (403) unless the caller may see this viewer's legal acts. In a tally every actor may.

        Codes: scope_missing, only_looks_on, for_seats, not_your_seat.
        """
        self.must_act(match, "play")
        if isinstance(viewer, int) and self.viewer not in (viewer, "official") and match.opened.dealing != "tally":
            must_be_seat(self.acting, viewer)

    def by_scope_open(self, match: Match, asked: IssueToken | Invite) -> "Caller":
        """Return the caller, with their key as the actor if its scope `open` allows this request.

        It must be a key of the match's club whose member does not play in the match.
        """
        key = self.key
        if (
            key is None
            or key.club.id != match.opened.club
            or not key.may("open")
            or seat_of_key(key, match) is not None
        ):
            return self
        if isinstance(asked, Invite) and asked.role not in ROLES_OF_PROGRAMS:
            return self
        return Caller(viewer=self.viewer, actor=key.actor, key=key)

    def _must_admit(self, match: Match, asked: Invite) -> None:
        """Raise Problem (403 for_officials or invited_by_members) unless the caller may make this invitation.

        Only a member's key may invite to a seat in a match for money.
        """
        if asked.role == "seat" and asked.seat is not None and self.actor == actor_at(asked.seat):
            return
        must_be_official(self.acting)
        of_club = match.opened.club is not None
        if of_club and asked.role == "seat" and match.opened.stakes is not None and self._has_program_key:
            raise Problem("invited_by_members")

    @property
    def _has_program_key(self) -> bool:
        """True if a program, not a member, holds the caller's key."""
        return self.key is not None and self.key.member is None


SPECTATOR = Caller(viewer="spectator")
"""Caller without a credential."""
