"""A job: the rows of sources, annotated by workers, as parts of an output.

The process that runs it is the only one that reads and writes; workers know nothing of files. So
it does not matter when one of them ends, and a row is in the output when the journal says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from trigner.errors import InputError
from trigner.pipeline import RunStatistics
from trigner.pipeline.bulk.failures import UnreadableError
from trigner.pipeline.bulk.json_values import json_columns, json_type
from trigner.pipeline.bulk.output import Output
from trigner.pipeline.bulk.progress import Progress
from trigner.pipeline.bulk.reading import ROWS, RowBatch, batches
from trigner.pipeline.bulk.shapes import PLACE, Columns, Shape
from trigner.pipeline.bulk.sources import InputFiles
from trigner.pipeline.bulk.tables import annotated_schema, without
from trigner.pipeline.bulk.texts import MOST_CHARACTERS
from trigner.pipeline.bulk.workers import Annotated, Workers

PART_ROWS = 10_000
"""Rows of a part of the output, unless their texts are long."""

PART_BYTES = 4_000_000
"""Of the texts of a part, about: ten minutes of one core, which is what a kill may cost."""


@dataclass(eq=False)
class OutputPart:
    """Neighbouring rows of a source that become one file, with those of them that are done."""

    source: int
    first: int
    rows: int = 0
    bytes: int = 0
    is_closed: bool = False
    done: dict[int, pa.Table] = field(default_factory=dict)
    statistics: RunStatistics = field(default_factory=RunStatistics)

    @property
    def end(self) -> int:
        return self.first + self.rows

    def holds(self, batch: RowBatch) -> bool:
        """Whether the rows of a batch are among its own."""
        return self.source == batch.source and self.first <= batch.first < self.end

    @property
    def is_whole(self) -> bool:
        """Whether it is known which rows it has, and all are done."""
        return self.is_closed and sum(own.num_rows for own in self.done.values()) == self.rows


class Job:
    """The rows of `sources` that are not in the output yet.

    `shapes` are what a look at the sources has shown, an error for one that cannot be read.
    """

    def __init__(
        self,
        sources: Sequence[InputFiles],
        shapes: Sequence[Shape | InputError],
        columns: Columns,
        output: Output,
        *,
        fingerprint: str,
        part_rows: int = PART_ROWS,
        most_characters: int = MOST_CHARACTERS,
    ) -> None:
        self.unreadable: dict[str, str] = {}
        """Sources that could not be read to their end, and why."""
        self._missing: int | None = 0
        """The rows of these, None when nobody knows."""
        self.progress = Progress()
        self._sources, self._shapes, self._columns = sources, shapes, columns
        self._output = output
        self._fingerprint = fingerprint
        self._part_rows, self._most_characters = part_rows, most_characters
        place = map(pa.field, PLACE, (pa.string(), pa.int64()))
        kept: Iterable[pa.Field] = columns.kept
        if output.format == "jsonl":
            kept = [own.with_type(json_type(own.type)) for own in kept]
        found = annotated_schema(kept, fingerprint)
        self._schema = pa.schema([*found, *place], metadata=found.metadata)
        self._open: list[OutputPart] = []
        self._read: set[int] = set()

    def run(self, workers: Workers, show: Callable[[Progress], object]) -> dict[str, Any]:
        """Annotate what is missing; the summary of the whole output."""
        self._expect()
        for batch, result in workers.annotated(self._batches()):
            self._add(batch, result)
            self._publish()
            show(self.progress)
        self._publish()
        summary = self._summary()
        self._output.conclude(summary)
        return summary

    def _expect(self) -> None:
        for index, (source, shape) in enumerate(zip(self._sources, self._shapes, strict=True)):
            if isinstance(shape, InputError):
                self._note_unreadable(source, shape)
            elif index in self._output.complete:
                self.progress.expect(self._output.finished[index].rows, source.size)
            else:
                self.progress.expect(shape.rows, source.size)
        counts = self._output.counts
        self.progress.begin(counts.rows, counts.errors)

    def _note_unreadable(self, source: InputFiles, error: InputError) -> None:
        self.unreadable[source.name] = error.message
        missing = error.missing if isinstance(error, UnreadableError) else None
        known = self._missing
        self._missing = None if known is None or missing is None else known + missing

    def _batches(self) -> Iterator[RowBatch]:
        """All that is to be done, each batch in a part that is open."""
        for index, (source, shape) in enumerate(zip(self._sources, self._shapes, strict=True)):
            if isinstance(shape, InputError) or index in self._output.complete:
                continue
            try:
                finished = self._output.finished[index]
                given = batches(
                    *(index, source, self._columns, finished),
                    rows=min(ROWS, self._part_rows),
                    most_characters=self._most_characters,
                )
                for batch in given:
                    if shape.rows is None:
                        self.progress.read(index, batch.end, batch.share, source.size)
                    self._draw(batch)
                    yield batch
            except InputError as error:
                self._note_unreadable(source, error)
            else:
                self._read.add(index)
            self._close()

    def _draw(self, batch: RowBatch) -> None:
        """Give a batch its place in the part that is being filled, or in a new one."""
        part = self._open[-1] if self._open and not self._open[-1].is_closed else None
        fits = part is not None and (part.source, part.end) == (batch.source, batch.first)
        if part is None or not fits or self._is_full(part, batch):
            self._close()
            part = OutputPart(batch.source, batch.first)
            self._open.append(part)
        part.rows += batch.rows
        part.bytes += batch.texts.nbytes + batch.kept.nbytes

    def _is_full(self, part: OutputPart, batch: RowBatch) -> bool:
        return part.rows + batch.rows > self._part_rows or part.bytes > PART_BYTES

    def _close(self) -> None:
        if self._open:
            self._open[-1].is_closed = True

    def _add(self, batch: RowBatch, result: Annotated) -> None:
        part = next(own for own in self._open if own.holds(batch))
        found, statistics = result
        error = found.column("error").to_pylist()
        kept, entities, bad = batch.kept, found.column("entities"), batch.unreadable
        if self._output.format == "jsonl":
            kept, impossible = json_columns(kept)
            if impossible:
                entities, bad = without(entities, impossible), impossible | bad
        for n, why in bad.items():
            error[n] = why
        name = self._sources[batch.source].name
        part.done[batch.first] = pa.table(
            [
                *kept.columns,
                entities,
                pa.array(error, pa.string()),
                pa.array([name] * batch.rows, pa.string()),
                pa.array(range(batch.first, batch.end), pa.int64()),
            ],
            schema=self._schema,
        )
        part.statistics.add(statistics)
        self.progress.done += batch.rows
        self.progress.errors += sum(why is not None for why in error)

    def _publish(self) -> None:
        """Write the parts that are whole, and note the sources that are."""
        for part in [own for own in self._open if own.is_whole]:
            table = pa.concat_tables(part.done[first] for first in sorted(part.done))
            self._output.write(part.source, part.first, table, part.statistics)
            self._open.remove(part)
        for source in self._read - {part.source for part in self._open}:
            self._output.finish(source)
            self._read.remove(source)

    def _summary(self) -> dict[str, Any]:
        counts = self._output.counts
        return {
            **{name: getattr(counts, name) for name in ("rows", "entities", "errors", "parts")},
            **asdict(counts.statistics),
            "model": self._fingerprint,
            "unreadable": self.unreadable,
            "missing_rows": self._missing,
            "complete": len(self._output.complete) == len(self._sources),
        }
