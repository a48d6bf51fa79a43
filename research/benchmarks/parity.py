"""Does an exported model find the same entities as the model it comes from, on every sentence?

    python research/benchmarks/parity.py --model MODEL --exported FOLDER [FOLDER ...] \
        --data PATH [PATH ...]

Prints for each exported model and corpus: sentences, those with the same entities, those that
differ although no cell's two best scores lie within 1e-4, the largest difference of an entity's
score. Sentences are those of the splitter; entities are compared by words. What a difference costs
in F1, `trigner evaluate` tells.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trigner.corpora import read
from trigner.families.tagging.predictor import TagPredictor
from trigner.mentions import Document, Mention, Sentence
from trigner.pipeline.extraction import Extractor
from trigner.pipeline.loading import load
from trigner.text.segmentation import segment

TIE = 1e-4


def compare(model: Extractor, exported: Extractor, documents: Sequence[Document]) -> dict[str, Any]:
    """Counts over the sentences of `documents`."""
    sentences = [s for document in documents for s in segment(document).sentences]
    mine, other = (_found(extractor, sentences) for extractor in (model, exported))
    different = [
        n for n, (a, b) in enumerate(zip(mine, other, strict=True)) if a.keys() != b.keys()
    ]
    moved = [
        abs(a[m] - b[m]) for a, b in zip(mine, other, strict=True) for m in a.keys() & b.keys()
    ]
    ties = _with_ties(model, [sentences[n] for n in different])
    return {
        "sentences": len(sentences),
        "same": len(sentences) - len(different),
        "different without a tie": len(different) - ties,
        "largest difference of a score": max(moved, default=0.0),
    }


def _found(extractor: Extractor, sentences: Sequence[Sentence]) -> list[dict[Mention, float]]:
    return [{m.mention: m.score for m in found} for found in extractor.predictions(sentences)]


def _with_ties(extractor: Extractor, sentences: Sequence[Sentence]) -> int:
    """How many of the sentences have a cell whose two best scores lie within `TIE`."""
    return sum(any(map(_tie, _logits(extractor, sentence))) for sentence in sentences)


def _logits(extractor: Extractor, sentence: Sentence) -> Iterable[np.ndarray]:
    predictor = extractor.predictor
    assert isinstance(predictor, TagPredictor)
    for own in predictor.prepare([sentence]).inputs:
        yield predictor.outputs([own])[0]


def _tie(logits: np.ndarray) -> bool:
    best = np.sort(logits, axis=-1)
    return bool((best[..., -1] - best[..., -2] < TIE).any())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--exported", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    model = load(options.model, device="cpu")
    for path in options.data:
        documents = read(path).documents
        for folder in options.exported:
            found = compare(model, load(folder, device="cpu"), documents)
            print(json.dumps({"data": path.name, "exported": folder.name, **found}), flush=True)


if __name__ == "__main__":
    main()
