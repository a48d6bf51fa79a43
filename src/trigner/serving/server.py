"""The HTTP server: listens on a port until a signal stops it."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from trigner.errors import TrignerError
from trigner.serving.connections import Connection, ConnectionLimits

BACKLOG = 1024


def serve(
    app: FastAPI,
    *,
    host: str,
    port: int,
    stop_within: float,
    on_ready: Callable[[str], None] = lambda address: None,
    limits: ConnectionLimits | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish requests in progress, for `stop_within` seconds.

    Port 0 picks a free one; `on_ready` is called with the address once requests are answered.
    Clients are told apart by their own addresses, behind one of `limits.proxies` by what that says
    in `X-Forwarded-For`.
    Raises TrignerError when the address is not available or the service fails to start.
    """
    limits = limits or ConnectionLimits()
    trusted = limits.proxies.spelt()
    listener = _listener(host, port)
    address = _address(listener, host)
    server = _Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,  # neither texts nor who sends them are logged
            server_header=False,
            http=cast(Any, partial(Connection, limits=limits)),
            ws="none",
            proxy_headers=bool(trusted),
            forwarded_allow_ips=trusted,
            lifespan="on",
            timeout_graceful_shutdown=max(1, round(stop_within)),
        ),
        lambda: on_ready(address),
    )
    # uvicorn raises the signal that stopped it again at its end, which is not a failure.
    previous = {
        number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        server.run(sockets=[listener])
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
        listener.close()
    if not server.started:
        raise TrignerError("the service failed to start: see the messages above")


class _Server(uvicorn.Server):
    """uvicorn with a callback when it is ready."""

    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            asyncio.get_running_loop().call_soon(self._on_ready)


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError:
            listener.close()
            raise
    except OSError as error:
        raise TrignerError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    listener.setblocking(False)
    return listener


def _address(listener: socket.socket, host: str) -> str:
    port = listener.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
