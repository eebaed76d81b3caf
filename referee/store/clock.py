"""The one place that reads the clock of the machine."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""The range of times that an event can have. No event is older than this program, and a time limit that is added to
the last of them is still a date."""


class ClockWrong(Exception):
    """The clock of the machine shows no time that an event can have.

    ``shown``: the time that it shows, or why that is no date.
    """

    def __init__(self, shown: str) -> None:
        super().__init__(f"the clock of this machine shows no time from {FIRST.year} to {LAST.year - 1}: {shown}")
        self.shown = shown


def checked(clock: Callable[[], datetime]) -> datetime:
    """Return the time that a clock shows. Raises :class:`ClockWrong` if that is no date, or none in the range."""
    try:
        now = clock()
    except (OverflowError, ValueError, OSError) as error:
        raise ClockWrong(str(error)) from None
    if not FIRST <= now < LAST:
        raise ClockWrong(now.isoformat(" ", "seconds"))
    return now


def utc_now() -> datetime:
    """Return the time, UTC. Raises :class:`ClockWrong`."""
    return checked(machine)


def machine() -> datetime:
    """Return the time that the clock of the machine shows, unchecked."""
    return datetime.fromtimestamp(time.time(), UTC)
