"""What a batch of the span network learns, as padded arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from trigner.families.spans.fragments import Fragments, Relation


def targets(
    fragments: Sequence[Fragments], length: int, max_width: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Fragments of sentences of at most `length` words.

    Gives their classes `[B, L, W, C]` of 0 and 1 by first word and words behind it, the number of
    each, `[B, L, W]`, and the relations `[B, G, G]` by these numbers: `G - 1` stands for no
    fragment, which has none.
    """
    count = max(len(own.spans) for own in fragments) + 1
    shape = (len(fragments), length, max_width)
    classes = np.zeros((*shape, fragments[0].classes.shape[1]), dtype=np.float32)
    numbers = np.full(shape, count - 1, dtype=np.int64)
    relations = np.full((len(fragments), count, count), Relation.NONE, dtype=np.int64)
    for row, own in enumerate(fragments):
        first, last = own.spans.T
        classes[row, first, last - first] = own.classes
        numbers[row, first, last - first] = np.arange(len(first))
        relations[row, : len(first), : len(first)] = own.relations
    return torch.from_numpy(classes), torch.from_numpy(numbers), torch.from_numpy(relations)


def relations_of_kept(numbers: Tensor, relations: Tensor, kept: Tensor) -> Tensor:
    """Relations `[B, K, K]` of the spans `kept [B, K]`; `numbers`, `relations` as in `targets`."""
    own = numbers.flatten(1).gather(1, kept.clamp(min=0))
    sentence = torch.arange(len(own), device=own.device)[:, None, None]
    return relations[sentence, own[:, :, None], own[:, None, :]]
