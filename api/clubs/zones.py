"""The timezones that there are."""

from functools import cache
from zoneinfo import available_timezones

from api.http.problems import Problem
from api.http.threads import in_thread

NONE = frozenset({"Factory", "localtime", "posixrules"})
"""What lies among the timezones and is none: each machine has its own."""


async def must_be_zone(name: str) -> None:
    """422 unless a timezone has this name."""
    if name not in await in_thread(zones):
        raise Problem("unknown_timezone", timezone=name)


@cache
def zones() -> frozenset[str]:
    """Those of the IANA database, as the machine has it, or else the package that comes with the service. Reads
    files."""
    return frozenset(available_timezones() - NONE)
