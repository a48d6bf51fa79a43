"""What everything done with a study needs: the study and what the command line adds to it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import torch
from rich.console import Console

from trigner.corpora import MissingAnnotations
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.corpus import CorpusLocation, CorpusSplits, read_splits
from trigner.lab.studies.declaration import Study
from trigner.lab.studies.protocols import Protocol
from trigner.machine import available_cpus
from trigner.rendering import say


@dataclass(frozen=True)
class Parallelism:
    """How many `jobs` run at a time, each with so many `threads` (None: torch's choice).

    `devices` are assigned to jobs in turn.
    """

    jobs: int = 1
    threads: int | None = None
    devices: tuple[str, ...] = ("auto",)


def parallelism(*, jobs: int | None, threads: int | None, device: str) -> Parallelism:
    """As requested; by default one job for each GPU, or a single one without any."""
    gpus = torch.cuda.device_count() if device == "auto" else 0
    devices = tuple(f"cuda:{n}" for n in range(gpus)) if gpus > 1 else (device,)
    jobs = jobs or max(1, gpus)
    if threads is None and jobs > 1 and "OMP_NUM_THREADS" not in os.environ:
        threads = max(1, available_cpus() // jobs)
    return Parallelism(jobs, threads, devices)


@dataclass(frozen=True)
class StudyContext:
    """A study with corpora, protocol, changes and folders. It can be sent to worker processes.

    `work` holds a folder for each run, with checkpoints, TensorBoard logs and, with `keep_models`,
    the models; `results` holds what is worth keeping. The fields from `device` on do not change
    the outcome of a run.
    """

    study: Study
    protocol: Protocol
    work: Path
    results: Path
    locations: tuple[CorpusLocation, ...] = ()
    changes: Changes = field(default_factory=Changes)
    format: str | None = None
    skip_bad: bool = False
    encoding: str = "utf-8"
    missing_annotations: MissingAnnotations = "error"
    device: str = "auto"
    keep_models: bool = False
    report_to: tuple[str, ...] = ()
    parallelism: Parallelism = field(default_factory=Parallelism)

    def read(self, location: CorpusLocation, console: Console) -> CorpusSplits:
        """The corpus at a location; the notices of its reader are logged."""
        corpus = read_splits(
            location,
            self.protocol,
            types=self.study.types,
            format=self.format,
            skip_bad=self.skip_bad,
            encoding=self.encoding,
            missing_annotations=self.missing_annotations,
        )
        for notice in corpus.notices:
            log(console, str(notice))
        return corpus


def log(console: Console, message: str) -> None:
    """One line for the user, as the other commands print their notes."""
    say(console, f"note: {message}")
