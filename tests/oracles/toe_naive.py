"""TOE's decoding straight from its definition: depth first from every head over the links."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def decode(scores: np.ndarray, labels: tuple[str, ...]) -> set[tuple[tuple[int, ...], str]]:
    """Every mention that the scores `[L, L, C]` stand for."""
    length = len(scores)
    types = len(labels)
    following = {
        i: [j for j in range(i + 1, length) if scores[i, j, 0] > 0 and scores[j, i, 1] > 0]
        for i in range(length)
    }
    found = set()
    for number, label in enumerate(labels):
        htw, thw = scores[..., 2 + number], scores[..., 2 + types + number]
        for head in range(length):
            tails = {t for t in range(head, length) if htw[head, t] > 0 or thw[t, head] > 0}
            waiting = [(head,)]
            while waiting:
                path = waiting.pop()
                if path[-1] in tails:
                    found.add((path, label))
                waiting += [(*path, word) for word in following[path[-1]]]
    return found


def score(words: tuple[int, ...], label: str, scores: np.ndarray, labels: tuple[str, ...]) -> float:
    """Of each link the smaller probability of its two tags, of head and tail the larger."""
    probability = 1 / (1 + np.exp(-scores))
    number = labels.index(label)
    head, tail = words[0], words[-1]
    product = max(
        probability[head, tail, 2 + number], probability[tail, head, 2 + len(labels) + number]
    )
    for a, b in pairwise(words):
        product *= min(probability[a, b, 0], probability[b, a, 1])
    return float(product)
