"""Finds the address of a request's client, also behind trusted proxies.

A proxy writes `X-Forwarded-For` or `Forwarded` (RFC 7239). If both are present, they must name one
address, because a client can forge the header that the proxy does not write.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

Network = IPv4Network | IPv6Network

TEXT_MAX = 64
"""Maximum length of an address in a header."""
CACHE_MAX = 4096
SCOPE_KEY = "knacka.address"
NETWORK_BITS = 64
"""Length of the IPv6 prefix that counts as one client."""

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PAIR = re.compile(rf'({_TOKEN})=(?:({_TOKEN})|"((?:[^"\\]|\\.)*+)")')
_SEPARATOR = re.compile(r"[ \t]*(?:([;,])[ \t]*|\Z)")
_NODE = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+))(?::(?:[0-9]{1,5}|_[0-9A-Za-z._-]+))?")


class Address(NamedTuple):
    text: str
    """Text for logs."""
    limit_key: str
    """Name under which limits count it: IPv4 address or IPv6 network."""
    is_local: bool
    """True: a client on this machine, and no proxy."""
    is_trusted_proxy: bool


UNREADABLE = Address("an unreadable address", "", is_local=False, is_trusted_proxy=False)
"""Address if proxies' headers name no readable address or contradict each other."""


def networks_of(setting: str) -> tuple[Network, ...]:
    """Return the networks in a comma-separated text in CIDR. Raises ``ValueError`` if one is malformed."""
    return tuple(ip_network(part.strip()) for part in setting.split(",") if part.strip())


class Addresses:
    def __init__(self, trusted_proxies: str) -> None:
        """``trusted_proxies``: text for :func:`networks_of`, which may raise ``ValueError``."""
        self._trusted = networks_of(trusted_proxies)
        self._cached = lru_cache(CACHE_MAX)(self._address_or_none)
        self._local = self._address_of(IPv4Address("127.0.0.1"))
        # A peer without an IP address uses a Unix socket on this machine.
        self._cached_peer = lru_cache(CACHE_MAX)(lambda text: self._address_or_none(text) or self._local)

    def client_address(self, scope: Any) -> Address:
        """Return the client's address, or :data:`UNREADABLE`."""
        found: Address | None = scope.get(SCOPE_KEY)
        if found is None:
            found = scope[SCOPE_KEY] = self._read_address(scope)
        return found

    def _read_address(self, scope: Any) -> Address:
        """Return the address of the peer, or in the headers of a trusted proxy."""
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
        """Return the right-most hop that is not a trusted proxy, else the left-most; :data:`UNREADABLE`
        for no hop or an unreadable one."""
        found = UNREADABLE
        for hop in reversed([*hops]):
            found = (None if hop is None or len(hop) > TEXT_MAX else self._cached(hop)) or UNREADABLE
            if not found.is_trusted_proxy:
                break
        return found._replace(is_local=False)

    def _address_or_none(self, text: str) -> Address | None:
        try:
            return self._address_of(ip_address(text))
        except ValueError:
            return None

    def _address_of(self, ip: IPv4Address | IPv6Address) -> Address:
        if isinstance(ip, IPv6Address):
            ip = ip.ipv4_mapped or IPv6Address(int(ip))  # so that it has no zone
        limit_key = str(ip)
        if isinstance(ip, IPv6Address):
            limit_key = str(IPv6Network((int(ip), NETWORK_BITS), strict=False))
        return Address(str(ip), limit_key, ip.is_loopback, any(ip in one for one in self._trusted))


def _hops_in_x_forwarded_for(values: list[bytes]) -> Iterator[str]:
    """Yield the addresses in `X-Forwarded-For` headers from the left, without ports."""
    for hop in b",".join(values).decode("latin-1").split(","):
        address = hop.strip()
        if address.startswith("["):
            yield address[1:].partition("]")[0]
        else:
            yield address.partition(":")[0] if address.count(":") == 1 else address


def _hops_in_forwarded(values: list[bytes]) -> list[str | None]:
    """Return the addresses in `Forwarded` headers from the left; ``None`` for an element without an address;
    empty if a header is malformed."""
    hops: list[str | None] = []
    for value in values:
        elements = _elements_in(value.decode("latin-1"))
        if elements is None:
            return []
        hops += [_address_of_node(pairs.get("for", "")) for pairs in elements]
    return hops


def _elements_in(text: str) -> list[dict[str, str]] | None:
    """Return each element's parameters in a `Forwarded` header, in lower case; ``None`` if it is malformed."""
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


def _address_of_node(node: str) -> str | None:
    """Return the address in a node of RFC 7239; ``None`` for `unknown`, obfuscated and malformed nodes."""
    found = _NODE.fullmatch(node) if len(node) <= TEXT_MAX else None
    if found is None:
        return None
    return found[2] if found[1] is None else found[1] if ":" in found[1] else None


_HEADERS = ((b"x-forwarded-for", _hops_in_x_forwarded_for), (b"forwarded", _hops_in_forwarded))
