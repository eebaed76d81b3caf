"""From where a request comes, also through proxies."""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

Network = IPv4Network | IPv6Network

TEXT_MAX = 64
"""Characters: no address with its zone and port is longer."""
READ_MAX = 4096
"""Addresses that need not be read again."""
READ = "knacka.address"
"""The key of the scope of a request under which its address is kept, once it is read."""
NETWORK_BITS = 64
"""Of an IPv6 address: whoever has one address of such a network has them all."""


class Address(NamedTuple):
    """From where somebody asks."""

    text: str
    """As it is logged."""
    whose: str
    """What is counted under one name: the IPv4 address, the network of an IPv6 address."""
    here: bool
    """Whether it is this machine, and not by way of a proxy."""
    proxy: bool
    """Whether it is believed to say for whom it asks."""


UNREADABLE = Address("an unreadable address", "", here=False, proxy=False)
"""What a proxy says for whom it asks cannot be read: all such are one."""


def networks_of(setting: str) -> tuple[Network, ...]:
    """Networks in CIDR, with commas between them. Raises ``ValueError`` for what is none."""
    return tuple(ip_network(part.strip()) for part in setting.split(",") if part.strip())


class Addresses:
    """Tells from where requests come."""

    def __init__(self, trusted_proxies: str) -> None:
        """``trusted_proxies``: networks in CIDR, of whom X-Forwarded-For is believed."""
        self._trusted = networks_of(trusted_proxies)
        self._read = lru_cache(READ_MAX)(self._reading)
        self._within = self._of(IPv4Address("127.0.0.1"))
        self._peer = lru_cache(READ_MAX)(lambda text: self._reading(text) or self._within)
        """Who has the connection; what has no address of a network is on this machine."""

    def of(self, scope: Any) -> Address:
        """Return the address that a request comes from: the right-most that is no trusted proxy. It is read once for
        each scope."""
        found: Address | None = scope.get(READ)
        if found is None:
            found = scope[READ] = self._of_scope(scope)
        return found

    def _of_scope(self, scope: Any) -> Address:
        client = scope["client"]
        found = self._peer(client[0]) if client else self._within
        if found.proxy:
            said = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
            if said:
                return self._behind(b",".join(said).decode("latin-1").split(","))
        return found

    def _behind(self, hops: Iterable[str]) -> Address:
        found = UNREADABLE
        for hop in reversed([*hops]):
            found = self._known(_without_port(hop.strip())) or UNREADABLE
            if not found.proxy:
                break
        return found._replace(here=False)

    def _known(self, text: str) -> Address | None:
        return self._read(text) if len(text) <= TEXT_MAX else None

    def _reading(self, text: str) -> Address | None:
        try:
            return self._of(ip_address(text))
        except ValueError:
            return None

    def _of(self, whole: IPv4Address | IPv6Address) -> Address:
        if isinstance(whole, IPv6Address):
            whole = whole.ipv4_mapped or IPv6Address(int(whole))  # without its zone
        whose = str(whole)
        if isinstance(whole, IPv6Address):
            whose = str(IPv6Network((int(whole), NETWORK_BITS), strict=False))
        return Address(str(whole), whose, whole.is_loopback, any(whole in one for one in self._trusted))


def _without_port(hop: str) -> str:
    """Some proxies add the port: ``192.0.2.1:4711``, ``[2001:db8::1]:4711``."""
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop
