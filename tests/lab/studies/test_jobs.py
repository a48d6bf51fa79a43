from __future__ import annotations

import io
import os
import signal
import time
from multiprocessing import active_children, get_context
from threading import Thread

import pytest
import torch
from rich.console import Console

from trigner.errors import TrignerError
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.context import Parallelism, StudyContext
from trigner.lab.studies.grid import runs
from trigner.lab.studies.jobs import run_all
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import run_name
from trigner.machine.locks import LockedError

QUIET = Console(quiet=True)


def seed_of(run, corpus, context, console):
    """Work that fails for one system, finds another taken, and tells where it was done."""
    console.print("at it")
    if run.system == "window=5":
        raise TrignerError("diverged") if run.seed == 1 else RuntimeError("out of order")
    if run.system == "control":
        raise LockedError
    return run.seed, context.device, torch.get_num_threads(), os.getpid()


def end_process(run, corpus, context, console):
    os._exit(1)


def linger(run, corpus, context, console):
    (context.work / f"{run.system}-{run.seed}.begun").write_text(str(os.getpid()))
    time.sleep(10)


def beat(run, corpus, context, console):
    with open(context.work / f"{run.system}-{run.seed}.beats", "a") as file:
        for _ in range(4000):
            print(".", file=file, end="", flush=True)
            time.sleep(0.05)


def run_quietly(job, made, corpus, context):
    run_all(job, made, corpus, context, QUIET)


def until(is_so):
    deadline = time.monotonic() + 120
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def context_of(study, tmp_path, parallelism):
    folders = (tmp_path / "work", tmp_path / "results")
    return StudyContext(study, protocol("full"), *folders, parallelism=parallelism)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_fails_or_is_taken_does_not_keep_the_others(declare, corpus, tmp_path, jobs):
    study = declare()
    made = runs(study, protocol("full"), Changes(encoder="x"))
    told = []
    before = torch.get_num_threads()
    context = context_of(study, tmp_path, Parallelism(jobs, 1, ("cpu",)))
    said = Console(file=io.StringIO(), width=200)
    results = run_all(
        seed_of,
        made,
        corpus,
        context,
        said,
        on_done=lambda position, result: told.append(position),
    )
    assert {p: r[:3] for p, r in results.done.items()} == {0: (1, "cpu", 1), 3: (2, "cpu", 1)}
    assert {p: str(error) for p, error in results.failed.items()} == {
        1: "diverged",
        4: "out of order",
    }
    told_of_failures = said.file.getvalue()
    assert "error: window=5, seed 1: diverged" in told_of_failures
    # What is not of our making tells where it comes from.
    assert "RuntimeError: out of order" in told_of_failures
    assert "in seed_of" in told_of_failures
    assert sorted(results.busy) == [2, 5]
    assert sorted(told) == [0, 3]
    assert torch.get_num_threads() == before
    elsewhere = {result[3] != os.getpid() for result in results.done.values()}
    assert elsewhere == {jobs > 1}
    logs = sorted(path.stem for path in tmp_path.rglob("*.log"))
    named = sorted(run_name(run.system, run.identity, corpus.hashes) for run in made)
    assert logs == (named if jobs > 1 else [])


def test_a_killed_process_is_reported(declare, corpus, tmp_path, refused):
    study = declare()
    made = runs(study, protocol("full"), Changes(encoder="x"))
    context = context_of(study, tmp_path, Parallelism(2, 1, ("cpu",)))
    with refused(error=TrignerError):
        run_all(end_process, made, corpus, context, QUIET)


def test_ctrl_c_ends_the_runs_in_progress_and_begins_no_other(declare, corpus, tmp_path):
    study = declare()
    made = runs(study, protocol("full"), Changes(encoder="x"))
    context = context_of(study, tmp_path, Parallelism(2, 1, ("cpu",)))
    context.work.mkdir()

    def begun():
        return [int(path.read_text() or 0) for path in context.work.glob("*.begun")]

    def interrupt():
        while len(begun()) < 2 or not all(begun()):
            time.sleep(0.01)
        for process in (*begun(), os.getpid()):  # a terminal sends it to all of them
            os.kill(process, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    Thread(target=interrupt, daemon=True).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run_all(linger, made, corpus, context, QUIET)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(begun()) == 2
    assert not active_children()


def test_a_killed_study_leaves_no_workers(declare, corpus, tmp_path):
    made = runs(declare(), protocol("full"), Changes(encoder="x"))
    context = context_of(declare(), tmp_path, Parallelism(2, 1, ("cpu",)))
    context.work.mkdir()
    study = get_context("spawn").Process(target=run_quietly, args=(beat, made, corpus, context))
    study.start()

    def beats():
        return [path.stat().st_size for path in context.work.glob("*.beats")]

    until(lambda: len(beats()) == 2)
    study.kill()
    study.join()

    def is_silent():
        before = beats()
        time.sleep(0.5)
        return beats() == before

    until(is_silent)


def test_a_log_that_is_a_link_is_not_written_through(declare, corpus, tmp_path):
    study = declare()
    made = runs(study, protocol("full"), Changes(encoder="x"))[:1]
    context = context_of(study, tmp_path, Parallelism(2, 1, ("cpu",)))
    run_all(seed_of, made, corpus, context, QUIET)
    (log,) = tmp_path.rglob("*.log")
    (tmp_path / "theirs").write_text("theirs")
    log.unlink()
    log.symlink_to(tmp_path / "theirs")
    results = run_all(seed_of, made, corpus, context, QUIET)
    assert str(results.failed[0]).startswith(f"{log}: is a link")
    assert (tmp_path / "theirs").read_text() == "theirs"
