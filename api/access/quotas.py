"""How much may be had at a time or made in an hour or a day, and what only who shows a key may."""

import time
from collections import Counter
from collections.abc import Callable

from api.access.addresses import Addresses
from api.access.limits import Pace
from api.http.headers import Req
from api.http.problems import CHALLENGE, Problem

HOUR, DAY = 3600, 86400


class Quotas:
    """What one process gives, by who asks for it. On the loop."""

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
        """``loopback``: whether what holds for addresses, and for streams, holds on this machine too."""
        self._addresses, self._loopback = addresses, loopback
        self.anybody_opens = anybody_opens
        """Whether a caller without a key of a club may open matches."""
        self._opened, self._founded = Pace(matches_per_hour, HOUR, clock), Pace(clubs_per_day, DAY, clock)
        self._club_matches, self._streams_most = club_matches, streams
        self._streams: Counter[str] = Counter()

    def may_open(self) -> None:
        """For who opens a match without a club: 401 where that is not for anybody."""
        if not self.anybody_opens:
            raise Problem("opening_needs_key", headers=CHALLENGE)

    def opens(self, request: Req) -> None:
        """He opens one now, and not one that there is already: 403 where his address has opened too many."""
        self._takes(request, self._opened, "matches_per_hour")

    def may_open_in_club(self, count: int) -> None:
        """For who opens a match of a club, of which so many are open: 403 where it may have no more."""
        if count >= self._club_matches:
            raise _reached("open_matches", self._club_matches)

    def founds(self, request: Req) -> None:
        """He founds one now: 403 where his address has founded too many."""
        self._takes(request, self._founded, "clubs_per_day")

    def stream(self, request: Req, held: str | None) -> Callable[[], None]:
        """He begins to follow a stream, with a key or token that has been found good, given by its SHA-256, or
        without; what to call when it has ended. 403 where he follows too many."""
        address = self._addresses.of(request.scope)
        if address.here and not self._loopback:
            return lambda: None
        who = held or address.whose
        if self._streams[who] >= self._streams_most:
            raise _reached("streams", self._streams_most)
        self._streams[who] += 1

        def ended() -> None:
            self._streams[who] -= 1
            if not self._streams[who]:
                del self._streams[who]

        return ended

    def _takes(self, request: Req, pace: Pace, what: str) -> None:
        address = self._addresses.of(request.scope)
        if (self._loopback or not address.here) and pace.take(address.whose)[0] < 0:
            raise _reached(what, pace.most)


def _reached(what: str, most: int) -> Problem:
    return Problem("quota_reached", what=what, most=most)
