"""Peak memory of one subword of work, in a fresh process.

    python -m speed.memory '{"work": "step", "side": "low_rank", ...}'

Prints megabytes as JSON: `loaded`, resident before the work, with all models loaded; `peak`, the
most that was resident during it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
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
        [sys.executable, "-W", "ignore", "-m", "speed.memory", json.dumps(task)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{task} failed:\n{done.stderr}")
    return Peak(**json.loads(done.stdout.splitlines()[-1]))


def _resident(line: str) -> float:
    for entry in STATUS.read_text().splitlines():
        if entry.startswith(line):
            return int(entry.split()[1]) / 1024
    raise RuntimeError(f"{STATUS} has no {line}")


def _work(work: str, side: str, encoder: str, **sizes: int) -> Any:
    from speed import growth, step, systems  # heavy, and they import this module

    ready: dict[str, Any] = {
        "step": step.one_step,
        "forward": growth.one_forward,
        "training": systems.one_step,
        "inference": systems.one_forward,
    }
    return ready[work](encoder, side, **sizes)


def main() -> None:
    task = json.loads(sys.argv[1])
    work = _work(**task)
    if STATUS.exists():
        loaded = _resident("VmRSS")
        REFERENCES.write_text("5")  # the mark of the most that was resident starts anew
        work()
        peak = _resident("VmHWM")
    else:
        unit = 1024**2 if sys.platform == "darwin" else 1024
        loaded = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
        work()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps({"loaded": loaded, "peak": peak}))


if __name__ == "__main__":
    main()
