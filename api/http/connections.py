"""Count the connections of each address. Call it on the event loop."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

HEALTH = "/health/"
"""Requests for the health of the service are not limited. If they were, a monitor would take the service for dead
when other clients of its address use up the limit."""


class Address(Protocol):
    """The address that a request comes from."""

    @property
    def whose(self) -> str:
        """Return the name under which the requests of this address are counted together."""

    @property
    def here(self) -> bool:
        """Return whether the request was made on this machine, without a proxy."""

    @property
    def proxy(self) -> bool:
        """Return whether this is a trusted proxy, which names the address of its client."""


class Connections:
    """Counts connections by the address at their other end. A connection of a trusted proxy counts while it brings a
    request, for the address that the proxy names."""

    def __init__(self, address_of: Callable[[Any], Address], most: int, *, loopback: bool) -> None:
        """``address_of``: gives the address of a scope. ``most``: of one address. ``loopback``: whether this
        holds on this machine too."""
        self._address_of, self.most, self._loopback = address_of, most, loopback
        self._open: Counter[str] = Counter()

    def at_once(self, client: Any) -> str | None:
        """Return the address that a connection counts for while it is open; ``None``: it does not count."""
        peer = self._address_of({"client": client, "headers": []})
        counts = self._loopback if peer.here else not peer.proxy
        return peer.whose if counts else None

    def by_request(self, scope: Any) -> str | None:
        """Return the address that a connection counts for during a request; ``None``: it does not count."""
        address = self._address_of(scope)
        return None if address.here or address.proxy else address.whose

    def take(self, whose: str) -> bool:
        """Count a connection. Return False if the address already has the maximum."""
        if self._open[whose] >= self.most:
            return False
        self._open[whose] += 1
        return True

    def leave(self, whose: str) -> None:
        """Stop counting a connection."""
        self._open[whose] -= 1
        if not self._open[whose]:
            del self._open[whose]
