from __future__ import annotations

import io
import os

import pytest
import torch
from rich.console import Console

from trigner.errors import TrignerError
from trigner.studies import Changes, Folders, Options, Room, protocol, room, runs
from trigner.studies.jobs import work_off
from trigner.studies.running import BusyError

QUIET = Console(quiet=True)


def seed_of(run, corpus, folders, options, console):
    """Work that fails for one system, finds another taken, and tells where it was done."""
    console.print("at it")
    if run.system == "window=5":
        raise TrignerError("diverged") if run.seed == 1 else RuntimeError("out of order")
    if run.system == "control":
        raise BusyError
    return run.seed, options.device, torch.get_num_threads(), os.getpid()


def end_process(run, corpus, folders, options, console):
    os._exit(1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_fails_or_is_taken_does_not_keep_the_others(declare, corpus, tmp_path, jobs):
    made = runs(declare(), protocol("full"), Changes(encoder="x"))
    folders = Folders(tmp_path / "work", tmp_path / "results")
    told = []
    before = torch.get_num_threads()
    space = Room(jobs, 1, ("cpu",))
    said = Console(file=io.StringIO(), width=200)
    outcome = work_off(
        seed_of,
        made,
        corpus,
        folders,
        Options("auto"),
        space,
        said,
        tell=lambda position, result: told.append(position),
    )
    assert {p: r[:3] for p, r in outcome.done.items()} == {0: (1, "cpu", 1), 3: (2, "cpu", 1)}
    assert {p: str(error) for p, error in outcome.failed.items()} == {
        1: "diverged",
        4: "out of order",
    }
    told_of_failures = said.file.getvalue()
    assert "error: window=5, seed 1: diverged" in told_of_failures
    # What is not of our making tells where it comes from.
    assert "RuntimeError: out of order" in told_of_failures
    assert "in seed_of" in told_of_failures
    assert sorted(outcome.busy) == [2, 5]
    assert sorted(told) == [0, 3]
    assert torch.get_num_threads() == before
    elsewhere = {result[3] != os.getpid() for result in outcome.done.values()}
    assert elsewhere == {jobs > 1}
    logs = sorted(path.name for path in tmp_path.rglob("*.log"))
    assert logs[:1] == (["control-1.log"] if jobs > 1 else [])


def test_a_killed_process_is_told(declare, corpus, tmp_path):
    made = runs(declare(), protocol("full"), Changes(encoder="x"))
    folders = Folders(tmp_path / "work", tmp_path / "results")
    with pytest.raises(TrignerError, match=r"was killed, perhaps for its memory.*fewer --jobs"):
        work_off(end_process, made, corpus, folders, Options(), Room(2, 1, ("cpu",)), QUIET)


def test_room(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 0)
    assert room(jobs=None, threads=None, device="auto") == Room(1, None, ("auto",))
    assert room(jobs=3, threads=None, device="cpu") == Room(3, 2, ("cpu",))
    assert room(jobs=3, threads=1, device="cpu") == Room(3, 1, ("cpu",))
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
    assert room(jobs=None, threads=4, device="auto") == Room(2, 4, ("cuda:0", "cuda:1"))
    assert room(jobs=2, threads=4, device="cuda:1").devices == ("cuda:1",)
