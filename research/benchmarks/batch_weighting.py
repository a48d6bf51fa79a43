"""Dev F1 after every epoch: batches by cost weighed in two ways, random ones, plain W2NER.

    python research/benchmarks/batch_weighting.py run --data psytar=DIR \
        --types AdverseReaction --seeds 1,2,3
    python research/benchmarks/batch_weighting.py report

DIR holds `train` and `dev`. A run that is finished is kept in research/results/batch-weighting and
not made again. All runs have the same rates, epochs, precision and data; one process, as many
threads as OMP_NUM_THREADS says.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from plain_w2ner import train_plainly

from trigner.corpora import read, with_types
from trigner.evaluation.scores import score
from trigner.evaluation.signature import data_hash, sign
from trigner.mentions import Document
from trigner.training.run import train
from trigner.training.settings import resolve

RESULTS = Path(__file__).resolve().parents[2] / "research/results/batch-weighting"
COMMON = {
    "optimisation.encoder_lr": 5e-5,
    "optimisation.learning_rate": 5e-4,
    "optimisation.precision": "bfloat16",
    "optimisation.batch_size": 12,
}
VARIANTS: dict[str, dict[str, Any] | None] = {
    "plain": None,
    "shuffled": {"optimisation.cell_budget": None, "optimisation.batch_weighting": "equal"},
    "cells": {"optimisation.batch_weighting": "cells"},
    "equal": {"optimisation.batch_weighting": "equal"},
}
"""What each run is, None for the one of `plain_w2ner`."""


def ours(
    settings: dict[str, Any],
    documents: Sequence[Document],
    dev: Sequence[Document],
    seed: int,
    epochs: int,
) -> list[dict[str, float]]:
    """Dev scores of each epoch of one of the library's trainings."""
    values = {**COMMON, **settings, "optimisation.epochs": epochs}
    assignments = [f"{name}={json.dumps(value)}" for name, value in values.items()]
    resolved = resolve(preset="w2ner", assignments=assignments, options={"seed": seed})
    with tempfile.TemporaryDirectory() as folder:
        trained = train(resolved, documents, dev, Path(folder) / "run", device="cpu")
    return [
        {"f1": entry["eval_f1"], "discontinuous_f1": entry["eval_discontinuous_f1"]}
        for entry in trained.history
    ]


def plain(
    documents: Sequence[Document], dev: Sequence[Document], seed: int, epochs: int
) -> list[dict[str, float]]:
    """Dev scores of each epoch of the plain training."""
    history: list[dict[str, float]] = []

    def after_epoch(extractor: Any) -> None:
        scores = score(dev, list(extractor.documents(dev)))
        history.append({"f1": scores.overall.f1, "discontinuous_f1": scores.discontinuous.f1})
        print(f"epoch {len(history)}: {100 * scores.overall.f1:.2f}", flush=True)

    train_plainly(
        documents,
        tuple(sorted({e.label for d in documents for e in d.entities})),
        encoder="minilm",
        seed=seed,
        epochs=epochs,
        batch_size=12,
        encoder_lr=5e-5,
        learning_rate=5e-4,
        warmup=0.1,
        bfloat16=True,
        after_epoch=after_epoch,
    )
    return history


def run(arguments: argparse.Namespace) -> None:
    corpus, _, folder = arguments.data.partition("=")
    types = arguments.types.split(",") if arguments.types else None
    documents, dev = (with_types(read(Path(folder) / part).documents, types) for part in PARTS)
    for seed in map(int, arguments.seeds.split(",")):
        for name in arguments.only:
            path = RESULTS / f"{corpus}-{name}-{arguments.epochs}-{seed}.json"
            if path.exists():
                continue
            print(path.stem, flush=True)
            began = time.perf_counter()
            settings = VARIANTS[name]
            if settings is None:
                history = plain(documents, dev, seed, arguments.epochs)
            else:
                history = ours(settings, documents, dev, seed, arguments.epochs)
            told = {
                "corpus": corpus,
                "types": types,
                "variant": name,
                "seed": seed,
                "epochs": arguments.epochs,
                "train": data_hash(documents),
                "dev": data_hash(dev),
                "signature": sign(
                    dev,
                    settings={
                        **{"variant": name, "epochs": arguments.epochs},
                        **{**COMMON, **(settings or {})},
                    },
                    seed=seed,
                ),
                "threads": torch.get_num_threads(),
                "seconds": round(time.perf_counter() - began),
                "history": history,
            }
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


PARTS = ("train", "dev")


def report(_: argparse.Namespace) -> None:
    """Mean and deviation of dev F1 (and discontinuous) over seeds, after each epoch."""
    runs = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    for corpus, epochs in sorted({(r["corpus"], r["epochs"]) for r in runs}):
        print(f"\n{corpus}, {epochs} epochs\n")
        heads = " | ".join(f"after {n}" for n in range(1, epochs + 1))
        print(f"| batches | seeds | {heads} | seconds |\n|---|---|{'---|' * (epochs + 1)}")
        for name in dict.fromkeys([*VARIANTS, *(r["variant"] for r in runs)]):
            own = [
                r
                for r in runs
                if (r["corpus"], r["epochs"], r["variant"]) == (corpus, epochs, name)
            ]
            if not own:
                continue
            cells = [
                " / ".join(spread([100 * r["history"][n][key] for r in own]) for key in KEYS)
                for n in range(epochs)
            ]
            seconds = spread([float(r["seconds"]) for r in own])
            print(f"| {name} | {len(own)} | {' | '.join(cells)} | {seconds} |")


KEYS = ("f1", "discontinuous_f1")


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation."""
    if len(values) < 2:
        return f"{values[0]:.1f}"
    return f"{statistics.mean(values):.1f} ± {statistics.stdev(values):.1f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    making = commands.add_parser("run")
    making.set_defaults(call=run)
    making.add_argument("--data", required=True, metavar="NAME=DIR")
    making.add_argument("--types", default="")
    making.add_argument("--seeds", default="1,2,3")
    making.add_argument("--only", nargs="+", default=[*VARIANTS], choices=[*VARIANTS])
    making.add_argument("--epochs", type=int, default=4)
    commands.add_parser("report").set_defaults(call=report)
    given = parser.parse_args()
    given.call(given)
