"""`trigner serve` under load on loopback: 1, 8 and 50 clients, each as fast as it is answered.

    python research/benchmarks/service.py --model MODEL [--seconds 60]

Prints successes a second, the share of 503, the median and the 99th percentile of successes, memory
before and after, and whether the project's figures are reached. Clients and service share the
machine's cores.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

TEXTS = (
    "The most common adverse reactions were headache, nausea and vomiting.",
    "Two patients had swelling of the face and hands. Both recovered.",
    "Decreased red and white blood cell counts were seen after the second dose.",
    "No complaints today.",
    "Since Tuesday I have had pain and cramping in my hands and lower legs, and I sleep badly.",
    "Severe liver and kidney failure was reported in 2 of 340 patients; it was fatal in one.",
    "Dizziness.",
    "My muscles feel weak and sore. My left arm and shoulder went numb after an hour or so.",
)
HEADERS = "Host: localhost\r\n"
"""The service answers no request for a name that it does not know."""

A_SECOND = 90
"""Answers that 50 clients get together in a second."""
MEDIAN = 0.5
"""Seconds in which half of these have their answer."""
ROOM = 1.10
"""Memory is flat when it grows by less than a tenth."""


@dataclass
class Load:
    """What clients saw: the seconds of each success, and how many of each status came."""

    clients: int
    seconds: float
    latencies: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)

    @property
    def a_second(self) -> float:
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        return float(np.percentile(self.latencies, share)) if self.latencies else float("inf")

    @property
    def share_busy(self) -> float:
        return self.statuses["503"] / max(1, self.statuses.total())

    @property
    def errors(self) -> int:
        return self.statuses.total() - self.statuses["200"] - self.statuses["503"]

    def told(self) -> str:
        return (
            f"{self.clients:3d} clients, {self.seconds:3.0f} s: {self.a_second:7.1f} successes/s,"
            f" 503 {self.share_busy:6.2%}, other errors {self.errors},"
            f" median {self.percentile(50) * 1000:6.1f} ms,"
            f" p99 {self.percentile(99) * 1000:6.1f} ms"
        )


async def load(port: int, clients: int, seconds: float) -> Load:
    """So many clients for so long, each over a connection of its own."""
    seen = Load(clients, seconds)
    end = time.perf_counter() + seconds
    await asyncio.gather(*(_client(port, number, end, seen) for number in range(clients)))
    return seen


async def _client(port: int, number: int, end: float, seen: Load) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while (started := time.perf_counter()) < end:
        body = json.dumps({"text": TEXTS[number % len(TEXTS)]}).encode()
        number += 1
        head = f"POST /v1/extract HTTP/1.1\r\n{HEADERS}Content-Length: {len(body)}\r\n\r\n"
        try:
            writer.write(head.encode() + body)
            answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = re.search(r"content-length: (\d+)", answer)
            await reader.readexactly(int(length[1]) if length else 0)
        except (OSError, EOFError) as error:
            seen.statuses[type(error).__name__] += 1
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            continue
        status = answer.split(" ", 2)[1]
        seen.statuses[status] += 1
        if status == "200":
            seen.latencies.append(time.perf_counter() - started)
        elif (wait := re.search(r"retry-after: (\d+)", answer)) is not None:
            await asyncio.sleep(min(float(wait[1]), max(0.0, end - time.perf_counter())))
    writer.close()


def memory(process: int) -> float:
    """Resident megabytes of a process, as Linux tells them."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def figures(one: Load, eight: Load, fifty: Load, before: float, after: float) -> dict[str, bool]:
    """What the project promises, and whether it holds."""
    median = one.percentile(50)
    ratios = [load.percentile(99) / median for load in (fifty, eight)]
    return {
        f"50 clients: no error but 503 ({fifty.errors} others)": fifty.errors == 0,
        f"50 clients: successes a second at least those of one client"
        f" ({fifty.a_second:.1f} against {one.a_second:.1f})": fifty.a_second >= one.a_second,
        f"50 clients: p99 below 60 single medians ({ratios[0]:.1f})": ratios[0] < 60,
        f"50 clients: at least {A_SECOND} successes a second ({fifty.a_second:.1f})": (
            fifty.a_second >= A_SECOND
        ),
        f"50 clients: median below {MEDIAN * 1000:.0f} ms ({fifty.percentile(50) * 1000:.0f})": (
            fifty.percentile(50) < MEDIAN
        ),
        f"8 clients: no 503 ({eight.statuses['503']})": eight.statuses["503"] + eight.errors == 0,
        f"8 clients: p99 below 15 single medians ({ratios[1]:.1f})": ratios[1] < 15,
        f"memory flat ({before:.0f} MB before, {after:.0f} MB after)": after < ROOM * before,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="for 50 clients; half for others"
    )
    given = parser.parse_args()
    command = [sys.executable, "-m", "trigner", "serve", "--model", given.model, "--port", "0"]
    service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert service.stderr is not None
        line = service.stderr.readline()
        found = re.search(r":(\d+) ", line)
        if found is None:
            sys.exit(line + service.stderr.read())
        port = int(found[1])
        asyncio.run(load(port, 4, min(3.0, given.seconds)))  # warm
        one = asyncio.run(load(port, 1, given.seconds / 2))
        print(one.told(), flush=True)
        eight = asyncio.run(load(port, 8, given.seconds / 2))
        print(eight.told(), flush=True)
        asyncio.run(load(port, 50, given.seconds / 6))  # the largest batches have been seen then
        before = memory(service.pid)
        fifty = asyncio.run(load(port, 50, given.seconds))
        after = memory(service.pid)
        print(fifty.told(), flush=True)
        for what, reached in figures(one, eight, fifty, before, after).items():
            print(f"{'reached' if reached else 'NOT reached':>11}  {what}")
    finally:
        service.terminate()
        service.wait(30)


if __name__ == "__main__":
    main()
