"""The output of `trigner prompt`: predictions, scores, failures, and a page with all systems."""

from __future__ import annotations

import json
import os
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trigner.cli import RunOptions, check_page, model_folder, note, results, tables, write_documents
from trigner.corpora import FORMATS, WRITABLE
from trigner.errors import InputError
from trigner.evaluation import compare, slices_table
from trigner.lab.prompting import (
    SENTENCES,
    STRATA,
    Repair,
    Task,
    VariantResult,
    failures_table,
    scores_table,
    stratum,
    write_sentences,
)
from trigner.machine import counted, write_text
from trigner.mentions import Document
from trigner.rendering import systems_page

PREDICTIONS, REPORT = "predictions", "scores.json"
_SHOWN_REPAIR: Repair = "text"


def check_outputs(
    html: Path | None,
    models: Sequence[str | Path],
    format: str,
    *,
    variants: Sequence[str],
    may_exist: bool = False,
) -> dict[str, Path]:
    """The folders of the models to compare with, by name, downloaded from the Hub if need be.

    Raises InputError for output that cannot be written, TrignerError for a format whose package is
    not installed, before any request is sent. A page that exists is overwritten only if it
    `may_exist`.
    """
    check_page(html, may_exist=may_exist)
    if models and html is None:
        raise InputError("--compare needs --html")
    if format not in WRITABLE:
        raise InputError(
            f"--format {format}: cannot be written; choose one of {', '.join(WRITABLE)}"
        )
    FORMATS[format].check_installed(Path(PREDICTIONS))
    return {name: model_folder(model) for name, model in model_names(models, variants).items()}


def check_documents(documents: Iterable[Document], out: Path, *, format: str) -> None:
    """Raises InputError for documents that the format cannot hold, whatever is found in them."""
    if (check := FORMATS[format].check) is not None:
        bare = (replace(document, entities=()) for document in documents)
        deque(check(bare, out), maxlen=0)


def model_names(models: Sequence[str | Path], taken: Sequence[str]) -> dict[str, str | Path]:
    """Models by unique names: as on the Hub, or the last parts of a folder's path.

    As few parts as distinguish a model from the others and from names that are `taken`. Raises
    InputError for a duplicate.
    """
    parts = [Path(os.path.abspath(m)).parts if Path(m).exists() else (str(m),) for m in models]
    for index, model in enumerate(models):
        if parts[index] in parts[:index]:
            raise InputError("duplicate --compare", path=model)
    lengths = [1] * len(parts)
    while True:
        names = ["/".join(p[-length:]) for p, length in zip(parts, lengths, strict=True)]
        counts = Counter([*names, *taken])
        ambiguous = [
            index
            for index, name in enumerate(names)
            if counts[name] > 1 and lengths[index] < len(parts[index])
        ]
        if not ambiguous:
            return dict(zip(names, models, strict=True))
        for index in ambiguous:
            lengths[index] += 1


def write_results(
    task: Task,
    runs: Sequence[VariantResult],
    out: Path,
    *,
    format: str,
    html: Path | None,
    models: Mapping[str, Path],
    may_exist: bool,
) -> None:
    """Writes each variant's files below `out`, and the page with all variants and `models`.

    A page that exists by then is overwritten only if it `may_exist`, as in `check_outputs`.
    """
    chosen = FORMATS[format]
    file = PREDICTIONS if chosen.writes_folder else PREDICTIONS + chosen.endings[0]
    for run in runs:
        folder = out / run.variant.name
        predicted = run.predicted[_SHOWN_REPAIR]
        found = (folder / file).rglob("*") if chosen.writes_folder else ()  # of another sample
        old = [path for path in found if path.is_file() and path.name.endswith(chosen.endings)]
        report = write_documents(predicted, folder / file, format=chosen, overwrite=True, old=old)
        note(report.notices())
        write_sentences(folder / SENTENCES, task, run)
        write_text(folder / REPORT, json.dumps(run.as_json(), indent=1) + "\n")
    if html is not None:
        systems = {run.variant.name: run.predicted[_SHOWN_REPAIR] for run in runs}
        for name, model in models.items():
            extraction = RunOptions().load(model).documents(task.documents)
            systems[name] = tuple(extraction)
            note(extraction.statistics.notices())
        compared = {name: compare(task.documents, found) for name, found in systems.items()}
        write_text(html, systems_page(compared), overwrite=may_exist)
        note([f"page with gold and {counted(len(compared), 'system')}: {html}"])


def print_report(task: Task, runs: Sequence[VariantResult]) -> None:
    """Prints tables of scores and failures; for a single variant also its scores by slice."""
    console = results()
    numbers = [sum(stratum(s) == n for s in task.sentences) for n in range(len(STRATA))]
    shown = ", ".join(f"{n:,} {name}" for n, name in zip(numbers, STRATA, strict=True))
    console.print(f"{counted(len(task.sentences), 'sentence')}: {shown}", highlight=False)
    tables().print(scores_table(runs))
    tables().print(failures_table(runs))
    if len(runs) == 1:
        console.print(f"\nwith repair {_SHOWN_REPAIR}:", highlight=False)
        tables().print(slices_table(runs[0].scores[_SHOWN_REPAIR]))
