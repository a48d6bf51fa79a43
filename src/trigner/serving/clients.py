"""Who a request is from, and what one client may do at a time. Event loop only."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Any

from trigner.errors import InputError
from trigner.mentions import shortened

_MAPPED = IPv6Network("::ffff:0:0/96")
"""IPv4 addresses as a socket for both kinds of addresses has them."""

MOST_CLIENTS = 10_000
"""Clients whose rate is remembered: the one that was longest away is forgotten first."""


def client_of(scope: Mapping[str, Any]) -> str:
    """The client of an ASGI scope, as `client_at` has it."""
    client = scope.get("client")
    return client_at(client[0]) if client else ""


def client_at(address: str) -> str:
    """An IPv4 address, or the network of 64 bits of an IPv6 one: one customer has all of that."""
    own = _address(address)
    return str(IPv6Address(int(own) >> 64 << 64) if isinstance(own, IPv6Address) else own)


def _address(address: str) -> IPv4Address | IPv6Address | str:
    """An address, of IPv4 where it is one that is mapped to IPv6; what is none as it is."""
    try:
        own = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    return own if isinstance(own, IPv4Address) else own.ipv4_mapped or own


class Proxies:
    """The addresses and networks of reverse proxies. Raises InputError for what is neither."""

    def __init__(self, given: Iterable[str]) -> None:
        self._networks = [_network(each) for each in given]

    def __contains__(self, address: str) -> bool:
        own = _address(address)
        return not isinstance(own, str) and any(own in network for network in self._networks)

    def spelt(self) -> list[str]:
        """Each network as peers may have it: what compares them with addresses knows no mapping."""
        return [name for network in self._networks for name in map(str, _spellings(network))]


def _network(given: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(given)
    except ValueError as error:
        raise InputError(
            f"trusted proxy {shortened(given)}: is neither an IP address (10.0.0.1) nor a network"
            f" (10.0.0.0/8): {error}"
        ) from error
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        return IPv4Network((int(network.network_address) & 0xFFFFFFFF, network.prefixlen - 96))
    return network


def _spellings(network: IPv4Network | IPv6Network) -> list[IPv4Network | IPv6Network]:
    if isinstance(network, IPv6Network):
        return [network]
    first = int(_MAPPED.network_address) + int(network.network_address)
    return [network, IPv6Network((first, _MAPPED.prefixlen + network.prefixlen))]


class Unfinished:
    """Counts bodies that are still arriving by client, and the bytes that all of them hold."""

    def __init__(self) -> None:
        self.by_client: Counter[str] = Counter()
        self.bytes = 0

    @contextmanager
    def body(self, client: str) -> Iterator[Callable[[int], None]]:
        """Count a body while it arrives; yields a function that is told of each part's size."""
        held = 0

        def add(size: int) -> None:
            nonlocal held
            held += size
            self.bytes += size

        self.by_client[client] += 1
        try:
            yield add
        finally:
            self.bytes -= held
            self.by_client[client] -= 1
            if not self.by_client[client]:
                del self.by_client[client]


class RateLimit:
    """At most `rate` requests a second of each client, and a second's at once (token bucket)."""

    def __init__(self, rate: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = max(1.0, rate)
        self._clock = clock
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, when

    def wait(self, client: str) -> int:
        """Count a request: 0 when it is allowed, else after how many whole seconds one is."""
        now = self._clock()
        tokens, then = self._clients.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        allowed = tokens >= 1
        self._clients[client] = (tokens - allowed, now)
        if len(self._clients) > MOST_CLIENTS:
            self._clients.popitem(last=False)
        return 0 if allowed else max(1, math.ceil((1 - tokens) / self._rate))
