"""Reading mentions off fragments as it is written down: every set of fragments is tried."""

from __future__ import annotations

import math
from itertools import combinations


def relation(scores, a, b):
    """The best relation of two spans kept (0 none, 1 Combined, 2 Overlap), its probability."""
    own = [0.0, *((scores.relations[a, b] + scores.relations[b, a]) / 2)]
    weights = [math.exp(score) for score in own]
    best = max(range(3), key=lambda number: own[number])
    return best, weights[best] / sum(weights)


def decode(scores, labels, reading, roles):
    """Score by (words, label) of `SpanScores`."""
    kept = scores.kept.tolist()
    found = {}
    for number, label in enumerate(labels):
        if roles:
            for n in range(len(scores.spans)):
                if scores.fragments[n, number] > 0:
                    words = tuple(range(scores.spans[n][0], scores.spans[n][1] + 1))
                    score = 1 / (1 + math.exp(-scores.fragments[n, number]))
                    found[words, label] = max(score, found.get((words, label), 0))
            number += len(labels)
        nodes = [n for n in range(len(scores.spans)) if scores.fragments[n, number] > 0]
        related = {
            pair: relation(scores, *(kept.index(n) for n in pair))
            for pair in combinations(nodes, 2)
            if set(pair) <= set(kept)
        }
        for group in groups(nodes, scores.spans.tolist(), related, reading):
            if roles and len(group) == 1:
                continue
            words = {w for n in group for w in range(scores.spans[n][0], scores.spans[n][1] + 1)}
            score = math.prod(1 / (1 + math.exp(-scores.fragments[n, number])) for n in group)
            score *= math.prod(related[p][1] for p in combinations(sorted(group), 2))
            key = (tuple(sorted(words)), label)
            found[key] = max(score, found.get(key, 0))
    return found


def groups(nodes, spans, related, reading):
    def are(a, b, kinds):
        return related.get((min(a, b), max(a, b)), (0, 1))[0] in kinds

    def apart(a, b):
        return spans[a][1] < spans[b][0] or spans[b][1] < spans[a][0]

    if reading == "stars":
        for node in nodes:
            star = [n for n in nodes if n == node or are(node, n, {1})]
            if all(are(a, b, {1, 2}) for a, b in combinations(star, 2)):
                yield star
        return
    cliques = [
        set(group)
        for size in range(1, len(nodes) + 1)
        for group in combinations(nodes, size)
        if all(are(a, b, {1}) and apart(a, b) for a, b in combinations(group, 2))
    ]
    yield from (group for group in cliques if not any(group < other for other in cliques))
