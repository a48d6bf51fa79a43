"""Many runs: one after another in this process, or several at a time in processes of their own."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from traceback import format_exception
from typing import Any, Generic, TypeVar

import torch
from rich.console import Console

from trigner.errors import TrignerError
from trigner.lab.studies.context import StudyContext
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.grid import TrainingRun
from trigner.lab.studies.results import run_name
from trigner.machine import LockedError, own_file
from trigner.rendering import say

T = TypeVar("T")

Job = Callable[[TrainingRun, CorpusSplits, StudyContext, Console], T]
"""What is done for one run; a function of a module, so that worker processes can import it."""


@dataclass
class JobResults(Generic[T]):
    """The runs that are done, have failed, or are in progress in another process.

    All are positions in the list of runs that was given.
    """

    done: dict[int, T] = field(default_factory=dict)
    failed: dict[int, Exception] = field(default_factory=dict)
    busy: list[int] = field(default_factory=list)


def run_all(
    job: Job[T],
    runs: Sequence[TrainingRun],
    corpus: CorpusSplits,
    context: StudyContext,
    console: Console,
    *,
    on_done: Callable[[int, T], None] = lambda position, result: None,
) -> JobResults[T]:
    """Do the job for all runs; the failure of one does not stop the others.

    `on_done` is called as each run ends. With several jobs the output of a run goes to the file
    RUN.log next to its folder. What interrupts or kills this process ends the runs in progress,
    too. Raises TrignerError when a worker process was killed.
    """
    results: JobResults[T] = JobResults()

    def collect(position: int, result: Callable[[], T]) -> None:
        try:
            results.done[position] = result()
        except LockedError:
            results.busy.append(position)
        except BrokenProcessPool:
            raise
        except Exception as error:
            results.failed[position] = error
            run = runs[position]
            message = f"error: {run.system}, seed {run.seed}: {error}"
            if not isinstance(error, TrignerError):  # unforeseen: the traceback helps
                message += f"\n{''.join(format_exception(error))}"
            say(console, message)
        else:
            on_done(position, results.done[position])

    parallel = context.parallelism
    if parallel.jobs == 1:
        here = replace(context, device=parallel.devices[0])
        with _threads(parallel.threads):
            for position, run in enumerate(runs):
                collect(position, lambda run=run: job(run, corpus, here, console))  # type: ignore[misc]
        return results
    spawn = get_context("spawn")
    devices = spawn.SimpleQueue()
    for number in range(parallel.jobs):
        devices.put(parallel.devices[number % len(parallel.devices)])
    workers = min(parallel.jobs, max(1, len(runs)))
    others = set(active_children())
    pool = ProcessPoolExecutor(workers, spawn, _start, (parallel.threads, devices))
    try:
        with _uninterrupted():
            futures: dict[Future[T], int] = {
                pool.submit(_in_process, job, run, corpus, context): position
                for position, run in enumerate(runs)
            }
        for future in as_completed(futures):
            collect(futures[future], future.result)
    except BrokenProcessPool as error:
        raise TrignerError(
            f"a worker process was killed, perhaps because memory ran out; {len(results.done)} runs"
            " are done: continue with the same command and fewer --jobs"
        ) from error
    except BaseException:
        # Or they would finish their runs, and begin those that already wait in their queue.
        for worker in set(active_children()) - others:
            worker.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return results


_DEVICE = "auto"


def _start(threads: int | None, devices: Any) -> None:
    global _DEVICE
    Thread(target=_end_with_parent, daemon=True).start()
    _DEVICE = devices.get()
    if threads is not None:
        torch.set_num_threads(threads)


def _end_with_parent() -> None:
    """Or a worker would go on, and keep its run from others, when the study itself was killed."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _in_process(job: Job[T], run: TrainingRun, corpus: CorpusSplits, context: StudyContext) -> T:
    path = context.work / corpus.name / f"{run_name(run.system, run.identity, corpus.hashes)}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8", opener=own_file) as file:
        console = Console(file=file, width=120)
        return job(run, corpus, replace(context, device=_DEVICE), console)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits, and never reaches processes that start in here: it would fail their runs, one
    after the other, where they are to end with this process."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _threads(threads: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
