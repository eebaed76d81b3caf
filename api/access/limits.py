"""How much may be asked in a minute: by club, else by token of a match, else by address (GCRA, in memory).

All keys of a club share what one may, and all keys and tokens of one address some times that, so that many of them
gain nothing.

A key or token counts for itself once it has been found good, and until then for its address. So whoever guesses
finds no fresh allowance, however many he tries; and as a wrong one costs its address ten, it has soon used up its own
and is refused before anybody looks at what it sends. Who holds a good one is not slowed by that, not even beside it.
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
"""In nanoseconds, in which all is counted here: sums of them are exact."""
WINDOW_SECONDS = 60
KEPT_MAX = 65_536
"""Of those who have not all again, and of tokens found good."""
REST = "rest"
"""In whose name they ask for whom there is no place."""

WRONG = frozenset({"token_unknown", "key_malformed", "key_unknown", "key_expired", "key_revoked"})
"""What is said of a token or key that is none."""
WRONG_COST = 10
"""In requests."""
WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class Pace:
    """So much in so many seconds for each, all of it at once if it likes: the generic cell rate algorithm.

    Of each it is kept until when it has paid for what it took. That is forgotten only once the time is past, when it
    would make no difference any more; so nobody gains by being forgotten, or by having others forgotten. Where more
    than :data:`KEPT_MAX` have not all again, whoever comes new shares one allowance with all others who do.
    """

    def __init__(self, most: int, seconds: int, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self.most, self.seconds = most, seconds
        self._clock, self._each = clock, seconds * SECOND // most
        self._all = self._each * most
        self._paid: dict[str, int] = {}
        self._tidied = 0

    def take(self, who: str) -> tuple[int, int]:
        """What is left after one more, and in how many nanoseconds all of it is there again. Where there was none
        left, -1 and in how many one is; then nothing is taken."""
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
        """Takes so much, also what is not there; what is left then, as above."""
        now = self._clock()
        paid, who = self._place(who, now) if who not in self._paid else (self._paid[who], who)
        self._paid[who] = until = max(paid, now) + cost * self._each
        return max(0, (self._all - until + now) // self._each), until - now

    def _place(self, who: str, now: int) -> tuple[int, str]:
        """Until when has paid who is not known, and as whom he counts."""
        if len(self._paid) >= KEPT_MAX and now - self._tidied >= SECOND:
            self._paid, self._tidied = {one: until for one, until in self._paid.items() if until > now}, now
        who = who if len(self._paid) < KEPT_MAX else REST
        return self._paid.get(who, now), who


class Policy:
    """What a kind of request may."""

    def __init__(self, name: str, pace: Pace, of_address: Pace) -> None:
        """``of_address``: what all keys and tokens of one address may together."""
        self.name, self.pace, self.of_address = name, pace, of_address
        self._told = (b"ratelimit-policy", b'"%s";q=%d;w=%d' % (name.encode(), pace.most, pace.seconds))
        self._left = b'"%s";' % name.encode() + b"r=%d;t=%d"

    def told(self, left: int, wait: int) -> Headers:
        """Its headers, after the IETF's draft-ietf-httpapi-ratelimit-headers."""
        return [self._told, (b"ratelimit", self._left % (left if left > 0 else 0, seconds_in(wait)))]


class Counted(NamedTuple):
    """A request, as it was counted."""

    policy: Policy
    who: str
    address: Address
    left: int
    wait: int
    """In nanoseconds."""
    most: int
    """In a minute."""


def seconds_in(nanoseconds: int) -> int:
    """So many whole seconds, and no less."""
    return -(-nanoseconds // SECOND)


class Limits:
    """What the requests of one process may, by who sends them. On the loop."""

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
        """``address_times``: how many times as much as one key all keys and tokens of one address may. ``loopback``:
        whether they hold on this machine too. 0 a minute: as many as one likes."""
        self._addresses, self._loopback = addresses, loopback
        named = {"act": acts_per_minute, "read": reads_per_minute}
        policies = {
            name: Policy(name, Pace(most, WINDOW_SECONDS, clock), Pace(most * address_times, WINDOW_SECONDS, clock))
            for name, most in named.items()
            if most
        }
        self._acts, self._reads = policies.get("act"), policies.get("read")
        self._good: OrderedDict[str, str] = OrderedDict()
        """By the SHA-256 of a good key or token, the name under which its requests are counted."""

    def good(self, held: str, club: UUID | None = None) -> None:
        """A key or token, by its SHA-256, has been found good: it counts for its club from now on, or for itself.

        Of too many the one is forgotten that was shown least lately: it counts for its address once more, and what
        it has used it has used.
        """
        if held in self._good:
            self._good.move_to_end(held)
            return
        self._good[held] = held if club is None else str(club)
        if len(self._good) > KEPT_MAX:
            self._good.popitem(last=False)

    def found_good(self, held: str, club: UUID | None = None, *, is_key: bool = False) -> None:
        """Note that the caller has shown a good token or key: from now on its own limits hold, or those of its club.

        ``held``: its SHA-256. ``club``: the club of the key or of the token's match; calls in threads count as the
        club's from now on.
        """
        self.good(held, club if is_key else None)
        if club is not None:
            answering_for(f"club {club}")

    def refuses(self, scope: Any) -> Problem | None:
        """Counts a request; 429 where it is one too many."""
        counted = notes_in(scope).counted = self._counted(scope)
        if counted is None or counted.left >= 0:
            return None
        wait = min(seconds_in(counted.wait), RETRY_AFTER_MOST_SECONDS)
        policy = counted.policy
        headers = {"Retry-After": str(wait)}
        return Problem("slow_down", headers=headers, policy=policy.name, per_minute=counted.most)

    def counts_as(self, held: str) -> str:
        """Return as whose a key or token counts that has been found good, given by its SHA-256."""
        return self._good.get(held, held)

    def told(self, scope: Any, problem: str | None = None) -> Headers:
        """What the answer to a request that was counted says of it; a ``problem`` may cost more."""
        counted: Counted | None = notes_in(scope).counted
        if counted is None:
            return []
        left, wait = counted.left, counted.wait
        if problem in WRONG:
            own = counted.who == counted.address.whose
            left, wait = counted.policy.pace.charge(counted.address.whose, WRONG_COST - own)
        return counted.policy.told(left, wait)

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
    """The SHA-256 of what was shown; empty without it, or where it is for :mod:`api.access.tokens` to refuse."""
    for name, value in headers:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return hash_of(token.strip()) if scheme.lower() == "bearer" else ""
    return ""
