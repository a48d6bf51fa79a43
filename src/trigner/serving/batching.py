"""Dynamic batching: one thread scores what all requests need, in turns.

Each request that waits gives a few windows of words to the next batch and then stands behind the
others, so a long request takes longer and the short ones beside it do not. A sentence's scores do
not depend on what else is in its batch.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from trigner.batches import by_cost, collate
from trigner.errors import TrignerError
from trigner.inference import Extractor
from trigner.inference.extraction import CELL_BUDGET
from trigner.serving.work import Ticket, Work

SLICE = 8
"""Windows that a request gives before it is another's turn."""

PADDING = 1.25
"""How much longer than its shortest a batch's longest sentence may be."""

Entry = tuple[Work[Any], Ticket]

log = logging.getLogger(__name__)


def alike(lengths: Sequence[int]) -> list[list[int]]:
    """Indices in groups of similar length, short ones first.

    What a processor computes for padding is lost: two passes over alike sentences take less time
    than one over them all.
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if not groups or lengths[index] > PADDING * lengths[groups[-1][0]] + 2:
            groups.append([])
        groups[-1].append(index)
    return groups


class Batcher:
    """The one thread that owns the extractor.

    A batch has at most `sentences` windows and about `CELL_BUDGET` word pairs; an idle worker waits
    `gather` seconds for company. `observe` is told each batch's size and its seconds.
    """

    def __init__(
        self,
        extractor: Extractor,
        *,
        sentences: int,
        gather: float,
        observe: Callable[[int, float], None] = lambda size, seconds: None,
    ) -> None:
        self._extractor = extractor
        self._sentences = sentences
        self._gather = gather
        self._observe = observe
        self._turns: deque[Work[Any]] = deque()
        self._change = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="trigner-worker", daemon=True)

    def start(self) -> None:
        """Start the worker."""
        self._thread.start()

    @property
    def is_working(self) -> bool:
        """Whether the worker is there to work."""
        return self._thread.is_alive() and not self._closing

    def submit(self, work: Work[Any]) -> None:
        """Have work done; its future tells. Raises TrignerError when the worker has stopped."""
        with self._change:
            if self._closing:
                raise TrignerError("the service is stopping")
            self._turns.append(work)
            self._change.notify()

    def close(self, timeout: float = 5.0) -> None:
        """Stop after the batch that is being scored; work that is left fails."""
        with self._change:
            self._closing = True
            left = list(self._turns)
            self._turns.clear()
            self._change.notify()
        for work in left:
            work.fail(TrignerError("the service is stopping"))
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        while self._wait():
            entries = self._next_entries()
            if entries:
                started = time.perf_counter()
                self._score(entries)
                self._observe(len(entries), time.perf_counter() - started)

    def _wait(self) -> bool:
        """Until there is something to do; False when there will be nothing any more."""
        with self._change:
            if not self._turns:
                self._change.wait_for(lambda: self._turns or self._closing)
                if not self._closing and self._gather:
                    self._change.wait_for(
                        lambda: len(self._turns) >= self._sentences or self._closing, self._gather
                    )
            return not self._closing

    def _next_entries(self) -> list[Entry]:
        entries: list[Entry] = []
        cells = 0
        while len(entries) < self._sentences and cells < CELL_BUDGET:
            with self._change:
                if not self._turns:
                    break
                work = self._turns.popleft()
            room = min(SLICE, self._sentences - len(entries))
            taken = self._take(work, room, CELL_BUDGET - cells)
            entries += [(work, ticket) for ticket in taken]
            own = self._cells(taken)
            cells += own
            if work.has_more and not work.future.done():
                self._put_back(work, first=len(taken) < SLICE and own < CELL_BUDGET / SLICE)
        return entries

    def _put_back(self, work: Work[Any], *, first: bool) -> None:
        """Behind the others, or before them when the batch was full before its turn was over."""
        with self._change:
            if self._closing:
                work.fail(TrignerError("the service is stopping"))
            elif first:
                self._turns.appendleft(work)
            else:
                self._turns.append(work)

    def _take(self, work: Work[Any], room: int, cells: int) -> list[Ticket]:
        """Tickets of one request, at least one if it has any and somebody waits for it."""
        taken: list[Ticket] = []
        try:
            while len(taken) < room and self._cells(taken) < cells and not work.future.done():
                ticket = work.take()
                if ticket is None:
                    work.finish()
                    break
                taken.append(ticket)
        except Exception as error:
            log.exception("a request could not be cut into sentences")
            work.fail(error)
            return []
        return taken

    def _score(self, entries: Sequence[Entry]) -> None:
        lengths = [self._length(ticket) for _, ticket in entries]
        for group in alike(lengths):
            for batch in by_cost(
                lengths, sentences=self._sentences, cells=CELL_BUDGET, order=group
            ):
                chosen = [entries[i] for i in batch]
                try:
                    self._score_together(chosen)
                except Exception:
                    # One request's failure is none of the others'.
                    for entry in chosen:
                        self._score_alone(entry)
                for work, _ in chosen:
                    work.finish()

    def _score_together(self, entries: Sequence[Entry]) -> None:
        subwords = [ticket.example.subwords for _, ticket in entries]
        scores = self._extractor.scorer(collate(subwords, padding_id=self._extractor.padding_id))
        for (work, ticket), logits in zip(entries, scores, strict=True):
            try:
                work.receive(ticket, logits)
            except Exception as error:
                log.exception("a request's scores could not be read")
                work.fail(error)

    def _score_alone(self, entry: Entry) -> None:
        try:
            self._score_together([entry])
        except Exception as error:
            log.exception("a request could not be scored")
            entry[0].fail(error)

    def _cells(self, tickets: Sequence[Ticket]) -> int:
        return sum(self._length(ticket) ** 2 for ticket in tickets)

    def _length(self, ticket: Ticket) -> int:
        return ticket.example.length + len(self._extractor.subwords.special_words)
