"""MAC's decoding as its definition says: every region, every set of nodes, every pair."""

from __future__ import annotations

import math
from itertools import combinations, permutations

from oracles import cliques_naive


def probability(logit):
    return 1 / (1 + math.exp(-logit))


def decode(scores, labels, full):
    """Score by (words, label) of `scores [L, L, C]`."""
    kinds = ["S", "B", "I"] + ["BOUND"] * full
    links = ["H2H", "T2T"] + ["H2T", "T2H"] * full
    names = [f"{k}-{t}" for t in labels for k in kinds] + [
        f"{k}-{t}" for t in labels for k in links
    ]
    found = {}
    for label in labels:
        at = {k: scores[:, :, names.index(f"{k}-{label}")] for k in kinds + links}
        found_of_type(at, links, full, label, found)
    return found


def found_of_type(at, links, full, label, found):
    length = len(at["S"])
    spans = [(i, j) for i in range(length) for j in range(i, length)]
    nodes = [s for s in spans if any(at[k][s] > 0 for k in "SBI")]
    edges = {}
    for a, b in permutations(nodes, 2):
        if (a[0] <= b[0] and b[1] <= a[1]) or (b[0] <= a[0] and a[1] <= b[1]):
            continue
        ends = {"H": 0, "T": 1}
        logits = [at[k][a[ends[k[0]]], b[ends[k[2]]]] for k in links]
        if min(logits) > 0:
            pair = frozenset((a, b))
            edges[pair] = max(edges.get(pair, 0), math.prod(map(probability, logits)))
    regions = [s for s in spans if at["BOUND"][s] > 0] if full else [(0, length - 1)]
    for region in regions:
        inside = [n for n in nodes if region[0] <= n[0] and n[1] <= region[1]]
        own = {frozenset(inside.index(n) for n in pair) for pair in edges if pair <= set(inside)}
        for clique in cliques_naive.maximal_cliques(len(inside), own):
            chosen = sorted(inside[n] for n in clique)
            touches = {n[0] for n in chosen} >= {region[0]} and {n[1] for n in chosen} >= {
                region[1]
            }
            if full and not touches:
                continue
            kept = []
            for node in chosen:
                if not kept or node[0] > kept[-1][1]:
                    kept.append(node)
            score = probability(at["BOUND"][region]) if full else 1
            for node in kept:
                score *= probability(max(at[k][node] for k in "SBI"))
            for pair in combinations(kept, 2):
                score *= edges[frozenset(pair)]
            words = tuple(w for a, b in kept for w in range(a, b + 1))
            key = (words, label)
            found[key] = max(found.get(key, 0), score)
