"""Limits the number of connections of each address. Call all methods on the event loop."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

HEALTH = "/health/"
"""Paths without limits, so that monitors are always answered."""


class Address(Protocol):
    """The address that a request comes from."""

    @property
    def limit_key(self) -> str:
        """The text by which connections are counted together."""

    @property
    def is_local(self) -> bool:
        """True for a request made on this machine, without a proxy."""

    @property
    def is_trusted_proxy(self) -> bool:
        """True for a trusted proxy, which names the address of its client."""


class Connections:
    """Counts connections by address; those of trusted proxies only during a request, for the client's address."""

    def __init__(self, address_of: Callable[[Any], Address], most: int, *, loopback: bool) -> None:
        """``most``: maximum of one address. ``loopback``: whether clients on this machine are limited too."""
        self._address_of, self.most, self._loopback = address_of, most, loopback
        self._open: Counter[str] = Counter()

    def at_once(self, client: Any) -> str | None:
        """Return the address that a connection counts for while it is open; ``None``: it is not counted."""
        peer = self._address_of({"client": client, "headers": []})
        counts = self._loopback if peer.is_local else not peer.is_trusted_proxy
        return peer.limit_key if counts else None

    def by_request(self, scope: Any) -> str | None:
        """Return the address that a connection counts for during a request; ``None``: it is not counted."""
        address = self._address_of(scope)
        return None if address.is_local or address.is_trusted_proxy else address.limit_key

    def take(self, limit_key: str) -> bool:
        """Count a connection. Return False, and do not count it, if the address already has the maximum."""
        if self._open[limit_key] >= self.most:
            return False
        self._open[limit_key] += 1
        return True

    def leave(self, limit_key: str) -> None:
        self._open[limit_key] -= 1
        if not self._open[limit_key]:
            del self._open[limit_key]
