"""Many rows through `annotate`: the memory of its process, and a kill -9 in the middle."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from speed.figures import Figure, Section, Tell
from speed.processes import Watched, wait_for, watched
from speed.scale import FLAT, annotate_command
from speed.short_texts import Texts, write_parquet

PARTS = 20
"""Of the many rows at least."""

PART_ROWS = 10_000
PATIENCE = 60.0
"""Seconds for what a killed process has started to end, once the job is done."""


class Middle:
    """Whether half of the rows are in parts, and half of the next part is done, about."""

    def __init__(self, out: Path, rows: int) -> None:
        self.done = 0
        self._journal = out / "_annotate" / "journal.jsonl"
        self._rows = rows
        self._parts: list[float] = []

    def __call__(self) -> bool:
        parts = journal(self._journal)
        now = time.perf_counter()
        self.done = sum(part["counts"]["rows"] for part in parts)
        self._parts += [now] * (len(parts) - len(self._parts))
        if self.done < self._rows / 2:
            return False
        pace = (self._parts[-1] - self._parts[0]) / max(1, len(self._parts) - 1)
        return now >= self._parts[-1] + pace / 2


def journal(path: Path) -> list[dict[str, Any]]:
    """The parts that a job has done, by the whole lines of its journal."""
    if not path.exists():
        return []
    lines = path.read_bytes().rpartition(b"\n")[0].splitlines()
    return [value for line in lines if "part" in (value := json.loads(line))]


@dataclass(frozen=True)
class Many:
    """What was measured."""

    few: Watched
    many: Watched
    few_rows: int
    rows: int
    parts: int
    written: int
    journal: int
    """The last two in bytes."""

    @property
    def processor(self) -> float:
        """Seconds of the process of `annotate` itself for a row."""
        rows = self.rows - self.few_rows
        return max(0.0, self.many.processor - self.few.processor) / rows

    @property
    def growth(self) -> float:
        """Megabytes that it takes more for the many rows than for the few."""
        return self.many.peak - self.few.peak


def measure(
    texts: Texts,
    rows: int,
    many: int,
    model: str,
    folder: Path,
    *,
    workers: int = 2,
    named: str = "bundled",
    tell: Tell,
) -> tuple[Section, Many]:
    """Few rows, many, and many with a kill; the last two must give the same."""
    part_rows = max(1, min(PART_ROWS, many // PARTS))
    paths = {
        number: write_parquet(texts, number, folder / f"{number}.parquet")
        for number in (rows, many)
    }

    def command(number: int, out: Path) -> list[str]:
        return annotate_command(paths[number], out, model, workers, "--part-rows", str(part_rows))

    outs = {name: folder / name for name in ("few", "many", "killed")}
    tell(f"annotate, {rows:,} rows")
    few = watched(command(rows, outs["few"]))
    tell(f"annotate, {many:,} rows")
    whole = watched(command(many, outs["many"]))
    tell(f"annotate, {many:,} rows, with a kill")
    middle = Middle(outs["killed"], many)
    killed = watched(command(many, outs["killed"]), kill=middle)
    if not killed.is_killed:
        raise RuntimeError(f"{many:,} rows were done before the kill: more are needed")
    begun = journal(outs["killed"] / "_annotate" / "journal.jsonl")
    again = watched(command(many, outs["killed"]))  # at once, whatever Ray has left
    wait_for(killed, PATIENCE)
    note = outs["many"] / "_annotate" / "journal.jsonl"
    parts = list(outs["many"].glob("part-*.parquet"))
    written = sum(path.stat().st_size for path in parts)
    found = Many(few, whole, rows, many, len(parts), written, note.stat().st_size)
    section = Section(
        f"{many:,} rows, and a kill",
        notes=[
            f"{many:,} documents: {texts.told()}, in one Parquet file; {workers} workers, the "
            f"model {named}, parts of at most {part_rows:,} rows. Memory and exactness of the "
            "process that reads and writes do not depend on the model's size."
        ],
        figures=[
            *_memory(found),
            *_exactness(outs["killed"], outs["many"], many),
            Figure(
                "rows in parts when it was killed (kill -9)",
                f"{sum(part['counts']['rows'] for part in begun):,} rows",
                note=f"after {killed.seconds:.0f} s; going on took {again.seconds:.0f} s with its "
                f"start-up, the whole without a kill {whole.seconds:.0f} s",
            ),
            Figure(
                "processes that the killed one had started and that never ended",
                f"{len(killed.left)}",
                note=", ".join(killed.left),
            ),
        ],
    )
    for out in outs.values():
        shutil.rmtree(out)
    return section, found


def _memory(found: Many) -> Iterator[Figure]:
    ratio = found.many.peak / max(1e-9, found.few.peak)
    yield Figure(
        f"most memory of the process of annotate: {found.rows:,} rows to {found.few_rows:,}",
        f"{ratio:.3f} x",
        f"≤ {FLAT:g} x",
        ratio <= FLAT,
        ratio,
        f"{found.few.peak:.0f} and {found.many.peak:.0f} MB",
    )
    if actor := found.many.most("actor"):
        before = found.few.most("actor")
        yield Figure(
            "most memory of an actor, the same rows",
            f"{actor / before:.3f} x" if before else f"{actor:.0f} MB",
            value=actor,
            note=f"{before:.0f} and {actor:.0f} MB; the model of this section",
        )
    yield Figure(
        "processor time of the process of annotate",
        f"{1e6 * found.processor:.0f} µs a row",
        value=found.processor,
        note="reading, giving, writing: the difference of the two runs",
    )


def _exactness(out: Path, whole: Path, rows: int) -> Iterator[Figure]:
    killed, plain = _places(out), _places(whole)
    for what, seen in (("after the kill", killed), ("without a kill", plain)):
        once = sum(times == 1 for times in seen.values())
        twice, missing = (
            len(seen) - once,
            len(set(map(str, range(rows))) - {own for own, _ in seen}),
        )
        yield Figure(
            f"rows that are there exactly once, {what}",
            f"{once:,} of {rows:,}",
            "every row",
            once == rows == len(seen),
            once / rows,
            f"{twice:,} more than once, {missing:,} missing",
        )
    other = differing(out, whole)
    yield Figure(
        "rows with other entities or scores than without a kill",
        f"{other:,}",
        "none",
        other == 0,
        float(other),
    )


def _places(out: Path) -> Counter[tuple[str, int]]:
    """Ids with their places, and how often each is there; any other place makes another key."""
    seen: Counter[tuple[str, int]] = Counter()
    for path in out.glob("part-*.parquet"):
        table = pq.ParquetFile(path).read(columns=["id", "row"])
        seen.update(
            zip(table.column("id").to_pylist(), table.column("row").to_pylist(), strict=True)
        )
    return seen


def differing(out: Path, other: Path) -> int:
    """Rows of which two outputs say something else, or that one of them lacks."""
    ours, theirs = (_table(folder) for folder in (out, other))
    if ours.equals(theirs):
        return 0
    if ours.num_rows != theirs.num_rows:
        return max(ours.num_rows, theirs.num_rows)
    pairs = zip(_rows(ours), _rows(theirs), strict=True)
    return sum(mine != its for mine, its in pairs)


def _table(folder: Path) -> Any:
    columns = ["id", "row", "entities", "error"]
    return (
        pq.read_table(sorted(folder.glob("part-*.parquet")), columns=columns)
        .sort_by("row")
        .combine_chunks()
    )


def _rows(table: Any) -> Iterator[dict[str, Any]]:
    for record in table.to_batches(max_chunksize=1000):
        yield from record.to_pylist()
