"""Dynamic batching: one thread scores the work of all requests, round-robin.

Each waiting request adds a few work items to the next batch and then goes to the end of the queue,
so a long request does not delay short ones. A sentence's scores do not depend on what else is in
its batch.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from trigner.batches import by_cost
from trigner.errors import TrignerError
from trigner.pipeline import CELL_BUDGET
from trigner.serving.failures import without_texts
from trigner.serving.work import Work, WorkItem

ITEMS_PER_TURN = 8
"""Work items of a request before it is another's turn."""

MAX_LENGTH_RATIO = 1.25
"""Longest to shortest sentence of a batch."""

STOPPING = "the service is shutting down"

Entry = tuple[Work[Any], WorkItem]

log = logging.getLogger(__name__)


def group_by_length(lengths: Sequence[int]) -> list[list[int]]:
    """Indices in groups of similar length, short ones first.

    Padding costs as much as words: on a CPU, two passes over sentences of similar length take less
    time than one over them all.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if not groups or lengths[index] > MAX_LENGTH_RATIO * lengths[groups[-1][0]] + 2:
            groups.append([])
        groups[-1].append(index)
    return groups


class Batcher:
    """The one worker thread that runs the model.

    A batch has at most `sentences` windows and about `CELL_BUDGET` word pairs; after a first
    request an idle worker waits `delay` seconds for more. `observe` receives each batch's size and
    duration in seconds.
    """

    def __init__(
        self,
        *,
        sentences: int,
        delay: float,
        observe: Callable[[int, float], None] = lambda size, seconds: None,
    ) -> None:
        self._sentences = sentences
        self._delay = delay
        self._observe = observe
        self._queue: deque[Work[Any]] = deque()
        self._change = threading.Condition()
        self._closing = False
        self._begun: float | None = None
        self._thread = threading.Thread(target=self._run, name="trigner-worker", daemon=True)

    def start(self) -> None:
        """Start the worker thread."""
        self._thread.start()

    @property
    def is_working(self) -> bool:
        """Whether the worker thread is running and accepts work."""
        return self._thread.is_alive() and not self._closing

    def is_stuck(self, seconds: float) -> bool:
        """Whether the worker is at one batch for longer than that: it may never be done with it."""
        begun = self._begun
        return begun is not None and time.monotonic() - begun > seconds

    def submit(self, work: Work[Any]) -> None:
        """Queue work; its `future` gets the result. Raises TrignerError after `close`."""
        with self._change:
            if self._closing:
                raise TrignerError(STOPPING)
            self._queue.append(work)
            self._change.notify()

    def close(self, timeout: float = 5.0) -> None:
        """Stop after the current batch; remaining work fails."""
        with self._change:
            self._closing = True
            remaining = list(self._queue)
            self._queue.clear()
            self._change.notify()
        for work in remaining:
            work.fail(TrignerError(STOPPING))
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while self._wait():
            self._begun = time.monotonic()
            entries = self._next_entries()
            if entries:
                started = time.perf_counter()
                self._score(entries)
                self._observe(len(entries), time.perf_counter() - started)
            self._begun = None

    def _wait(self) -> bool:
        """Wait for work; False when the batcher is closing."""
        with self._change:
            if not self._queue:
                self._change.wait_for(lambda: self._queue or self._closing)
                if not self._closing and self._delay:
                    self._change.wait_for(
                        lambda: len(self._queue) >= self._sentences or self._closing, self._delay
                    )
            return not self._closing

    def _next_entries(self) -> list[Entry]:
        entries: list[Entry] = []
        cells = 0
        while len(entries) < self._sentences and cells < CELL_BUDGET:
            with self._change:
                if not self._queue:
                    break
                work = self._queue.popleft()
            limit = min(ITEMS_PER_TURN, self._sentences - len(entries))
            taken = self._take(work, limit, CELL_BUDGET - cells)
            entries += [(work, item) for item in taken]
            own = self._cells(taken)
            cells += own
            if work.has_more and not work.future.done():
                self._put_back(
                    work, first=len(taken) < ITEMS_PER_TURN and own < CELL_BUDGET / ITEMS_PER_TURN
                )
        return entries

    def _put_back(self, work: Work[Any], *, first: bool) -> None:
        """Behind the others, or first when the batch was full before its turn was over."""
        with self._change:
            if self._closing:
                work.fail(TrignerError(STOPPING))
            elif first:
                self._queue.appendleft(work)
            else:
                self._queue.append(work)

    def _take(self, work: Work[Any], limit: int, cells: int) -> list[WorkItem]:
        """Work items of one request, at least one if it has any and is not cancelled."""
        taken: list[WorkItem] = []
        try:
            while len(taken) < limit and self._cells(taken) < cells and not work.future.done():
                item = work.take()
                if item is None:
                    work.finish()
                    break
                taken.append(item)
        except Exception as error:
            log.error("cannot split a request into sentences: %s", without_texts(error))
            work.fail(error)
            return []
        return taken

    def _score(self, entries: Sequence[Entry]) -> None:
        sizes = [item.input.size for _, item in entries]
        for compute in dict.fromkeys(item.compute for _, item in entries):
            own = [i for i, (_, item) in enumerate(entries) if item.compute == compute]
            for group in group_by_length([sizes[i] for i in own]):
                order = [own[i] for i in group]
                for batch in by_cost(
                    sizes, sentences=self._sentences, cells=CELL_BUDGET, order=order
                ):
                    self._score_batch([entries[i] for i in batch], compute)

    def _score_batch(self, entries: Sequence[Entry], compute: Callable[..., Sequence[Any]]) -> None:
        # Nobody waits any more for what is done: it timed out, failed or its client is gone.
        entries = [entry for entry in entries if not entry[0].future.done()]
        if not entries:
            return
        try:
            self._score_together(entries, compute)
        except Exception:
            # One request's failure is none of the others'.
            for entry in entries:
                self._score_alone(entry)
        for work, _ in entries:
            work.finish()

    def _score_together(
        self, entries: Sequence[Entry], compute: Callable[..., Sequence[Any]]
    ) -> None:
        outputs = compute([item.input for _, item in entries])
        if len(outputs) != len(entries):
            raise ValueError(f"{len(entries)} inputs gave {len(outputs)} predictions")
        for (work, item), output in zip(entries, outputs, strict=True):
            try:
                work.receive(item, output)
            except Exception as error:
                log.error("cannot read the predictions of a request: %s", without_texts(error))
                work.fail(error)

    def _score_alone(self, entry: Entry) -> None:
        try:
            self._score_together([entry], entry[1].compute)
        except Exception as error:
            log.error("a request could not be predicted on: %s", without_texts(error))
            entry[0].fail(error)

    def _cells(self, items: Sequence[WorkItem]) -> int:
        return sum(item.input.size**2 for item in items)
