"""How many CPUs this process may use: a container or a batch system may give it few of many."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Of a control group, version 2: microseconds of CPU time in a period, or `max`."""
_NONE = sys.maxsize

MOST_THREADS = 1024
"""More than these are a slip: each has memory of its own, whether there is a CPU for it or not."""
FEW_CPUS = 4
WAITING = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
"""Variables by which OpenMP's runtimes know how a thread waits for the others."""
_DIGITS = 100
"""So many may a number have that is looked at: Python refuses to read one of thousands."""


def available_cpus() -> int:
    """By the process's affinity and its container's quota, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, _quota()))


def threads_for_models() -> int | None:
    """Threads by `OMP_NUM_THREADS`, or by the CPUs if some are not available; None otherwise.

    A variable that is no number from 1 to `MOST_THREADS` counts for nothing, as for OpenMP.
    """
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal() and len(asked) <= _DIGITS and 0 < int(asked) <= MOST_THREADS:
        return int(asked)
    available = available_cpus()
    return available if available < (os.cpu_count() or 1) else None


def sleep_while_waiting() -> None:
    """Let PyTorch's threads sleep where they wait for each other, if this process has few CPUs.

    OpenMP's threads spin there by default. A thread that spins uses up its share of a CPU, so that
    beside another busy process it has none left when there is work, and the others wait for it,
    thousands of times in an update. One that sleeps gives its CPU away and gets it back at once.
    With many CPUs that would cost more than it saves: a short loop would have to wake many threads.

    The environment goes before. OpenMP reads it when PyTorch is imported: call this earlier.
    """
    if available_cpus() <= FEW_CPUS and not any(name in os.environ for name in WAITING):
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"


def _quota() -> int:
    try:
        time, period = _QUOTA.read_text(encoding="ascii").split()
        return _NONE if time == "max" else math.ceil(int(time) / int(period))
    except (OSError, ValueError):  # another system, or version 1
        return _NONE
