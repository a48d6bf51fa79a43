"""What 10⁹ documents would cost, by what was measured; and going on with a job of so many."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from speed import memory
from speed.figures import Figure, Section, Tell
from speed.kill import PART_ROWS, Many
from speed.scale import Measured
from trigner.pipeline.bulk.output import JOURNAL, STATE, Counts, begun

DOCUMENTS = 1_000_000_000
WORKERS = 100
"""In whose hours the work is told."""

JOB = {"input": "made up"}


def measure(one_worker: Measured, many: Many, *, parts: int, tell: Tell) -> Section:
    """From one worker's rows a second, and from the process of annotate in the long job."""
    tell(f"going on with {parts:,} parts")
    peak = memory.fresh(work="resume", encoder="", side="parquet", parts=parts)
    files = DOCUMENTS / PART_ROWS
    size = many.written / many.rows
    note = many.journal / max(1, many.parts) * files
    return Section(
        "10⁹ documents, computed",
        notes=[
            "Documents as short as those above. Longer ones cost as many words as they have; "
            "files, journal and the time of the process that reads and writes count rows."
        ],
        figures=[
            *_work(one_worker, many),
            Figure(
                "files",
                f"{files:,.0f} parts of {PART_ROWS:,} rows",
                value=files,
                note=f"{size * PART_ROWS / 1e6:.2f} MB each, {size * DOCUMENTS / 1e9:,.0f} GB in "
                "all: as many entities as the model of the many rows finds",
            ),
            Figure("journal", f"{note / 1e6:,.0f} MB", value=note),
            Figure(
                f"going on in a folder of {parts:,} parts",
                f"{peak.growth:.0f} MB",
                value=peak.growth,
                note="above what the process of annotate takes anyway, for a whole journal",
            ),
        ],
    )


def _work(one_worker: Measured, many: Many) -> Iterator[Figure]:
    """Nothing where so few rows were read that nobody can tell."""
    rate = one_worker.rate
    if rate is not None:
        hours = DOCUMENTS / rate / 3600
        note = f"{hours / WORKERS:,.1f} hours of {WORKERS} workers"
        yield Figure("annotation", f"{hours:,.0f} core hours", value=hours, note=note)
        for kind, seconds in (("Parquet", many.processor), ("JSON lines", one_worker.processor)):
            if seconds:
                yield _given(kind, 1 / seconds, rate)


def _given(kind: str, rows: float, rate: float) -> Figure:
    return Figure(
        f"one process of annotate, {kind}",
        f"{rows:,.0f} rows a second at most",
        value=rows,
        note=f"by its processor time: {rows / rate:,.0f} workers, "
        f"{DOCUMENTS / rows / 3600:,.1f} hours for all",
    )


def one_resume(_encoder: str, format: str, *, parts: int) -> Callable[[], object]:
    """A task: what going on with a job takes that has so many parts."""
    held = ExitStack()
    folder = Path(held.enter_context(TemporaryDirectory()))
    with begun(folder, JOB, format=format):
        pass
    with (folder / STATE / JOURNAL).open("w") as journal:
        for number in range(parts):
            first = number * PART_ROWS
            name = f"part-00000-{first:012d}.{format}"
            (folder / name).touch()
            counts = asdict(Counts(1, PART_ROWS, PART_ROWS))
            line = {"part": name, "source": 0, "first": first, "counts": counts}
            journal.write(json.dumps(line) + "\n")

    def work() -> int:
        with held, begun(folder, JOB, format=format) as output:
            if output.counts.parts != parts:
                raise RuntimeError(f"{output.counts.parts:,} parts were found, of {parts:,}")
            return output.counts.parts

    return work
