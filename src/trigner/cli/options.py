"""Options that several commands share, and what commands do as these ask.

Options that go together are a dataclass: a command has one parameter of this type for them all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from trigner.cli.output import comma_list, note, note_interrupted, results
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
from trigner.machine import counted
from trigner.mentions import types_of

if TYPE_CHECKING:
    from trigner.pipeline import Extractor

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
        help="Encoding of the input's files: utf-8, cp1252, utf-16 ...; auto guesses it for each"
        " file that is not UTF-8, and reports its guess.",
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        "--text-column",
        metavar="NAME",
        help="Column of the texts in CSV and Parquet, or their key in Label Studio's data;"
        " default: text.",
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id-column",
        metavar="NAME",
        help="Column of the texts' ids; default: id, else rows are numbered.",
    ),
]
Missing = Annotated[
    MissingAnnotations,
    typer.Option(
        "--missing-annotations",
        help="A text whose .ann is missing while others have one: an error, or a document without"
        " entities (empty).",
    ),
]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace an existing output; it is kept until the new one is complete."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def model_folder(model: str | Path) -> Path:
    """A model's folder, fetched when `model` is a name on the Hub."""
    from trigner.models import fetch

    return fetch(model)


MODEL_HELP = """Folder (from `trigner train` or `trigner export`), name on the Hub, or `bundled`,
the model for adverse reactions that ships with trigner."""
ModelFolder = Annotated[
    Path,
    typer.Option(
        "--model",
        metavar="MODEL",
        parser=model_folder,
        help="Folder from `trigner train`, or a trained model's name on the Hub.",
    ),
]
ModelOrBundled = Annotated[
    Path,
    typer.Option(
        "--model", metavar="MODEL", parser=model_folder, show_default="bundled", help=MODEL_HELP
    ),
]
Device = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda, cuda:1 or mps.", show_default=True)
]
BatchSize = Annotated[
    int,
    typer.Option(
        "--batch-size", min=1, metavar="N", help="Maximum number of sentences in a batch."
    ),
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
MapLabels = Annotated[
    str | None,
    typer.Option(
        "--map-labels",
        metavar="A=B,...",
        help="Rename entity type A to B. --types and models see the new names.",
    ),
]
Data = Annotated[Path, typer.Option("--data", help="Annotated documents.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Write the figure to this file: .png, .svg, .pdf.")
]
ENCODER_HELP = (
    "Pretrained encoder: name on the Hub, folder, or minilm, biobert, pubmedbert, bioclinicalbert,"
    " pharmbert."
)
Encoder = Annotated[str | None, typer.Option("--encoder", help=ENCODER_HELP)]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="One setting, such as optimisation.epochs=5 or, with --preset clean,"
        " triplets.window=10 (0 or none: no limit); repeatable.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How files of documents are read; types and split are options of those below."""

    from_: From = None
    skip_bad: SkipBad = False
    encoding: Encoding = "utf-8"
    text_column: TextColumn = None
    id_column: IdColumn = None
    missing_annotations: MissingAnnotations = field(default="empty", init=False)
    types: str | None = field(default=None, init=False)
    map_labels: str | None = field(default=None, init=False)
    split: str | None = field(default=None, init=False)

    def read(self, path: Path, *, split: str | None = None, known: Collection[str] = ()) -> Corpus:
        """A corpus; what its reader noted goes to standard error, every skipped annotation too.

        Raises InputError for types that it does not have, unless they are `known` otherwise.
        """
        corpus = read(
            path,
            format=self.from_,
            skip_bad=self.skip_bad,
            split=split or self.split,
            encoding=self.encoding,
            missing_annotations=self.missing_annotations,
            text_column=self.text_column,
            id_column=self.id_column,
        )
        print_notices(path, corpus.notices)
        if not corpus.documents:
            raise InputError("contains no documents", path=path)
        renamed = with_labels(self.map_labels, corpus, path)
        return of_types(self.types, renamed, known=known)[0]


@dataclass(frozen=True, kw_only=True)
class ReadOptions(FileOptions):
    """How annotated documents are read."""

    types: Types = None
    map_labels: MapLabels = None


@dataclass(frozen=True, kw_only=True)
class TrainingOptions(ReadOptions):
    """How training documents are read."""

    missing_annotations: Missing = "error"


@dataclass(frozen=True, kw_only=True)
class CorpusOptions(ReadOptions):
    """How a corpus or a part of it is read."""

    split: Annotated[
        str | None, typer.Option("--split", help="Part of the corpus: train, dev or test.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class GoldOptions(CorpusOptions):
    """How documents are read whose annotations count."""

    missing_annotations: Missing = "error"


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How a model is run."""

    device: Device = "auto"
    batch_size: BatchSize = 32

    def load(self, model: Path, threshold: str = "0", **further: Any) -> Extractor:
        """The model as the options ask for it; `further` options go to `inference.load`."""
        from trigner.pipeline import load

        of_all, of_types = thresholds(threshold)
        extractor = load(
            model,
            device=self.device,
            batch_size=self.batch_size,
            threshold=of_all,
            thresholds=of_types,
            **further,
        )
        note_interrupted(model)
        return extractor


def with_single_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer reads it: for a parameter that is a dataclass, the dataclass's own."""
    parameters: list[Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in signature(command, eval_str=True).parameters.values():
        own = [parameter]
        if is_dataclass(parameter.annotation):
            kind: Any = parameter.annotation
            hints = get_type_hints(kind, include_extras=True)
            own = [p.replace(annotation=hints[n]) for n, p in signature(kind).parameters.items()]
            groups[parameter.name] = (kind, [each.name for each in own])
        parameters += [each.replace(kind=each.KEYWORD_ONLY) for each in own]

    def called(**options: Any) -> None:
        for name, (group, names) in groups.items():
            options[name] = group(**{each: options.pop(each) for each in names})
        command(**options)

    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__name__, called.__doc__ = command.__name__, in_paragraphs(getdoc(command) or "")
    return called


def in_paragraphs(text: str) -> str:
    """A docstring with a line for each paragraph, to be wrapped at any width; lists stay lists."""
    paragraphs = text.split("\n\n")
    return "\n\n".join(p if "\n " in p else p.replace("\n", " ") for p in paragraphs)


def with_labels(mapping: str | None, corpus: Corpus, path: Path) -> Corpus:
    """The corpus with its types renamed by `--map-labels`; what it has none of is noted."""
    new = {}
    for part in comma_list(mapping) or ():
        old, _, label = part.partition("=")
        if not old or not label or old in new:
            raise InputError(f"--map-labels takes each type once, as A=B; got {part!r}")
        new[old] = label
    if absent := new.keys() - labels_of(corpus):
        types = ", ".join(sorted(absent))
        note([f"{path}: --map-labels: no entity has the type {types}"])
    return replace(
        corpus,
        documents=tuple(
            replace(
                d, entities=tuple(replace(e, label=new.get(e.label, e.label)) for e in d.entities)
            )
            for d in corpus.documents
        ),
    )


def check_labels(gold: Collection[str], predicted: Collection[str]) -> None:
    """Raises InputError, naming both, when there are labels on both sides and none is on both."""
    if gold and predicted and not set(gold) & set(predicted):
        one, other = (", ".join(sorted(labels)) for labels in (gold, predicted))
        raise InputError(
            f"nothing can match: the types of gold are {one}, those of predictions {other}; rename"
            " with --map-labels A=B"
        )


def labels_of(corpus: Corpus) -> set[str]:
    """The types of its entities."""
    return set(types_of(corpus.documents))


def of_types(
    types: str | None, *corpora: Corpus, known: Collection[str] = ()
) -> tuple[Corpus, ...]:
    """The corpora with the types of `--types` alone.

    Raises InputError for a type that none of them has and that is not `known` otherwise.
    """
    wanted = comma_list(types)
    there = {*known}.union(*map(labels_of, corpora))
    if absent := [label for label in wanted or () if label not in there]:
        named = f"there are {', '.join(sorted(there))}" if there else "nothing is annotated"
        raise InputError(f"--types: no type {', '.join(absent)}; {named}")
    return tuple(replace(c, documents=with_types(c.documents, wanted)) for c in corpora)


def print_notices(path: Path, notices: Sequence[Notice]) -> None:
    """Print what a reader noted on standard error, every skipped annotation among it."""
    note(n for n in notices if not n.left_out and not n.file_left_out)
    if left_out := [notice for notice in notices if notice.left_out]:
        note(left_out, at_most=None)
        note([f"{path}: {counted(len(left_out), 'invalid annotation')} skipped, listed above"])
    if files := [notice for notice in notices if notice.file_left_out]:
        note(files, at_most=None)
        number = counted(len(files), "file or line", "files or lines")
        note([f"{path}: {number} left out, listed above"])


def print_left_out(corpus: Corpus) -> None:
    """Below a table, how many annotations it does not count."""
    if corpus.left_out:
        results().print(f"skipped: {counted(corpus.left_out, 'invalid annotation')}")


def thresholds(option: str) -> tuple[float, dict[str, float]]:
    """`--threshold` as the one for all types and those of single ones.

    Raises InputError for what is not a number from 0 to 1, for a second number of one or of all
    types, and for `TYPE=0,1`, which is most likely a decimal comma. Whether the model has the types
    is for `inference.load` to say.
    """
    of_all, of_types = None, {}
    hint = "; a comma separates numbers: decimals follow a point" if "," in option else ""
    before = ""
    for part in comma_list(option) or ():
        label, given, number = part.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise InputError(f"--threshold expects numbers from 0 to 1, got {part!r}{hint}")
        if (label in of_types) if given else (of_all is not None):
            whose = label if given else "all types"
            raise InputError(f"--threshold {option!r} has several numbers for {whose}{hint}")
        if before.endswith("=0") and number.isdecimal() and not given:
            raise InputError(f"--threshold {option!r} has {part!r} after {before!r}{hint}")
        before = part
        if given:
            of_types[label] = value
        else:
            of_all = value
    return of_all or 0.0, of_types
