"""Who is asking: a seat, the official, or anybody else. Tokens are kept as SHA-256 and compared in constant time."""

import logging
import secrets
import time
from hashlib import sha256

from api.http.headers import Req, header
from api.http.problems import CHALLENGE, Problem
from referee.actors import Actor, is_official
from referee.acts import Request
from referee.events import Viewer
from referee.store.match import Match

log = logging.getLogger(__name__)

TOLD_SECONDS = 1.0
"""Not more often than this is anything said of the same address."""
TOLD_MAX = 20
"""Nor of more addresses in that time: one who guesses may have many."""


class RefusedTokens:
    """Tells the log who gives tokens that are not of the match, and how often; never the token."""

    def __init__(self) -> None:
        self._since = 0.0
        self._told: set[str] = set()
        self._untold = 0

    def tell(self, address: str) -> None:
        """One more, from this address."""
        now = time.monotonic()
        if now - self._since >= TOLD_SECONDS:
            self._since = now
            self._told.clear()
        if address in self._told or len(self._told) == TOLD_MAX:
            self._untold += 1
            return
        self._told.add(address)
        log.warning("unknown token from %r; %d not logged since the last one", address, self._untold)
        self._untold = 0


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def held_by(request: Req) -> str | None:
    """What is kept of the token that came with the request, or ``None`` where none came."""
    token = token_of(request)
    return None if token is None else hash_of(token)


def token_of(request: Req) -> str | None:
    """The bearer token that came with the request, ``None`` without an Authorization header; 401 for one that names
    no token, also where none is needed: whoever sends it means to be somebody."""
    given = header(request, b"authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Problem("token_missing", headers=CHALLENGE)
    return token.strip()


def required_token(request: Req) -> str:
    """The bearer token; 401 without one."""
    token = token_of(request)
    if token is None:
        raise Problem("token_missing", headers=CHALLENGE)
    return token


def viewer_of(match: Match, held: str | None) -> Viewer:
    """Whose token it is, by what is kept of it; a spectator has none. 401 for one that is not of this match."""
    found = holder_of(match, held)
    if found is None:
        raise Problem("token_unknown", headers=CHALLENGE)
    return found


def holder_of(match: Match, held: str | None) -> Viewer | None:
    """Whose token it is as the match stands; ``None`` where it is nobody's."""
    if held is None:
        return "spectator"
    actor = match.holder(held)
    return None if actor is None else seen_as(actor)


def must_be_theirs(match: Match, actor: Actor, request: Request) -> None:
    """403 unless this is the caller's to ask."""
    whose = match.whose(request)
    if isinstance(whose, int):
        must_be_seat(actor, whose)
    elif whose is not None:
        must_be_official(actor)


def seen_as(actor: Actor) -> Viewer:
    """As whom an actor sees the match: all officials see what the first does."""
    return actor if isinstance(actor, int) else "official"


def actor_of(match: Match, held: str) -> Actor:
    """Who acts with this token, by what is kept of it. 401 for one that is not of this match."""
    actor = match.holder(held)
    if actor is None:
        raise Problem("token_unknown", headers=CHALLENGE)
    return actor


def must_be_seat(actor: Actor, seat: int) -> None:
    """403 unless the caller holds the token of this seat."""
    if is_official(actor):
        raise Problem("for_seats", seat=seat)
    if actor != seat:
        raise Problem("not_your_seat", seat=seat, yours=actor)


def must_be_official(actor: Actor) -> None:
    """403 unless the caller is an official."""
    if not is_official(actor):
        raise Problem("for_officials")
