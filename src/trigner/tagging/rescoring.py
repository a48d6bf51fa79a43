"""Rescoring: which candidates of a looser decoding are mentions, by a logistic regression.

A grid decodes to the mentions all of whose cells have their tag as the best one, and scores each by
the product of these cells. That looks at no other cell, and at one mention at a time. Here
decoding is looser (`BONUS`), and each candidate gets the probability that it is right, from its
score, whether it is discontinuous, how many candidates share words with it, and whether there are
tags that lead beyond its ends (`FEATURES`). What is improbable is left out again. The weights are
fitted on dev, which the network has not learnt from (`inference.rescoring`): its scores on its own
training sentences are too sure to learn anything from.

Ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trigner.arrays import Floats, Integers, Logits, logistic
from trigner.errors import InputError
from trigner.mentions import ScoredMention
from trigner.rescorer import Rescorer
from trigner.schemes import Decoding, Scheme, TagSpace

BONUS = 1.0
"""Added to the logits of all tags for the candidates."""

MOST = 12.0
"""Log-odds are clipped to so much above and below 0; where there is nothing they are at the
lower end."""

FEATURES = ("score", "discontinuous", "overlapping", "tag_before", "tag_behind")
"""Of a candidate: the log-odds of its score; 1 if it has a gap; the logarithm of 1 + the candidates
that share words with it; the log-odds of a tag in the cell of its first word and the one before,
and of its last word and the one behind."""


def candidates(scheme: Scheme, logits: Logits) -> Decoding:
    """What logits `[L, L, C]` of a grid decode to when every tag has the bonus."""
    looser = logits + np.asarray(BONUS, dtype=logits.dtype)
    if scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
        looser[..., 0] = logits[..., 0]
    return scheme.decode(looser)


def features(
    scheme: Scheme, logits: Logits, found: Sequence[ScoredMention], leading: int = 0
) -> Floats:
    """The `FEATURES` of a sentence's candidates, `[N, len(FEATURES)]`.

    `leading` special words come first in the logits `[L, L, C]` and the mentions.
    """
    words = np.zeros((len(found), len(logits)), dtype=np.float32)
    for own, scored in zip(words, found, strict=True):
        own[list(scored.mention.words)] = 1
    first = np.array([scored.mention.words[0] for scored in found], dtype=np.int64)
    last = np.array([scored.mention.words[-1] for scored in found], dtype=np.int64)
    scores = np.array([scored.score for scored in found])
    columns = (
        (np.log(scores) - np.log1p(-scores.clip(max=1 - 1e-9))).clip(-MOST, MOST),
        [scored.mention.is_discontinuous for scored in found],
        np.log((words @ words.T > 0).sum(axis=1)),  # itself is one of them
        _tagged(scheme, logits, first - 1, first, leading),
        _tagged(scheme, logits, last, last + 1, leading),
    )
    return np.stack(columns, axis=1, dtype=np.float64)


def probabilities(rescorer: Rescorer, values: Floats) -> Floats:
    """The probability of each candidate, `[N]`, from features `[N, len(FEATURES)]`."""
    weights = np.array([rescorer.weights[name] for name in FEATURES])
    return logistic(rescorer.bias + values @ weights)


def rescored(rescorer: Rescorer, scheme: Scheme, logits: Logits, leading: int = 0) -> Decoding:
    """The mentions that the rescorer keeps, with its probabilities as scores, best first."""
    decoding = candidates(scheme, logits)
    found = decoding.mentions
    if not found:
        return decoding
    scores = probabilities(rescorer, features(scheme, logits, found, leading)).tolist()
    kept = [
        ScoredMention(own.mention, score)
        for own, score in zip(found, scores, strict=True)
        if score >= rescorer.thresholds[own.mention.is_discontinuous]
    ]
    kept.sort(key=lambda own: -own.score)
    return Decoding(tuple(kept), decoding.complete)


def check_rescorer(rescorer: Rescorer | None, path: Path) -> None:
    """Raises InputError, naming `path`, for one with other features than those of this version."""
    if rescorer is not None and rescorer.weights.keys() != set(FEATURES):
        different = ", ".join(sorted(set(rescorer.weights) ^ set(FEATURES)))
        raise InputError(
            f"rescorer.weights: not the features of this version: {different}", path=path
        )


def _tagged(
    scheme: Scheme, logits: Logits, rows: Integers, columns: Integers, leading: int
) -> Floats:
    """Log-odds that a cell above the diagonal has a tag rather than none, by its likeliest;
    outside: none."""
    inside = (rows >= leading) & (columns < len(logits))
    own = logits[rows[inside], columns[inside]].astype(np.float64)
    if scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
        own = own[:, 1:] - own[:, :1]
    else:  # what a group's tags score in the other half of the grid is never learnt
        groups = (group for group in scheme.groups if group.triangle != "lower")
        own = own[:, [tag for group in groups for tag in range(group.start, group.stop)]]
    found = np.full(len(rows), -MOST)
    found[inside] = own.max(axis=1, initial=-np.inf).clip(-MOST, MOST)
    return found
