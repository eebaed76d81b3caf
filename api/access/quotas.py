"""Limits a club's open matches, open streams, matches opened in an hour, and clubs founded in a day."""

import time
from collections import Counter
from collections.abc import Callable

from api.access.addresses import Addresses
from api.access.limits import Pace
from api.http.headers import Req
from api.http.problems import CHALLENGE, Problem

HOUR, DAY = 3600, 86400


class Quotas:
    """The quotas of one process. Call the methods on the event loop.

    The methods that count raise Problem (403 quota_reached) if nothing is left.
    """

    def __init__(
        self,
        addresses: Addresses,
        *,
        loopback: bool,
        anybody_opens: bool,
        matches_per_hour: int,
        clubs_per_day: int,
        club_matches: int,
        streams: int,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """``loopback``: count for loopback clients too. ``anybody_opens``: opening a match needs no key of a club.

        ``club_matches``: maximum of open matches in a club. ``streams``: maximum of open streams of a caller.
        """
        self._addresses, self._loopback, self.anybody_opens = addresses, loopback, anybody_opens
        self._opened, self._founded = Pace(matches_per_hour, HOUR, clock), Pace(clubs_per_day, DAY, clock)
        self._club_matches, self._streams_most = club_matches, streams
        self._streams: Counter[str] = Counter()

    def must_allow_opening_without_key(self) -> None:
        """Raise Problem (401 opening_needs_key) if only clubs' keys may open matches."""
        if not self.anybody_opens:
            raise Problem("opening_needs_key", headers=CHALLENGE)

    def count_opening(self, request: Req) -> None:
        """Count a match that is opened from the caller's address."""
        self._take_or_refuse(request, self._opened, "matches_per_hour")

    def must_allow_opening_in_club(self, count: int) -> None:
        """Raise Problem (403 quota_reached) if a club with ``count`` open matches may open no more."""
        if count >= self._club_matches:
            raise _quota_reached("open_matches", self._club_matches)

    def count_founding(self, request: Req) -> None:
        """Count a club that is founded from the caller's address."""
        self._take_or_refuse(request, self._founded, "clubs_per_day")

    def count_stream(self, request: Req, caller: str | None) -> Callable[[], None]:
        """Count a stream and return a function to call at its end.

        ``caller``: result of :meth:`Limits.limit_key_of` for a valid key or token; ``None``: count for the address.
        """
        address = self._addresses.client_address(request.scope)
        if address.is_local and not self._loopback:
            return lambda: None
        who = caller or address.limit_key
        if self._streams[who] >= self._streams_most:
            raise _quota_reached("streams", self._streams_most)
        self._streams[who] += 1

        def ended() -> None:
            self._streams[who] -= 1
            if not self._streams[who]:
                del self._streams[who]

        return ended

    def _take_or_refuse(self, request: Req, pace: Pace, quota: str) -> None:
        address = self._addresses.client_address(request.scope)
        if (self._loopback or not address.is_local) and pace.take(address.limit_key)[0] < 0:
            raise _quota_reached(quota, pace.most)


def _quota_reached(quota: str, most: int) -> Problem:
    return Problem("quota_reached", what=quota, most=most)
