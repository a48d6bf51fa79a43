"""Admission control: which requests are accepted, and how long each may take."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import HTTPException, Request
from starlette.requests import ClientDisconnect

from trigner.errors import TrignerError
from trigner.serving.batching import STOPPING, Batcher
from trigner.serving.clients import Unfinished, client_of
from trigner.serving.settings import ServiceSettings
from trigner.serving.work import Work

T = TypeVar("T")
R = TypeVar("R")

CLIENT_CLOSED_REQUEST = 499
"""Nobody reads this response; the status (nginx's) tells such requests apart in the metrics."""


class AdmissionControl:
    """Limits how many requests are in progress and how long each takes. Event loop only."""

    def __init__(self, batcher: Batcher, settings: ServiceSettings) -> None:
        self._batcher = batcher
        self.settings = settings
        self._seconds = 0.0  # moving average of a request's duration
        self.in_progress = 0
        self._unfinished = Unfinished()

    @asynccontextmanager
    async def admit(self) -> AsyncIterator[float]:
        """Admit one request; yields its deadline (of `time.monotonic`).

        Raises HTTPException (503) when `max_waiting` requests are in progress.
        """
        self._check_free()
        self.in_progress += 1
        started = time.monotonic()
        try:
            yield started + self.settings.timeout
            self._seconds += 0.1 * (time.monotonic() - started - self._seconds)
        finally:
            self.in_progress -= 1

    def _check_free(self) -> None:
        if self.in_progress >= self.settings.max_waiting:
            raise self._unavailable("too many requests in progress")

    async def read_body(self, request: Request) -> bytes:
        """The request's body. It is not in progress yet: who sends slowly takes no one's place.

        Raises HTTPException when the body is too large (413) or does not arrive in time (408), when
        too many of the client's (429) or of all (503) are arriving, when too many requests are in
        progress (503), and when the client disconnects.
        """
        self._check_free()
        limits = self.settings
        too_large = HTTPException(413, f"the request body is larger than {limits.max_body} bytes")
        content_length = request.headers.get("content-length", "")
        if content_length.isdecimal() and int(content_length[:20]) > limits.max_body:
            raise too_large
        client = client_of(request.scope)
        if self._unfinished.by_client[client] >= limits.max_unfinished:
            message = f"more than {limits.max_unfinished} unfinished requests of one client"
            raise HTTPException(429, f"{message}: retry in 1 s", {"Retry-After": "1"})
        chunks: list[bytes] = []
        size = 0
        try:
            with self._unfinished.body(client) as add:
                async with asyncio.timeout(limits.body_timeout):
                    async for chunk in request.stream():
                        size += len(chunk)
                        add(len(chunk))
                        if size > limits.max_body:
                            raise too_large
                        if self._unfinished.bytes > limits.max_waiting * limits.max_body:
                            raise self._unavailable("too many request bodies are arriving")
                        chunks.append(chunk)
        except ClientDisconnect as error:
            raise _client_disconnected() from error
        except TimeoutError as error:
            raise HTTPException(408, "timed out while reading the request body") from error
        return b"".join(chunks)

    async def check(self, function: Callable[..., R], *arguments: Any, deadline: float) -> R:
        """What a function gives that takes a while, on another thread.

        Raises HTTPException when the deadline passes (504) and when the service is stopping (503),
        and what the function raises.
        """
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                return await asyncio.to_thread(function, *arguments)
        except TimeoutError as error:
            raise self._timed_out() from error
        except asyncio.CancelledError as error:
            raise self._unavailable(STOPPING) from error

    async def run(self, work: Work[T], request: Request, deadline: float) -> T:
        """Submit the work and wait for its result.

        Raises HTTPException when the deadline passes (504, or 503 when the work was never started),
        when the client disconnects, when the service is stopping (503), and when the work fails
        (500).
        """
        result = asyncio.wrap_future(work.future)
        disconnect = asyncio.ensure_future(_wait_for_disconnect(request))
        either: tuple[asyncio.Future[Any], ...] = (result, disconnect)
        try:
            self._batcher.submit(work)
            timeout = max(0.0, deadline - time.monotonic())
            await asyncio.wait(either, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if result.done():
                return result.result()
            if disconnect.done():
                raise _client_disconnected()
            if not work.started:
                raise self._unavailable("the request timed out in the queue")
            raise self._timed_out()
        except HTTPException:
            raise
        except asyncio.CancelledError as error:  # uvicorn's grace period on shutdown is over
            raise self._unavailable(STOPPING) from error
        except TrignerError as error:  # the worker has stopped
            raise self._unavailable(str(error)) from error
        except Exception as error:
            raise HTTPException(500, "internal error: see the service's log") from error
        finally:
            result.cancel()
            disconnect.cancel()

    def _timed_out(self) -> HTTPException:
        limit = self.settings.timeout
        return HTTPException(504, f"timed out after {limit:g} seconds: send less text at a time")

    def _unavailable(self, reason: str) -> HTTPException:
        wait = max(1, min(math.ceil(self._seconds), math.ceil(self.settings.timeout)))
        return HTTPException(503, f"{reason}: retry in {wait} s", {"Retry-After": str(wait)})


def _client_disconnected() -> HTTPException:
    return HTTPException(CLIENT_CLOSED_REQUEST, "the client disconnected")


async def _wait_for_disconnect(request: Request) -> None:
    """Return when the client disconnects; its body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
