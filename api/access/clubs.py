"""Whoever shows a key of a club, or the operator's: who it is, and whether the key is good."""

from collections.abc import Iterable
from datetime import datetime
from hmac import compare_digest
from typing import NamedTuple, Protocol
from uuid import UUID

from api.access.keys import Named, named
from api.access.tokens import held_by, token_of
from api.http.headers import Req
from api.http.problems import Problem
from projections.visibility import NOBODY, Sight
from referee.actors import Actor
from referee.clubs.facts import KeyId, Scope
from referee.clubs.state import Key
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.store import UnknownAggregate

SEES_PRIVATE: tuple[Scope, ...] = ("open", "officiate", "audit")
"""With one of these a key sees the private matches of its club."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="club"'}


READ_MAX = 4096
_READ: dict[str, Named] = {}
"""What keys name that have been read, by their SHA-256: no secret, and a key is shown with each act."""


class Clubs(Protocol):
    """Where clubs are found. Each raises ``UnknownAggregate`` where there is none."""

    async def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """At this version or later."""

    async def newest_club(self, club: Club) -> Club:
        """As it is stored, which another process may have come to."""

    def good(self, held: str, club: UUID | None = None, *, is_key: bool = False) -> None:
        """Note that what was shown is good. ``held``: its SHA-256. ``club``: whose key it is."""


class Presented(NamedTuple):
    """A key as somebody shows it: good, as the club stands."""

    key: Key
    ends_at: datetime
    """When what was shown ends: the key, or its secret where another has taken its place."""


class KeyHolder(NamedTuple):
    """Whoever has shown a good key of a club."""

    club: Club
    key_id: KeyId
    key: Key
    held: str
    """The SHA-256 of what was shown, by which the desk looks at it again."""
    ends_at: datetime

    @property
    def actor(self) -> Actor:
        """As whom he acts."""
        return f"key:{self.key_id}"

    @property
    def member(self) -> int | None:
        """Whose key it is; ``None``: a program's."""
        return self.key.member

    @property
    def sight(self) -> Sight:
        """What the key lets its holder see in lists."""
        member = self.key.member
        return Sight(
            club=self.club.id,
            whole_club=any(map(self.may, SEES_PRIVATE)),
            member=member if self.may("play") else None,
            officiates=self.may("officiate"),
            sits=member,
        )

    def may(self, scope: Scope) -> bool:
        """Whether the key is good for this."""
        return scope in self.key.scopes


class Operator(NamedTuple):
    """Whoever runs the service, as far as one club is concerned."""

    club: Club

    @property
    def actor(self) -> Actor:
        """As whom he acts."""
        return "operator"

    @property
    def member(self) -> None:
        """Nobody's in particular."""
        return

    @property
    def held(self) -> None:
        """The desk need not look again."""
        return

    @property
    def sight(self) -> Sight:
        """What the operator's key lets its holder see in lists."""
        return NOBODY


ClubCaller = KeyHolder | Operator


def must_have(caller: ClubCaller, scope: Scope | None) -> None:
    """403 unless his key is good for this; ``None``: any is."""
    if scope is not None and isinstance(caller, KeyHolder) and not caller.may(scope):
        raise Problem("scope_missing", needs=scope, has=list(caller.key.scopes))


def why_not_taken(caller: ClubCaller) -> Problem:
    """Return why the club took no act from a caller whose key is good: its secret was replaced."""
    if isinstance(caller, KeyHolder) and caller.key.hash != caller.held:
        return Problem("secret_replaced", until=caller.ends_at.isoformat())
    return Problem("key_unknown", headers=CHALLENGE)


def must_see_books(caller: ClubCaller, owner: int | None = None) -> None:
    """403 unless his key is good for the books: `audit` or `treasury`; or it is a member's own account, ``owner``."""
    if isinstance(caller, KeyHolder) and (owner is None or caller.key.member != owner) and not caller.may("treasury"):
        must_have(caller, "audit")


def sees_books(caller: ClubCaller) -> bool:
    """Whether his key is good for the books of all."""
    return not isinstance(caller, KeyHolder) or caller.may("treasury") or caller.may("audit")


def sees_proposals(caller: ClubCaller, confirmers: Iterable[Scope]) -> bool:
    """Return whether a caller sees the proposals that one of these scopes confirms."""
    return sees_books(caller) or (isinstance(caller, KeyHolder) and any(map(caller.may, confirmers)))


def must_audit(caller: ClubCaller) -> None:
    """403 unless his key is good for what only officials and auditors see."""
    must_have(caller, "audit")


def is_operators(held: str, operator: str) -> bool:
    """Whether this is the SHA-256 of the operator's key; ``operator``: that, empty where there is none."""
    return compare_digest(held, operator or "none")


class ClubAccess:
    """Turns a request into whoever shows a key of a club, or the operator's."""

    def __init__(self, clubs: Clubs, operator: str, *, anybody_founds: bool) -> None:
        """``operator``: the SHA-256 of the operator's key in hex, empty where there is none."""
        self._clubs, self._operator, self._anybody_founds = clubs, operator, anybody_founds

    def founder(self, request: Req) -> Actor:
        """As whom somebody founds a club: the operator, or anybody where that may be, by the club's first key. 401
        for others, and for a key that is not the operator's: who sends it means to be somebody."""
        text = token_of(request, missing="founding_needs_key", challenge=CHALLENGE)
        if text is None and self._anybody_founds:
            return "key:k1"
        if text is None or not is_operators(held_by(request, text), self._operator):
            raise Problem("founding_needs_key", headers=CHALLENGE)
        return "operator"

    async def holder(self, request: Req) -> KeyHolder:
        """Whose key was shown. 401 where none was, or one that is not good (any more)."""
        text = shown(request)
        return await holder_of(text, held_by(request, text), self._clubs)

    async def caller(self, request: Req, club_id: UUID, min_version: int = 0) -> ClubCaller:
        """Who asks something of a club, as it stands at this version or later. 401 without a good key; 404 where it
        is another club's, as if there were none of this id; 409 where it does not come so far."""
        text = shown(request)
        held = held_by(request, text)
        try:
            if is_operators(held, self._operator):
                self._clubs.good(held)
                return Operator(await self._clubs.club(club_id, min_version))
            found = await holder_of(text, held, self._clubs)
            if found.club.id == club_id and found.club.version < min_version:
                await self._clubs.club(club_id, min_version)
                found = await holder_of(text, held, self._clubs)  # it may have been revoked meanwhile
            if found.club.id == club_id:
                return found
        except UnknownAggregate:
            pass
        raise Problem("no_such_club")


def shown(request: Req) -> str:
    """The key that came with a request. 401 without one."""
    text = token_of(request, missing="key_missing", challenge=CHALLENGE)
    if text is None:
        raise Problem("key_missing", headers=CHALLENGE)
    return text


async def holder_of(text: str, held: str, clubs: Clubs) -> KeyHolder:
    """Whose key this is, and its SHA-256. 401."""
    return await holder_by(names_in(text, held), held, clubs)


def names_in(text: str, held: str) -> Named:
    """What a key names, whose SHA-256 is ``held``. 401 where it is not whole."""
    says = _READ.get(held)
    if says is None:
        says = named(text)
        if says is None:
            raise Problem("key_malformed", headers=CHALLENGE)
        if len(_READ) >= READ_MAX:
            _READ.clear()
        _READ[held] = says
    return says


async def holder_by(says: Named, held: str, clubs: Clubs) -> KeyHolder:
    """Whose key this is, by what it names and its SHA-256. 401."""
    try:
        club = await clubs.club(says.aggregate)
    except UnknownAggregate:
        raise Problem("key_unknown", headers=CHALLENGE) from None
    found = presented(club, says.name, held)
    if found is None:  # another process may just have made it
        club = await clubs.newest_club(club)
        found = presented(club, says.name, held)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    good(found, utc_now())
    clubs.good(held, club.id, is_key=True)
    return KeyHolder(club, says.name, found.key, held, found.ends_at)


async def again(holder: KeyHolder, clubs: Clubs) -> KeyHolder:
    """Who was found good before, as the club stands now: another secret in the place of his ends what he shows. 401
    where it is good no more."""
    club = await clubs.club(holder.club.id)
    found = presented(club, holder.key_id, holder.held)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    good(found, utc_now())
    return holder._replace(club=club, key=found.key, ends_at=found.ends_at)


def presented(club: Club, key_id: KeyId, held: str) -> Presented | None:
    """The key of this id, if this is the SHA-256 of its text or of the one before; good or not."""
    key = club.standing.key(key_id)
    if key is None:
        return None
    if compare_digest(key.hash, held):
        return Presented(key, key.expires_at)
    before = key.until is not None and compare_digest(key.before or "none", held)
    return Presented(key, key.until) if before and key.until is not None else None


def good(found: Presented, at: datetime) -> None:
    """401 unless it is so at this time."""
    if found.key.revoked:
        raise Problem("key_revoked", headers=CHALLENGE)
    if found.ends_at <= at:
        raise Problem("key_expired", headers=CHALLENGE, expired_at=found.ends_at.isoformat())
