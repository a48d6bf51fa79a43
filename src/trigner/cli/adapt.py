"""`trigner adapt`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trigner.cli.options import ENCODER_HELP, Device, FileOptions, Json
from trigner.cli.output import Show, counting, note, print_json, results
from trigner.encoders import check_encoder
from trigner.errors import InputError, require_extra, validation_message

if TYPE_CHECKING:
    from trigner.training.adaptation import AdaptationSettings, Progress


def adapt(
    text: Annotated[Path, typer.Option("--text", help="Text or annotated documents to train on.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for the adapted encoder.")],
    encoder: Annotated[str, typer.Option("--encoder", help=ENCODER_HELP)] = "minilm",
    dev: Annotated[
        Path | None,
        typer.Option("--dev", help="Text to select the best epoch on (default: 10 % of --text)."),
    ] = None,
    epochs: Annotated[
        int, typer.Option("--epochs", min=1, help="Passes over the text; the best is kept.")
    ] = 20,
    batch_size: Annotated[
        int, typer.Option("--batch-size", min=1, help="Passages in a batch.")
    ] = 16,
    learning_rate: Annotated[
        float, typer.Option("--learning-rate", help="Learning rate; it falls linearly to 0.")
    ] = 2e-5,
    mask_probability: Annotated[
        float, typer.Option("--mask-probability", help="Share of words that are masked.")
    ] = 0.20,
    precision: Annotated[
        str,
        typer.Option(
            "--precision",
            metavar="PRECISION",
            help="Floating-point precision: float32, bfloat16 (less memory and, on recent GPUs,"
            " less time) or float16 (CUDA only).",
        ),
    ] = "float32",
    seed: Annotated[
        int,
        typer.Option("--seed", help="Random seed, for example for the choice of words to mask."),
    ] = 1898,
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
    check_encoder(encoder)
    from trigner.training.adaptation import adapt as run

    settings = _settings(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        mask_probability=mask_probability,
        precision=precision,
        seed=seed,
    )
    texts = [document.text for document in reading.read(text).documents]
    dev_texts = None if dev is None else [document.text for document in reading.read(dev).documents]
    with counting("adapting") as show:
        adapted = run(
            texts,
            encoder=encoder,
            out=out,
            dev_texts=dev_texts,
            settings=settings,
            resume=resume,
            device=device,
            progress=_shown_by(show, epochs),
            report=lambda message: note([message]),
        )
    if json:
        losses = {"before": adapted.dev_loss_before, "after": min(adapted.dev_losses)}
        print_json({"encoder": str(out), "epoch": adapted.best_epoch, "dev_loss": losses})
        return
    console = results()
    console.print(
        f"dev loss {adapted.dev_loss_before:.4f} before, {min(adapted.dev_losses):.4f} after epoch"
        f" {adapted.best_epoch} of {epochs}",
        highlight=False,
    )
    console.print(f"encoder: {out}", markup=False, highlight=False)


def _settings(**values: Any) -> AdaptationSettings:
    from pydantic import ValidationError

    from trigner.training.adaptation import AdaptationSettings

    try:
        return AdaptationSettings(**values)
    except ValidationError as error:
        named = (
            f"--{e['loc'][0]}".replace("_", "-") + f" {validation_message(e)}"
            for e in error.errors()
        )
        raise InputError("; ".join(named)) from error


def _shown_by(show: Show, epochs: int) -> Callable[[Progress], None]:
    def report(state: Progress) -> None:
        loss = "" if state.dev_loss is None else f", dev loss {state.dev_loss:.3f}"
        show(state.step, state.steps, f" updates, epoch {state.epoch:.1f} of {epochs}{loss}")

    return report
