"""Who is asking: a seat, the official, or anybody else. Tokens are kept as SHA-256 and compared in constant time."""

import secrets
from hashlib import sha256
from hmac import compare_digest

from api.http.headers import Req, header
from api.http.problems import Problem
from referee.events import Viewer
from referee.store.match import Match

CHALLENGE = {"WWW-Authenticate": 'Bearer realm="match"'}


def new_token() -> str:
    """A token that cannot be guessed."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def token_of(request: Req) -> str | None:
    """The bearer token that came with the request, or ``None`` without an Authorization header."""
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


def viewer_of(match: Match, token: str | None) -> Viewer:
    """Whose token it is; a spectator has none. 401 for one that is not of this match."""
    if token is None:
        return "spectator"
    hashed = hash_of(token)
    opened = match.opened
    found: Viewer | None = "official" if compare_digest(hashed, opened.official) else None
    for seat, known in enumerate(opened.tokens):
        if compare_digest(hashed, known):
            found = seat
    if found is None:
        raise Problem("token_unknown", headers=CHALLENGE)
    return found


def must_be_seat(viewer: Viewer, seat: int) -> None:
    """403 unless the caller holds the token of this seat."""
    if viewer == "official":
        raise Problem("for_seats", seat=seat)
    if viewer != seat:
        raise Problem("not_your_seat", seat=seat, yours=viewer)


def must_be_official(viewer: Viewer) -> None:
    """403 unless the caller is the official."""
    if viewer != "official":
        raise Problem("for_officials")
