"""Many runs: one after another in this process, or several at a time in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from traceback import format_exception
from typing import Any, Generic, TypeVar

import torch
from rich.console import Console

from trigner.errors import TrignerError
from trigner.studies.corpus import Corpus
from trigner.studies.grid import Run
from trigner.studies.running import BusyError, Folders, Options

T = TypeVar("T")

Work = Callable[[Run, Corpus, Folders, Options, Console], T]
"""What is done with one run; a function of a module, so that another process finds it."""


@dataclass(frozen=True)
class Room:
    """How much happens at a time: `jobs` runs, each with so many `threads` (None: torch's choice).

    `devices` are shared out in turns.
    """

    jobs: int
    threads: int | None
    devices: tuple[str, ...]


@dataclass
class Outcome(Generic[T]):
    """What became of runs: done, failed with a reason, or at work in another process.

    All are positions in the list of runs that was given.
    """

    done: dict[int, T] = field(default_factory=dict)
    failed: dict[int, Exception] = field(default_factory=dict)
    busy: list[int] = field(default_factory=list)


def room(*, jobs: int | None, threads: int | None, device: str) -> Room:
    """As much as was asked for; without a wish one run a GPU, or one in all."""
    gpus = torch.cuda.device_count() if device == "auto" else 0
    devices = tuple(f"cuda:{n}" for n in range(gpus)) if gpus > 1 else (device,)
    jobs = jobs or max(1, gpus)
    if threads is None and jobs > 1 and "OMP_NUM_THREADS" not in os.environ:
        threads = max(1, (os.cpu_count() or 1) // jobs)
    return Room(jobs, threads, devices)


def work_off(
    work: Work[T],
    runs: Sequence[Run],
    corpus: Corpus,
    folders: Folders,
    options: Options,
    space: Room,
    console: Console,
    *,
    tell: Callable[[int, T], None] = lambda position, result: None,
) -> Outcome[T]:
    """Do all runs that can be done; what fails does not keep the others from it.

    `tell` hears of each as it ends. With several jobs what a run has to say goes to a file
    RUN.log beside its folder. Raises TrignerError when a process was killed.
    """
    outcome: Outcome[T] = Outcome()

    def settle(position: int, ending: Callable[[], T]) -> None:
        try:
            outcome.done[position] = ending()
        except BusyError:
            outcome.busy.append(position)
        except BrokenProcessPool:
            raise
        except Exception as error:
            outcome.failed[position] = error
            run = runs[position]
            told = f"error: {run.system}, seed {run.seed}: {error}"
            if not isinstance(error, TrignerError):  # not of our making: where it comes from helps
                told += f"\n{''.join(format_exception(error))}"
            console.print(told, markup=False, highlight=False, soft_wrap=True)
        else:
            tell(position, outcome.done[position])

    if space.jobs == 1:
        on_device = replace(options, device=space.devices[0])
        with _threads(space.threads):
            for position, run in enumerate(runs):
                settle(position, lambda run=run: work(run, corpus, folders, on_device, console))  # type: ignore[misc]
        return outcome
    context = get_context("spawn")
    devices = context.SimpleQueue()
    for number in range(space.jobs):
        devices.put(space.devices[number % len(space.devices)])
    pool = ProcessPoolExecutor(
        min(space.jobs, max(1, len(runs))), context, _start, (space.threads, devices)
    )
    try:
        futures: dict[Future[T], int] = {
            pool.submit(_in_process, work, run, corpus, folders, options): position
            for position, run in enumerate(runs)
        }
        for future in as_completed(futures):
            settle(futures[future], future.result)
    except BrokenProcessPool as error:
        raise TrignerError(
            f"a run's process was killed, perhaps for its memory; {len(outcome.done)} runs were"
            " done: go on with the same command, and fewer --jobs"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return outcome


_DEVICE = "auto"


def _start(threads: int | None, devices: Any) -> None:
    global _DEVICE
    _DEVICE = devices.get()
    if threads is not None:
        torch.set_num_threads(threads)


def _in_process(work: Work[T], run: Run, corpus: Corpus, folders: Folders, options: Options) -> T:
    log = folders.work / corpus.name / f"{run.system}-{run.seed}.log".replace("/", "-")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        console = Console(file=file, width=120)
        return work(run, corpus, folders, replace(options, device=_DEVICE), console)


@contextmanager
def _threads(threads: int | None) -> Iterator[None]:
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
