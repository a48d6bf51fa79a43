"""`trigner export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Json, ModelFolder, Overwrite
from trigner.cli.output import errors, print_json, refuse_non_empty, results
from trigner.errors import InputError, require_extra
from trigner.machine import check_folder, is_leftover, left_of
from trigner.models import DESCRIPTION, GRAPH, TOKENIZER, read_description


def export(
    model: ModelFolder,
    out: Annotated[Path, typer.Option("--out", help="New folder for the exported model.")],
    int8: Annotated[
        bool,
        typer.Option(
            "--int8", help="Compute the encoder in 8 bits: a quarter of the size, faster."
        ),
    ] = False,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Export a model to ONNX: extract, evaluate and info then need no PyTorch.

    Nothing is written unless the exported model scores like the original. --int8 changes scores a
    little: compare both folders with `trigner evaluate`.

    Example:  trigner export --model model --out small --int8
    """
    check_folder(out)
    refuse_non_empty(out, overwrite=overwrite)
    if overwrite and out.is_dir() and not all(map(is_leftover, out.iterdir())):
        _check_is_export(out)
    from trigner.pipeline import spec_of

    description = read_description(model)
    if description.is_exported:
        raise InputError(
            "is already an exported model: export the model that it was made from", path=model
        )
    spec = spec_of(model, description)
    spec.require("export")
    require_extra("train", "torch", "transformers")
    require_extra("export", "onnx", "onnxscript")
    with errors().status("exporting"):
        spec.implementation("export")(model, out, int8=int8, overwrite=overwrite)
    size = sum(file.stat().st_size for file in out.iterdir())
    if json:
        print_json({"model": str(out), "bytes": size})
        return
    results().print(f"model: {out} ({size / 1e6:.1f} MB)", markup=False, highlight=False)


def _check_is_export(out: Path) -> None:
    """Raises InputError for a folder of anything but an exported model: it might be needed.

    One that a killed export left has no description yet.
    """
    own = {out / name for name in (GRAPH, TOKENIZER, DESCRIPTION)}
    left, there = left_of(own), {*out.iterdir()}
    if left and out / DESCRIPTION not in there and there <= own | left:
        return
    if read_description(out).runtime is None:
        message = "holds a trained model: --overwrite only replaces exported models"
        raise InputError(message, path=out)
