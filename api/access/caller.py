"""The rights of a caller in one match."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from msgspec import Meta
from msgspec.structs import replace

from api.access.clubs import KeyHolder, must_have, problem_of_stale_key
from api.access.tokens import must_be_allowed, must_be_official, must_be_seat
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

NEWEST_SECRET_NEEDED = (AgreeStakes, Invite)
"""Requests that a replaced key may not make."""
SCRIBE_REQUESTS = (SeatAct, Knock)
ROLES_OF_PROGRAMS = ("scribe", "watcher")


def seat_of_key(key: KeyHolder, match: Match) -> int | None:
    """Return the seat of the key's member; ``None`` for a program, or a member who does not play in this match."""
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
    """Return the name of a viewer in answers."""
    return actor_at(viewer) if isinstance(viewer, int) else viewer


class Caller(Value):
    viewer: Viewer
    """Viewer whose view of the current deal the caller sees."""
    actor: Actor | None = None
    """``None``: the caller may only watch."""
    token_hash: str | None = None
    """SHA-256 of the caller's token of the match."""
    key: KeyHolder | None = None
    """Holder of the key that was sent. The key may be of a different club."""
    texts: MemberTexts = NO_TEXTS
    audits: bool = False
    """True: the caller sees finished deals as the official does."""
    held_back: bool = False
    """True: a member who holds or gave the caller's key or token plays in the match. Until it is over, the views of
    officials and auditors are hidden."""

    def deal_viewer(self, public: bool) -> Viewer:
        """Return the viewer whose view of a deal the caller sees. ``public``: the deal is over."""
        return "official" if self.audits and public else self.viewer

    def knows_names(self, match: Match) -> bool:
        """Return whether the caller has a token of the match or a key of its club."""
        return self.token_hash is not None or (self.key is not None and self.key.club.id == match.opened.club)

    @property
    def without_texts(self) -> "Caller":
        return replace(self, texts=NO_TEXTS)

    @property
    def secret_hash(self) -> str | None:
        """SHA-256 of the caller's token or key; ``None`` without a credential."""
        return self.token_hash if self.key is None else self.key.secret_hash

    @property
    def sight(self) -> Sight:
        return Sight(credential_sha256=self.token_hash) if self.key is None else self.key.sight

    @property
    def revoking_club_ids(self) -> tuple[UUID, ...]:
        """Ids of clubs whose events may end the caller's rights; empty without a key."""
        return () if self.key is None else (self.key.club.id,)

    def seconds_left(self, at: datetime) -> float:
        """Return the seconds until the caller's key expires, at least 0; infinity without a key."""
        return float("inf") if self.key is None else max(0.0, (self.key.ends_at - at).total_seconds())

    @property
    def required_actor(self) -> Actor:
        """The caller's actor. Use it only after :meth:`must_act`."""
        assert self.actor is not None, "must_act refuses callers who may only watch"
        return self.actor

    def note_attempt(self, http_request: Req, match: Match, attempt: Value) -> None:
        """Note the attempt on the HTTP request, before checks that can refuse it."""
        notes_in(http_request.scope).tried = match.id, self.required_actor, attempt

    def command(
        self, match_id: UUID, request: Request, *, key: str | None = None, expected: int | None = None
    ) -> Command:
        """Return the request as the caller's command.

        ``key``: the Idempotency-Key. ``expected``: the version that the match must have.
        """
        return Command(
            id=match_id, actor=self.required_actor, request=request, key=key, expected=expected, token=self.token_hash
        )

    def must_act(self, match: Match, scope: Scope) -> None:
        """Raise Problem (403) unless :attr:`actor` is set.

        Codes: scope_missing if the key is of the match's club and lacks ``scope``; otherwise only_looks_on.
        """
        if self.actor is not None:
            return
        if self.key is not None and self.key.club.id == match.opened.club:
            must_have(self.key, scope)
        raise Problem("only_looks_on")

    def must_be_allowed(self, match: Match, request: Request) -> None:
        """Raise Problem (403) unless the caller may make this request.

        Codes: secret_replaced for :data:`NEWEST_SECRET_NEEDED` with a replaced key; plays_in_match;
        confirmed_by_members or invited_by_members for requests that a program may not make; for_seats,
        not_your_seat, for_officials.
        """
        if isinstance(request, NEWEST_SECRET_NEEDED) and self.key is not None and self.key.is_replaced:
            raise problem_of_stale_key(self.key)
        if isinstance(request, Invite):
            self._must_allow_invitation(match, request)
        elif self.actor != "scribe" or not isinstance(request, SCRIBE_REQUESTS):
            if isinstance(request, AgreeStakes) and request.seat is None and self._has_program_key:
                raise Problem("confirmed_by_members")
            must_be_allowed(match, self.required_actor, request)

    def must_be_seat(self, seat: int, *, itself: bool) -> None:
        """Raise Problem (403 for_seats or not_your_seat) unless the caller may act for this seat.

        ``itself``: only the seat may act, not a scribe for it.
        """
        if itself or self.actor != "scribe":
            must_be_seat(self.required_actor, seat)

    def must_be_official(self, match: Match) -> None:
        """Raise Problem (403) unless the caller acts as an official of the match.

        Codes: scope_missing, only_looks_on, plays_in_match, for_officials.
        """
        self.must_act(match, "officiate")
        self.must_not_be_held_back()
        must_be_official(self.required_actor)

    def must_not_be_held_back(self) -> None:
        """Raise Problem (403 plays_in_match) if the caller is :attr:`held_back`."""
        if self.held_back:
            raise Problem("plays_in_match")

    def must_know_acts(self, match: Match, viewer: Viewer) -> None:
        """Raise Problem (403) unless the caller may see the legal acts of ``viewer``.

        Those of a seat, except in a tally, are only for this seat and for callers with its view or the official's.
        Codes: scope_missing, only_looks_on, for_seats, not_your_seat.
        """
        self.must_act(match, "play")
        if isinstance(viewer, int) and self.viewer not in (viewer, "official") and match.opened.dealing != "tally":
            must_be_seat(self.required_actor, viewer)

    def with_open_scope(self, match: Match, request: IssueToken | Invite) -> "Caller":
        """Return the caller; if the key's scope `open` allows this request, with only viewer, key and its actor.

        The scope allows any IssueToken, and Invite to :data:`ROLES_OF_PROGRAMS`; nothing if the key is of a different
        club or its member plays in the match.
        """
        key = self.key
        if (
            key is None
            or key.club.id != match.opened.club
            or not key.may("open")
            or seat_of_key(key, match) is not None
        ):
            return self
        if isinstance(request, Invite) and request.role not in ROLES_OF_PROGRAMS:
            return self
        return Caller(viewer=self.viewer, actor=key.actor, key=key)

    def _must_allow_invitation(self, match: Match, request: Invite) -> None:
        """Raise Problem (403) unless the caller may make this invitation. A seat may invite to itself.

        Code for_officials unless the caller is an official. Codes for a seat: plays_in_match if the caller is held
        back and the server deals, because they could then see the seat's cards; invited_by_members if a program
        invites in a club's match for money.
        """
        if request.role == "seat" and request.seat is not None and self.actor == actor_at(request.seat):
            return
        must_be_official(self.required_actor)
        if request.role == "seat" and match.opened.dealing == "house":
            self.must_not_be_held_back()
        of_club = match.opened.club is not None
        if of_club and request.role == "seat" and match.opened.stakes is not None and self._has_program_key:
            raise Problem("invited_by_members")

    @property
    def _has_program_key(self) -> bool:
        return self.key is not None and self.key.member is None


SPECTATOR = Caller(viewer="spectator")
"""Caller without a credential."""
