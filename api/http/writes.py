"""Rules for repeated requests, and the header of a repeated answer."""

from datetime import datetime, timedelta

from api.http.problems import Problem
from referee.store.clock import utc_now
from referee.store.command import Outcome

OPENING_KEY_MIN = 16
"""Minimum characters of an Idempotency-Key for an answer with secrets."""


def must_not_be_guessable(key: str | None) -> None:
    """Raise Problem (400 short_opening_key) for a short Idempotency-Key."""
    if key is not None and len(key) < OPENING_KEY_MIN:
        raise Problem("short_opening_key", length_min=OPENING_KEY_MIN)


REPEATED_FOR = timedelta(hours=24)
"""Time in which an opening or founding can be repeated with its Idempotency-Key."""


def must_be_recent(at: datetime) -> None:
    """Raise Problem (422 opening_key_expired) if ``at``, the time of the first request, is too long ago."""
    if utc_now() - at > REPEATED_FOR:
        raise Problem("opening_key_expired", hours=REPEATED_FOR // timedelta(hours=1))


def replay_headers(outcome: Outcome) -> dict[str, str]:
    return {"Idempotency-Replayed": "true"} if outcome.repeated else {}
