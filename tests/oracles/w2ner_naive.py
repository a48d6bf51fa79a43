"""W2NER decoding straight from its definition: enumerate every path by recursion."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def decode(tags: np.ndarray, labels: tuple[str, ...]) -> set[tuple[tuple[int, ...], str]]:
    """Every mention that the tags `[L, L]` stand for."""
    length = len(tags)
    found = set()
    for tail in range(length):
        for head in range(tail + 1):
            if tags[tail, head] >= 2:
                label = labels[tags[tail, head] - 2]
                found |= {(path, label) for path in _paths(tags, head, tail)}
    return found


def _paths(tags: np.ndarray, word: int, tail: int) -> set[tuple[int, ...]]:
    if word == tail:
        return {(word,)}
    return {
        (word, *rest)
        for following in range(word + 1, tail + 1)
        if tags[word, following] == 1
        for rest in _paths(tags, following, tail)
    }


def score(words: tuple[int, ...], label: str, scores: np.ndarray, labels: tuple[str, ...]) -> float:
    """Product of the softmax probabilities of a mention's cells, scores `[L, L, C]`."""
    exponential = np.exp(scores)
    probability = exponential / exponential.sum(-1, keepdims=True)
    product = probability[words[-1], words[0], 2 + labels.index(label)]
    for a, b in pairwise(words):
        product *= probability[a, b, 1]
    return float(product)
