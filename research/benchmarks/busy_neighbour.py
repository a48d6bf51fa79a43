"""A training on the shipped corpus, alone and beside busy processes, in turns.

    python research/benchmarks/busy_neighbour.py [--rounds 5] [--epochs 2] [--busy 1] \
        [--only shipped spinning "one thread"]

Every round runs each set-up once alone and once beside `--busy` processes that count for ever.
Prints the medians of seconds and of CPU seconds, and the time beside them as a multiple of the time
alone of the set-up `shipped`; the project's figure is at most 2.5 with one. Only a machine with
nothing else to do gives these figures: the load average before each run is printed too.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from trigner.machine.cpus import WAITING

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data/mini-adr"
SHIPPED = "shipped"
SET_UPS: Mapping[str, Mapping[str, str]] = {
    SHIPPED: {},
    "spinning": {"GOMP_SPINCOUNT": "300000"},  # as PyTorch's OpenMP on Linux does by default
    "one thread": {"OMP_NUM_THREADS": "1"},
}
"""Variables of the environment by the name of a set-up."""

MOST = 2.5
"""Times as long as alone a training takes beside one busy process, at most."""


@dataclass(frozen=True)
class Taken:
    """Seconds that a training took, and those of CPU time."""

    seconds: float
    cpu: float


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many processes that want a CPU for themselves."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def training(epochs: int, set_up: Mapping[str, str]) -> Taken:
    """A training with the settings of `make demo` but for its epochs."""
    asked = {n: value for n, value in os.environ.items() if n not in (*WAITING, "OMP_NUM_THREADS")}
    with tempfile.TemporaryDirectory() as folder:
        command: list[str | Path] = [
            *(sys.executable, "-m", "trigner", "train", "--train", DATA / "train"),
            *("--dev", DATA / "dev", "--out", Path(folder) / "model"),
            *("--config", DATA / "demo.yaml", "--set", f"optimisation.epochs={epochs}"),
            *("--device", "cpu"),
        ]
        before, began = _cpu_of_children(), time.perf_counter()
        done = subprocess.run(command, env={**asked, **set_up}, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return Taken(time.perf_counter() - began, _cpu_of_children() - before)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def report(alone: Mapping[str, list[Taken]], beside: Mapping[str, list[Taken]], count: int) -> str:
    """The table of medians, and whether the project's figure is reached."""
    usual = statistics.median(own.seconds for own in alone[SHIPPED])
    lines = [
        f"| set-up | alone, s | CPU s | beside {count}, s | CPU s | times `{SHIPPED}` alone |",
        "|---|---|---|---|---|---|",
    ]
    for name in alone:
        cells = [
            f"{statistics.median(getattr(own, what) for own in runs[name]):.1f}"
            for runs in (alone, beside)
            for what in ("seconds", "cpu")
        ]
        times = statistics.median(own.seconds for own in beside[name]) / usual
        lines.append(f"| {name} | {' | '.join(cells)} | {times:.2f} |")
        if name == SHIPPED and count == 1:
            reached = "reached" if times <= MOST else "MISSED"
    return "\n".join([*lines, *([f"at most {MOST}: {reached}"] if count == 1 else [])])


def main(options: argparse.Namespace) -> None:
    names = dict.fromkeys([SHIPPED, *options.only])
    alone: dict[str, list[Taken]] = defaultdict(list)
    beside: dict[str, list[Taken]] = defaultdict(list)
    for number in range(1, options.rounds + 1):
        for name in names:
            for count, runs in ((0, alone), (options.busy, beside)):
                load = os.getloadavg()[0]
                with busy(count):
                    taken = training(options.epochs, SET_UPS[name])
                runs[name].append(taken)
                print(
                    f"round {number}, {name}, beside {count}: {taken.seconds:.1f} s,"
                    f" {taken.cpu:.1f} s of CPU; load average before {load:.1f}",
                    flush=True,
                )
    print(report(alone, beside, options.busy))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--busy", type=int, default=1)
    parser.add_argument("--only", nargs="+", default=[*SET_UPS], choices=[*SET_UPS])
    main(parser.parse_args())
