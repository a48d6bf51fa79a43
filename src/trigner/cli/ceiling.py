"""`trigner ceiling`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from trigner.cli.options import CorpusOptions, Data, Json, print_left_out
from trigner.cli.output import (
    comma_list,
    note_repeated,
    note_types_alike,
    print_json,
    progress,
    results,
    tables,
)
from trigner.evaluation import FORMAT, Ceiling, Lost, ceilings, percentages, report_table
from trigner.machine import counted
from trigner.mentions import types_of
from trigner.rendering import printable, surface
from trigner.systems import system_spec, systems


def ceiling(
    data: Data,
    json: Json = False,
    lost: Annotated[
        int,
        typer.Option(
            "--lost", metavar="N", min=0, help="List the first N entities that each system loses."
        ),
    ] = 3,
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            metavar="A,B",
            help="Only these systems; by default all that have a ceiling.",
        ),
    ] = None,
    *,
    reading: CorpusOptions,
) -> None:
    """Measure the best score that each system could reach on these annotations.

    The annotations are encoded and decoded again. Losses arise before any training: from splitting
    into sentences, from words that do not align, or from the system's format, with its default
    settings. Spurious entities are those that come back without having been annotated.

    Example:  trigner ceiling --data annotated/ --lost 20
    """
    if names := comma_list(system):
        chosen = [system_spec(name) for name in names]
        for spec in chosen:
            spec.require("ceiling")
    else:
        chosen = [spec for spec in systems().values() if spec.round_trip is not None]
    corpus = reading.read(data)
    documents = corpus.documents
    note_repeated(data, documents)
    note_types_alike(data, documents)
    labels = types_of(documents)
    found = ceilings(
        progress(documents, total=len(documents), what="encoding and decoding"),
        {
            spec.name: spec.round_trip(labels, spec.settings())
            for spec in chosen
            if spec.round_trip is not None
        },
    )
    if json:
        print_json({n: _as_json(reached, corpus.left_out, lost) for n, reached in found.items()})
        return
    console = results()
    tables().print(_table(found))
    print_left_out(corpus)
    for reason, number in next(iter(found.values())).lost_by.items():
        if reason != FORMAT:
            console.print(
                f"{counted(number, 'gold entity', 'gold entities')} lost to every system: {reason}"
            )
    for name, reached in found.items():
        if reached.incomplete:
            console.print(
                f"{name}: {counted(reached.incomplete, 'sentence')} hit the bound of decoding"
            )
    if lost and any(reached.lost_by_format for reached in found.values()):
        console.print(f"\nThe first {lost} that each system loses (--lost N for more):")
        console.print(_lost_table(found, lost))


def _table(found: Mapping[str, Ceiling]) -> Table:
    """A row for each system, rates in percent."""
    gold = next(iter(found.values()))
    caption = (
        f"of {counted(gold.overall.gold, 'entity', 'entities')}, {gold.discontinuous.gold:,} of"
        " them discontinuous; lost: by the system"
    )
    table = report_table(
        ("system",),
        ("P", "R", "F1", "disc. P", "disc. R", "disc. F1", "lost", "spurious"),
        caption=Text(caption, style="none"),
        caption_justify="left",
    )
    for name, reached in found.items():
        rates = percentages(reached.overall) + percentages(reached.discontinuous)
        table.add_row(name, *rates, f"{reached.lost_by_format:,}", f"{reached.spurious:,}")
    return table


def _lost_table(found: Mapping[str, Ceiling], number: int) -> Table:
    """The first entities that each system loses."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("system", "document", "type", "entity", "characters"):
        table.add_column(column, overflow="fold")
    for name, reached in found.items():
        for lost in _lost(reached, number):
            table.add_row(
                name,
                Text(printable(lost.document.id)),
                Text(printable(lost.entity.label)),
                Text(surface(lost.document, lost.entity)),
                " ".join(f"{start}-{end}" for start, end in lost.entity.fragments),
            )
    return table


def _as_json(reached: Ceiling, left_out: int, number: int) -> dict[str, Any]:
    """What `--json` prints of a system; with `number`, the first entities that it loses, too."""
    value = {**reached.as_json(), "left_out": left_out}
    if number:
        value["lost_entities"] = [lost.as_json() for lost in _lost(reached, number)]
    return value


def _lost(reached: Ceiling, number: int) -> list[Lost]:
    """The first entities that a system loses."""
    return [lost for lost in reached.lost_entities if lost.reason == FORMAT][:number]
