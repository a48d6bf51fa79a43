"""`trigner train`."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from trigner.cli.options import Device, Encoder, Json, ReportTo, Set, TrainingOptions, model_folder
from trigner.cli.output import (
    comma_list,
    errors,
    note,
    note_types_alike,
    print_json,
    refuse_non_empty,
    results,
    tables,
)
from trigner.corpora import Corpus, NoPartError
from trigner.encoders import check_encoder
from trigner.errors import InputError, require_extra
from trigner.evaluation import slices_table, unknown_labels
from trigner.machine import check_folder, counted
from trigner.mentions import Document, types_of
from trigner.systems import BUILT_IN, system_spec

# Of this package alone: to name those of others their code would have to run for every --help.
SYSTEMS = f"w2ner (default), {', '.join(name for name in BUILT_IN if name != 'w2ner')}"
HELD_OUT = 10  # percent of the documents that become dev when none is given


def train(
    train: Annotated[Path, typer.Option("--train", help="Annotated documents to train on.")],
    out: Annotated[Path, typer.Option("--out", help="New folder for the model.")],
    dev: Annotated[
        Path | None,
        typer.Option(
            "--dev",
            help="Documents to choose the best epoch on; default: 10 % of --train, held out.",
        ),
    ] = None,
    encoder: Encoder = None,
    system: Annotated[
        str | None,
        typer.Option(
            "--system",
            "--scheme",
            metavar="NAME",
            help=f"System to train: {SYSTEMS}, or one of an installed package. `trigner info"
            " --systems` says what each is.",
        ),
    ] = None,
    init_from: Annotated[
        Path | None,
        typer.Option(
            "--init-from",
            metavar="MODEL",
            parser=model_folder,
            help="Start from the weights of this model, a folder or a name on the Hub, with its"
            " encoder, system and model settings. For tag schemes its entity types may differ from"
            " the documents'.",
        ),
    ] = None,
    teacher: Annotated[
        list[Path] | None,
        typer.Option(
            "--teacher",
            metavar="MODEL",
            parser=model_folder,
            help="Also learn from this model, of the same system and entity types; repeat for"
            " several. It may be larger, or exported. optimisation.distillation is its weight.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted training in --out.")
    ] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="Random seed.")] = None,
    device: Device = "auto",
    config: Annotated[
        Path | None,
        typer.Option("--config", help="YAML file of settings; they override the preset's."),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="best (default), clean, w2ner, paper, paper-cadec, paper-share13, paper-share14"
            " (each with -disc too), paper-toe, paper-mac.",
        ),
    ] = None,
    set_: Set = None,
    report_to: ReportTo = None,
    json: Json = False,
    *,
    reading: TrainingOptions,
) -> None:
    """Train a model on annotated documents.

    The folder of a finished training is a model: give it to extract, evaluate or info. Settings
    come from the defaults, then --preset, --config, --set and the named options; later ones
    override earlier ones. `trigner info MODEL` shows what a model was trained with.

    Several processes or GPUs share each batch, with the same result:
    accelerate launch --num_processes 2 -m trigner train ...

    If --train and --dev are the same path, it is a corpus that has these parts, or lists of them.

    Example:  trigner train --train annotated/ --out model --set optimisation.epochs=5
    """
    require_extra("train", "torch", "transformers")
    if encoder is not None:
        # A row with an encoder of its own takes language models, and none of the short names.
        usual = system_spec("w2ner").encoder
        of_its_own = system is not None and system_spec(system).encoder not in (None, usual)
        check_encoder(encoder, language_model=of_its_own)
    from trigner.training import launched, resolve
    from trigner.training import train as run

    settings = resolve(
        preset=preset,
        file=config,
        assignments=set_ or (),
        options={"encoder": encoder, "system": system, "seed": seed},
        init_from=init_from,
    )
    check_folder(out)
    if not resume:
        refuse_non_empty(out)
    documents, held_out = _documents(train, dev, settings.seed, reading)
    try:
        trained = run(
            settings,
            documents,
            held_out.documents,
            out,
            device=device,
            init_from=init_from,
            teachers=teacher or (),
            resume=resume,
            console=errors(),
            report_to=comma_list(report_to) or (),
        )
    except KeyboardInterrupt:
        note(["continue with the same command and --resume"])
        raise
    if not launched().is_main:
        return
    if not trained.best.scores.overall.predicted:
        note(
            [
                "the model finds nothing on dev: with few documents, try more epochs"
                " (optimisation.epochs) and smaller batches (optimisation.batch_size)"
            ]
        )
    note(
        f"{counted(n, 'training entity', 'training entities')} out of reach: {why}"
        for why, n in trained.data.unusable.items()
    )
    best = trained.best
    signature = best.description.provenance.dev.signature or ""
    scores = replace(best.scores, left_out=held_out.left_out, signature=signature)
    if json:
        print_json({"model": str(out), "epoch": best.epoch, "dev": scores.as_json()})
        return
    console = results()
    number = counted(len(held_out.documents), "document")
    console.print(f"best epoch on dev ({number}): {best.epoch}", highlight=False)
    tables().print(slices_table(scores))
    console.print(f"model: {out}", markup=False, highlight=False)


def _documents(
    train: Path, dev: Path | None, seed: int, reading: TrainingOptions
) -> tuple[Sequence[Document], Corpus]:
    """Training documents, and dev. One path for both is a corpus that comes with its parts.

    Dev that is held out has the notices of all of `--train`: they do not say which document each is
    of.
    """
    read = reading.read
    read_dev = partial(read, known=comma_list(reading.types) or ())  # dev may lack a type
    if dev is None:
        corpus = read(train)
        documents, chosen = _hold_out(corpus.documents, seed)
        held_out = replace(corpus, documents=chosen)
    elif dev.resolve() != train.resolve():
        documents, held_out = read(train).documents, read_dev(dev)
        _note_shared(documents, held_out.documents)
    else:
        try:
            documents = read(train, split="train").documents
            held_out = read_dev(train, split="dev")
        except NoPartError as error:
            advice = f"give another --dev, or leave it out to hold out {HELD_OUT} % of --train"
            message = f"{advice}: --train and --dev are the same path, which {error.message}"
            raise InputError(message, path=error.path) from error
    note_types_alike(train, documents)
    known = types_of(documents)
    if absent := [label for label in comma_list(reading.types) or () if label not in known]:
        raise InputError(f"has no entity of type {', '.join(absent)}", path=train)
    note(
        f"{counted(number, 'dev entity', 'dev entities')} of type {label}, which training never saw"
        ": counted as missed"
        for label, number in unknown_labels(held_out.documents, known).items()
    )
    return documents, held_out


def _note_shared(train: Sequence[Document], dev: Sequence[Document]) -> None:
    """Dev scores of documents that were trained on say nothing: such are counted."""
    texts = {document.text for document in train}
    if shared := sum(document.text in texts for document in dev):
        are = "is" if shared == 1 else "are"
        note(
            [
                f"{shared} of {counted(len(dev), 'dev document')} {are} in --train too: such scores"
                " say nothing about new texts, and the best epoch is not chosen well"
            ]
        )


def _hold_out(
    documents: Sequence[Document], seed: int
) -> tuple[tuple[Document, ...], tuple[Document, ...]]:
    """Training and dev documents: about a tenth, at least one, chosen by the seed and named."""
    if len(documents) < 2:
        raise InputError("one document alone cannot be split: give --dev")
    chosen = set(
        random.Random(seed).sample(range(len(documents)), max(1, len(documents) * HELD_OUT // 100))
    )
    names = ", ".join(documents[i].id for i in sorted(chosen))
    note([f"no --dev given: held out of {counted(len(documents), 'document')}: {names}"])
    kept = tuple(d for i, d in enumerate(documents) if i not in chosen)
    return kept, tuple(documents[i] for i in sorted(chosen))
