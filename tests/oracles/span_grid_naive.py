"""The span scheme's decoding as it is written down: depth first over segments and gaps."""

from __future__ import annotations

import math

KINDS = ("BE", "BI", "II", "IE")


def probability(logit):
    return 1 / (1 + math.exp(-logit))


def decode(scores, labels):
    """Score by (words, label) of `scores [L, L, C]`."""
    names = [f"{kind}-{label}" for label in labels for kind in KINDS]
    names += [f"II-N-{label}" for label in labels]
    spans = [(i, j) for i in range(len(scores)) for j in range(i, len(scores))]
    found = {}
    for label in labels:
        at = {kind: scores[:, :, names.index(f"{kind}-{label}")] for kind in (*KINDS, "II-N")}
        tagged = {kind: [span for span in spans if at[kind][span] > 0] for kind in at}

        def words(span):
            return tuple(range(span[0], span[1] + 1))

        def follow(path, score, last, label=label, at=at, tagged=tagged):
            for gap in tagged["II-N"]:
                if gap[0] != last + 1:
                    continue
                for kind in ("II", "IE"):
                    for span in tagged[kind]:
                        if span[0] != gap[1] + 1:
                            continue
                        own = score * probability(at["II-N"][gap]) * probability(at[kind][span])
                        if kind == "IE":
                            found[path + words(span), label] = own
                        else:
                            follow(path + words(span), own, span[1])

        for span in tagged["BE"]:
            found[words(span), label] = probability(at["BE"][span])
        for span in tagged["BI"]:
            follow(words(span), probability(at["BI"][span]), span[1])
    return found
