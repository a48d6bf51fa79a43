"""Options that several commands share, and reading corpora as they ask."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trigner.cli.output import comma_list, note, results
from trigner.corpora import (
    FORMATS,
    Corpus,
    MissingAnnotations,
    Notice,
    checked_encoding,
    read,
    with_types,
)
from trigner.errors import InputError

if TYPE_CHECKING:
    from trigner.inference import Extractor

From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"Format of the input; default: detected. One of {', '.join(FORMATS)}.",
    ),
]
SkipBad = Annotated[
    bool,
    typer.Option(
        "--skip-bad",
        help="Skip and list invalid annotations, and files that are not in --encoding, instead of"
        " stopping.",
    ),
]
Encoding = Annotated[
    str,
    typer.Option(
        "--encoding",
        metavar="NAME | auto",
        callback=checked_encoding,
        help="Encoding of the input's files: utf-8, cp1252, utf-16 ...; auto guesses that of each"
        " file that is not UTF-8, and says what it took.",
    ),
]


Missing = Annotated[
    MissingAnnotations,
    typer.Option(
        "--missing-annotations",
        help="A text whose .ann is missing while others have one: an error, or a document in which"
        " nothing is to be found (empty).",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option("--overwrite", help="Replace what is there; it stays until the new is whole."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def model_folder(model: Path | None) -> Path | None:
    """A model's folder, fetched when `model` is a name on the Hub."""
    if model is None or model.exists():
        return model
    from trigner.inference import fetch

    return fetch(model)


ModelFolder = Annotated[
    Path,
    typer.Option(
        "--model",
        metavar="MODEL",
        callback=model_folder,
        help="Model folder (from `trigner train` or `trigner export`) or name on the Hub.",
    ),
]
ModelOrBundled = Annotated[
    Path,
    typer.Option(
        "--model",
        metavar="MODEL",
        callback=model_folder,
        show_default="bundled model for adverse reactions",
        help="Model folder (from `trigner train` or `trigner export`) or name on the Hub.",
    ),
]
Device = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.", show_default=True)
]
BatchSize = Annotated[
    int, typer.Option("--batch-size", min=1, help="Maximum number of sentences in a batch.")
]
Threshold = Annotated[
    str,
    typer.Option(
        "--threshold",
        metavar="X | TYPE=X,...",
        help="Minimum score of an entity, for all or single types: 0.5, or ADR=0.4,Drug=0.6,0.5."
        " See find-threshold.",
    ),
]
ReportTo = Annotated[
    str | None,
    typer.Option(
        "--report-to",
        metavar="A,B",
        help="Trackers besides TensorBoard: wandb, mlflow or others that the Trainer knows.",
    ),
]
Types = Annotated[
    str | None,
    typer.Option("--types", metavar="A,B", help="Entity types to use; others are ignored."),
]
Split = Annotated[
    str | None,
    typer.Option("--split", help="Part of the corpus: train, dev or test."),
]


def read_documents(
    path: Path,
    *,
    format: str | None = None,
    skip_bad: bool = False,
    split: str | None = None,
    types: Sequence[str] | None = None,
    encoding: str = "utf-8",
    missing_annotations: MissingAnnotations = "empty",
) -> Corpus:
    """A corpus; what its reader noted goes to standard error, every skipped annotation too."""
    corpus = read(
        path,
        format=format,
        skip_bad=skip_bad,
        split=split,
        encoding=encoding,
        missing_annotations=missing_annotations,
    )
    print_notices(path, corpus.notices)
    if not corpus.documents:
        raise InputError("contains no documents", path=path)
    return replace(corpus, documents=with_types(corpus.documents, types))


def reader(
    format: str | None, skip_bad: bool, encoding: str, missing_annotations: MissingAnnotations
) -> Callable[..., Corpus]:
    """`read_documents` with the options of a command that reads several corpora alike."""
    return partial(
        read_documents,
        format=format,
        skip_bad=skip_bad,
        encoding=encoding,
        missing_annotations=missing_annotations,
    )


def print_notices(path: Path, notices: Sequence[Notice]) -> None:
    """Print what a reader noted on standard error, every skipped annotation among it."""
    note(n for n in notices if not n.left_out and not n.file_left_out)
    if left_out := [notice for notice in notices if notice.left_out]:
        note(left_out, at_most=None)
        note([f"{path}: {len(left_out)} invalid annotations skipped, listed above"])
    if files := [notice for notice in notices if notice.file_left_out]:
        note(files, at_most=None)
        note([f"{path}: {len(files)} files or lines left out, listed above"])


def print_left_out(corpus: Corpus) -> None:
    """Below a table, how many annotations it does not count."""
    if corpus.left_out:
        results().print(f"{corpus.left_out:,} invalid annotations were skipped")


def load_extractor(model: Path, *, device: str, batch_size: int, threshold: str = "0") -> Extractor:
    """The model as commands ask for it."""
    from trigner.inference import load

    extract = load(model, device=device, batch_size=batch_size)
    of_all, of_label = thresholds(threshold, extract.labels)
    return replace(extract, threshold=of_all, thresholds=of_label)


def thresholds(option: str, labels: Collection[str]) -> tuple[float, dict[str, float]]:
    """`--threshold` as the one for all types and those of single ones.

    Raises InputError for values outside [0, 1] and for labels that the model does not have.
    """
    of_all, of_label = 0.0, {}
    for part in comma_list(option) or ():
        label, given, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise InputError(f"--threshold expects numbers from 0 to 1, got {part!r}")
        if not given:
            of_all = value
        elif label in labels:
            of_label[label] = value
        else:
            raise InputError(f"--threshold: no type {label!r}, only {', '.join(labels)}")
    return of_all, of_label
