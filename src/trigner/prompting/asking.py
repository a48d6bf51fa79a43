"""Many questions to one server: some at a time, each answer recorded as soon as it is there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from trigner.prompting.answers import Answers, Question
from trigner.prompting.client import Client, HopelessError, NoAnswerError, Patience
from trigner.prompting.endpoint import Endpoint

IN_A_ROW = 5
"""Questions without an answer, one after the other, from which on the server counts as gone."""

Finished = Callable[[int, int], None]
"""Told how many questions are done, of how many, whenever one is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How it went: answers given now, answers that were recorded before, and who got none, why.

    `stopped` tells why not all questions were asked; None: they were. What was answered is
    recorded in any case.
    """

    answered: int
    recorded: int
    failed: dict[str, str] = field(default_factory=dict)
    """Key of a question -> why it has no answer."""
    stopped: str | None = None

    @property
    def is_complete(self) -> bool:
        """Whether every question has its answer."""
        return not self.failed and self.stopped is None


def ask(
    questions: Iterable[Question],
    answers: Answers,
    server: Endpoint | None,
    *,
    patience: Patience | None = None,
    concurrency: int = 4,
    finished: Finished | None = None,
) -> Asked:
    """Ask what `answers` does not know yet, at most `concurrency` questions at a time.

    Equal questions are asked once. Without a server only recorded answers count: the others fail.
    Raises TrignerError when an answer cannot be recorded, KeyboardInterrupt when interrupted;
    whatever was answered before that is recorded.
    """
    distinct = {question.key: question for question in questions}
    missing = {key: q for key, q in distinct.items() if answers.get(q) is None}
    run = _Run(answers, total=len(missing), finished=finished)
    if server is None:
        run.failed = dict.fromkeys(missing, "no answer is recorded, and no server is given")
    elif missing:
        _to_its_end(run.all(missing, Client(server, patience), concurrency))
    return Asked(run.answered, len(distinct) - len(missing), run.failed, run.stopped)


def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    # A notebook, say, has a loop of its own, which cannot wait for another one.
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, work).result()


@dataclass
class _Run:
    answers: Answers
    total: int
    finished: Finished | None
    answered: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    failed_in_a_row: int = 0
    stopped: str | None = None

    async def all(self, missing: dict[str, Question], client: Client, concurrency: int) -> None:
        waiting = iter(missing.values())
        async with client:
            try:
                # Workers draw from one iterator: a thousand questions are no thousand tasks.
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(missing))):
                        group.create_task(self._work(waiting, client))
            except ExceptionGroup as errors:
                first = errors.exceptions[0]
                if not isinstance(first, HopelessError):
                    raise first from None
                self.stopped = str(first)

    async def _work(self, waiting: Iterable[Question], client: Client) -> None:
        for question in waiting:
            started = time.monotonic()
            try:
                reply = await client.complete(question.prompt, question.model, question.parameters)
            except NoAnswerError as error:
                self._fail(question, str(error))
            else:
                self.answers.add(
                    question,
                    reply,
                    base_url=client.server.base_url,
                    seconds=time.monotonic() - started,
                )
                self.answered += 1
                self.failed_in_a_row = 0
            if self.finished is not None:
                self.finished(self.answered + len(self.failed), self.total)

    def _fail(self, question: Question, why: str) -> None:
        self.failed[question.key] = why
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= IN_A_ROW:
            raise HopelessError(f"{IN_A_ROW} questions in a row got no answer; the last one: {why}")
