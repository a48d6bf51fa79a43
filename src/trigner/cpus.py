"""How many CPUs this process may use: a container or a batch system may give it few of many."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

_QUOTA = Path("/sys/fs/cgroup/cpu.max")
"""Of a control group, version 2: microseconds of CPU time in a period, or `max`."""
_NONE = sys.maxsize


def available_cpus() -> int:
    """By the process's affinity and its container's quota, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    return max(1, min(allowed, _quota()))


def threads_for_models() -> int | None:
    """Threads by `OMP_NUM_THREADS`, or by the CPUs if some are not available; None otherwise."""
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    if asked.isdecimal() and int(asked):
        return int(asked)
    available = available_cpus()
    return available if available < (os.cpu_count() or 1) else None


def _quota() -> int:
    try:
        time, period = _QUOTA.read_text(encoding="ascii").split()
        return _NONE if time == "max" else math.ceil(int(time) / int(period))
    except (OSError, ValueError):  # another system, or version 1
        return _NONE
