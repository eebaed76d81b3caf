"""Limits the connections of each client. Call all methods on the event loop."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Protocol

HEALTH = "/health/"
"""Beginning of paths without limits for requests, so that health probes are answered."""


class Address(Protocol):
    """Part of :class:`api.access.addresses.Address`."""

    @property
    def limit_key(self) -> str: ...

    @property
    def is_local(self) -> bool: ...

    @property
    def is_trusted_proxy(self) -> bool: ...


class Connections:
    """Counts connections by ``limit_key``. Those of a trusted proxy count only during a request, for the client.

    With ``loopback`` the open connections of a proxy on this machine count too.
    """

    def __init__(self, address_of: Callable[[Any], Address], most: int, *, loopback: bool) -> None:
        """``most``: maximum for a key. ``loopback``: limit clients on this machine too."""
        self._address_of, self.most, self._loopback = address_of, most, loopback
        self._open: Counter[str] = Counter()

    def key_while_open(self, client: Any) -> str | None:
        """Return the key under which an open connection counts; ``None`` if it does not count."""
        peer = self._address_of({"client": client, "headers": []})
        counts = self._loopback if peer.is_local else not peer.is_trusted_proxy
        return peer.limit_key if counts else None

    def key_of_request(self, scope: Any) -> str | None:
        """Return the key under which a connection counts during a request; ``None`` if it does not count."""
        address = self._address_of(scope)
        return None if address.is_local or address.is_trusted_proxy else address.limit_key

    def take(self, limit_key: str) -> bool:
        """Count a connection and return ``True``; return ``False`` if the key has the maximum already."""
        if self._open[limit_key] >= self.most:
            return False
        self._open[limit_key] += 1
        return True

    def leave(self, limit_key: str) -> None:
        self._open[limit_key] -= 1
        if not self._open[limit_key]:
            del self._open[limit_key]
