"""Holders of clubs' keys and of the operator's key, and checks of these keys."""

from collections.abc import Iterable
from datetime import datetime
from hmac import compare_digest
from typing import NamedTuple, Protocol
from uuid import UUID

from api.access.keys import Named, named
from api.access.limits import Limits
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
"""Scopes that let a key see the private matches of its club."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="club"'}


READ_MAX = 4096
_READ: dict[str, Named] = {}
"""Clubs and ids in the keys read so far, by SHA-256: a cache without secrets, because a key comes with each act."""


class Clubs(Protocol):
    """Finds clubs. Each method raises ``UnknownAggregate`` (404) if the club does not exist."""

    async def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """Return the club at this version or later."""

    async def newest_club(self, club: Club) -> Club:
        """Return the newest stored version of the club, which a different process may have written."""


class Presented(NamedTuple):
    """A key of a club to which a sent secret belongs."""

    key: Key
    ends_at: datetime
    """The time when the secret ends: when the key expires, or earlier if a new secret has replaced this one."""


class KeyHolder(NamedTuple):
    club: Club
    key_id: KeyId
    key: Key
    held: str
    """The SHA-256 of the secret that was sent, which the desk checks again."""
    ends_at: datetime

    @property
    def actor(self) -> Actor:
        return f"key:{self.key_id}"

    @property
    def member(self) -> int | None:
        """The number of the member who holds the key; ``None``: it is a program's."""
        return self.key.member

    @property
    def sight(self) -> Sight:
        """The part of lists that the key's holder may see."""
        member = self.key.member
        return Sight(
            club=self.club.id,
            whole_club=any(map(self.may, SEES_PRIVATE)),
            member=member if self.may("play") else None,
            officiates=self.may("officiate"),
            sits=member,
            behind=tuple(sorted(self.key.behind - {member})),
        )

    def may(self, scope: Scope) -> bool:
        return scope in self.key.scopes


class Operator(NamedTuple):
    """The operator of the service as the caller of one club."""

    club: Club

    @property
    def actor(self) -> Actor:
        return "operator"

    @property
    def member(self) -> None:
        return

    @property
    def held(self) -> None:
        """No secret that the desk checks again."""
        return

    @property
    def sight(self) -> Sight:
        """The part of lists that the operator may see: nothing."""
        return NOBODY


ClubCaller = KeyHolder | Operator


def must_have(caller: ClubCaller, scope: Scope | None) -> None:
    """Raise Problem (403 scope_missing) unless the caller's key has this scope. ``None`` needs no scope."""
    if scope is not None and isinstance(caller, KeyHolder) and not caller.may(scope):
        raise Problem("scope_missing", needs=scope, has=list(caller.key.scopes))


def why_not_taken(caller: ClubCaller) -> Problem:
    """Return the problem of a caller whose act the club did not accept: 403 secret_replaced or 401 key_unknown."""
    if isinstance(caller, KeyHolder) and caller.key.hash != caller.held:
        return Problem("secret_replaced", until=caller.ends_at.isoformat())
    return Problem("key_unknown", headers=CHALLENGE)


def must_see_books(caller: ClubCaller, owner: int | None = None) -> None:
    """Raise Problem (403 scope_missing) unless the caller may see the books.

    That needs `audit` or `treasury`. The account of a member, ``owner``, may also be seen with the member's own key.
    """
    if isinstance(caller, KeyHolder) and (owner is None or caller.key.member != owner) and not caller.may("treasury"):
        must_have(caller, "audit")


def sees_books(caller: ClubCaller) -> bool:
    """Return whether the caller may see the books of all members."""
    return not isinstance(caller, KeyHolder) or caller.may("treasury") or caller.may("audit")


def sees_proposals(caller: ClubCaller, confirmers: Iterable[Scope]) -> bool:
    """Return whether a caller sees the proposals that one of these scopes confirms."""
    return sees_books(caller) or (isinstance(caller, KeyHolder) and any(map(caller.may, confirmers)))


def must_audit(caller: ClubCaller) -> None:
    """Raise Problem (403 scope_missing) unless the caller may see what only officials and auditors see."""
    must_have(caller, "audit")


def is_operators(held: str, operator: str) -> bool:
    """Return whether this is the SHA-256 of the operator's key. ``operator``: that hash, empty without such a key."""
    return compare_digest(held, operator or "none")


class ClubAccess:
    """Finds the holder of the key in a request, or the operator."""

    def __init__(self, clubs: Clubs, limits: Limits, operator: str, *, anybody_founds: bool) -> None:
        """``operator``: the SHA-256 of the operator's key in hex, empty without such a key."""
        self._clubs, self._limits = clubs, limits
        self._operator, self._anybody_founds = operator, anybody_founds

    def founder(self, request: Req) -> Actor:
        """Return the actor who founds a club: the operator, or the new club's first key if any client may do it.

        Raises Problem (400 two_authorizations, 401 founding_needs_key) for others, and for any key that is not the
        operator's: a caller who sends a key expects to be identified.
        """
        text = token_of(request, missing="founding_needs_key", challenge=CHALLENGE)
        if text is None and self._anybody_founds:
            return "key:k1"
        if text is None or not is_operators(held_by(request, text), self._operator):
            raise Problem("founding_needs_key", headers=CHALLENGE)
        return "operator"

    async def holder(self, request: Req) -> KeyHolder:
        """Return the holder of the key in a request.

        Raises Problem (401): key_missing, key_malformed, key_unknown, key_expired or key_revoked.
        """
        text = shown(request)
        return await holder_of(text, held_by(request, text), self._clubs, self._limits)

    async def caller(self, request: Req, club_id: UUID, min_version: int = 0) -> ClubCaller:
        """Return the caller of a club, which has this version or a later one.

        Raises Problem: 401 as :meth:`holder` does, 404 no_such_club also if the key is of a different club, 409
        version_not_reached.
        """
        text = shown(request)
        held = held_by(request, text)
        try:
            if is_operators(held, self._operator):
                self._limits.found_valid(held)
                return Operator(await self._clubs.club(club_id, min_version))
            found = await holder_of(text, held, self._clubs, self._limits)
            if found.club.id == club_id and found.club.version < min_version:
                await self._clubs.club(club_id, min_version)
                found = await holder_of(text, held, self._clubs, self._limits)  # it may have been revoked meanwhile
            if found.club.id == club_id:
                return found
        except UnknownAggregate:
            pass
        raise Problem("no_such_club")


def shown(request: Req) -> str:
    """Return the text of the key in a request. Raises Problem (400 two_authorizations, 401 key_missing)."""
    text = token_of(request, missing="key_missing", challenge=CHALLENGE)
    if text is None:
        raise Problem("key_missing", headers=CHALLENGE)
    return text


async def holder_of(text: str, held: str, clubs: Clubs, limits: Limits) -> KeyHolder:
    """Return the holder of a key. ``held``: its SHA-256.

    Raises Problem (401): key_malformed, key_unknown, key_expired or key_revoked.
    """
    return await holder_by(names_in(text, held), held, clubs, limits)


def names_in(text: str, held: str) -> Named:
    """Return the club and id in a key. ``held``: its SHA-256. Raises Problem (401 key_malformed)."""
    says = _READ.get(held)
    if says is None:
        says = named(text)
        if says is None:
            raise Problem("key_malformed", headers=CHALLENGE)
        if len(_READ) >= READ_MAX:
            _READ.clear()
        _READ[held] = says
    return says


async def holder_by(says: Named, held: str, clubs: Clubs, limits: Limits) -> KeyHolder:
    """Return the holder of a key by the club and id in it and its SHA-256.

    Raises Problem (401): key_unknown, key_expired or key_revoked.
    """
    try:
        club = await clubs.club(says.aggregate)
    except UnknownAggregate:
        raise Problem("key_unknown", headers=CHALLENGE) from None
    found = presented(club, says.name, held)
    if found is None:  # a different process may just have made it
        club = await clubs.newest_club(club)
        found = presented(club, says.name, held)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    must_be_valid(found, utc_now())
    limits.found_valid(held, club.id, is_key=True)
    return KeyHolder(club, says.name, found.key, held, found.ends_at)


async def again(holder: KeyHolder, clubs: Clubs) -> KeyHolder:
    """Return the holder of a key with the current state of the club.

    Raises ``UnknownAggregate`` (404) and Problem (401): key_unknown if a new secret has replaced the one sent, else
    key_expired or key_revoked.
    """
    club = await clubs.club(holder.club.id)
    found = presented(club, holder.key_id, holder.held)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    must_be_valid(found, utc_now())
    return holder._replace(club=club, key=found.key, ends_at=found.ends_at)


def presented(club: Club, key_id: KeyId, held: str) -> Presented | None:
    """Return the key with this id if the SHA-256 is of its secret or of the one before; also if it has ended."""
    key = club.state.key(key_id)
    if key is None:
        return None
    if compare_digest(key.hash, held):
        return Presented(key, key.expires_at)
    before = key.until is not None and compare_digest(key.before or "none", held)
    return Presented(key, key.until) if before and key.until is not None else None


def must_be_valid(found: Presented, at: datetime) -> None:
    """Raise Problem (401 key_revoked or key_expired) if the key is not valid at this time."""
    if found.key.revoked:
        raise Problem("key_revoked", headers=CHALLENGE)
    if found.ends_at <= at:
        raise Problem("key_expired", headers=CHALLENGE, expired_at=found.ends_at.isoformat())
