"""The only module that reads the machine's clock."""

import time
from collections.abc import Callable
from datetime import UTC, datetime

FIRST, LAST = datetime(2020, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
"""Range of event times. ``LAST`` plus any time limit is still a date."""


class ClockWrong(Exception):
    """The clock is out of range or unreadable. ``shown``: its time, or the error."""

    def __init__(self, shown: str) -> None:
        super().__init__(f"the clock of this machine shows no time from {FIRST.year} to {LAST.year - 1}: {shown}")
        self.shown = shown


def checked_time(clock: Callable[[], datetime]) -> datetime:
    """Return a clock's time. Raises :class:`ClockWrong` if it is unreadable or out of range."""
    try:
        now = clock()
    except (OverflowError, ValueError, OSError) as error:
        raise ClockWrong(str(error)) from None
    if not FIRST <= now < LAST:
        raise ClockWrong(now.isoformat(" ", "seconds"))
    return now


def utc_now() -> datetime:
    """Return the machine's :func:`checked_time` in UTC. Raises :class:`ClockWrong`."""
    return checked_time(machine_time)


def machine_time() -> datetime:
    """Return the machine's unchecked time in UTC."""
    return datetime.fromtimestamp(time.time(), UTC)
