"""`trigner info`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.table import Table
from rich.text import Text

from trigner.cli.options import MODEL_HELP, Json, model_folder
from trigner.cli.output import note, note_interrupted, print_json, results, tables
from trigner.machine import counted, mapping, number, text, whole_number
from trigner.models import BUNDLED, Description, need, read_description
from trigner.rendering import say
from trigner.systems import SystemSpec, systems, unusable_systems


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
        bool, typer.Option("--systems", help="List the systems that can be trained, instead.")
    ] = False,
    all_: Annotated[
        bool, typer.Option("--all", help="Show every setting, size and hash, as YAML.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what a model finds, what it was trained on and how it scored on dev.

    --all shows everything in its description; --json prints the same as one object.
    """
    if systems_:
        _show_systems(json)
        return
    from trigner.pipeline import spec_of

    description = read_description(model)
    spec = spec_of(model, description)
    note_interrupted(model)
    if json:
        print_json(everything(description))
    elif not all_:
        _show_summary(summary(model, description, spec))
    else:
        shown = yaml.safe_dump(everything(description), sort_keys=False, allow_unicode=True)
        say(results(), shown)


def everything(description: Description) -> dict[str, Any]:
    """A description in full, as JSON."""
    head = {"format": description.format, "trigner": description.trigner}
    return {**head, **description.model_dump(mode="json", exclude_defaults=True)}


def summary(model: Path, description: Description, spec: SystemSpec) -> dict[str, str]:
    """What matters, by its name, without what is not known or of another kind than it should be.

    Raises InputError when the folder lacks a file of the model.
    """
    need(model, description.files)
    known = description.provenance
    if description.runtime is not None:
        runs = f"ONNX, {description.runtime.precision}"
    else:
        runs = "PyTorch" if spec.package == "trigner" else spec.package
    size = sum((model / name).stat().st_size for name in description.all_files) / 1e6
    train = (
        (known.train.documents, "document", None),
        (known.train.sentences, "sentence", None),
        (known.train.mentions, "entity", "entities"),
    )
    # Other parts with scores are what a release was tested on.
    parts = {"dev": known.dev.model_dump(), **(known.model_extra or {})}
    lines = {
        "model": f"{model} ({size:.1f} MB, {runs})",
        "finds": ", ".join(description.labels),
        "system": spec.name,
        "encoder": text(known.settings.get("encoder")) if spec.encoder is not None else None,
        "preset": text(known.settings.get("preset")),
        "data": known.data,
        "trained on": ", ".join(counted(n, one, more) for n, one, more in train if n),
        **{name: _rates(part) for name, part in parts.items()},
        "licence": known.licence,
        "format": f"{description.format}, written by trigner {description.trigner}",
    }
    return {name: value for name, value in lines.items() if value}


def _show_summary(lines: Mapping[str, str]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in lines.items():
        table.add_row(Text(name, style="bold"), Text(value))
    results().print(table)
    results().print("\nAll settings: --all. For programs: --json.", highlight=False)


def _rates(part: object) -> str:
    """The scores of a part, all of its entities and the discontinuous ones; empty without any."""
    scores = mapping(mapping(part).get("scores"))
    overall = mapping(scores.get("overall", scores))
    of_discontinuous = mapping(scores.get("discontinuous")).get("f1")
    rates = {
        **{name: overall.get(key) for name, key in zip(("F1", "P", "R"), RATES, strict=True)},
        "discontinuous F1": scores.get("discontinuous_f1", of_discontinuous),
    }
    known = {name: rate for name, value in rates.items() if (rate := number(value)) is not None}
    shown = ", ".join(f"{name} {100 * rate:.1f}" for name, rate in known.items())
    documents = whole_number(mapping(part).get("documents"))
    return shown + (f" on {counted(documents, 'document')}" if shown and documents else "")


RATES = ("f1", "precision", "recall")


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
    tables().print(table)
    note(unusable_systems().values())
