"""`trigner adapt`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from trigner.cli.options import ENCODER_HELP, Device, FileOptions, Json
from trigner.cli.output import counting, note, print_json, refuse_non_empty, results
from trigner.encoders import check_encoder
from trigner.errors import InputError, require_extra, validation_message


def adapt(
    text: Annotated[Path, typer.Option("--text", help="Text or annotated documents to train on.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for the adapted encoder.")],
    encoder: Annotated[str, typer.Option("--encoder", help=ENCODER_HELP)] = "minilm",
    dev: Annotated[
        Path | None,
        typer.Option("--dev", help="Text to select the best epoch on (default: 10 % of --text)."),
    ] = None,
    epochs: Annotated[
        int, typer.Option("--epochs", help="Passes over the text; the best is kept.")
    ] = 20,
    batch_size: Annotated[int, typer.Option("--batch-size", help="Sentences in a batch.")] = 16,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="Learning rate; it falls linearly to 0.")
    ] = 2e-5,
    mask_probability: Annotated[
        float, typer.Option("--mask-probability", help="Share of words that are masked.")
    ] = 0.20,
    precision: Annotated[
        str, typer.Option("--precision", help="float32, or bfloat16 on a GPU that has it.")
    ] = "float32",
    seed: Annotated[int, typer.Option("--seed", help="Random seed.")] = 1898,
    device: Device = "auto",
    json: Json = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume an interrupted adaptation in --out.")
    ] = False,
    *,
    reading: FileOptions,
) -> None:
    """Adapt an encoder to your domain by masked language modelling.

    The result is an ordinary Hugging Face folder: give it to `trigner train --encoder`. Defaults
    are the paper's: whole words masked with probability 0.2, 20 epochs, best epoch on dev.

    Example:  trigner adapt --text notes/ --encoder dmis-lab/biobert-base-cased-v1.2 --out encoder
    """
    require_extra("train", "torch", "transformers")
    if not resume:
        refuse_non_empty(out)
    check_encoder(encoder)
    from trigner.training import AdaptationSettings
    from trigner.training import adapt as run

    settings = _checked(
        AdaptationSettings,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        mask_probability=mask_probability,
        precision=precision,
        seed=seed,
    )
    texts, dev_texts = (
        None if path is None else [document.text for document in reading.read(path).documents]
        for path in (text, dev)
    )
    with counting("adapting") as show:
        losses = run(
            texts or [],
            encoder=encoder,
            out=out,
            dev_texts=dev_texts,
            settings=settings,
            resume=resume,
            device=device,
            show=show,
            report=lambda message: note([message]),
        )
    best = min(losses)
    epoch = 1 + losses.index(best)
    if json:
        print_json({"encoder": str(out), "epoch": epoch, "dev_loss": best})
        return
    console = results()
    console.print(f"best epoch on dev: {epoch} of {epochs}, loss {best:.4f}", highlight=False)
    console.print(f"encoder: {out}", markup=False, highlight=False)


def _checked(settings: Any, **values: Any) -> Any:
    """Raises InputError that names the options at fault."""
    from pydantic import ValidationError

    try:
        return settings(**values)
    except ValidationError as error:
        named = (
            f"--{e['loc'][0]}".replace("_", "-") + f" {validation_message(e)}"
            for e in error.errors()
        )
        raise InputError("; ".join(named)) from error
