"""Commands that are watched from outside: their time, their processes' memory, and kills.

Linux tells all of it (`/proc`); elsewhere there is the time alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile

PROC = Path("/proc")
EVERY = 0.2
SEARCHED = 1.0
"""Seconds between two looks at the command's own process, and at those that it has started."""

KINDS = {
    "actor": ("ray::_Actor",),
    "Spark's Python worker": ("pyspark.daemon", "pyspark/daemon"),
    "Ray": ("ray::", "/ray/", "raylet", "gcs_server"),
    "Java": ("java",),
}
"""Kind -> what stands in the command line of such a process; the first that fits."""

LINE = 80
"""Characters of a command line that are told."""


@dataclass
class Watched:
    """A command that has ended. Memory is the most that was resident, in megabytes."""

    seconds: float = 0.0
    processor: float = 0.0
    """Seconds of its own process, without those that it started."""
    peak: float = 0.0
    others: dict[int, tuple[str, float]] = field(default_factory=dict)
    """Kind and memory of each process that it started."""
    is_killed: bool = False
    left: list[str] = field(default_factory=list)
    """Command lines of what it started and what lived on when it was killed, their beginnings."""

    def most(self, kind: str) -> float:
        """Of the largest process of a kind."""
        return max((peak for own, peak in self.others.values() if own == kind), default=0.0)

    def sum(self, kind: str) -> float:
        """Of all processes of a kind."""
        return sum(peak for own, peak in self.others.values() if own == kind)


def watched(
    command: Sequence[str], *, on_one_core: bool = False, kill: Callable[[], bool] | None = None
) -> Watched:
    """Run a command to its end, or until it is to be killed. Raises RuntimeError when it fails."""
    seen = Watched()
    begin = time.perf_counter()
    with TemporaryFile() as output:
        process = subprocess.Popen(
            command, env=_environment(), stdout=output, stderr=output, start_new_session=True
        )
        if on_one_core and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        searched = begin
        try:
            while not _ended(process, EVERY if kill is None else EVERY / 10):
                _look(process.pid, seen)
                if time.perf_counter() - searched >= SEARCHED:
                    searched = time.perf_counter()
                    _search(process.pid, seen)
                if kill is not None and kill():
                    _search(process.pid, seen)
                    process.kill()
                    seen.is_killed = process.wait() == -signal.SIGKILL
        finally:
            process.kill()
        seen.seconds = time.perf_counter() - begin
        if process.returncode and not seen.is_killed:
            output.seek(0)
            told = output.read().decode("utf-8", "replace")
            raise RuntimeError(f"{' '.join(command)} failed:\n{told}")
    return seen


def wait_for(seen: Watched, seconds: float) -> None:
    """Let what a killed command has started end; what does not is counted and killed."""
    end = time.perf_counter() + seconds
    while (left := [pid for pid in seen.others if _is_running(pid)]) and time.perf_counter() < end:
        time.sleep(EVERY)
    for pid in left:
        seen.left.append(_line(pid)[:LINE])
        os.kill(pid, signal.SIGKILL)


def _environment() -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "PYTHONWARNINGS": "ignore",
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _look(pid: int, seen: Watched) -> None:
    """The command's own process. Memory's mark only rises, so what is missed is the very end."""
    if (about := _about(pid)) is not None:
        ticks = int(about[11]) + int(about[12])
        seen.processor = ticks / os.sysconf("SC_CLK_TCK")
        seen.peak = max(seen.peak, _peak(pid))


def _search(first: int, seen: Watched) -> None:
    """The processes below the command's own."""
    parents = {}
    for path in PROC.glob("[0-9]*"):
        if (about := _about(int(path.name))) is not None and about[0] != "Z":
            parents[int(path.name)] = int(about[1])
    below = {first}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    for pid in below - {first}:
        line = _line(pid)
        kind = next((name for name, marks in KINDS.items() if any(m in line for m in marks)), "")
        seen.others[pid] = kind, max(seen.others.get(pid, ("", 0.0))[1], _peak(pid))


def _about(pid: int) -> list[str] | None:
    """State, parent and further fields of a process; None when there is none."""
    try:
        stat = (PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()  # the name before may hold anything


def _line(pid: int) -> str:
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def _is_running(pid: int) -> bool:
    about = _about(pid)
    return about is not None and about[0] != "Z"


def _peak(pid: int) -> float:
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)
