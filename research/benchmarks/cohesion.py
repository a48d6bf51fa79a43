"""Cohesion: are the cells of right mentions nearer to each other than those of wrong ones?

    python research/benchmarks/cohesion.py --model runs/with-triplets --data DIR

Triplets move the states of word pairs: those of mentions together, away from others. Here that is
used at inference: a mention's score is multiplied by the mean cosine of its cells' states with
their centre, to a power. DIR has `dev` and `test`; power and threshold are chosen on dev. Printed
are, for each power, F1 with the best threshold on dev, F1 on test with it, and how often a right
mention is ahead of a wrong one (AUC, test). Nothing else of the model changes, so what it does not
propose stays missing: F1 "of an oracle" keeps right mentions alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from trigner.corpora import read, with_types
from trigner.evaluation.thresholds import Curve, curve
from trigner.families.core.word_network import batch_tensors, evaluating
from trigner.families.tagging.model import load
from trigner.families.tagging.tagger import PairTagger
from trigner.families.tagging.torch_runtime import torch_predictor
from trigner.mentions import Document
from trigner.text.segmentation import segment

POWERS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True)
class Proposed:
    """A mention that a model proposes."""

    score: float
    cohesion: float
    is_right: bool


def cohesion(states: torch.Tensor) -> float:
    """The mean cosine of states `[N, D]` with their mean; 1 of a single one."""
    return float(functional.cosine_similarity(states, states.mean(dim=0, keepdim=True)).mean())


def proposed(folder: Path, documents: Sequence[Document]) -> tuple[list[Proposed], int]:
    """What a model proposes in documents, and how many mentions there are to find."""
    model = load(folder)
    if not isinstance(model.tagger, PairTagger):
        raise SystemExit(f"{folder}: the system {model.system} has no states of word pairs")
    predictor = torch_predictor(model, torch.device("cpu"))
    documents = with_types(documents, predictor.labels)
    found, gold = [], 0
    for document in documents:
        sentences = segment(document).sentences
        gold += sum(len(own.mentions) for own in sentences)
        for example in predictor.prepare(sentences).inputs:
            [grid] = predictor.grids([example])
            if not grid.mentions:
                continue
            with evaluating(model.tagger):
                scores = model.tagger(**batch_tensors(predictor.inputs.collate([example])))
                for scored, cells in zip(grid.mentions, grid.cells, strict=True):
                    places = torch.tensor([cell[:2] for cell in cells]) + predictor.inputs.offset
                    at = (torch.zeros(len(places), dtype=torch.long), *places.T)
                    near = cohesion(model.tagger.pair_states(scores, *at))
                    right = scored.mention in sentences[example.sentence].mentions
                    found.append(Proposed(scored.score, near, right))
    return found, gold


def scored(found: Sequence[Proposed], power: float) -> list[tuple[float, bool]]:
    """Each mention's score times its cohesion to a power."""
    return [(own.score * max(0.0, own.cohesion) ** power, own.is_right) for own in found]


def at(found: Curve, threshold: float) -> float:
    """F1 with at least this score."""
    return next((point.f1 for value, point in found.points if value >= threshold), 0.0)


def auc(pairs: Sequence[tuple[float, bool]]) -> float:
    """How often a right one has the higher score of two, one right and one wrong; ties half."""
    right, wrong = (np.array([s for s, ok in pairs if ok is want]) for want in (True, False))
    if not (len(right) and len(wrong)):
        return float("nan")
    ahead = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    return float(ahead)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args(arguments)
    (dev, dev_gold), (test, test_gold) = (
        proposed(given.model, read(given.data / part).documents) for part in ("dev", "test")
    )
    print("| power of cohesion | F1 on dev | F1 on test | AUC |\n|---|---|---|---|")
    for power in POWERS:
        on_dev = curve(scored(dev, power), dev_gold)
        on_test = curve(scored(test, power), test_gold)
        threshold, best = on_dev.best
        rates = f"{100 * best.f1:.2f} | {100 * at(on_test, threshold):.2f}"
        print(f"| {power:g} | {rates} | {auc(scored(test, power)):.3f} |")
    alone = auc([(own.cohesion, own.is_right) for own in test])
    right = sum(own.is_right for own in test)
    oracle = 200 * right / (right + test_gold) if test_gold else 0.0
    print(f"\ncohesion alone: AUC {alone:.3f}; F1 of an oracle on test {oracle:.2f}")


if __name__ == "__main__":
    main()
