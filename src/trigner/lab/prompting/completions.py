"""Many requests to one server, several at a time, each completion recorded as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from trigner.lab.prompting.cache import CompletionCache, CompletionRequest
from trigner.lab.prompting.client import (
    Client,
    CompletionError,
    FatalError,
    RefusalError,
    RetryPolicy,
)
from trigner.lab.prompting.endpoint import Endpoint

MAX_CONSECUTIVE_FAILURES = 5
"""Failed requests in a row after which the server is taken to be down; who refuses is not."""

MAX_REFUSALS = 20
"""Prompts after which all are taken to be refused, where one was and none was ever answered."""

OnProgress = Callable[[int, int], None]
"""Called with the number of finished requests and of all, whenever one finishes."""


@dataclass(frozen=True, slots=True)
class RequestSummary:
    """How many requests were completed now, how many came from the cache, and which failed.

    `stopped` is the reason when not every request was sent, else None. Whatever was completed is
    recorded in any case.
    """

    completed: int
    cached: int
    failed: dict[str, str] = field(default_factory=dict)
    """Key of a request -> why it failed."""
    stopped: str | None = None


def complete_all(
    requests: Iterable[CompletionRequest],
    cache: CompletionCache,
    server: Endpoint | None,
    *,
    retry_policy: RetryPolicy | None = None,
    concurrency: int = 4,
    on_progress: OnProgress | None = None,
) -> RequestSummary:
    """Send the requests that `cache` has no completion of, at most `concurrency` at a time.

    Equal requests are sent once. Without a server, requests that are not in the cache fail. Raises
    TrignerError when a completion cannot be recorded, KeyboardInterrupt when interrupted; whatever
    was completed before that is recorded.
    """
    distinct = {request.key: request for request in requests}
    missing = {key: r for key, r in distinct.items() if cache.get(r) is None}
    cached = len(distinct) - len(missing)
    sent = _Requests(cache, len(missing), on_progress, has_answers=cached > 0)
    if server is None:
        sent.failed = dict.fromkeys(missing, "no answer is recorded, and no server is given")
    elif missing:
        _run_to_end(sent.send(missing, Client(server, retry_policy), concurrency))
    return RequestSummary(sent.completed, cached, sent.failed, sent.stopped)


def _run_to_end(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    # In a notebook, say, a loop is running already, and it cannot wait for another one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


@dataclass
class _Requests:
    cache: CompletionCache
    total: int
    on_progress: OnProgress | None
    has_answers: bool
    completed: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    consecutive_failures: int = 0
    stopped: str | None = None

    async def send(
        self, missing: dict[str, CompletionRequest], client: Client, concurrency: int
    ) -> None:
        waiting = iter(missing.values())
        async with client:
            try:
                # Workers share one iterator: a thousand requests are not a thousand tasks.
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(missing))):
                        group.create_task(self._work(waiting, client))
            except ExceptionGroup as errors:
                first = errors.exceptions[0]
                if not isinstance(first, FatalError):
                    raise first from None
                self.stopped = str(first)

    async def _work(self, waiting: Iterable[CompletionRequest], client: Client) -> None:
        for request in waiting:
            try:
                found = await client.complete(request.prompt, request.model, request.parameters)
            except CompletionError as error:
                self.failed[request.key] = str(error)
                self._stop_if_all_fail(error)
            else:
                self.cache.add(request, found, base_url=client.server.base_url)
                self.completed += 1
                self.has_answers = True
                self.consecutive_failures = 0
            if self.on_progress is not None:
                self.on_progress(self.completed + len(self.failed), self.total)

    def _stop_if_all_fail(self, error: CompletionError) -> None:
        if isinstance(error, RefusalError):
            self.consecutive_failures = 0
            if len(self.failed) >= MAX_REFUSALS and not self.has_answers:
                raise FatalError(
                    f"none of the first {len(self.failed)} prompts was answered: check the model"
                    f" and its parameters; the last one was refused: {error}"
                )
            return
        self.consecutive_failures += 1
        if self.consecutive_failures >= MAX_CONSECUTIVE_FAILURES:
            raise FatalError(
                f"{MAX_CONSECUTIVE_FAILURES} requests in a row failed; the last one: {error}"
            )
