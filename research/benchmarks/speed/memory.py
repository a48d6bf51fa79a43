"""Peak memory of a task (`speed.tasks`), in a fresh process."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Peak:
    """Megabytes."""

    loaded: float
    peak: float

    @property
    def growth(self) -> float:
        """Above the loaded model."""
        return self.peak - self.loaded


RETURNED = {"MALLOC_MMAP_THRESHOLD_": "131072"}
"""With it the C library hands freed arrays back to the system at once and keeps none in store."""


def fresh(*, returned: bool = False, **task: Any) -> Peak:
    """The peak of a task in a process of its own; `returned`: freed memory is handed back."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment |= RETURNED if returned else {}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "speed.tasks", json.dumps(task)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{task} failed:\n{done.stderr}")
    return Peak(**json.loads(done.stdout.splitlines()[-1]))


def measured(work: Callable[[], object]) -> Peak:
    """The peak of a piece of work in this process, once everything that it needs is loaded."""
    if STATUS.exists():
        loaded = _resident("VmRSS")
        REFERENCES.write_text("5")  # the mark of the most that was resident starts anew
        work()
        return Peak(loaded, _resident("VmHWM"))
    unit = 1024**2 if sys.platform == "darwin" else 1024
    loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    work()
    return Peak(loaded, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def _resident(line: str) -> float:
    for entry in STATUS.read_text().splitlines():
        if entry.startswith(line):
            return int(entry.split()[1]) / 1024
    raise RuntimeError(f"{STATUS} has no {line}")
