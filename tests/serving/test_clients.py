from __future__ import annotations

import pytest

from trigner.serving import clients
from trigner.serving.clients import RateLimit, Unfinished, client_at, client_of


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
