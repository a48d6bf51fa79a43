"""From the scores of a sentence to mentions with their probabilities. Needs no PyTorch."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np

from trigner.arrays import Logits
from trigner.families.core import SMALLEST_SCORE
from trigner.families.hypergraph import Chart, best
from trigner.families.segments.format import SegmentFormat, gaps_of, words_of
from trigner.mentions import Mention, ScoredMention
from trigner.schemes import Decoding, log_probability

GAPS = 16
"""Numbers of words in a gap that are told apart: this many and more are one."""


class Role(IntEnum):
    """What a segment is in a combination."""

    ALONE = 0
    FIRST = 1
    MIDDLE = 2
    LAST = 3


@dataclass(frozen=True, eq=False)
class SegmentScores(Chart):
    """The scores of one sentence: of its segments as a chart, and what combinations are scored by.

    `parts [L, D, 4, P]` of segments by first word, words behind it and role; `gaps [GAPS, P]`;
    `readout [P + 1, Y]`, the bias last.
    """

    parts: Logits
    gaps: Logits
    readout: Logits


def combination_scores(parts: Any, gaps: Any, readout: Any, chosen: Any, between: Any) -> Any:
    """Scores of candidates to be mentions, `[M, Y]`, on NumPy and PyTorch alike.

    From `parts [N, 4, P]` of segments; the candidates `chosen [M, k]` are indices of these, with
    `between [M, k - 1]` words between neighbours. One hidden layer, whose input is a sum: the
    segments' own parts by their role, and features of the gaps.
    """
    if chosen.shape[1] == 1:
        hidden = parts[chosen[:, 0], Role.ALONE]
    else:
        hidden = parts[chosen[:, 0], Role.FIRST] + parts[chosen[:, -1], Role.LAST]
        hidden = hidden + parts[chosen[:, 1:-1], Role.MIDDLE].sum(1)
        hidden = hidden + gaps[between.clip(None, GAPS) - 1].sum(1)
    return hidden.clip(0) @ readout[:-1] + readout[-1]


def decode(format: SegmentFormat, scores: SegmentScores, temperature: float = 1.0) -> Decoding:
    """The combinations of the best set of segments that are mentions, best first.

    A mention's score is the probability that all its segments are in the set, exactly (each begins
    at another word, and what begins at different words is independent), times that of the
    combination to be a mention. All scores are divided by `temperature`, which changes no mention
    where no bound is reached.
    """
    segments = best(scores.at(temperature), "all", scores.best)
    own = defaultdict(list)
    for path, log in segments.paths:
        own[path.label].append((path.start, path.steps[-1].word, log))
    found: list[tuple[float, Mention]] = []
    complete = segments.complete
    gaps, readout = scores.gaps.astype(np.float64), scores.readout.astype(np.float64)
    for label, of_label in own.items():
        first, last, logs = zip(*sorted(of_label), strict=True)
        spans, weights = np.stack([first, last], axis=1), np.array(logs)
        parts = scores.parts[spans[:, 0], spans[:, 1] - spans[:, 0]].astype(np.float64)
        groups, whole = format.candidates(spans, weights)
        complete &= whole
        for chosen in groups:
            between = gaps_of(spans, chosen)
            logits = combination_scores(parts, gaps, readout[:, [label]], chosen, between)[:, 0]
            log = weights[chosen].sum(axis=1) + log_probability(logits / temperature)
            for row in np.flatnonzero(logits > 0):
                words = words_of(spans[chosen[row]])
                found.append((float(log[row]), Mention(words, format.labels[label])))
    found.sort(key=lambda each: (-each[0], each[1]))
    complete &= len(found) <= format.max_mentions
    kept = found[: format.max_mentions]
    scored = [ScoredMention(m, max(SMALLEST_SCORE, float(np.exp(log)))) for log, m in kept]
    return Decoding(tuple(scored), complete)
