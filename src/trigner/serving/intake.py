"""A request's way: taken or sent away, read, worked on, given up when nobody waits for it."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

from trigner.errors import TrignerError
from trigner.serving.batching import Batcher
from trigner.serving.refusals import RefusedError
from trigner.serving.settings import ServiceSettings
from trigner.serving.work import Work

T = TypeVar("T")

CLIENT_GONE = 499
"""What nobody reads any more, so that it can be told from answers in the counts."""

log = logging.getLogger(__name__)


class Intake:
    """How many requests are held at a time, and how long each may take. Event loop only."""

    def __init__(self, batcher: Batcher, settings: ServiceSettings) -> None:
        self._batcher = batcher
        self._settings = settings
        self._seconds = 0.0  # that a request took of late
        self.waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """A place for one request, and the moment until which it may be held.

        Raises RefusedError (503) when all are taken.
        """
        if self.waiting >= self._settings.max_waiting:
            raise self._full("too many requests are waiting")
        self.waiting += 1
        started = time.monotonic()
        try:
            yield started + self._settings.timeout
            self._seconds += 0.1 * (time.monotonic() - started - self._seconds)
        finally:
            self.waiting -= 1

    async def body(self, request: Request, until: float) -> bytes:
        """The body.

        Raises RefusedError when it is too large (413), does not come in time (408), or the client
        goes.
        """
        most = self._settings.max_body
        told = request.headers.get("content-length", "")
        if told.isdecimal() and int(told) > most:
            raise self._large()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(until - time.monotonic()):
                async for part in request.stream():
                    size += len(part)
                    if size > most:
                        raise self._large()
                    parts.append(part)
        except ClientDisconnect as error:
            raise _went_away() from error
        except TimeoutError as error:
            raise RefusedError(408, "the body did not come in time") from error
        return b"".join(parts)

    async def done(self, work: Work[T], request: Request, until: float) -> T:
        """What comes of the work.

        Raises RefusedError when it takes too long: 504, or 503 when it was never its turn; when the
        client goes; and when the work fails (500).
        """
        self._submit(work)
        answer = asyncio.wrap_future(work.future)
        gone = asyncio.ensure_future(_gone(request))
        either: tuple[asyncio.Future[Any], ...] = (answer, gone)
        try:
            await asyncio.wait(
                either,
                timeout=max(0.0, until - time.monotonic()),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if answer.done():
                return answer.result()
            if gone.done():
                raise _went_away()
            if not work.begun:
                raise self._full("it was not this request's turn in time")
            seconds = self._settings.timeout
            raise RefusedError(
                504, f"not done within {seconds:g} seconds: send fewer or shorter texts"
            )
        except RefusedError:
            raise
        except asyncio.CancelledError as error:  # the time to finish what was taken is over
            raise self._full("the service is stopping") from error
        except TrignerError as error:  # the worker has stopped
            raise self._full(str(error)) from error
        except Exception as error:
            raise RefusedError(500, "this request failed; the log says why") from error
        finally:
            answer.cancel()
            gone.cancel()

    def _submit(self, work: Work[T]) -> None:
        try:
            self._batcher.submit(work)
        except TrignerError as error:
            raise self._full(str(error)) from error

    def _full(self, why: str) -> RefusedError:
        wait = max(1, min(math.ceil(self._seconds), math.ceil(self._settings.timeout)))
        return RefusedError(503, f"{why}: try again in {wait} s", retry_after=wait)

    def _large(self) -> RefusedError:
        return RefusedError(413, f"the body has more than {self._settings.max_body} bytes")


def _went_away() -> RefusedError:
    return RefusedError(CLIENT_GONE, "the client went away")


async def _gone(request: Request) -> None:
    """Until the client goes away; its body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
