"""What `trigner prompt` writes and prints: predictions, scores, failures, systems side by side."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from trigner.atomic_files import write_text
from trigner.cli.comparing import check_page
from trigner.cli.options import load_extractor, model_folder
from trigner.cli.output import note, results
from trigner.corpora import FORMATS, write
from trigner.errors import InputError
from trigner.evaluation import compare, table
from trigner.prompting import (
    SENTENCES,
    STRATA,
    Outcome,
    Repair,
    Task,
    failures_table,
    scores_table,
    stratum,
    write_sentences,
)
from trigner.rendering import systems_page

Systems = Annotated[
    list[Path] | None,
    typer.Option(
        "--beside",
        metavar="MODEL",
        help="A trained model for --html beside the answers, folder or name on the Hub; often.",
    ),
]

PREDICTIONS, REPORT = "predictions", "scores.json"
_SHOWN_REPAIR: Repair = "text"


def check_systems(
    html: Path | None,
    models: Sequence[Path],
    format: str,
    *,
    variants: Sequence[str],
    may_exist: bool = False,
) -> dict[str, Path]:
    """The folders of the models beside the variants, by name, fetched from the Hub if need be.

    Raises InputError for output that cannot be written, before any question is asked. A page that
    is there already is written anew only if it `may_exist`.
    """
    check_page(html, may_exist=may_exist)
    if models and html is None:
        raise InputError("--beside is for the page of --html")
    if format not in FORMATS or FORMATS[format].write is None:
        names = ", ".join(name for name, known in FORMATS.items() if known.write)
        raise InputError(f"--format {format}: these can be written: {names}")
    folders = {}
    for name, model in named(models, variants).items():
        folder = model_folder(model)
        if folder is None or not folder.exists():
            raise InputError("no such model", path=model)
        folders[name] = folder
    return folders


def named(models: Sequence[Path], taken: Sequence[str]) -> dict[str, Path]:
    """Models by names that no other has: as on the Hub, or the last parts of a folder's path.

    These are as few as tell it from the others and from names that are `taken`. Raises InputError
    for one that is given twice.
    """
    parts = [Path(os.path.abspath(m)).parts if m.exists() else (str(m),) for m in models]
    for place, model in enumerate(models):
        if parts[place] in parts[:place]:
            raise InputError("--beside names a model twice", path=model)
    lengths = [1] * len(parts)
    while True:
        names = ["/".join(p[-length:]) for p, length in zip(parts, lengths, strict=True)]
        often = Counter([*names, *taken])
        unclear = [
            place
            for place, name in enumerate(names)
            if often[name] > 1 and lengths[place] < len(parts[place])
        ]
        if not unclear:
            return dict(zip(names, models, strict=True))
        for place in unclear:
            lengths[place] += 1


def write_outcomes(
    task: Task,
    outcomes: Sequence[Outcome],
    out: Path,
    *,
    format: str,
    html: Path | None,
    beside: Mapping[str, Path],
) -> None:
    """Files of each variant below `out`, and the page with all systems, models `beside` by name."""
    for outcome in outcomes:
        folder = out / outcome.variant.name
        chosen = FORMATS[format]
        place = PREDICTIONS if chosen.writes_folder else PREDICTIONS + chosen.endings[0]
        report = write(outcome.predicted[_SHOWN_REPAIR], folder / place, format=format)
        note(report.notices())
        write_sentences(folder / SENTENCES, task, outcome)
        write_text(folder / REPORT, json.dumps(outcome.as_json(), indent=1) + "\n")
    if html is not None:
        systems = {o.variant.name: o.predicted[_SHOWN_REPAIR] for o in outcomes}
        for name, model in beside.items():
            extract = load_extractor(model, device="auto", batch_size=32)
            systems[name] = tuple(extract.documents(task.documents))
            note(extract.tally.notices())
        compared = {name: compare(task.documents, found) for name, found in systems.items()}
        write_text(html, systems_page(compared))
        note([f"gold and {len(compared)} systems side by side: {html}"])


def print_report(task: Task, outcomes: Sequence[Outcome]) -> None:
    """Tables of scores and failures; of a single variant its ordinary scores too."""
    console = results()
    numbers = [sum(stratum(s) == n for s in task.sentences) for n in range(len(STRATA))]
    shown = ", ".join(f"{n:,} {name}" for n, name in zip(numbers, STRATA, strict=True))
    console.print(f"{len(task.sentences):,} sentences: {shown}", highlight=False)
    console.print(scores_table(outcomes))
    console.print(failures_table(outcomes))
    if len(outcomes) == 1:
        console.print(f"\nrepair {_SHOWN_REPAIR}:", highlight=False)
        console.print(table(outcomes[0].scores[_SHOWN_REPAIR]))
