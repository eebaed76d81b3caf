"""The timezones that a club may use."""

from functools import cache
from zoneinfo import available_timezones

from api.http.problems import Problem
from api.http.threads import in_thread

NOT_ZONES = frozenset({"Factory", "localtime", "posixrules"})
"""Files of the database that are not timezones."""


async def must_be_zone(name: str) -> None:
    """Raise ``Problem`` (422) for an unknown timezone."""
    if name not in await in_thread(zones):
        raise Problem("unknown_timezone", timezone=name)


@cache
def zones() -> frozenset[str]:
    """Return the timezones of the IANA database. Reads files."""
    return frozenset(available_timezones() - NOT_ZONES)
