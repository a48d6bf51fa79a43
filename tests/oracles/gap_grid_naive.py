"""Decoding of fragments, gaps and ends of entities as it is written down: depth first."""

from __future__ import annotations

import math


def probability(logit):
    return 1 / (1 + math.exp(-logit))


def decode(scores, labels):
    """Score by (words, label) of `scores [L, L, C]`."""
    names = ["Frag", "Gap", *(f"{kind}-{y}" for y in labels for kind in ("ConE", "DiscE"))]
    at = {name: scores[:, :, tag] for tag, name in enumerate(names)}
    spans = [(i, j) for i in range(len(scores)) for j in range(i, len(scores))]
    fragments = [span for span in spans if at["Frag"][span] > 0]
    gaps = [span for span in spans if at["Gap"][span] > 0]

    def paths(first, last):
        """Segments and probability of every path from one word to another."""
        for fragment in fragments:
            if fragment[0] != first:
                continue
            own = probability(at["Frag"][fragment])
            if fragment[1] == last:
                yield [fragment], own
            for gap in gaps:
                if gap[0] != fragment[1] + 1:
                    continue
                step = own * probability(at["Gap"][gap])
                for segments, onward in paths(gap[1] + 1, last):
                    yield [fragment, *segments], step * onward

    found = {}
    for label in labels:
        for first, last in spans:
            for segments, own in paths(first, last):
                logit = at[f"{'DiscE' if len(segments) > 1 else 'ConE'}-{label}"][last, first]
                if logit > 0:
                    words = tuple(w for a, b in segments for w in range(a, b + 1))
                    found[words, label] = own * probability(logit)
    return found
