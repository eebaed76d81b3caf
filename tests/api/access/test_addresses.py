"""The client address of a request, also behind proxies."""

import pytest

from api.access.addresses import UNREADABLE, Addresses
from api.settings import Settings, SettingsError, from_environment
from tests.support.service_in_memory import client_of

HERE = "127.0.0.1"


def scope(client: str | None, *forwarded: str, standard: tuple[str, ...] = ()) -> dict[str, object]:
    """Return the scope of a request with these `X-Forwarded-For` headers, and `Forwarded` headers: the standard."""
    headers = [(b"host", b"localhost"), *((b"x-forwarded-for", one.encode("latin-1")) for one in forwarded)]
    headers += [(b"forwarded", one.encode("latin-1")) for one in standard]
    return {"client": None if client is None else (client, 4711), "headers": headers}


@pytest.fixture
def addresses() -> Addresses:
    return Addresses("127.0.0.0/8, ::1/128, 10.0.0.0/8, 2001:db8:aaaa::/48")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
    ],
)
def test_addresses_of_one_network_have_one_owner(addresses: Addresses, one: str, other: str, same: bool) -> None:
    assert (
        addresses.client_address(scope(one)).limit_key == addresses.client_address(scope(other)).limit_key
    ) is same


def test_the_whole_address_is_logged(addresses: Addresses) -> None:
    assert addresses.client_address(scope("2001:db8:0:1::5")).text == "2001:db8:0:1::5"


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.4.5.6", "::1", "::ffff:127.0.0.1", None, "a socket"])
def test_this_machine(addresses: Addresses, peer: str | None) -> None:
    assert addresses.client_address(scope(peer)).is_local


@pytest.mark.parametrize(
    ("peer", "forwarded", "found"),
    [
        ("192.0.2.1", ["203.0.113.9"], "192.0.2.1"),  # not a trusted proxy
        (HERE, ["203.0.113.9"], "203.0.113.9"),
        (HERE, ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),  # the client wrote the part before
        (HERE, ["127.0.0.1, 203.0.113.9"], "203.0.113.9"),
        (HERE, ["198.51.100.1", "203.0.113.9"], "203.0.113.9"),  # the client sent a header of its own
        ("10.0.0.1", ["203.0.113.9, 10.0.0.2,10.0.0.3"], "203.0.113.9"),
        ("10.0.0.1", ["10.0.0.7, 10.0.0.2"], "10.0.0.7"),
        ("10.0.0.1", ["203.0.113.9:4711"], "203.0.113.9"),
        ("10.0.0.1", ["[2001:db8::9]:4711"], "2001:db8::9"),
        ("10.0.0.1", ["2001:db8::9"], "2001:db8::9"),
        ("2001:db8:aaaa::1", ["203.0.113.9"], "203.0.113.9"),
    ],
)
def test_the_right_most_that_is_no_trusted_proxy_counts(
    addresses: Addresses, peer: str, forwarded: list[str], found: str
) -> None:
    assert addresses.client_address(scope(peer, *forwarded)).text == found


@pytest.mark.parametrize("said", ["", "unknown", "_hidden", "203.0.113.9, 1.2.3.4.5", "7" * 5000])
def test_unreadable_addresses_of_a_proxy_count_as_one_remote_address(addresses: Addresses, said: str) -> None:
    assert addresses.client_address(scope(HERE, said)) == UNREADABLE


class TestForwarded:
    """The header of RFC 7239."""

    @pytest.mark.parametrize(
        ("peer", "standard", "found"),
        [
            ("192.0.2.1", ["for=203.0.113.9"], "192.0.2.1"),  # not a trusted proxy
            (HERE, ["for=203.0.113.9"], "203.0.113.9"),
            (HERE, ['For="203.0.113.9:4711"; proto=http;by=203.0.113.43'], "203.0.113.9"),
            (HERE, ['for="[2001:db8::9]"'], "2001:db8::9"),
            (HERE, ['for="[2001:db8::9]:4711"'], "2001:db8::9"),
            (HERE, ['for="203.0.113.9:_port"'], "203.0.113.9"),
            (HERE, ["for=198.51.100.1, for=203.0.113.9"], "203.0.113.9"),
            (HERE, ["for=unknown, for=_hidden;secret=x, for=203.0.113.9"], "203.0.113.9"),
            (HERE, ["for=198.51.100.1", "for=203.0.113.9"], "203.0.113.9"),  # several headers are one list
            (HERE, ['host="a,b;for=198.51.100.1\\"";for=203.0.113.9'], "203.0.113.9"),  # a text in quotes
            (HERE, ['for="203.\\0.113.9"'], "203.0.113.9"),  # a quoted pair
            (HERE, [" , for=203.0.113.9 ,, "], "203.0.113.9"),  # empty elements
            (HERE, [";for=203.0.113.9;;"], "203.0.113.9"),  # and empty pairs
            ("10.0.0.1", ["for=203.0.113.9, for=10.0.0.2,for=10.0.0.3"], "203.0.113.9"),
        ],
    )
    def test_the_right_most_that_is_no_trusted_proxy_counts(
        self, addresses: Addresses, peer: str, standard: list[str], found: str
    ) -> None:
        assert addresses.client_address(scope(peer, standard=tuple(standard))).text == found

    @pytest.mark.parametrize(
        "standard",
        [
            "",
            "for=unknown",
            "for=_hidden",
            'for="_hidden:4711"',
            "for=198.51.100.1, proto=http",  # the nearest proxy does not name its client
            "for=198.51.100.1;for=203.0.113.9",  # an element has each parameter only once
            "for=2001:db8::9",  # an IPv6 address needs brackets and quotes
            'for="2001:db8::9"',
            "for=[2001:db8::9]",
            'for="[203.0.113.9]"',
            'for="203.0.113.9:99999999"',
            'for="[2001:db8::9]4711"',
            'for="203.0.113.9',
            'for="198.51.100.1, for=203.0.113.9',  # a quotation without its end
            'a="x, for="[2001:db8::9]"',
            "203.0.113.9",
            "for = 203.0.113.9",
            "for=203.0.113.9 for=198.51.100.1",
            "for=" + "7" * 5000,
            '"' * 5000,
        ],
    )
    def test_unreadable_forwarded_headers_count_as_one_remote_address(
        self, addresses: Addresses, standard: str
    ) -> None:
        assert addresses.client_address(scope(HERE, standard=(standard,))) == UNREADABLE

    def test_a_quote_ends_with_its_header(self, addresses: Addresses) -> None:
        assert addresses.client_address(scope(HERE, standard=('a="x', 'for="203.0.113.9"'))) == UNREADABLE

    def test_through_a_proxy_no_one_is_on_this_machine(self, addresses: Addresses) -> None:
        assert not addresses.client_address(scope(HERE, standard=("for=127.0.0.1",))).is_local

    def test_both_headers_must_name_one_address(self, addresses: Addresses) -> None:
        """A proxy sets one of them and passes on the client's other one. The service cannot know which is which."""
        agree = scope(HERE, "198.51.100.7, 203.0.113.9", standard=('for=10.0.0.7, for="203.0.113.9:80"',))
        assert addresses.client_address(agree).text == "203.0.113.9"
        for standard in ("for=198.51.100.1", "for=unknown", "", "for=127.0.0.1"):
            assert addresses.client_address(scope(HERE, "203.0.113.9", standard=(standard,))) == UNREADABLE
        assert addresses.client_address(scope(HERE, "unknown", standard=("for=203.0.113.9",))) == UNREADABLE

    def test_the_limits_count_it(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, reads_per_minute=1, limit_loopback=True) as client:
            for last, status in ((1, 200), (1, 429), (2, 200)):
                answer = client.get("/v1/rulesets/kalabrias", headers={"Forwarded": f"for=192.0.2.{last}"})
                assert answer.status_code == status


def test_through_a_proxy_no_one_is_on_this_machine(addresses: Addresses) -> None:
    assert not addresses.client_address(scope("10.0.0.1", "127.0.0.1")).is_local
    assert not addresses.client_address(scope(HERE, "127.0.0.1")).is_local


def test_networks_that_are_none_are_named() -> None:
    assert from_environment({"KNACKA_TRUSTED_PROXIES": ""}) == Settings(trusted_proxies="")
    with pytest.raises(SettingsError, match=r"KNACKA_TRUSTED_PROXIES: .*10\.0\.0\.1/8"):
        from_environment({"KNACKA_TRUSTED_PROXIES": "127.0.0.1,10.0.0.1/8"})


def test_only_trusted_proxies_are_believed(sqlite_url: str) -> None:
    with client_of(sqlite_url, trusted_proxies="", reads_per_minute=1, limit_loopback=True) as client:
        for last, status in ((1, 200), (2, 429)):
            answer = client.get("/v1/rulesets/kalabrias", headers={"X-Forwarded-For": f"192.0.2.{last}"})
            assert answer.status_code == status
