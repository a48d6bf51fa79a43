"""Which sentences go together: by cost, so that a batch fits in memory and little is padding.

A sentence of `L` words costs `L * L` cells, a batch of `B` sentences `B` times its longest's cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np


def by_cost(
    lengths: Sequence[int], *, sentences: int, cells: int, order: Iterable[int] | None = None
) -> list[list[int]]:
    """Batches of neighbours in `order` (default: by length, longest first).

    At most `sentences` sentences and `cells` padded cells each; a sentence above the budget is a
    batch of its own.
    """
    chosen = sorted(range(len(lengths)), key=lambda i: -lengths[i]) if order is None else order
    batches: list[list[int]] = []
    longest = 0
    for index in chosen:
        longest = max(longest, lengths[index])
        full = bool(batches) and (
            len(batches[-1]) == sentences or (len(batches[-1]) + 1) * longest**2 > cells
        )
        if full or not batches:
            batches.append([])
            longest = lengths[index]
        batches[-1].append(index)
    return batches


POOL = 50
"""Times as many sentences as a batch has are sorted by length together."""


def shuffled_by_cost(
    lengths: Sequence[int], *, sentences: int, cells: int, seed: int
) -> list[list[int]]:
    """One epoch of training batches: random, yet of similar lengths.

    Sentences are shuffled, taken `POOL * sentences` at a time, sorted by length within such a
    pool and cut into batches, which are shuffled again. Equal arguments give equal batches.
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    batches: list[list[int]] = []
    for start in range(0, len(order), POOL * sentences):
        members = order[start : start + POOL * sentences]
        members = members[np.argsort([-lengths[i] for i in members], kind="stable")]
        batches += by_cost(lengths, sentences=sentences, cells=cells, order=members.tolist())
    random.shuffle(batches)
    return batches


def shuffled(count: int, *, sentences: int, seed: int) -> list[list[int]]:
    """One epoch of random batches of exactly `sentences`; the incomplete last one is dropped.

    As W2NER does.
    """
    order = np.random.default_rng(seed).permutation(count).tolist()
    last = count - count % sentences
    return [order[start : start + sentences] for start in range(0, last, sentences)]
