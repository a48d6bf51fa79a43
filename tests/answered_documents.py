"""Documents of random words, and those of a model's own answers on them that are called right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from trigner.inference import Extractor
from trigner.mentions import Document, Entity

WORDS = ["pain", "numb", "leg", "arm", "left", "my", "hurt", "tablet", "after", "the", "no", "in"]


def some_documents(count: int = 40, seed: int = 0) -> list[Document]:
    chosen = np.random.default_rng(seed)
    texts = (" ".join(chosen.choice(WORDS, chosen.integers(3, 9))) + " ." for _ in range(count))
    return [Document(f"{seed}-{number}", text) for number, text in enumerate(texts)]


def answered(
    extract: Extractor, documents: Sequence[Document], is_right: Callable[[Document, Entity], bool]
) -> list[Document]:
    """The documents with those of the model's own entities that are right."""
    return [
        replace(own, entities=tuple(e for e in answer.entities if is_right(own, e)))
        for own, answer in zip(documents, extract.documents(documents), strict=True)
    ]


def continuous(document: Document, entity: Entity) -> bool:
    """Right are the mentions without a gap, which a rescorer's features can tell."""
    return len(entity.fragments) == 1
