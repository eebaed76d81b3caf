"""Headers of calls that write: Idempotency-Key makes a repeat safe, If-Match requires a version."""

import re
from datetime import datetime, timedelta

from api.http.headers import Req, header, version_of
from api.http.problems import Problem
from referee.store.clock import utc_now
from referee.store.command import Outcome

_KEY = re.compile(r"[!-}][!-~]{0,127}")
"""Visible ASCII characters. The first is not a tilde, with which the referee's own keys begin."""


def key_of(request: Req) -> str | None:
    """Return the Idempotency-Key, or None. Raises Problem (400 bad_idempotency_key)."""
    key = header(request, b"idempotency-key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise Problem("bad_idempotency_key")
    return key


OPENING_KEY_MIN = 16
"""Minimum characters of an Idempotency-Key for an answer with secrets, so that the key cannot be guessed."""


def opening_key_of(request: Req) -> str | None:
    """Return the Idempotency-Key of a request that is answered with secrets.

    Raises Problem (400 bad_idempotency_key or short_opening_key).
    """
    key = key_of(request)
    must_be_long(key)
    return key


def must_be_long(key: str | None) -> None:
    """Raise Problem (400 short_opening_key) for an Idempotency-Key that could be guessed."""
    if key is not None and len(key) < OPENING_KEY_MIN:
        raise Problem("short_opening_key", length_min=OPENING_KEY_MIN)


REPEATED_FOR = timedelta(hours=24)
"""The time in which an opening or founding can be repeated with its Idempotency-Key."""


def must_be_recent(at: datetime) -> None:
    """Raise Problem (422 opening_key_expired) if the first request with an Idempotency-Key is too old to repeat."""
    if utc_now() - at > REPEATED_FOR:
        raise Problem("opening_key_expired", hours=REPEATED_FOR // timedelta(hours=1))


def expected_by(request: Req) -> int | None:
    """Return the version in If-Match, or None without the header. Raises Problem (400 bad_if_match)."""
    tag = header(request, b"if-match")
    if tag is None:
        return None
    version = version_of(tag)
    if version is None:
        raise Problem("bad_if_match")
    return version


def replayed(outcome: Outcome) -> dict[str, str]:
    return {"Idempotency-Replayed": "true"} if outcome.repeated else {}
