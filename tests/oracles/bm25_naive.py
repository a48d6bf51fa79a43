"""BM25, written from its formula."""

from __future__ import annotations

import math


def scores(texts, query, k1, b):
    """The score of each text for the query; all words in small letters."""
    mean = sum(len(text) for text in texts) / len(texts)
    found = []
    for text in texts:
        total = 0.0
        for word in set(query):
            having = sum(word in other for other in texts)
            rarity = math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))
            f = text.count(word)
            total += rarity * f * (k1 + 1) / (f + k1 * (1 - b + b * len(text) / mean))
        found.append(total)
    return found
