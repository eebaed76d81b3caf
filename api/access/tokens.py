"""Makes tokens, reads bearer tokens, and checks that an actor may make a request."""

import logging
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256

from api.http.headers import Req
from api.http.notes import notes_in
from api.http.problems import CHALLENGE, Problem
from api.http.request_ids import RequestIds
from referee.actors import Actor, is_official, seat_of
from referee.requests import Request
from referee.store.match import Match

log = logging.getLogger(__name__)

LOGGED_SECONDS = 1.0
"""Seconds in which an address is logged at most once."""
LOGGED_MAX = 20
"""Maximum number of addresses logged in :data:`LOGGED_SECONDS`."""


class RefusedTokens:
    """Logs the addresses that send invalid tokens and keys."""

    def __init__(self) -> None:
        self._since = 0.0
        self._logged: set[str] = set()
        self._not_logged = 0

    def log_refused(self, address: str, ids: RequestIds) -> None:
        """Log the address, within :data:`LOGGED_SECONDS` and :data:`LOGGED_MAX`."""
        now = time.monotonic()
        if now - self._since >= LOGGED_SECONDS:
            self._since = now
            self._logged.clear()
        if address in self._logged or len(self._logged) == LOGGED_MAX:
            self._not_logged += 1
            return
        self._logged.add(address)
        log.warning(
            "unknown token from %r, %s; %d not logged since the last one", address, ids.in_words(), self._not_logged
        )
        self._not_logged = 0


def new_token() -> str:
    return secrets.token_urlsafe(32)


TOKEN_LENGTH = len(new_token())


def hash_of(token: str) -> str:
    return sha256(token.encode()).hexdigest()


def cached_hash_of(request: Req, token: str) -> str:
    """Return the SHA-256 of ``token``, if possible from the request's notes."""
    return notes_in(request.scope).secret_hash or hash_of(token)


def token_of(request: Req, *, missing: str = "token_missing", challenge: Mapping[str, str] = CHALLENGE) -> str | None:
    """Return the bearer token of a request; ``None`` without an Authorization header.

    Raises Problem (400 two_authorizations) for two headers, and Problem (401) for a header without a bearer token.
    ``missing``, ``challenge``: the code and the headers of the 401.
    """
    given = [value for name, value in request.scope["headers"] if name == b"authorization"]
    if not given:
        return None
    if len(given) > 1:
        raise Problem("two_authorizations")
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not (token := token.strip()):
        raise Problem(missing, headers=challenge)
    return token


def must_be_allowed(match: Match, actor: Actor, request: Request) -> None:
    """Raise Problem (403 for_seats, not_your_seat or for_officials) unless the actor may make this request."""
    whose = match.sole_actor(request)
    if whose is None or whose == actor:
        return
    seat = seat_of(whose)
    if seat is None:
        must_be_official(actor)
    else:
        must_be_seat(actor, seat)


def must_be_seat(actor: Actor, seat: int) -> None:
    """Raise Problem (403 for_seats or not_your_seat) unless the actor is this seat."""
    yours = seat_of(actor)
    if yours is None:
        raise Problem("for_seats", seat=seat)
    if yours != seat:
        raise Problem("not_your_seat", seat=seat, yours=yours)


def must_be_official(actor: Actor) -> None:
    """Raise Problem (403 for_officials) unless the actor is an official or uses a club's key."""
    if not is_official(actor):
        raise Problem("for_officials")
