"""Finds the address of a request's client, also behind trusted proxies.

A proxy writes `X-Forwarded-For` or `Forwarded` (RFC 7239). A client can forge the other header, so if both are
present they must name the same address.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

Network = IPv4Network | IPv6Network

TEXT_MAX = 64
"""Maximum length of an address with its zone and port."""
CACHE_MAX = 4096
SCOPE_KEY = "knacka.address"
NETWORK_BITS = 64
"""Bits of an IPv6 network that counts as one client."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PAIR = re.compile(rf'({_TOKEN})=(?:({_TOKEN})|"((?:[^"\\]|\\.)*+)")')
_SEPARATOR = re.compile(r"[ \t]*(?:([;,])[ \t]*|\Z)")
_NODE = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::(?:[0-9]{1,5}|_[0-9A-Za-z._-]+))?")


class Address(NamedTuple):
    text: str
    """The address as it is logged."""
    limit_key: str
    """Key of the client for limits: the IPv4 address, or the network of an IPv6 address."""
    is_local: bool
    """True: on this machine, without a proxy."""
    is_trusted_proxy: bool
    """True: a trusted proxy itself."""


UNREADABLE = Address("an unreadable address", "", is_local=False, is_trusted_proxy=False)
"""Address of clients whose proxies name no readable address or contradict each other."""


def networks_of(setting: str) -> tuple[Network, ...]:
    """Return the networks of a setting (CIDR, comma-separated). Raises ``ValueError`` for anything else."""
    return tuple(ip_network(part.strip()) for part in setting.split(",") if part.strip())


class Addresses:
    def __init__(self, trusted_proxies: str) -> None:
        """``trusted_proxies``: networks in CIDR, comma-separated."""
        self._trusted = networks_of(trusted_proxies)
        self._cached = lru_cache(CACHE_MAX)(self._parsed)
        self._local = self._address_of(IPv4Address("127.0.0.1"))
        # A socket without a network address is on this machine.
        self._cached_peer = lru_cache(CACHE_MAX)(lambda text: self._parsed(text) or self._local)

    def of(self, scope: Any) -> Address:
        """Return the client's address: the right-most one that is not a trusted proxy, or :data:`UNREADABLE`."""
        found: Address | None = scope.get(SCOPE_KEY)
        if found is None:
            found = scope[SCOPE_KEY] = self._of_scope(scope)
        return found

    def _of_scope(self, scope: Any) -> Address:
        client = scope["client"]
        peer = self._cached_peer(client[0]) if client else self._local
        if not peer.is_trusted_proxy:
            return peer
        found = {
            self._client_in(hops(said))
            for name, hops in _HEADERS
            if (said := [value for header, value in scope["headers"] if header == name])
        }
        if not found:
            return peer
        return found.pop() if len(found) == 1 else UNREADABLE

    def _client_in(self, hops: Iterable[str | None]) -> Address:
        """Return the client's address in a forwarding header."""
        found = UNREADABLE
        for hop in reversed([*hops]):
            found = (None if hop is None or len(hop) > TEXT_MAX else self._cached(hop)) or UNREADABLE
            if not found.is_trusted_proxy:
                break
        return found._replace(is_local=False)

    def _parsed(self, text: str) -> Address | None:
        try:
            return self._address_of(ip_address(text))
        except ValueError:
            return None

    def _address_of(self, whole: IPv4Address | IPv6Address) -> Address:
        if isinstance(whole, IPv6Address):
            whole = whole.ipv4_mapped or IPv6Address(int(whole))  # without its zone
        limit_key = str(whole)
        if isinstance(whole, IPv6Address):
            limit_key = str(IPv6Network((int(whole), NETWORK_BITS), strict=False))
        return Address(str(whole), limit_key, whole.is_loopback, any(whole in one for one in self._trusted))


def _hops_in_x_forwarded_for(values: list[bytes]) -> Iterator[str]:
    """Yield the addresses in `X-Forwarded-For` headers, from the left. Some proxies add a port."""
    for hop in b",".join(values).decode("latin-1").split(","):
        address = hop.strip()
        if address.startswith("["):
            yield address[1:].partition("]")[0]
        else:
            yield address.partition(":")[0] if address.count(":") == 1 else address


def _hops_in_forwarded(values: list[bytes]) -> list[str | None]:
    """Return the addresses in `Forwarded` headers, from the left; ``None`` for an element without one.

    If a header breaks the syntax, return none at all.
    """
    hops: list[str | None] = []
    for value in values:
        elements = _elements(value.decode("latin-1"))
        if elements is None:
            return []
        hops += [_node(pairs.get("for", "")) for pairs in elements]
    return hops


def _elements(text: str) -> list[dict[str, str]] | None:
    """Return the parameters of each element in a `Forwarded` header, ``None`` if it breaks the syntax."""
    elements: list[dict[str, str]] = [{}]
    at = len(text) - len(text.lstrip(" \t"))
    while at < len(text):
        if (pair := _PAIR.match(text, at)) is not None:
            name = pair[1].lower()
            if name in elements[-1]:
                return None
            elements[-1][name] = re.sub(r"\\(.)", r"\1", pair[3]) if pair[2] is None else pair[2]
            at = pair.end()
        end = _SEPARATOR.match(text, at)
        if end is None:
            return None
        if end[1] == ",":
            elements.append({})
        at = end.end()
    return [element for element in elements if element]


def _node(node: str) -> str | None:
    """Return the address of a node of RFC 7239, ``None`` for `unknown` and obfuscated nodes."""
    found = _NODE.fullmatch(node) if len(node) <= TEXT_MAX else None
    if found is None:
        return None
    return found[2] if found[1] is None else found[1] if ":" in found[1] else None


_HEADERS = ((b"x-forwarded-for", _hops_in_x_forwarded_for), (b"forwarded", _hops_in_forwarded))
