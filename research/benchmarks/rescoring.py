"""Rescoring: what a rescorer fitted on dev makes of models that were trained without one.

    python research/benchmarks/rescoring.py --data psytar=DIR --types AdverseReaction \
        --model runs/seed-1 --model runs/seed-2 --to research/results/rescoring/psytar-best.json

Nothing is trained. Several models are the seeds of one system: the differences are those of their
mean F1, by the paired bootstrap over sentences. Everything is chosen on dev; test is scored once
with and once without the rescorer. `--to` keeps the figures.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trigner.evaluation import (
    calibration_error,
    compare_slices,
    predictions,
    score,
    sentence_counts,
    sign,
    together,
)
from trigner.inference import fit_rescorer, load, with_rescorer
from trigner.mentions import Document
from trigner.studies import protocol
from trigner.studies.corpus import corpus_location, read_splits

SLICES = ("overall", "discontinuous")


def measured(
    folder: Path, dev: Sequence[Document], test: Sequence[Document]
) -> tuple[dict[str, Any], tuple[list[Document], list[Document]]]:
    """Figures of one model, and what it finds in test without and with its rescorer."""
    extract = load(folder, device="cpu")
    plain = with_rescorer(extract, None)
    fitted = fit_rescorer(plain, dev)
    found = {"without": list(plain.documents(test))}
    with_it = with_rescorer(extract, fitted.rescorer)
    found["with"] = list(with_it.documents(test)) if fitted.rescorer else found["without"]
    figures: dict[str, Any] = {"dev": fitted.figures}
    if fitted.rescorer is not None:
        figures["rescorer"] = fitted.rescorer.model_dump(mode="json")
    for name, own in found.items():
        scored = {s: getattr(score(test, own).slices, s).as_json() for s in SLICES}
        error = calibration_error(together(predictions(test, own).values()))
        figures[name] = {**scored, "calibration_error": error}
    return figures, (found["without"], found["with"])


def differences(
    test: Sequence[Document], answers: Sequence[tuple[list[Document], list[Document]]]
) -> dict[str, Mapping[str, float]]:
    """How far rescored answers are ahead of plain ones, slice by slice, in F1."""
    sides = [[sentence_counts(test, own) for own in side] for side in zip(*answers, strict=True)]
    tests = compare_slices(*([counts.slices for counts in side] for side in sides))
    found: dict[str, Mapping[str, float]] = {}
    for name in SLICES:
        told = tests[name]
        found[name] = {
            "difference": told.difference,
            "low": told.low,
            "high": told.high,
            "p": told.p_bootstrap,
        }
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, action="append", required=True)
    parser.add_argument("--data", required=True, metavar="[NAME=]DIR")
    parser.add_argument("--types", type=lambda text: tuple(text.split(",")))
    parser.add_argument("--skip-bad", action="store_true")
    parser.add_argument("--to", type=Path, metavar="FILE")
    given = parser.parse_args(arguments)

    location = corpus_location(given.data, None)
    corpus = read_splits(location, protocol("full"), types=given.types, skip_bad=given.skip_bad)
    models, answers = [], []
    for folder in given.model:
        figures, found = measured(folder, corpus.dev, corpus.test)
        models.append(figures)
        answers.append(found)
        dev = figures["dev"]
        print(f"{folder.name}: dev {100 * dev['f1_before']:.2f} -> {100 * dev['f1']:.2f}", end="")
        for name in ("without", "with"):
            rates = " / ".join(f"{100 * figures[name][s]['f1']:.2f}" for s in SLICES)
            print(f"; test {name} {rates}", end="")
        print()
    told = differences(corpus.test, answers)
    for name, own in told.items():
        low, high = 100 * own["low"], 100 * own["high"]
        print(f"{name}: {100 * own['difference']:+.2f} [{low:+.2f}, {high:+.2f}] p {own['p']:.4f}")
    if given.to is not None:
        given.to.parent.mkdir(parents=True, exist_ok=True)
        kept = {
            "corpus": corpus.name,
            "signature": sign(corpus.test),
            "models": models,
            "differences": told,
        }
        given.to.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
