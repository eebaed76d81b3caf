"""Limits on requests a minute: by club, else by token of a match, else by address (GCRA, in memory).

All keys of a club share one allowance. All keys and tokens of one address share a multiple of it, so that many keys
are no advantage.

A key or token has its own allowance once it is known to be valid. Until then its requests count for the address. So a
client that guesses gets no new allowance. A wrong key or token costs its address ten requests, so a guessing address
is soon refused before its credentials are looked up. Valid keys and tokens of the same address are not affected.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from api.access.addresses import Address, Addresses
from api.access.tokens import hash_of
from api.http.connections import HEALTH
from api.http.headers import Headers
from api.http.notes import notes_in
from api.http.problems import RETRY_AFTER_MOST_SECONDS, Problem
from api.http.threads import answering_for

SECOND = 1_000_000_000
"""Nanoseconds of a second. All times here are in nanoseconds, because their sums are exact."""
WINDOW_SECONDS = 60
KEPT_MAX = 65_536
"""Callers with used allowance, and tokens and keys known to be valid, that are kept in memory."""
REST = "rest"
"""The name under which requests count when :data:`KEPT_MAX` callers are kept."""

WRONG = frozenset({"token_unknown", "key_malformed", "key_unknown", "key_expired", "key_revoked"})
"""The codes of problems with a wrong token or key."""
WRONG_COST = 10
"""Requests that a wrong token or key costs."""
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Pace:
    """An allowance of ``most`` per ``seconds`` for each caller: the generic cell rate algorithm.

    For each caller the time is kept until which the used allowance is paid for. It is dropped only after that time,
    when it makes no difference, so dropping favours no caller. If more than :data:`KEPT_MAX` callers have used
    allowance, all new ones share one allowance.
    """

    def __init__(self, most: int, seconds: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.most, self.seconds = most, seconds
        self._clock, self._each = clock, seconds * SECOND // most
        self._all = self._each * most
        self._paid: dict[str, int] = {}
        self._tidied = 0

    def take(self, who: str) -> tuple[int, int]:
        """Take one from the allowance. Return the rest, and the nanoseconds until all is available again.

        If nothing is left, return -1 and the nanoseconds until one is available, and take nothing.
        """
        now = self._clock()
        paid = self._paid.get(who)
        if paid is None:
            paid, who = self._place(who, now)
        until = (paid if paid > now else now) + self._each
        if until - now > self._all:
            return -1, until - now - self._all
        self._paid[who] = until
        return (self._all - until + now) // self._each, until - now

    def charge(self, who: str, cost: int) -> tuple[int, int]:
        """Take ``cost`` from the allowance, even if less is left. Return what :meth:`take` returns."""
        now = self._clock()
        paid, who = self._place(who, now) if who not in self._paid else (self._paid[who], who)
        self._paid[who] = until = max(paid, now) + cost * self._each
        return max(0, (self._all - until + now) // self._each), until - now

    def _place(self, who: str, now: int) -> tuple[int, str]:
        """Return the time until which a new caller has paid, and the name under which they count."""
        if len(self._paid) >= KEPT_MAX and now - self._tidied >= SECOND:
            self._paid, self._tidied = {one: until for one, until in self._paid.items() if until > now}, now
        who = who if len(self._paid) < KEPT_MAX else REST
        return self._paid.get(who, now), who


class Policy:
    """The limits of one kind of request, ``act`` or ``read``."""

    def __init__(self, name: str, pace: Pace, of_address: Pace) -> None:
        """``of_address``: the allowance that all keys and tokens of one address share."""
        self.name, self.pace, self.of_address = name, pace, of_address
        self._policy_header = (b"ratelimit-policy", b'"%s";q=%d;w=%d' % (name.encode(), pace.most, pace.seconds))
        self._left = b'"%s";' % name.encode() + b"r=%d;t=%d"

    def headers(self, left: int, wait: int) -> Headers:
        """Return the headers of draft-ietf-httpapi-ratelimit-headers."""
        return [self._policy_header, (b"ratelimit", self._left % (left if left > 0 else 0, seconds_in(wait)))]


class Counted(NamedTuple):
    policy: Policy
    who: str
    address: Address
    left: int
    wait: int
    """Nanoseconds until all of the allowance is available again, or one request if nothing is left."""
    most: int
    """Requests a minute."""


def seconds_in(nanoseconds: int) -> int:
    """Return the time in seconds, rounded up."""
    return -(-nanoseconds // SECOND)


class Limits:
    """Counts the requests of one process by caller. Call it on the event loop."""

    def __init__(
        self,
        addresses: Addresses,
        *,
        acts_per_minute: int,
        reads_per_minute: int,
        address_times: int,
        loopback: bool,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        """``acts_per_minute``, ``reads_per_minute``: 0 for no limit. ``address_times``: the allowance of an address,
        as a multiple of one key's. ``loopback``: apply the limits to loopback clients too."""
        self._addresses, self._loopback = addresses, loopback
        named = {"act": acts_per_minute, "read": reads_per_minute}
        policies = {
            name: Policy(name, Pace(most, WINDOW_SECONDS, clock), Pace(most * address_times, WINDOW_SECONDS, clock))
            for name, most in named.items()
            if most
        }
        self._acts, self._reads = policies.get("act"), policies.get("read")
        self._good: OrderedDict[str, str] = OrderedDict()
        """The name under which the requests of a valid key or token count, by its SHA-256."""

    def mark_valid(self, held: str, club: UUID | None = None) -> None:
        """Note that a key or token, by its SHA-256, is valid: it counts for its club from now on, or for itself.

        If there are too many, the least recently used one is dropped: it counts for its address again.
        """
        if held in self._good:
            self._good.move_to_end(held)
            return
        self._good[held] = held if club is None else str(club)
        if len(self._good) > KEPT_MAX:
            self._good.popitem(last=False)

    def found_valid(self, held: str, club: UUID | None = None, *, is_key: bool = False) -> None:
        """Note that the caller's token or key is valid: from now on its own limits hold, or those of its club.

        ``held``: its SHA-256. ``club``: the club of the key or of the token's match, for which calls in threads count
        from now on.
        """
        self.mark_valid(held, club if is_key else None)
        if club is not None:
            answering_for(f"club {club}")

    def refuses(self, scope: Any) -> Problem | None:
        """Count a request. Return a problem (429 slow_down) if it is over the limit."""
        counted = notes_in(scope).counted = self._counted(scope)
        if counted is None or counted.left >= 0:
            return None
        wait = min(seconds_in(counted.wait), RETRY_AFTER_MOST_SECONDS)
        policy = counted.policy
        headers = {"Retry-After": str(wait)}
        return Problem("slow_down", headers=headers, policy=policy.name, per_minute=counted.most)

    def counts_as(self, held: str) -> str:
        """Return the name under which a valid key or token counts, given by its SHA-256."""
        return self._good.get(held, held)

    def headers(self, scope: Any, problem: str | None = None) -> Headers:
        """Return the headers with the limits of a request. The code of its ``problem`` may cost more."""
        counted: Counted | None = notes_in(scope).counted
        if counted is None:
            return []
        left, wait = counted.left, counted.wait
        if problem in WRONG:
            own = counted.who == counted.address.whose
            left, wait = counted.policy.pace.charge(counted.address.whose, WRONG_COST - own)
        return counted.policy.headers(left, wait)

    def _counted(self, scope: Any) -> Counted | None:
        policy = self._acts if scope["method"] in WRITES else self._reads
        if policy is None or scope["path"].startswith(HEALTH):
            return None
        address = self._addresses.of(scope)
        if address.here and not self._loopback:
            return None
        held = notes_in(scope).secret_hash = _held(scope["headers"])
        good = self._good.get(held)
        if good is None:
            return Counted(policy, address.whose, address, *policy.pace.take(address.whose), policy.pace.most)
        left, wait = policy.pace.take(good)
        most = policy.pace.most
        if left >= 0:
            of_address = policy.of_address.take(address.whose)
            if of_address[0] < left:
                (left, wait), most = of_address, policy.of_address.most
        return Counted(policy, good, address, left, wait, most)


def _held(headers: Headers) -> str:
    """Return the SHA-256 of the token or key in these headers, empty if there is no bearer token."""
    for name, value in headers:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return hash_of(token.strip()) if scheme.lower() == "bearer" else ""
    return ""
