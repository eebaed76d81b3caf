"""The timezones that there are."""

from functools import cache
from zoneinfo import available_timezones

from api.http.problems import Problem
from api.threads import in_thread


async def must_be_zone(name: str) -> None:
    """422 unless a timezone has this name."""
    if name not in await in_thread(_zones):
        raise Problem("unknown_timezone", timezone=name)


@cache
def _zones() -> frozenset[str]:
    """Those of the IANA database, as the machine has it, or else the package that comes with the service."""
    return frozenset(available_timezones())
