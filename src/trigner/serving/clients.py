"""Who a request is from, and what one client may do at a time. Event loop only."""

from __future__ import annotations

import math
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from ipaddress import IPv6Address, ip_address
from typing import Any

MOST_CLIENTS = 10_000
"""Clients whose rate is remembered: the one that was longest away is forgotten first."""


def client_of(scope: Mapping[str, Any]) -> str:
    """The client of an ASGI scope, as `client_at` has it."""
    client = scope.get("client")
    return client_at(client[0]) if client else ""


def client_at(address: str) -> str:
    """An IPv4 address, or the network of 64 bits of an IPv6 one: one customer has all of that."""
    try:
        own = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if not isinstance(own, IPv6Address):
        return address
    return str(own.ipv4_mapped or IPv6Address(int(own) >> 64 << 64))


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
