"""Finds the holders of clubs' keys and of the operator's key, and checks their rights."""

from collections.abc import Iterable
from datetime import datetime
from hmac import compare_digest
from typing import NamedTuple, Protocol
from uuid import UUID

from api.access.keys import Named, parse_key
from api.access.limits import Limits
from api.access.tokens import cached_hash_of, token_of
from api.http.headers import Req
from api.http.problems import Problem
from projections.visibility import UNAUTHENTICATED, Sight
from referee.actors import Actor
from referee.clubs.facts import KeyId, Scope
from referee.clubs.state import Key
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.store import UnknownAggregate

PRIVATE_MATCH_SCOPES: tuple[Scope, ...] = ("open", "officiate", "audit")
"""Each of these scopes shows the private matches of the key's club."""
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="club"'}

NAMES_CACHE_MAX = 4096
_NAMES_CACHE: dict[str, Named] = {}
"""Club and id in a key, by SHA-256 of the key."""


class Clubs(Protocol):
    """Finds clubs. Each method raises ``UnknownAggregate`` (404) if the club does not exist."""

    async def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """Return the club at ``min_version`` or later. Raises Problem (409 version_not_reached)."""

    async def newest_club(self, club: Club) -> Club: ...


class KeyHolder(NamedTuple):
    club: Club
    key_id: KeyId
    key: Key
    secret_hash: str
    """SHA-256 of the secret that was sent."""
    ends_at: datetime
    """Time when the secret that was sent expires. A replaced secret expires before its key."""

    @property
    def is_replaced(self) -> bool:
        """True if a newer secret has replaced the one that was sent."""
        return self.key.hash != self.secret_hash

    @property
    def actor(self) -> Actor:
        return f"key:{self.key_id}"

    @property
    def member(self) -> int | None:
        """``None``: a program holds the key."""
        return self.key.member

    @property
    def sight(self) -> Sight:
        member = self.key.member
        return Sight(
            club=self.club.id,
            whole_club=any(map(self.may, PRIVATE_MATCH_SCOPES)),
            member=member if self.may("play") else None,
            officiates=self.may("officiate"),
            sits=member,
            behind=tuple(sorted(self.key.behind - {member})),
        )

    def may(self, scope: Scope) -> bool:
        return scope in self.key.scopes


class Operator(NamedTuple):
    """The operator of the service, as the caller in one club."""

    club: Club

    @property
    def actor(self) -> Actor:
        return "operator"

    @property
    def member(self) -> None:
        return

    @property
    def secret_hash(self) -> None:
        return

    @property
    def sight(self) -> Sight:
        return UNAUTHENTICATED


ClubCaller = KeyHolder | Operator


def must_have(caller: ClubCaller, scope: Scope | None) -> None:
    """Raise Problem (403 scope_missing) unless the caller has this scope or is the operator. ``None``: any caller."""
    if scope is not None and isinstance(caller, KeyHolder) and not caller.may(scope):
        raise Problem("scope_missing", needs=scope, has=list(caller.key.scopes))


def problem_of_stale_key(caller: ClubCaller) -> Problem:
    """Return the problem for a key that the desk no longer accepts: 403 secret_replaced or 401 key_unknown."""
    if isinstance(caller, KeyHolder) and caller.is_replaced:
        return Problem("secret_replaced", until=caller.ends_at.isoformat())
    return Problem("key_unknown", headers=CHALLENGE)


def must_see_books(caller: ClubCaller, owner: int | None = None) -> None:
    """Raise Problem (403 scope_missing) unless the caller sees the books (:func:`sees_books`) or is ``owner``.

    ``owner``: the member whose account is shown; ``None``: all accounts.
    """
    if isinstance(caller, KeyHolder) and (owner is None or caller.key.member != owner) and not caller.may("treasury"):
        must_have(caller, "audit")


def sees_books(caller: ClubCaller) -> bool:
    return not isinstance(caller, KeyHolder) or caller.may("treasury") or caller.may("audit")


def sees_proposals(caller: ClubCaller, scopes_to_confirm: Iterable[Scope]) -> bool:
    """Return whether the caller sees proposals that a holder of one of these scopes may confirm."""
    return sees_books(caller) or (isinstance(caller, KeyHolder) and any(map(caller.may, scopes_to_confirm)))


def must_audit(caller: ClubCaller) -> None:
    """Raise Problem (403 scope_missing) unless the caller is the operator or has the scope `audit`."""
    must_have(caller, "audit")


def is_operator_hash(secret_hash: str, operator_hash: str) -> bool:
    """Return whether a secret is the operator's key, in constant time. ``operator_hash``: empty without this key."""
    return compare_digest(secret_hash, operator_hash or "none")


class ClubAccess:
    def __init__(self, clubs: Clubs, limits: Limits, operator_hash: str, *, anybody_founds: bool) -> None:
        """``operator_hash``: SHA-256 of the operator's key in hex; empty without this key."""
        self._clubs, self._limits = clubs, limits
        self._operator_hash, self._anybody_founds = operator_hash, anybody_founds

    def founder(self, request: Req) -> Actor:
        """Return the founder of a club: `operator`, or `key:k1` for a caller without a key.

        Raises Problem (400 two_authorizations; 401 founding_needs_key for a wrong key, or without a key if only the
        operator may found clubs).
        """
        text = token_of(request, missing="founding_needs_key", challenge=CHALLENGE)
        if text is None and self._anybody_founds:
            return "key:k1"
        if text is None or not is_operator_hash(cached_hash_of(request, text), self._operator_hash):
            raise Problem("founding_needs_key", headers=CHALLENGE)
        return "operator"

    async def holder(self, request: Req) -> KeyHolder:
        """Return the holder of the key in a request.

        Raises Problem (400 two_authorizations; 401 key_missing, key_malformed, key_unknown, key_expired or
        key_revoked).
        """
        text = _key_text(request)
        secret_hash = cached_hash_of(request, text)
        return await holder_by(club_and_id_in(text, secret_hash), secret_hash, self._clubs, self._limits)

    async def caller(self, request: Req, club_id: UUID, min_version: int = 0) -> ClubCaller:
        """Return the caller, with the club at ``min_version`` or later.

        Raises the Problems of :meth:`holder`, and Problem (404 no_such_club, also for a key of a different club; 409
        version_not_reached).
        """
        secret_hash = cached_hash_of(request, _key_text(request))
        try:
            if is_operator_hash(secret_hash, self._operator_hash):
                self._limits.mark_valid(secret_hash)
                return Operator(await self._clubs.club(club_id, min_version))
            found = await self.holder(request)
            if found.club.id == club_id and found.club.version < min_version:
                await self._clubs.club(club_id, min_version)
                # Read again, because the key may have been revoked.
                found = await self.holder(request)
            if found.club.id == club_id:
                return found
        except UnknownAggregate:
            pass
        raise Problem("no_such_club")


def _key_text(request: Req) -> str:
    """Return the text of the key in a request. Raises Problem (400 two_authorizations, 401 key_missing)."""
    text = token_of(request, missing="key_missing", challenge=CHALLENGE)
    if text is None:
        raise Problem("key_missing", headers=CHALLENGE)
    return text


def club_and_id_in(text: str, secret_hash: str) -> Named:
    """Return the club and id in the text of a key. Raises Problem (401 key_malformed)."""
    key_name = _NAMES_CACHE.get(secret_hash)
    if key_name is None:
        key_name = parse_key(text)
        if key_name is None:
            raise Problem("key_malformed", headers=CHALLENGE)
        if len(_NAMES_CACHE) >= NAMES_CACHE_MAX:
            _NAMES_CACHE.clear()
        _NAMES_CACHE[secret_hash] = key_name
    return key_name


async def holder_by(key_name: Named, secret_hash: str, clubs: Clubs, limits: Limits) -> KeyHolder:
    """Return the holder of a key. Mark the key as valid in ``limits``.

    Raises Problem (401 key_unknown, key_expired or key_revoked).
    """
    try:
        club = await clubs.club(key_name.aggregate)
    except UnknownAggregate:
        raise Problem("key_unknown", headers=CHALLENGE) from None
    found = _holder_in(club, key_name.name, secret_hash)
    if found is None:
        # Read again, because a different process may just have issued the key.
        found = _holder_in(await clubs.newest_club(club), key_name.name, secret_hash)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    limits.mark_valid(secret_hash, club.id, is_key=True)
    return found


async def current_holder(holder: KeyHolder, clubs: Clubs) -> KeyHolder:
    """Return the key's holder in the current state of the club.

    Raises ``UnknownAggregate`` (404) or Problem (401 key_unknown, key_expired or key_revoked).
    """
    found = _holder_in(await clubs.club(holder.club.id), holder.key_id, holder.secret_hash)
    if found is None:
        raise Problem("key_unknown", headers=CHALLENGE)
    return found


def _holder_in(club: Club, key_id: KeyId, secret_hash: str) -> KeyHolder | None:
    """Return the holder of a key; ``None`` if it is missing, or the hash is of neither its secret nor the one before.

    Raises Problem (401 key_revoked or key_expired).
    """
    key = club.state.key(key_id)
    if key is None:
        return None
    if compare_digest(key.hash, secret_hash):
        ends_at = key.expires_at
    elif key.until is not None and compare_digest(key.before or "none", secret_hash):
        ends_at = key.until
    else:
        return None
    if key.revoked:
        raise Problem("key_revoked", headers=CHALLENGE)
    if ends_at <= utc_now():
        raise Problem("key_expired", headers=CHALLENGE, expired_at=ends_at.isoformat())
    return KeyHolder(club, key_id, key, secret_hash, ends_at)
