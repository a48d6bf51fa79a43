"""The folder of a job: parts of the output, and a journal of those that are whole.

    part-00003-000000010000.parquet    rows of source 3 from its row 10,000 on
    _annotate/job.json                 what the job depends on
    _annotate/journal.jsonl            a line for each part, written when the part has its name
    _annotate/summary.json             the summary of the last run that came to its end
    _SUCCESS                           the summary, written when every row is in a part

Readers of such folders pass over names with an underscore or a dot. A part that the journal does
not know was written by a process that ended before it could say so: it is removed, and its rows
are read again.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from trigner import __version__
from trigner.errors import InputError
from trigner.machine import (
    check_folder,
    check_own,
    explained,
    is_leftover,
    locked,
    own_file,
    staged,
    write_text,
)
from trigner.pipeline import RunStatistics
from trigner.pipeline.bulk.ranges import Ranges

STATE, JOB, JOURNAL, LOCK = "_annotate", "job.json", "journal.jsonl", "lock"
SUMMARY = "summary.json"
SUCCESS = "_SUCCESS"
DAMAGED = "is damaged, so nothing can be resumed: choose a new folder"


@dataclass
class Counts:
    """What is in the output: rows, entities in them, rows with an error, and the run's own."""

    parts: int = 0
    rows: int = 0
    entities: int = 0
    errors: int = 0
    statistics: RunStatistics = field(default_factory=RunStatistics)

    def add(self, other: Counts) -> None:
        self.parts += other.parts
        self.rows += other.rows
        self.entities += other.entities
        self.errors += other.errors
        self.statistics.add(other.statistics)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Counts:
        """From what `asdict` gave. Raises TypeError for anything else."""
        return cls(**{**value, "statistics": RunStatistics(**value["statistics"])})


class Output:
    """The folder of a job that this process works on: made by `begun`."""

    def __init__(self, folder: Path, format: str) -> None:
        self.folder = folder
        self.counts = Counts()
        self.finished: dict[int, Ranges] = defaultdict(Ranges)
        """The rows of each source that are in a part."""
        self.complete: set[int] = set()
        """The sources of which every row is."""
        self.summary: dict[str, Any] | None = None
        """That of a job that is done."""
        self.format = format
        self._journal = folder / STATE / JOURNAL

    def write(self, source: int, first: int, table: pa.Table, statistics: RunStatistics) -> None:
        """Add a part; when this returns, its rows are in the output whatever happens."""
        path = self.folder / f"part-{source:05d}-{first:012d}.{self.format}"
        with staged(path) as temporary, explained(path), temporary.open("wb") as file:
            _WRITERS[self.format](table, file)
            _to_disk(file)
        counts = _counted(table, statistics)
        self._note({"part": path.name, "source": source, "first": first, "counts": asdict(counts)})
        self._count(source, first, counts)

    def finish(self, source: int) -> None:
        """Every row of a source is in a part."""
        self._note({"complete": source})
        self.complete.add(source)

    def conclude(self, summary: dict[str, Any]) -> None:
        """Everything that could be done is; `complete` says whether that is every row."""
        content = json.dumps(summary, ensure_ascii=False) + "\n"
        write_text(self.folder / STATE / SUMMARY, content)
        if summary["complete"]:
            write_text(self.folder / SUCCESS, content)

    def _note(self, line: dict[str, Any]) -> None:
        with explained(self._journal), open(self._journal, "ab", opener=own_file) as file:
            file.write(json.dumps(line).encode() + b"\n")
            _to_disk(file)

    def _count(self, source: int, first: int, counts: Counts) -> None:
        self.counts.add(counts)
        self.finished[source].add(first, first + counts.rows)

    def resume(self) -> None:
        """Take over what is there, and remove what a killed process left."""
        known = set()
        for number, line in enumerate(_whole_lines(self._journal), 1):
            try:
                value = json.loads(line)
                if "complete" in value:
                    self.complete.add(value["complete"])
                    continue
                known.add(str(value["part"]))
                self._count(value["source"], value["first"], Counts.from_dict(value["counts"]))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise InputError(DAMAGED, path=self._journal, line=number) from error
        there = {path.name: path for path in self.folder.iterdir()}
        if gone := sorted(known - set(there)):
            message = f"{len(gone):,} parts of the output are missing, first {gone[0]}: restore"
            raise InputError(f"{message} them, or choose a new folder", path=self.folder)
        for name, path in there.items():
            if is_leftover(path) or (name.startswith("part-") and name not in known):
                path.unlink()
        if (success := self.folder / SUCCESS).is_file():
            self.summary = _object(success)


@contextmanager
def begun(folder: Path, made_with: Mapping[str, Any], *, format: str) -> Iterator[Output]:
    """The output of a job, new or, where the same job was begun in this folder, as it was left.

    Raises InputError when the folder holds something else, or links in place of the job's files,
    and when another process works on it.
    """
    state = folder / STATE
    _refuse_others(folder)
    for own in (state, state / JOB, state / JOURNAL, state / SUMMARY, folder / SUCCESS):
        check_own(own)
    with explained(folder):
        state.mkdir(parents=True, exist_ok=True)
    busy = "is being written by another process: wait for it, or choose another folder"
    with locked(state / LOCK, busy=InputError(busy, path=folder)):
        known = json.loads(json.dumps({"trigner": __version__, **made_with}))
        if (state / JOURNAL).is_file():
            _check_same(state / JOB, known)
        else:  # nothing was done yet
            write_text(state / JOB, json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        output = Output(folder, format)
        output.resume()
        yield output


def _refuse_others(folder: Path) -> None:
    check_folder(folder)
    own = (folder / STATE).is_dir()
    if folder.is_dir() and not own and not all(map(is_leftover, folder.iterdir())):
        raise InputError("is not empty: choose a new folder", path=folder)


def _object(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it is not an object")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(DAMAGED, path=path) from error
    return content


def _check_same(path: Path, now: Mapping[str, Any]) -> None:
    before = _object(path)
    names = dict.fromkeys([*before, *now])
    if other := [name for name in names if before.get(name) != now.get(name)]:
        message = f"holds a job that was started with different {', '.join(other)}"
        if other == ["input"] and isinstance(before.get("input"), list):
            with suppress(TypeError, ValueError):  # the record may hold anything
                difference = _difference(before["input"], now["input"])
                message = f"holds a job of other inputs: {difference}"
        raise InputError(
            f"{message}: continue with the same, or choose a new folder", path=path.parent.parent
        )


def _difference(before: list[list[str]], now: list[list[str]]) -> str:
    """What is different between inputs, given as names and what is different when they are."""
    old, new = dict(before), dict(now)
    for name in {**old, **new}:
        if name not in new:
            return f"{name} is not among them now"
        if name not in old:
            return f"{name} is new"
        if old[name] != new[name]:
            return f"{name} was changed"
    return "they are in another order"


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a journal, which is cut behind the last whole one."""
    if not path.exists():
        return []
    with explained(path), open(path, "r+b", opener=own_file) as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        file.truncate(end)
    return content[:end].splitlines()


def _counted(table: pa.Table, statistics: RunStatistics) -> Counts:
    errors = table.num_rows - table.column("error").null_count
    entities = sum(len(chunk.flatten()) for chunk in table.column("entities").chunks)
    return Counts(1, table.num_rows, entities, errors, statistics)


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _write_parquet(table: pa.Table, file: BinaryIO) -> None:
    pq.write_table(table, file, compression="zstd")


def _write_lines(table: pa.Table, file: BinaryIO) -> None:
    for record in table.to_batches(max_chunksize=1000):
        for row in record.to_pylist():
            line = json.dumps(_as_json(row), ensure_ascii=False, allow_nan=False)
            file.write(line.encode() + b"\n")


def _as_json(value: Any) -> Any:
    """A value of `json_columns` in JSON: numbers that are none are null, what is else strings."""
    match value:
        case dict():
            return {str(key): _as_json(own) for key, own in value.items()}
        case list() | tuple():
            return [_as_json(own) for own in value]
        case float() if value != value or value in (float("inf"), float("-inf")):
            return None
        case str() | int() | float() | None:
            return value
    return str(value)


_WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    "parquet": _write_parquet,
    "jsonl": _write_lines,
}
