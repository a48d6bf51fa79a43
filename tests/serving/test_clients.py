from __future__ import annotations

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from trigner.serving import clients
from trigner.serving.clients import Proxies, RateLimit, Unfinished, client_at, client_of


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("fe80::1%eth0", "fe80::"),
        ("a name", "a name"),
    ],
)
def test_a_client_is_an_address_or_the_network_of_one(address, client):
    assert client_at(address) == client
    assert client_of({"client": (address, 1)}) == client
    assert client_of({"client": None}) == client_of({}) == ""


@pytest.mark.parametrize(
    ("given", "inside", "outside"),
    [
        ("127.0.0.1", ("127.0.0.1", "::ffff:127.0.0.1"), ("127.0.0.2", "::1", "a name", "")),
        ("127.0.0.0/8", ("127.9.9.9", "::ffff:127.9.9.9"), ("128.0.0.1", "::ffff:128.0.0.1")),
        ("::ffff:10.0.0.0/104", ("10.1.2.3", "::ffff:10.1.2.3"), ("11.0.0.1",)),
        ("2001:db8::/32", ("2001:db8:1::2",), ("2001:db9::1", "10.0.0.1")),
        ("fe80::1", ("fe80::1", "fe80::1%eth0"), ("fe80::2",)),
    ],
)
def test_a_proxy_is_an_address_or_a_network_in_either_spelling(given, inside, outside):
    proxies = Proxies([given, "192.0.2.1"])
    of_uvicorn = ProxyHeadersMiddleware(None, proxies.spelt()).trusted_hosts
    for address in inside:
        assert address in proxies
        assert address in of_uvicorn
    for address in outside:
        assert address not in proxies
        assert address not in of_uvicorn


@pytest.mark.parametrize("given", ["localhost", "*", "10.0.0.1/8", "10.0.0", "", "::1/200"])
def test_what_is_no_proxy_is_refused(given, refused):
    with refused():
        Proxies([given])


def test_requests_a_second():
    now = [0.0]
    limit = RateLimit(2, lambda: now[0])
    assert [limit.wait("a") for _ in range(4)] == [0, 0, 1, 1]
    assert limit.wait("b") == 0
    now[0] = 0.5  # one more every half second
    assert [limit.wait("a"), limit.wait("a")] == [0, 1]
    now[0] = 100  # what is not used is not kept beyond a second's worth
    assert [limit.wait("a") for _ in range(3)] == [0, 0, 1]
    slow = RateLimit(0.1, lambda: now[0])
    assert [slow.wait("a"), slow.wait("a")] == [0, 10]


def test_no_more_clients_are_remembered_than_fit(monkeypatch):
    monkeypatch.setattr(clients, "MOST_CLIENTS", 3)
    limit = RateLimit(1, lambda: 0.0)
    assert [limit.wait(client) for client in "abcdbcd"] == [0, 0, 0, 0, 1, 1, 1]
    assert limit.wait("a") == 0  # forgotten


def test_unfinished_bodies_are_counted_until_they_end():
    unfinished = Unfinished()
    with unfinished.body("a") as add, unfinished.body("a") as other, unfinished.body("b"):
        add(3)
        add(4)
        other(5)
        assert (unfinished.by_client, unfinished.bytes) == ({"a": 2, "b": 1}, 12)
    assert (unfinished.by_client, unfinished.bytes) == ({}, 0)
