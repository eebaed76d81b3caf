"""Limits requests a minute, in memory.

Requests with a valid key count for the key's club, requests with a valid token for the token, others for their
address. All keys and tokens of an address also share a larger allowance.
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
from api.http.notes import Notes, notes_in
from api.http.problems import RETRY_AFTER_MOST_SECONDS, Problem
from api.http.threads import count_calls_for

SECOND = 1_000_000_000
"""Nanoseconds in a second. Whole numbers keep sums exact."""
WINDOW_SECONDS = 60
REMEMBERED_MAX = 65_536
"""Maximum number of callers in a :class:`Pace`, and of valid tokens and keys in :class:`Limits`."""
OVERFLOW = "rest"
"""Name for the shared allowance of :class:`Pace`."""

INVALID_CREDENTIAL_CODES = frozenset({"token_unknown", "key_malformed", "key_unknown", "key_expired", "key_revoked"})
INVALID_CREDENTIAL_COST = 10
"""Requests that such a problem costs the address."""
BUSY_SHARE = 10
BUSY_MIN = 20
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Pace:
    """Gives each caller ``most`` requests in ``seconds`` seconds, by the generic cell rate algorithm.

    New callers share one allowance while :data:`REMEMBERED_MAX` callers are remembered.
    """

    def __init__(self, most: int, seconds: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.most, self.seconds = most, seconds
        self._clock, self._request_ns = clock, seconds * SECOND // most
        self._window_ns = self._request_ns * most
        self._used_until: dict[str, int] = {}
        """Time until which each caller has used its allowance."""
        self._tidied = 0

    def take(self, caller: str) -> tuple[int, int]:
        """Take one request from the allowance. Return the number left, and the nanoseconds until all are available.

        If none was left, return -1 and the nanoseconds until one is available.
        """
        now = self._clock()
        used_until = self._used_until.get(caller)
        if used_until is None:
            used_until, caller = self._entry_for_new(caller, now)
        until = (used_until if used_until > now else now) + self._request_ns
        if until - now > self._window_ns:
            return -1, until - now - self._window_ns
        self._used_until[caller] = until
        return (self._window_ns - until + now) // self._request_ns, until - now

    def charge(self, caller: str, cost: int) -> tuple[int, int]:
        """Take ``cost`` requests from the allowance, even if fewer are left.

        Return the number left, at least 0, and the nanoseconds until all are available.
        """
        now = self._clock()
        used_until, caller = (
            self._entry_for_new(caller, now) if caller not in self._used_until else (self._used_until[caller], caller)
        )
        self._used_until[caller] = until = max(used_until, now) + cost * self._request_ns
        return max(0, (self._window_ns - until + now) // self._request_ns), until - now

    def is_busy(self, left: int) -> bool:
        """Return whether a caller with ``left`` requests left must wait for turns.

        It must if it is over its limit, or has used more than :data:`BUSY_MIN` requests and more than
        1 / :data:`BUSY_SHARE` of its allowance.
        """
        return left < 0 or self.most - left > max(BUSY_MIN, self.most // BUSY_SHARE)

    def _entry_for_new(self, caller: str, now: int) -> tuple[int, str]:
        """Return, for a caller without an entry, its time in ``_used_until`` and its name. If there is no room, first
        delete expired entries, at most once a second."""
        if len(self._used_until) >= REMEMBERED_MAX and now - self._tidied >= SECOND:
            self._used_until, self._tidied = (
                {one: until for one, until in self._used_until.items() if until > now},
                now,
            )
        caller = caller if len(self._used_until) < REMEMBERED_MAX else OVERFLOW
        return self._used_until.get(caller, now), caller


class Policy:
    """The limits of one kind of request, ``act`` or ``read``."""

    def __init__(self, name: str, pace: Pace, of_address: Pace) -> None:
        self.name, self.pace, self.of_address = name, pace, of_address
        self._policy_header = (b"ratelimit-policy", b'"%s";q=%d;w=%d' % (name.encode(), pace.most, pace.seconds))
        self._left = b'"%s";' % name.encode() + b"r=%d;t=%d"

    def headers(self, left: int, wait: int) -> Headers:
        """Return the RateLimit headers of draft-ietf-httpapi-ratelimit-headers. ``wait``: nanoseconds."""
        return [self._policy_header, (b"ratelimit", self._left % (left if left > 0 else 0, seconds_rounded_up(wait)))]


class Counted(NamedTuple):
    """``left``, ``wait_ns`` and ``most`` are the caller's, or its address's if that has fewer left."""

    policy: Policy
    counts_as: str
    """Club, token or address that the request counts for."""
    address: Address
    left: int
    wait_ns: int
    """Nanoseconds that :meth:`Pace.take` returned."""
    most: int
    """Allowed requests a minute."""
    waits_as: str | None
    """Busy caller or address for whose turn the answer waits; ``None``: the answer does not wait."""


def seconds_rounded_up(nanoseconds: int) -> int:
    return -(-nanoseconds // SECOND)


class Limits:
    """Counts the requests of one process. Call the methods on the event loop."""

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
        """``acts_per_minute``, ``reads_per_minute``: 0 for no limit. ``address_times``: the shared allowance of an
        address as a multiple of these. ``loopback``: limit loopback clients too."""
        self._addresses, self._loopback = addresses, loopback
        named = {"act": acts_per_minute, "read": reads_per_minute}
        policies = {
            name: Policy(name, Pace(most, WINDOW_SECONDS, clock), Pace(most * address_times, WINDOW_SECONDS, clock))
            for name, most in named.items()
            if most
        }
        self._acts, self._reads = policies.get("act"), policies.get("read")
        self._counts_as: OrderedDict[str, str] = OrderedDict()
        """Names under which valid keys and tokens count, by their SHA-256; the least recently used first."""

    def mark_valid(self, secret_hash: str, club: UUID | None = None, *, is_key: bool = False) -> None:
        """Note that a token or key is valid. The caller's next calls in threads count for ``club``, the club of the
        key or of the token's match."""
        if club is not None:
            count_calls_for(f"club {club}")
        if secret_hash in self._counts_as:
            self._counts_as.move_to_end(secret_hash)
            return
        self._counts_as[secret_hash] = str(club) if is_key else secret_hash
        if len(self._counts_as) > REMEMBERED_MAX:
            self._counts_as.popitem(last=False)

    def count_request(self, scope: Any) -> Problem | None:
        """Count a request. Return Problem (429 slow_down) if it is over the limit, else ``None``."""
        notes = notes_in(scope)
        counted = notes.counted = self._count_request(scope, notes)
        if counted is None or counted.left >= 0:
            return None
        wait = min(seconds_rounded_up(counted.wait_ns), RETRY_AFTER_MOST_SECONDS)
        policy = counted.policy
        headers = {"Retry-After": str(wait)}
        return Problem("slow_down", headers=headers, policy=policy.name, per_minute=counted.most)

    def limit_key_of(self, secret_hash: str) -> str:
        """Return the name under which a key or token counts."""
        return self._counts_as.get(secret_hash, secret_hash)

    def headers(self, counted: Counted | None, problem: str | None = None) -> Headers:
        """Return the RateLimit headers of a request; none without ``counted``.

        First charge the address, and show its allowance, if ``problem`` is in :data:`INVALID_CREDENTIAL_CODES`.
        """
        if counted is None:
            return []
        left, wait = counted.left, counted.wait_ns
        if problem in INVALID_CREDENTIAL_CODES:
            own = counted.counts_as == counted.address.limit_key
            left, wait = counted.policy.pace.charge(counted.address.limit_key, INVALID_CREDENTIAL_COST - own)
        return counted.policy.headers(left, wait)

    def _count_request(self, scope: Any, notes: Notes) -> Counted | None:
        """Count a request, and note the SHA-256 of its token or key. Return ``None`` if no limit applies."""
        policy = self._acts if scope["method"] in WRITES else self._reads
        if policy is None or scope["path"].startswith(HEALTH):
            return None
        address = self._addresses.client_address(scope)
        if address.is_local and not self._loopback:
            return None
        secret_hash = notes.secret_hash = _secret_hash_in(scope["headers"])
        pace, of_address, client = policy.pace, policy.of_address, address.limit_key
        own = self._counts_as.get(secret_hash, client)
        (left, wait), most = pace.take(own), pace.most
        waits_as = own if pace.is_busy(left) else None
        if own != client and left >= 0:
            left_of_address, wait_of_address = of_address.take(client)
            if of_address.is_busy(left_of_address):
                waits_as = client
            if left_of_address < left:
                left, wait, most = left_of_address, wait_of_address, of_address.most
        return Counted(policy, own, address, left, wait, most, waits_as)


def _secret_hash_in(headers: Headers) -> str:
    """Return the SHA-256 of the bearer token in the first Authorization header; empty without one."""
    for name, value in headers:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return hash_of(token.strip()) if scheme.lower() == "bearer" else ""
    return ""
