"""Limits the connections of each address. Call it on the event loop."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

HEALTH = "/health/"
"""Paths without limits, so that a monitor is answered even if other clients of its address use up the limit."""


class Address(Protocol):
    """The address that a request comes from."""

    @property
    def whose(self) -> str:
        """The name under which requests are counted together."""

    @property
    def here(self) -> bool:
        """True for a request made on this machine, without a proxy."""

    @property
    def proxy(self) -> bool:
        """True for a trusted proxy, which names the address of its client."""


class Connections:
    """Counts connections by address. A trusted proxy's counts only during a request, for its client's address."""

    def __init__(self, address_of: Callable[[Any], Address], most: int, *, loopback: bool) -> None:
        """``most``: connections of one address. ``loopback``: whether clients on this machine are limited too."""
        self._address_of, self.most, self._loopback = address_of, most, loopback
        self._open: Counter[str] = Counter()

    def at_once(self, client: Any) -> str | None:
        """Return the address that a connection counts for while it is open; ``None``: it is not counted."""
        peer = self._address_of({"client": client, "headers": []})
        counts = self._loopback if peer.here else not peer.proxy
        return peer.whose if counts else None

    def by_request(self, scope: Any) -> str | None:
        """Return the address that a connection counts for during a request; ``None``: it is not counted."""
        address = self._address_of(scope)
        return None if address.here or address.proxy else address.whose

    def take(self, whose: str) -> bool:
        """Count a connection. Return False if the address has the maximum."""
        if self._open[whose] >= self.most:
            return False
        self._open[whose] += 1
        return True

    def leave(self, whose: str) -> None:
        self._open[whose] -= 1
        if not self._open[whose]:
            del self._open[whose]
