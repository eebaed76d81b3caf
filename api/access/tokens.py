"""Tokens, and whose an act is. Tokens are kept as SHA-256 and compared in constant time."""

import logging
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256

from api.http.headers import Req
from api.http.notes import notes_in
from api.http.problems import CHALLENGE, Problem
from referee.actors import Actor, is_official
from referee.requests import Request
from referee.store.match import Match

log = logging.getLogger(__name__)

TOLD_SECONDS = 1.0
"""Not more often than this is anything said of the same address."""
TOLD_MAX = 20
"""Nor of more addresses in that time: one who guesses may have many."""


class RefusedTokens:
    """Tells the log who gives tokens and keys that are not good, and how often; never the token."""

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


TOKEN_LENGTH = len(new_token())


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def held_by(request: Req, token: str) -> str:
    """What is kept of the token that came with a request."""
    return notes_in(request.scope).secret_hash or hash_of(token)


def token_of(request: Req, *, missing: str = "token_missing", challenge: Mapping[str, str] = CHALLENGE) -> str | None:
    """The bearer token that came with the request, ``None`` without an Authorization header; 401 for one that names
    no token, also where none is needed: whoever sends it means to be somebody. 400 for two of them, or nobody could
    say who is meant. ``missing``, ``challenge``: how it is refused."""
    given = [value for name, value in request.scope["headers"] if name == b"authorization"]
    if not given:
        return None
    if len(given) > 1:
        raise Problem("two_authorizations")
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not (token := token.strip()):
        raise Problem(missing, headers=challenge)
    return token


def must_be_theirs(match: Match, actor: Actor, request: Request) -> None:
    """403 unless this is the caller's to ask."""
    whose = match.sole_actor(request)
    if whose is None or whose == actor:
        return
    if isinstance(whose, int):
        must_be_seat(actor, whose)
    else:
        must_be_official(actor)


def must_be_seat(actor: Actor, seat: int) -> None:
    """403 unless the caller holds the token of this seat."""
    if not isinstance(actor, int):
        raise Problem("for_seats", seat=seat)
    if actor != seat:
        raise Problem("not_your_seat", seat=seat, yours=actor)


def must_be_official(actor: Actor) -> None:
    """403 unless the caller is an official."""
    if not is_official(actor):
        raise Problem("for_officials")
