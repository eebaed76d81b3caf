"""How many connections each address has. On the loop."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

HEALTH = "/health/"
"""Whoever looks after the service may ask for its health as often as it likes, from any address: else it would be
taken for dead when its network asks too much."""


class Address(Protocol):
    """From where a request comes."""

    @property
    def whose(self) -> str:
        """What is counted under one name."""

    @property
    def here(self) -> bool:
        """Whether it is this machine, and not by way of a proxy."""

    @property
    def proxy(self) -> bool:
        """Whether it is believed to say for whom it asks."""


class Connections:
    """Counts connections by the address at their other end. A connection of a trusted proxy counts while it brings a
    request, for the address that the proxy names."""

    def __init__(self, address_of: Callable[[Any], Address], most: int, *, loopback: bool) -> None:
        """``address_of``: gives the address of a scope. ``most``: of one address. ``loopback``: whether this
        holds on this machine too."""
        self._address_of, self.most, self._loopback = address_of, most, loopback
        self._open: Counter[str] = Counter()

    def at_once(self, client: Any) -> str | None:
        """Return as whose a connection counts from its beginning to its end; ``None``: as nobody's."""
        peer = self._address_of({"client": client, "headers": []})
        counts = self._loopback if peer.here else not peer.proxy
        return peer.whose if counts else None

    def by_request(self, scope: Any) -> str | None:
        """Return as whose a connection counts during a request; ``None``: as nobody's."""
        address = self._address_of(scope)
        return None if address.here or address.proxy else address.whose

    def take(self, whose: str) -> bool:
        """Count a connection, if there may be one more."""
        if self._open[whose] >= self.most:
            return False
        self._open[whose] += 1
        return True

    def leave(self, whose: str) -> None:
        """Count a connection no more."""
        self._open[whose] -= 1
        if not self._open[whose]:
            del self._open[whose]
