"""`trigner info`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml

from trigner.cli.options import Json, model_folder
from trigner.cli.output import note, print_json, results
from trigner.model_folder import BUNDLED, read_description


def info(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="[MODEL]",
            callback=model_folder,
            show_default="the one that ships with trigner",
            help="A model folder, or a name on the Hub.",
        ),
    ] = BUNDLED,
    json: Json = False,
) -> None:
    """Show what a model finds, what it was trained with and how it scored on dev."""
    description = read_description(model)
    provenance = description.get("provenance", {})
    if "dev" in provenance and "calibration" not in provenance:
        # Fitted when the last epoch is over.
        note(
            ["its training was interrupted: this is the best epoch so far; train --resume goes on"]
        )
    if json:
        print_json(description)
    else:
        text = yaml.safe_dump(description, sort_keys=False, allow_unicode=True)
        results().print(text, markup=False, highlight=False, soft_wrap=True)
