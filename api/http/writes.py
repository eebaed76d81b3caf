"""The headers of a call that writes: Idempotency-Key makes a repeat safe, If-Match holds only for one version."""

import re
from datetime import datetime, timedelta

from api.http.headers import Req, header, version_of
from api.http.problems import Problem
from referee.store.clock import utc_now
from referee.store.command import Outcome

_KEY = re.compile(r"[!-}][!-~]{0,127}")
"""1 to 128 visible ASCII characters, the first no tilde: such keys are the referee's own."""


def key_of(request: Req) -> str | None:
    """The Idempotency-Key of the request, if it has one; 400 if it is not well-formed."""
    key = header(request, b"idempotency-key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise Problem("bad_idempotency_key")
    return key


OPENING_KEY_MIN = 16
"""Characters of a key that opens a match, founds a club or makes a key: whoever knows it can have what is secret."""


def opening_key_of(request: Req) -> str | None:
    """The Idempotency-Key of a request that is answered with secrets, if it has one; 400 if it could be guessed."""
    key = key_of(request)
    must_be_long(key)
    return key


def must_be_long(key: str | None) -> None:
    """Raise 400 for an Idempotency-Key that could be guessed, on a request that is answered with secrets."""
    if key is not None and len(key) < OPENING_KEY_MIN:
        raise Problem("short_opening_key", length_min=OPENING_KEY_MIN)


REPEATED_FOR = timedelta(hours=24)
"""So long a key that opened a match, or founded a club, is answered with what that gave."""


def must_be_recent(at: datetime) -> None:
    """422 for a repeat of what was opened with a key too long ago."""
    if utc_now() - at > REPEATED_FOR:
        raise Problem("opening_key_expired", hours=REPEATED_FOR // timedelta(hours=1))


def expected_by(request: Req) -> int | None:
    """The version that If-Match names, if the request has it; 400 if it names none."""
    tag = header(request, b"if-match")
    if tag is None:
        return None
    version = version_of(tag)
    if version is None:
        raise Problem("bad_if_match")
    return version


def replayed(outcome: Outcome) -> dict[str, str]:
    """The header that says that the act had been done before."""
    return {"Idempotency-Replayed": "true"} if outcome.repeated else {}
