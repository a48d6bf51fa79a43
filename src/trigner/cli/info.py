"""`trigner info`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.table import Table

from trigner.cli.options import MODEL_HELP, Json, model_folder
from trigner.cli.output import note, print_json, results
from trigner.model_folder import BUNDLED, read_description
from trigner.systems import systems, unusable_systems


def info(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="[MODEL]",
            parser=model_folder,
            show_default="bundled",
            help=MODEL_HELP,
        ),
    ] = BUNDLED,
    systems_: Annotated[
        bool, typer.Option("--systems", help="Show the systems that can be trained, instead.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what a model finds, what it was trained with and how it scored on dev."""
    if systems_:
        _show_systems(json)
        return
    from trigner.inference import spec_of

    description = read_description(model)
    provenance = description.provenance
    calibrated = spec_of(model, description).calibration
    if calibrated and provenance.dev.epoch is not None and provenance.calibration is None:
        # Fitted when the last epoch is over.
        note(
            ["its training was interrupted: this is the best epoch so far; train --resume goes on"]
        )
    head = {"format": description.format, "trigner": description.trigner}
    shown = {**head, **description.model_dump(mode="json", exclude_defaults=True)}
    if json:
        print_json(shown)
    else:
        text = yaml.safe_dump(shown, sort_keys=False, allow_unicode=True)
        results().print(text, markup=False, highlight=False, soft_wrap=True)


def _show_systems(json: bool) -> None:
    """A row for each system that is installed."""
    rows = systems().values()
    if json:
        print_json(
            {
                row.name: {"about": row.about, "package": row.package, "can": row.capabilities}
                for row in rows
            }
        )
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("system", no_wrap=True)
    for column in ("what it is", "can", "package"):
        table.add_column(column)
    for row in rows:
        table.add_row(row.name, row.about, ", ".join(row.capabilities), row.package)
    results().print(table)
    note(unusable_systems().values())
