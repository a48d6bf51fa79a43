"""`make fuzz`: inputs without end for everything that reads what others wrote.

    python -m trials.fuzz [--target read-brat ...] [--seconds 60] [--seed 0] [--jobs 1] [--random]

Each target runs in a process of its own, so many at once. With `atheris` installed it is led by
what code an input reaches; else, and with --random, by the messages it ends with. Inputs that
reached something new are kept in `.fuzz/TARGET`; those that ended with anything but a TrignerError
go to `tests/trials/regressions/TARGET`, where the tests find them. A process that does not end is
killed, and its last input is one of these. --json adds the counts to a file: `trials.counts`.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / ".fuzz"
REGRESSIONS = Path(__file__).with_name("regressions")
LAST = "last"
COMMAND = (sys.executable, "-m", "trials.fuzz")
READY = 60
"""Seconds in which a target is made and has told what came of it, beside those it is given."""
FROM_SEEDS = 0.25
"""Share of inputs that are changes of valid ones."""
MEMORY = 6 * 2**30
"""Bytes that a target may take beyond what it has when it is ready."""


@dataclass
class Trial:
    """What a target was given and how it ended: in vain, with a TrignerError, or otherwise."""

    target: str
    engine: str
    inputs: int = 0
    refused: int = 0
    seconds: float = 0.0
    foreign: Counter[str] = field(default_factory=Counter)
    messages: set[str] = field(default_factory=set, repr=False)

    def run(self, target: Any, data: bytes) -> bool:
        """Give it one input; whether this ended in a new way."""
        from trigner.errors import TrignerError

        self.inputs += 1
        try:
            with limited():
                target.check(data)
        except TrignerError as error:
            self.refused += 1
            return self._is_new(re.sub(r"\d+|'[^']*'|\"[^\"]*\"", "", str(error))[:300])
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt | SystemExit | GeneratorExit):
                raise
            place = where(error)
            if not self.foreign[place]:
                keep(REGRESSIONS / self.target, data)
                print(f"{self.target}: {place}\n{traceback.format_exc()[-3000:]}", file=sys.stderr)
            self.foreign[place] += 1
            return True
        return False

    def _is_new(self, message: str) -> bool:
        known = message in self.messages
        self.messages.add(message)
        return not known

    def told(self) -> str:
        """One line about it."""
        return (
            f"{self.inputs:,} inputs of {self.target} ({self.engine}, {self.seconds:.0f} s,"
            f" {self.refused:,} refused), {self.foreign.total()} foreign exceptions"
        )


def where(error: BaseException) -> str:
    """The kind of an exception and the innermost line of the project that it passed."""
    lines = traceback.extract_tb(error.__traceback__)
    own = [line for line in lines if "/trigner/" in line.filename] or lines[-1:]
    at = f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__} at {at}"


@contextmanager
def limited() -> Iterator[None]:
    """TimeoutError after `LONGEST` seconds, in Python: code in C is not interrupted."""
    from trials.targets import LONGEST

    def late(*_: object) -> None:
        raise TimeoutError(f"more than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LONGEST)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def keep(folder: Path, data: bytes) -> None:
    """Write an input under the name that its content gives it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)


def kept(*folders: Path) -> list[bytes]:
    """What `keep` wrote."""
    return [path.read_bytes() for folder in folders for path in sorted(folder.glob("*"))]


def by_messages(name: str, target: Any, seconds: float, seed: int, most: float) -> Trial:
    """Changes of known inputs, and of those that ended in a new way."""
    trial, random = Trial(name, "messages"), Random(f"{name} {seed}")
    known = [*target.seeds, *kept(REGRESSIONS / name, KEPT / name)]
    begun = time.monotonic()
    for data in known:
        trial.run(target, data)
    while trial.inputs < most and time.monotonic() - begun < seconds:
        # What ended in a new way was refused: of that alone hardly anything valid would come.
        chosen = target.seeds if random.random() < FROM_SEEDS else known
        data = target.mutate(random.choice(chosen), random)
        if trial.run(target, data) and len(known) < 5000:
            known.append(data)
            if seconds < float("inf"):
                keep(KEPT / name, data)
    trial.seconds = time.monotonic() - begun
    return trial


def by_coverage(name: str, target: Any, seconds: float, seed: int) -> Trial:
    """The same, led by `atheris`, which ends the process: so what was found is printed here."""
    import atheris

    trial, begun = Trial(name, "atheris"), time.monotonic()
    for data in (*target.seeds, *kept(REGRESSIONS / name)):
        keep(KEPT / name, data)

    def one(data: bytes) -> None:
        trial.run(target, data)
        trial.seconds = time.monotonic() - begun
        if trial.seconds > seconds:
            report(trial)
            os._exit(0)

    def changed(data: bytes, most: int, seed: int) -> bytes:
        if seed % 4 == 0:
            return bytes(atheris.Mutate(data, most))
        return bytes(target.mutate(data, Random(seed))[:most])

    options = [f"-seed={seed + 1}", "-rss_limit_mb=0", "-timeout=0", "-verbosity=0"]
    options += ["-max_len=100000", "-len_control=0", str(KEPT / name)]
    atheris.Setup([sys.argv[0], *options], one, custom_mutator=changed)
    atheris.Fuzz()
    raise AssertionError("atheris ends the process")


def report(trial: Trial) -> None:
    """What the process of a target hands back: its last line."""
    content = {"target": trial.target, "engine": trial.engine, "inputs": trial.inputs}
    content |= {"refused": trial.refused, "seconds": trial.seconds, "foreign": dict(trial.foreign)}
    print(json.dumps(content), flush=True)


def run_alone(name: str, folder: Path, seconds: float, seed: int, *, led: bool) -> None:
    """Fuzz one target in this process."""
    import resource

    if led:
        import atheris

        with atheris.instrument_imports(include=["trigner"]):
            target = made(name, folder)
    else:
        target = made(name, folder)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    if led:
        by_coverage(name, target, seconds, seed)
    report(by_messages(name, target, seconds, seed, float("inf")))


def made(name: str, folder: Path) -> Any:
    """A target, which leaves the input that it is given in `LAST`: a process may die of it."""
    from trials.targets import TARGETS

    own = folder / "own"
    own.mkdir()
    target = TARGETS[name](own)

    def check(data: bytes) -> object:
        (folder / LAST).write_bytes(data)
        return target.check(data)

    return replace(target, check=check)


def main() -> None:
    """Fuzz the targets, each in a process of its own."""
    from trials import counts
    from trials.targets import TARGETS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "--target", nargs="*", action="extend", default=[], help=f"of {', '.join(TARGETS)}"
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each target")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="targets at once")
    parser.add_argument("--random", action="store_true", help="without atheris")
    parser.add_argument("--json", type=Path, help="add what came out to this file")
    parser.add_argument("--alone", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    led = not given.random and importlib.util.find_spec("atheris") is not None
    if given.alone:
        run_alone(given.target[0], given.alone, given.seconds, given.seed, led=led)
        return
    engine = "atheris" if led else "messages"
    ends = []
    with ThreadPoolExecutor(max(1, given.jobs)) as pool:
        every = [pool.submit(started, n, given, engine) for n in given.target or TARGETS]
        for done in as_completed(every):
            ends.append(done.result())
            if given.json:
                counts.add(given.json, ends[-1:])
    total = sum(own["inputs"] for own in ends)
    foreign = sum(sum(own["foreign"].values()) for own in ends)
    print(f"{total:,} inputs of {len(ends)} targets, {foreign} foreign exceptions")
    sys.exit(bool(foreign))


def started(name: str, given: argparse.Namespace, engine: str) -> dict[str, Any]:
    """One target in a process of its own, and what came of it."""
    from trials.targets import LONGEST

    in_memory = Path("/dev/shm")  # a file for each input
    where = in_memory if in_memory.is_dir() else None
    # What is led by messages tries all known inputs first, however long that takes: here, no more.
    limit = given.seconds + 2 * LONGEST + READY
    with tempfile.TemporaryDirectory(prefix="trigner-fuzz-", dir=where) as folder:
        command = [*COMMAND, "--alone", folder, "--target", name]
        command += ["--seconds", str(given.seconds), "--seed", str(given.seed)]
        command += ["--random"] * given.random
        try:
            done = subprocess.run(
                command, stdout=subprocess.PIPE, text=True, check=False, timeout=limit
            )
            out, end = done.stdout, f"died with {done.returncode}"
        except subprocess.TimeoutExpired:
            out, end = "", f"did not end within {limit:.0f} seconds"
        last = Path(folder) / LAST
        lines = [line for line in out.splitlines() if line.startswith('{"target"')]
        if not lines and last.exists():
            keep(REGRESSIONS / name, last.read_bytes())
    if not lines:
        print(f"{name}: the process {end}", flush=True)
        return {"target": name, "engine": engine, "inputs": 1, "foreign": {end: 1}}
    own: dict[str, Any] = json.loads(lines[-1])
    trial = Trial(**{**own, "foreign": Counter(own["foreign"])})
    print(trial.told(), flush=True)
    return own


if __name__ == "__main__":
    main()
