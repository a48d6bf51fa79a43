"""`make soak`: the service under load and attack, and kills, for as long as is wanted.

    python -m trials.soak [--minutes 30] [--model FOLDER] [--clients 50] [--json FILE]

Half of the time belongs to the service, half to what is killed and resumed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import trial_seed
import trigner
from serving_process import process
from trials import kills
from trigner.mentions import SCORE_DIGITS
from trigner.models.folder import BUNDLED

TEXTS = (
    "The most common adverse reactions were headache, nausea and vomiting.",
    "Two patients had swelling of the face and hands. Both recovered.",
    "My left leg hurt, no pain in arm, numb after the second tablet.",
    "No complaints today.",
    "Since Tuesday I have had pain and cramping in my hands and lower legs, and I sleep badly.",
    "Dizziness. 😵 My muscles feel weak and sore.\r\n\r\nMy left arm and shoulder went numb.",
    "Severe liver and kidney failure was reported in 2 of 340 patients; it was fatal in one. " * 4,
)
HOSTILE = 8
"""Every so many clients one is hostile."""
FLAT = 1.05
OTHERWISE = 0.1
"""The share of honest requests that may be answered with anything but 200: a busy service's 503."""
AMID = "amid a restart"
"""Instead of a status: no answer because the service was being stopped, as planned."""
REFUSED = "no connection"
"""Instead of a status: no answer of a service that nobody had stopped."""
ENOUGH = 80
"""Samples of memory below which nothing is said about its growth."""
KILLED = (
    "tests/cli/test_partial.py::test_killed_at_random_moments_it_gives_the_bytes_of_an_unkilled_one",
    "tests/lab/commands/test_prompt.py::test_a_killed_run_asks_nothing_twice",
    "tests/cli/test_annotate.py::test_killed_at_any_moment_nothing_is_lost_or_twice",
    "tests/training/test_processes.py::test_two_processes_go_on_where_they_were_killed",
)
"""Tests that kill at moments that `trial_seed` chooses."""
HEAD = "POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n"


@dataclass
class Soaked:
    """What the clients saw, and the megabytes of the last service, one number a moment."""

    clients: int
    statuses: Counter[str] = field(default_factory=Counter)
    hostile: Counter[str] = field(default_factory=Counter)
    wrong: int = 0
    restarts: int = 0
    crashes: int = 0
    """Ends of the service that were not planned, or not as they should be."""
    megabytes: list[float] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """Whether there are samples enough to say something about memory."""
        return len(self.megabytes) >= ENOUGH

    @property
    def growth(self) -> float:
        """Memory at the end of the last service's life against that of its middle."""
        half = self.megabytes[len(self.megabytes) // 2 :]
        if not self.is_settled or min(half) <= 0:
            return 1.0
        return median(half[len(half) // 2 :]) / median(half[: len(half) // 2])

    @property
    def otherwise(self) -> float:
        """The share of other statuses than 200 among those that honest clients got."""
        answers = {s: n for s, n in self.statuses.items() if s.isdigit()}
        total = sum(answers.values())
        return 1 - answers.get("200", 0) / total if total else 0.0

    @property
    def faults(self) -> list[str]:
        """What should not have been."""
        seen = self.statuses + self.hostile
        odd = {s: n for s, n in seen.items() if s.isdigit() and not is_fair(int(s))}
        found = [f"{n} answers with status {status}" for status, n in odd.items()]
        found += [f"{self.wrong} answers unlike those alone"] * bool(self.wrong)
        found += [f"the service ended badly {self.crashes} times"] * bool(self.crashes)
        refused = self.statuses[REFUSED]
        found += [f"{refused} honest requests without an answer"] * bool(refused)
        if self.otherwise > OTHERWISE:
            found.append(f"{self.otherwise:.1%} of the honest got another status than 200")
        if not self.megabytes:
            found.append("memory was not measured")
        elif min(self.megabytes) <= 0:
            found.append("memory of a process that was no more")
        found += [f"memory grew by {self.growth - 1:.1%}"] * (self.growth > FLAT)
        return found + ["no answer at all"] * (not self.statuses["200"])

    def told(self) -> dict[str, Any]:
        """What came out, for JSON."""
        step = max(1, len(self.megabytes) // 20)
        return {
            "clients": self.clients,
            "statuses": dict(self.statuses),
            "hostile": dict(self.hostile),
            "wrong": self.wrong,
            "restarts": self.restarts,
            "crashes": self.crashes,
            "megabytes": [round(own) for own in self.megabytes[::step]],
            "growth": round(self.growth, 4),
            "faults": self.faults,
        }


def is_fair(status: int) -> bool:
    """Whether a service may answer so, whatever it is asked."""
    return status == 200 or 400 <= status < 500 or status in (503, 504)


def service(model: Path, seconds: float, *, clients: int, restarts: int, seed: int = 0) -> Soaked:
    """A service for so long; it is restarted that often in the first half."""
    extract = trigner.load(model, device="cpu", threads=1)
    expected = [_as_answered(extract(text)) for text in TEXTS]
    seen = Soaked(clients)
    ends = [seconds * (n + 1) / (2 * restarts) for n in range(restarts)] + [seconds]
    begun = time.monotonic()
    for number, end in enumerate(ends):
        with process(model, "--max-connections", str(4 * clients), "--body-timeout", "2") as (
            running,
            port,
        ):
            seen.megabytes.clear()
            left = begun + end - time.monotonic()
            # Every other end comes amid requests, from outside.
            stop = (signal.SIGTERM, signal.SIGKILL)[number % 2] if number < restarts else None
            life = _life(port, running, max(1.0, left), stop, expected, seen, seed + number)
            crashed = asyncio.run(life)
            if stop == signal.SIGTERM and not crashed:
                crashed = not _stops(running)
            seen.crashes += crashed
            seen.restarts += number < restarts
    return seen


def _as_answered(document: Any) -> list[list[Any]]:
    return [
        [e.label, [list(f) for f in e.fragments], round(e.score, SCORE_DIGITS)]
        for e in document.entities
    ]


async def _life(
    port: int,
    running: subprocess.Popen[str],
    seconds: float,
    stop: int | None,
    expected: Sequence[Any],
    seen: Soaked,
    seed: int,
) -> bool:
    """Clients for so long, then `stop`. Whether the service had ended by itself before."""
    end = time.monotonic() + seconds
    stopping = asyncio.Event()
    every = [
        _hostile(port, end, seen, random.Random(f"{seed} {n}"))
        if n % HOSTILE == HOSTILE - 1
        else _honest(port, end, n, expected, seen, stopping)
        for n in range(seen.clients)
    ]
    watched = asyncio.ensure_future(_watch(running, end, seen))
    ended = asyncio.ensure_future(_stopped(running, end, stop, stopping))
    await asyncio.gather(*every, watched)
    # Without a stop it has to be there when the last client has its answer.
    return await ended or (stop is None and running.poll() is not None)


def _stops(running: subprocess.Popen[str]) -> bool:
    """Whether a service that was asked to stop does so in time, and says that all was well."""
    try:
        return running.wait(60) == 0
    except subprocess.TimeoutExpired:
        return False


async def _stopped(
    running: subprocess.Popen[str], end: float, stop: int | None, stopping: asyncio.Event
) -> bool:
    """Stop the service shortly before the end. Whether it had ended by itself."""
    await asyncio.sleep(max(0.0, end - time.monotonic() - 0.5))
    if running.poll() is not None:
        return True
    if stop is not None:
        stopping.set()
        running.send_signal(stop)
    return False


async def _watch(running: subprocess.Popen[str], end: float, seen: Soaked) -> None:
    page = os.sysconf("SC_PAGE_SIZE")
    step = max(0.1, (end - time.monotonic()) / 200)
    while running.poll() is None:  # once at least
        pages = int(Path(f"/proc/{running.pid}/statm").read_text().split()[1])
        seen.megabytes.append(pages * page / 1e6)
        if time.monotonic() + step > end - 1:
            break
        await asyncio.sleep(step)


async def _honest(
    port: int,
    end: float,
    number: int,
    expected: Sequence[Any],
    seen: Soaked,
    stopping: asyncio.Event,
) -> None:
    while time.monotonic() < end:
        number += 1
        own = number % len(TEXTS)
        body = json.dumps({"text": TEXTS[own]})
        try:
            status, answer = await _asked(port, HEAD.format(len(body.encode())) + body)
        except (OSError, EOFError, ValueError):
            seen.statuses[AMID if stopping.is_set() else REFUSED] += 1
            await asyncio.sleep(0.2)
            continue
        if status != 200 and stopping.is_set():
            seen.statuses[AMID if is_fair(status) else str(status)] += 1
            await asyncio.sleep(0.2)
            continue
        seen.statuses[str(status)] += 1
        if status == 200:
            found = [[e["label"], e["fragments"], e["score"]] for e in answer["entities"]]
            seen.wrong += found != expected[own]
        else:
            await asyncio.sleep(0.2)


async def _asked(port: int, request: str | bytes) -> tuple[int, Any]:
    """Status and JSON of the answer to a request of any bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.encode() if isinstance(request, str) else request)
        head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).decode("latin-1")
        lengths = [line for line in head.lower().split("\r\n") if line.startswith("content-length")]
        body = await reader.readexactly(int(lengths[0].split(":")[1])) if lengths else b""
        return int(head.split(" ", 2)[1]), json.loads(body) if body.startswith(b"{") else None
    finally:
        writer.close()


async def _hostile(port: int, end: float, seen: Soaked, chosen: random.Random) -> None:
    while time.monotonic() < end:
        kind = chosen.choice(list(ATTACKS))
        try:
            status = await asyncio.wait_for(ATTACKS[kind](port, chosen), 20)
            seen.hostile[str(status)] += 1
        except (OSError, EOFError, ValueError, TimeoutError):
            seen.hostile[f"{kind}: ended"] += 1
        await asyncio.sleep(chosen.uniform(0, 0.1))


async def _body(port: int, body: bytes, head: str = HEAD) -> int:
    return (await _asked(port, head.format(len(body)).encode() + body))[0]


async def _status(port: int, request: str | bytes) -> int:
    return (await _asked(port, request))[0]


async def _half(port: int, sent: bytes, chosen: random.Random) -> str:
    """Part of a request, then nothing, then the end."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    await asyncio.sleep(chosen.uniform(0, 3))
    writer.close()
    return "half"


async def _dripping(port: int, chosen: random.Random) -> str:
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(HEAD.format(1000).encode())
    with suppress(OSError):
        for _ in range(20):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.2)
    writer.close()
    return "drip"


async def _deaf(port: int, chosen: random.Random) -> str:
    """Many requests whose answers are not read."""
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    body = json.dumps({"text": TEXTS[0]})
    writer.write((HEAD.format(len(body)) + body).encode() * 20)
    await asyncio.sleep(chosen.uniform(0, 2))
    writer.transport.abort()
    return "deaf"


def _json(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


ATTACKS: dict[str, Any] = {
    "words": lambda port, _: _body(port, _json(text="pain " * 3000)),
    "large": lambda port, _: _body(port, _json(text="pain " * 600_000)),
    "quotes": lambda port, chosen: _body(
        port, _json(texts=[chosen.choice(("`", "«a. ", "A!")) * 25_000] * 3)
    ),
    "deep": lambda port, _: _body(port, b"[" * 100_000),
    "bytes": lambda port, chosen: _body(port, chosen.randbytes(5000)),
    "noise": lambda port, chosen: _status(port, chosen.randbytes(500) + b"\r\n\r\n"),
    "host": lambda port, _: _body(port, _json(text="a"), HEAD.replace("localhost", "evil.example")),
    "length": lambda port, _: _status(port, HEAD.format("9" * 30) + "{}"),
    "negative": lambda port, _: _status(port, HEAD.format(-5) + "{}"),
    "surrogate": lambda port, _: _body(port, b'{"text": "\\ud800"}'),
    "path": lambda port, _: _status(
        port, "GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"
    ),
    "half head": lambda port, chosen: _half(port, b"POST /v1/extract HTTP/1.1\r\nHo", chosen),
    "half body": lambda port, chosen: _half(port, HEAD.format(500).encode() + b"{", chosen),
    "gone": lambda port, chosen: _half(port, (HEAD.format(70) + " " * 70).encode(), chosen),
    "drip": _dripping,
    "deaf": _deaf,
}
"""What hostile clients do."""


def killed(seconds: float, seed: int) -> dict[str, int]:
    """Whatever can be resumed killed and resumed, until the time is over."""
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end or not counts:
        for name, trial in (("trainings", kills.training), ("studies", kills.study)):
            with tempfile.TemporaryDirectory() as folder:
                counts[f"kills of {name}"] += trial(Path(folder), seed, 4).kills
                counts[name] += 1
        run = [sys.executable, "-m", "pytest", "-q", *KILLED]
        environment = {**os.environ, trial_seed.NAME: str(seed)}
        root = Path(__file__).resolve().parents[2]
        subprocess.run(run, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)
        counts["extractions, prompts, annotations and trainings of two processes"] += 1
        seed += 1
    return dict(counts)


HALVES = ("service", "kills")


def main() -> None:
    """Soak, and tell what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--model", type=Path, default=BUNDLED)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=HALVES, help="one half of the time and of the trials")
    parser.add_argument("--json", type=Path, help="write what came out to this file")
    given = parser.parse_args()
    half = given.minutes * 30
    restarts = max(1, round(half / 120))
    told: dict[str, Any] = {}
    faults: Sequence[str] = ()
    if given.only != "kills":
        options = {"clients": given.clients, "restarts": restarts, "seed": given.seed}
        seen = service(given.model, half, **options)
        told, faults = seen.told(), seen.faults
        print(json.dumps(told, indent=1), flush=True)
    if given.only != "service":
        told["killed"] = killed(half, given.seed)
        print(json.dumps(told["killed"], indent=1))
    if given.json:
        given.json.write_text(json.dumps(told, indent=1) + "\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
