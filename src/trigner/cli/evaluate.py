"""`trigner evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from trigner.cli.comparing import ScoreOptions, check_page
from trigner.cli.options import (
    Data,
    GoldOptions,
    ModelOrBundled,
    RunOptions,
    Threshold,
    check_labels,
    labels_of,
)
from trigner.cli.output import (
    comma_list,
    note,
    note_repeated,
    note_types_alike,
    note_unknown_types,
    progress,
)
from trigner.corpora import with_types
from trigner.evaluation import ceiling, same_data, score, sign, without_first
from trigner.machine import counted
from trigner.models import BUNDLED, Description, read_description
from trigner.systems import system_spec


def evaluate(
    data: Data,
    model: ModelOrBundled = BUNDLED,
    threshold: Threshold = "0",
    skip_first: Annotated[
        int,
        typer.Option(
            "--skip-first",
            min=0,
            metavar="N",
            help="Count nothing in the first N sentences. Only to reproduce the figures of TOE's"
            " released code, which leaves out its first batch (16).",
        ),
    ] = 0,
    *,
    showing: ScoreOptions,
    reading: GoldOptions,
    running: RunOptions,
) -> None:
    """Score a model against annotated documents.

    A prediction is right when type and characters are exactly those of the annotation. All
    annotated entities count, including entities no model can reach because of how sentences and
    words are split; their number is reported.
    """
    check_page(showing.html, overwrite=showing.overwrite)
    wanted = comma_list(reading.types)
    description = read_description(model)
    corpus = reading.read(data, known=description.labels)
    documents = list(without_first(corpus.documents, skip_first))
    if skip_first:
        note([f"not counted: the first {counted(skip_first, 'sentence')}"])
    extract = running.load(model, threshold)
    check_labels(labels_of(corpus), extract.labels)
    if not any(document.entities for document in documents):
        note([f"{data}: there is no annotation to score against"])
    note_repeated(data, documents)
    note_types_alike(data, documents)
    note_unknown_types(documents, extract.labels)
    settings = description.provenance.settings
    signature = sign(documents, settings=settings, seed=settings.get("seed"))
    note(_known_already(description, signature))
    run = extract.documents(documents)
    found = list(progress(run, total=len(documents), what="evaluating"))
    found = list(without_first(found, skip_first))
    note(run.statistics.notices())
    if run.statistics.windowed and (beyond := extract.beyond_windows(documents)):
        note(
            [f"{counted(beyond, 'annotation')} in no window of a long sentence: counted as missed"]
        )
    if wanted is not None:
        found = list(with_types(found, wanted))
    unreachable_by = {}
    spec = system_spec(extract.system)
    if spec.round_trip is not None:
        own = spec.round_trip(extract.labels, description.settings(spec.settings, model))
        reached = ceiling(documents, own, labels=set(extract.labels))
        unreachable_by[extract.system] = reached.lost_by_format
    scores = score(
        documents,
        found,
        signature=signature,
        unreachable_by=unreachable_by,
        left_out=corpus.left_out,
        bounded=run.statistics.bounded,
    )
    showing.show(scores, documents, found)


def _known_already(description: Description, signature: str) -> list[str]:
    """What to know of scores on the very documents that a model was made with."""
    known = description.provenance
    if same_data(signature, known.train.signature):
        return ["the model was trained on these documents: its scores on others will be lower"]
    if same_data(signature, known.dev.signature):
        chosen = "the model's epoch was chosen by its scores on these documents"
        return [f"{chosen}: it may score lower on others"]
    return []
