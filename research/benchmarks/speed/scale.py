"""The same short documents through `extract`, `annotate` and Spark: rows a second, memory."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from speed.figures import Figure, Section, Tell
from speed.processes import Watched, watched
from speed.short_texts import Texts, write_lines

EXTRACT, ALL_CORES, SPARK = "extract", "extract, all cores", "Spark"
STARTS, FEW = 2, 16
"""Runs of so few rows, of which the faster one is the start-up."""

WORKERS_GOAL, SECOND_GOAL, FLAT = 0.9, 1.8, 1.1


@dataclass(frozen=True)
class SetUp:
    """One way through the rows: a command, and how its output is read."""

    command: Callable[[Path, Path], list[str]]
    read: Callable[[Path], Iterator[tuple[int, list[Any] | None]]]
    is_on_one_core: bool = False
    rows: float = 1.0
    """Of all rows the share that it gets."""


@dataclass(frozen=True)
class Measured:
    """A set-up's run over its rows, and its start-up."""

    run: Watched
    starts: Sequence[Watched]
    rows: int
    equal: int

    @property
    def start(self) -> Watched:
        """The faster one."""
        return min(self.starts, key=lambda each: each.seconds)

    @property
    def is_long_enough(self) -> bool:
        """Whether its rows take so long that what start-up varies by means little."""
        spread = max(each.seconds for each in self.starts) - self.start.seconds
        return self.run.seconds - self.start.seconds >= max(self.start.seconds / 4, 3 * spread)

    @property
    def rate(self) -> float | None:
        """Rows a second after start-up; None when it was too short to tell."""
        if not self.is_long_enough:
            return None
        return (self.rows - FEW) / (self.run.seconds - self.start.seconds)

    @property
    def processor(self) -> float | None:
        """Of the command's own process, seconds a row after start-up; None as of `rate`."""
        if not self.is_long_enough:
            return None
        return max(0.0, self.run.processor - self.start.processor) / (self.rows - FEW)


def annotate_command(rows: Path, out: Path, model: str, workers: int, *more: str) -> list[str]:
    """The command line of `annotate`."""
    return [
        *(sys.executable, "-m", "trigner", "annotate", str(rows), str(out)),
        *("--model", model, "--workers", str(workers), *more),
    ]


def set_ups(model: str, workers: Sequence[int], *, spark: bool) -> dict[str, SetUp]:
    """Name -> set-up, without those that cannot run here."""

    def extract(rows: Path, out: Path) -> list[str]:
        command = [sys.executable, "-m", "trigner", "extract", str(rows), "--model", model]
        return [*command, "--format", "jsonl", "--out", str(out)]

    found = {
        EXTRACT: SetUp(extract, _lines, is_on_one_core=True),
        ALL_CORES: SetUp(extract, _lines, rows=0.25),
    }
    for number in workers:
        if number and find_spec("ray") is None:
            continue
        found[annotate_name(number)] = SetUp(
            lambda rows, out, number=number: annotate_command(rows, out, model, number), _parquet
        )
    if spark and find_spec("pyspark") is not None and shutil.which("java") is not None:
        cores = max(workers)
        found[f"{SPARK} local[{cores}]"] = SetUp(
            lambda rows, out: [
                *(sys.executable, "-m", "speed.on_spark", str(rows), str(out), model, str(cores))
            ],
            _parquet,
        )
    return found


def annotate_name(workers: int) -> str:
    """How a set-up of `annotate` is called."""
    return f"annotate, {workers} worker{'' if workers == 1 else 's'}"


def measure(
    texts: Texts,
    rows: int,
    model: str,
    folder: Path,
    *,
    workers: Sequence[int] = (1, 2),
    spark: bool = True,
    tell: Tell,
) -> tuple[Section, dict[str, Measured]]:
    """Every set-up, one after the other; `extract` comes first, as others must find the same."""
    found: dict[str, Measured] = {}
    expected: dict[int, list[Any]] = {}
    known = set_ups(model, workers, spark=spark)
    for name, own in known.items():
        tell(name)
        number = max(2 * FEW, round(own.rows * rows))
        found[name] = one(name, own, texts, number, folder, expected)
    section = Section(
        "Rows a second, after start-up",
        notes=[
            f"{rows:,} documents: {texts.told()}, as one file of JSON lines; the same for all, "
            f"{ALL_CORES} reads the first quarter. Each is its command as users give it, "
            "from the reading of the file to output on the disk. Start-up is the faster of "
            f"{STARTS} runs of {FEW} rows, and is taken off with them. {EXTRACT} is held on one "
            "core, as a worker has one thread; what else Spark and Ray do is not.",
        ],
    )
    section.figures.extend(_comparisons(found, workers))
    for name, measured in found.items():
        section.figures.append(_rate(name, measured))
    section.figures.extend(_equal(found))
    return section, found


def one(
    name: str, own: SetUp, texts: Texts, rows: int, folder: Path, expected: dict[int, list[Any]]
) -> Measured:
    """One set-up. The first one's entities become those expected of the others."""
    few = write_lines(texts, FEW, folder / "few.jsonl")
    path = write_lines(texts, rows, folder / f"{rows}.jsonl")
    starts = [_run(own, few, folder / "start")[0] for _ in range(STARTS)]
    run, entities = _run(own, path, folder / "out")
    if not expected:
        expected.update(entities)
    equal = sum(expected.get(row) == there for row, there in entities.items())
    if len(entities) != rows:
        raise RuntimeError(f"{name}: {len(entities):,} rows came of {rows:,}")
    return Measured(run, starts, rows, equal)


def _run(own: SetUp, rows: Path, out: Path) -> tuple[Watched, dict[int, list[Any] | None]]:
    run = watched(own.command(rows, out), on_one_core=own.is_on_one_core)
    entities = dict(own.read(out))
    if out.is_dir():
        shutil.rmtree(out)
    else:
        out.unlink()
    return run, entities


def _lines(out: Path) -> Iterator[tuple[int, list[Any] | None]]:
    """What `extract` has written."""
    with out.open(encoding="utf-8") as file:
        for line in file:
            value = json.loads(line)
            yield (
                int(value["id"]),
                [
                    (e["label"], tuple(map(tuple, e["fragments"])), e["text"], e["score"])
                    for e in value["entities"]
                ],
            )


def _parquet(out: Path) -> Iterator[tuple[int, list[Any] | None]]:
    """What `annotate` and Spark have written."""
    for path in sorted(out.glob("part-*.parquet")):
        table = pq.ParquetFile(path).read(columns=["id", "entities"])
        for row in table.to_pylist():
            yield (
                int(row["id"]),
                None if row["entities"] is None else [as_tuple(each) for each in row["entities"]],
            )


def as_tuple(entity: Mapping[str, Any]) -> tuple[Any, ...]:
    """An entity of a table, to be compared with others."""
    fragments = tuple((each["start"], each["end"]) for each in entity["fragments"])
    return entity["label"], fragments, entity["text"], entity["score"]


def _comparisons(found: Mapping[str, Measured], workers: Sequence[int]) -> Iterator[Figure]:
    rates = {name: own.rate for name, own in found.items() if own.rate is not None}
    one_worker, two = annotate_name(1), annotate_name(2)
    for of, to, goal in ((one_worker, EXTRACT, WORKERS_GOAL), (two, one_worker, SECOND_GOAL)):
        if of in rates and to in rates:
            yield ratio(f"{of}: of {to}'s rows a second", rates[of] / rates[to], goal)
    for name in rates:
        if name.startswith(SPARK) and annotate_name(max(workers)) in rates:
            beside = annotate_name(max(workers))
            yield ratio(f"{name}: of {beside}'s rows a second", rates[name] / rates[beside])
    if ALL_CORES in rates and EXTRACT in rates:
        beside = f"{ALL_CORES}: of {EXTRACT}'s rows a second"
        yield ratio(beside, rates[ALL_CORES] / rates[EXTRACT])


def ratio(what: str, value: float, goal: float | None = None, note: str = "") -> Figure:
    """A ratio of one run, which must reach its goal where there is one."""
    target = "" if goal is None else f"≥ {goal:g} x"
    return Figure(
        what, f"{value:.2f} x", target, None if goal is None else value >= goal, value, note
    )


def _rate(name: str, measured: Measured) -> Figure:
    run, start, rate = measured.run, measured.start.seconds, measured.rate
    memory = [f"{run.peak:.0f} MB its own process"]
    for kind, count in (
        ("actor", run.most),
        ("Spark's Python worker", run.most),
        ("Java", run.sum),
    ):
        if (most := count(kind)) > 0:
            memory.append(f"{most:.0f} MB {kind}")
    if (ray := run.sum("Ray")) > 0:
        memory.append(f"{ray:.0f} MB Ray's own processes together")
    note = (
        f"{measured.rows:,} rows: {run.seconds - start:.0f} s, start-up {start:.1f} s apart; "
        f"most memory: {', '.join(memory)}"
    )
    told = "too few rows to tell" if rate is None else f"{rate:.1f} rows a second"
    return Figure(name, told, value=rate, note=note)


def _equal(found: Mapping[str, Measured]) -> Iterator[Figure]:
    for name, measured in found.items():
        if name != EXTRACT:
            yield Figure(
                f"{name}: entities and scores equal to {EXTRACT}'s",
                f"{measured.equal:,} of {measured.rows:,} rows",
                "every row",
                measured.equal == measured.rows,
                measured.equal / measured.rows,
            )
