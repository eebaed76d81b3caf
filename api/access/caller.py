"""The caller of a request about a match: what they may see of it and do in it."""

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
"""Roles to which a key with `open` may admit: a device at the table, and a screen beside it."""


def seat_of(key: KeyHolder, match: Match) -> int | None:
    """Return the seat of the member who holds the key, ``None`` if they do not play in this match."""
    member, members = key.key.member, match.opened.members
    return members.index(member) if member in members and match.opened.club == key.club.id else None


class Caller(Value):
    """A caller's rights in one match: the view of it, and the actor that the caller may act as."""

    viewer: Viewer
    """The viewer whose view of the current deal the caller gets."""
    actor: Actor | None = None
    """The actor that the caller acts as; ``None``: the caller may only watch."""
    held: str | None = None
    """The SHA-256 of the caller's token of the match, which the desk checks again; ``None``: no token."""
    key: KeyHolder | None = None
    """The holder of the key that was sent, perhaps of a club other than the match's; ``None``: no key."""
    texts: MemberTexts = NO_TEXTS
    """The names and texts of members that the caller may read in answers about the match."""
    audits: bool = False
    """True if the caller sees finished deals as the official does."""

    held_back: bool = False
    """True if the caller sees less than their key or token allows, because a member behind it plays in the match."""

    def sees_as(self, public: bool) -> Viewer:
        """Return the viewer whose view the caller gets. ``public``: the deal is over and its cards are open."""
        return "official" if self.audits and public else self.viewer

    def knows_names(self, match: Match) -> bool:
        """Return whether the caller may see members' names: with a token of the match or a key of its club."""
        return self.held is not None or (self.key is not None and self.key.club.id == match.opened.club)

    @property
    def without_texts(self) -> "Caller":
        """The caller without texts, for a process that cannot read the store of names."""
        return replace(self, texts=NO_TEXTS)

    @property
    def shown(self) -> str | None:
        """The SHA-256 of the caller's token or key; ``None``: neither was sent."""
        return self.held if self.key is None else self.key.held

    @property
    def sight(self) -> Sight:
        """The matches that lists show to the caller."""
        return Sight(held=self.held) if self.key is None else self.key.sight

    @property
    def rests_on(self) -> tuple[UUID, ...]:
        """The clubs whose events may end the caller's rights."""
        return () if self.key is None else (self.key.club.id,)

    def seconds_left(self, at: datetime) -> float:
        """Return the seconds until the key expires; infinite without a key."""
        return float("inf") if self.key is None else max(0.0, (self.key.ends_at - at).total_seconds())

    @property
    def acting(self) -> Actor:
        """The actor of this caller. Call only after `must_act`."""
        assert self.actor is not None, "must_act refuses callers who may only watch"
        return self.actor

    def tries(self, request: Req, match: Match, asked: Value) -> None:
        """Note this attempt on the ``request``. Call before any check can refuse ``asked``."""
        tries(request, match.id, self.acting, asked)

    def command(
        self, match_id: UUID, asked: Request, *, key: str | None = None, expected: int | None = None
    ) -> Command:
        """Return the command for the desk that executes this request of the caller."""
        return Command(id=match_id, actor=self.acting, request=asked, key=key, expected=expected, token=self.held)

    def must_act(self, match: Match, scope: Scope) -> None:
        """Raise Problem (403) unless the caller may act in the match.

        The code is scope_missing if a key of the match's club lacks the ``scope``, else only_looks_on.
        """
        if self.actor is not None:
            return
        if self.key is not None and self.key.club.id == match.opened.club:
            must_have(self.key, scope)
        raise Problem("only_looks_on")

    def must_be_theirs(self, match: Match, asked: Request) -> None:
        """Raise Problem (403) unless the caller may make this request.

        A scribe may act and knock for seats, but not make statements (403 for_seats). The old secret of a rotated
        key cannot make invitations or agree to stakes (secret_replaced). Other codes: confirmed_by_members,
        invited_by_members, not_your_seat, for_officials.
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
        """Raise Problem (403 for_seats or not_your_seat) unless the caller may act for this seat.

        ``itself``: a scribe may not do it for the seat.
        """
        if itself or self.actor != "scribe":
            must_be_seat(self.acting, seat)

    def must_be_official(self, match: Match) -> None:
        """Raise Problem (403) unless the caller sees the match as one of its officials.

        Codes: scope_missing, only_looks_on, plays_in_match, for_officials.
        """
        self.must_act(match, "officiate")
        self.must_not_be_held_back()
        must_be_official(self.acting)

    def must_not_be_held_back(self) -> None:
        """Raise Problem (403 plays_in_match) if a member behind the caller's key or token plays in the match."""
        if self.held_back:
            raise Problem("plays_in_match")

    def must_know_acts(self, match: Match, whose: Viewer) -> None:
        """Raise Problem (403) unless the caller may see the legal acts of this viewer.

        A seat sees its own, in a tally those of any seat; an official sees all. Codes: scope_missing, only_looks_on,
        for_seats, not_your_seat.
        """
        self.must_act(match, "play")
        if isinstance(whose, int) and self.viewer not in (whose, "official") and match.opened.dealing != "tally":
            must_be_seat(self.acting, whose)

    def reissues(self, match: Match, asked: IssueToken | Invite) -> "Caller":
        """Return the caller with the right to issue tokens and to invite scribes and watchers, if the key has `open`.

        A key of a different club, or of a member who plays in the match, gives no such right.
        """
        key = self.key
        if key is None or key.club.id != match.opened.club or not key.may("open") or seat_of(key, match) is not None:
            return self
        if isinstance(asked, Invite) and asked.role not in ROLES_OF_PROGRAMS:
            return self
        return Caller(viewer=self.viewer, actor=key.actor, key=key)

    def _must_admit(self, match: Match, asked: Invite) -> None:
        """Raise Problem (403 for_officials or invited_by_members) unless the caller may make this invitation.

        A seat invites to itself. In a club's match a key with `officiate` invites to seats and to the officials'
        places. To a seat in a match for money only a member's key may invite, so that a person is responsible.
        """
        if asked.role == "seat" and self.actor == asked.seat:
            return
        must_be_official(self.acting)
        if (
            match.opened.club is None or self.key is None
        ):  # the match itself refuses invitations by tokens in a club's match
            return
        if asked.role == "seat" and match.opened.stakes is not None and self._by_program:
            raise Problem("invited_by_members")

    @property
    def _by_program(self) -> bool:
        """True if the caller sent a key that no member holds."""
        return self.key is not None and self.key.member is None


SPECTATOR = Caller(viewer="spectator")
"""The caller without a credential."""
