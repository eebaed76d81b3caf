"""How much one address may ask, where the operator sets a limit."""

import time
from collections.abc import Callable
from ipaddress import IPv6Address

from api.http.headers import Req
from api.http.problems import Problem

WINDOW_SECONDS = 60
ADDRESSES_MAX = 10_000
"""That are remembered; then the one is forgotten that has asked nothing for the longest time."""


class Limits:
    """So many requests a minute from each address, all of them at once if it likes (GCRA)."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute, self._clock = per_minute, clock
        self._each = WINDOW_SECONDS / per_minute
        self._paid: dict[str, float] = {}
        """By address, until when it has paid for what it asked."""
        self._policy = (b"ratelimit-policy", b'"requests";q=%d;w=%d' % (per_minute, WINDOW_SECONDS))

    def take(self, address: str) -> tuple[float, float]:
        """How many requests an address has left after one more, and in how many seconds it has all of them again.

        Below zero: there was none left, and so many seconds bring the next.
        """
        now, whose = self._clock(), _whose(address)
        until = max(now, self._paid.pop(whose, now)) + self._each
        left = round((now + WINDOW_SECONDS - until) / self._each, 6)  # seconds are no exact numbers
        self._paid[whose] = until if left >= 0 else until - self._each
        if len(self._paid) > ADDRESSES_MAX:
            del self._paid[next(iter(self._paid))]
        return (left, until - now) if left >= 0 else (left, until - now - WINDOW_SECONDS)

    def check(self, request: Req) -> None:
        """Counts the request, and notes what its answer tells of it. Raises
        :class:`~api.http.problems.Problem` 429 where it is one too many."""
        client = request.scope["client"]
        left, seconds = self.take(client[0] if client else "")
        wait = int(seconds) + 1
        rest = (b"ratelimit", b'"requests";r=%d;t=%d' % (max(left, 0), wait))
        request.scope["state"]["limits"] = [self._policy, rest]
        if left < 0:
            raise Problem("slow_down", headers={"Retry-After": str(wait)}, per_minute=self._per_minute)


def _whose(address: str) -> str:
    """Of an IPv6 address its network of 64 bits: whoever has one of them has them all."""
    if ":" not in address:
        return address
    try:
        whole = IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return str(whole.ipv4_mapped or IPv6Address(int(whole) >> 64 << 64))
