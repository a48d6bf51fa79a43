"""Connections: how many there are, and how long each may take to send and to read.

uvicorn bounds neither the time of a request's head nor of what is left of a body that was refused,
and its bound on concurrency refuses everybody. Event loop only.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from trigner.serving.clients import Proxies, client_at


@dataclass
class ConnectionLimits:
    """Bounds of the service's connections, and how many there are of each client.

    The head of a request must have arrived within `head` seconds, what is left of a refused body
    is read for `rest` (not of a client that asks to close the connection, which may therefore
    miss the answer), and a client must read what it is sent within `reading`. Those of `proxies`
    are not counted by client.
    """

    connections: int = 512
    of_one_client: int = 256
    head: float = 10.0
    rest: float = 5.0
    reading: float = 30.0
    proxies: Proxies = field(default_factory=lambda: Proxies(()))
    by_client: Counter[str] = field(default_factory=Counter)


class Connection(H11Protocol):
    """uvicorn's connection with `ConnectionLimits`."""

    def __init__(self, *arguments: Any, limits: ConnectionLimits, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._limits = limits
        self._counted_as: str | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._waits_for: str | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        limits = self._limits
        client = client_at(self.client[0]) if self.client else ""
        if len(self.connections) > limits.connections:
            self._refuse(503, "too many connections: retry in 1 s")
            return
        if self.client and self.client[0] not in limits.proxies:
            if limits.by_client[client] >= limits.of_one_client:
                self._refuse(429, "too many connections of one client: retry in 1 s")
                return
            self._counted_as = client
            limits.by_client[client] += 1
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in (self._deadline, self._reading):
            if timer is not None:
                timer.cancel()
        if self._counted_as is not None:
            self._limits.by_client[self._counted_as] -= 1
            if not self._limits.by_client[self._counted_as]:
                del self._limits.by_client[self._counted_as]
            self._counted_as = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():  # refused already
            return
        super().data_received(data)
        self._set_deadline()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._set_deadline()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._reading = self.loop.call_later(self._limits.reading, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        # Who reads nothing keeps a closed connection open, too.
        self._reading = self.loop.call_later(self._limits.reading, self.transport.abort)

    def _set_deadline(self) -> None:
        """Set the time by when what is awaited must be there, once for each thing awaited."""
        waits_for = self._awaited()
        if waits_for == self._waits_for:
            return
        self._waits_for = waits_for
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
        if waits_for == "head":
            self._deadline = self.loop.call_later(self._limits.head, self._head_too_late)
        elif waits_for == "rest":
            self._deadline = self.loop.call_later(self._limits.rest, self.transport.abort)

    def _awaited(self) -> str | None:
        """What the client still has to send: a request's head, the rest of a body, or nothing."""
        if self.transport.is_closing():
            return None
        if self.conn.their_state is h11.IDLE and self.timeout_keep_alive_task is None:
            return "head"  # while it is kept alive and idle, uvicorn looks after it
        if self.conn.their_state is h11.SEND_BODY and self.cycle.response_complete:
            return "rest"
        return None

    def _head_too_late(self) -> None:
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(408, "timed out while reading the head of the request")

    def _refuse(self, status: int, reason: str) -> None:
        content = json.dumps({"detail": reason}).encode()
        headers = [
            ("content-type", "application/json"),
            ("content-length", str(len(content))),
            ("connection", "close"),
            *([("retry-after", "1")] if status != 408 else []),
        ]
        phrase = HTTPStatus(status).phrase.encode()
        response = h11.Response(status_code=status, headers=headers, reason=phrase)
        for event in (response, h11.Data(data=content), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()
