"""Fitting a rescorer: a logistic regression on what a model proposes in documents it did not learn
from.

Kept is a candidate whose probability is at least half of the F1 that can be had: the threshold that
maximises F1 where probabilities are calibrated (Lipton, Elkan and Naryanaswamy, Optimal
thresholding of classifiers to maximize F1 measure, 2014). Continuous and discontinuous mentions
have one each, as far fewer of the latter are found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from trigner.arrays import Booleans, Floats, Integers, logistic
from trigner.errors import InputError
from trigner.inference.extraction import Extractor
from trigner.mentions import Document
from trigner.rescorer import Rescorer
from trigner.systems import Rescoring, system_spec
from trigner.text import segment

FEWEST = 30
"""Right and wrong candidates each without which nothing is fitted."""

FEWEST_DISCONTINUOUS = 10
"""Discontinuous mentions in the documents without which those have the threshold of all."""

CHANCE = 0.1
"""The largest p, two-sided, of the paired bootstrap over sentences with which a gain of F1 on dev
is believed."""

FOLDS = 10
RIDGE = 10.0
"""Penalty of the squared weights of standardised features: 1 / `C` of scikit-learn."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A rescorer, or None where it was not worth one and `why`.

    `f1` and `f1_before` are of these documents' mentions with it, weights and thresholds being
    those of the other folds each time, and without; `p` is that of no difference between them.
    """

    rescorer: Rescorer | None
    candidates: int
    f1_before: float = 0.0
    f1: float = 0.0
    p: float | None = None
    why: str = ""

    @property
    def figures(self) -> dict[str, Any]:
        """What is kept of it with a model's provenance."""
        own = {name: getattr(self, name) for name in ("candidates", "f1_before", "f1", "p", "why")}
        return {name: value for name, value in own.items() if value not in (None, "")}


@dataclass(frozen=True, slots=True)
class _Proposed:
    """Candidates of documents: features `[N, F]`, whether each is right, discontinuous, which
    sentence and which fold it is in. `gold` counts continuous and discontinuous mentions, `counts
    [S, 3]` what the model finds without a rescorer (`evaluation.SentenceCounts`)."""

    values: Floats
    right: Booleans
    discontinuous: Booleans
    sentences: Integers
    folds: Integers
    gold: tuple[int, int]
    counts: Integers

    def counts_of(self, kept: Booleans) -> Integers:
        """`counts [S, 3]` if these candidates `[N]` are what is found."""
        size = len(self.counts)
        columns = (self.sentences[kept & self.right], self.sentences[kept])
        found = [np.bincount(own, minlength=size) for own in columns]
        return np.stack([*found, self.counts[:, 2]], axis=1)


def fit_rescorer(
    extractor: Extractor, gold: Iterable[Document], found: Sequence[Document] | None = None
) -> Rescored:
    """A rescorer for a model, fitted on documents that its training did not see.

    `found` are these documents as the model answers them without a rescorer, if they are at hand.
    None where the documents have too few candidates, right or wrong, or where F1 is not raised by
    it by more than chance (`CHANCE`). Raises InputError for a system that cannot have one.
    """
    from trigner.evaluation import Score, compare_systems  # extraction needs none of it

    plain = with_rescorer(extractor, None)
    names = cast(Rescoring, extractor.predictor).features
    gold = tuple(gold)
    proposed = _proposed(plain, gold, list(plain.documents(gold)) if found is None else found)
    count, right = len(proposed.right), int(proposed.right.sum())
    before = Score(*proposed.counts.sum(axis=0).tolist()).f1
    if min(right, count - right) < FEWEST:
        why = (
            f"of {count} candidates on dev {right} are right: {FEWEST} right and {FEWEST} wrong"
            " ones are needed"
        )
        return Rescored(None, count, before, before, why=why)
    held_out, kept = np.empty(count), np.empty(count, dtype=bool)
    folds = [proposed.folds == fold for fold in np.unique(proposed.folds)]
    if any(len({*proposed.right[~own]}) < 2 for own in folds):
        why = "dev cannot be divided for cross-validation"
        return Rescored(None, count, before, before, why=why)
    for own in folds:
        bias, weights = _regression(proposed.values[~own], proposed.right[~own])
        held_out[own] = logistic(bias + proposed.values[own] @ weights)
    for own in folds:
        kept[own] = _reached(held_out, proposed, _thresholds(held_out, proposed, ~own))[own]
    counts = proposed.counts_of(kept)
    after = Score(*counts.sum(axis=0).tolist()).f1
    if after <= before:
        return Rescored(None, count, before, after, why="it does not raise F1 on dev")
    p = compare_systems([proposed.counts], [counts]).p_bootstrap
    if p > CHANCE:
        rates = f"from {100 * before:.2f} to {100 * after:.2f}"
        why = f"F1 on dev rises {rates} with it, which may be chance (p {p:.2g})"
        return Rescored(None, count, before, after, p, why)
    thresholds = _thresholds(held_out, proposed, np.ones(count, dtype=bool))
    bias, weights = _regression(proposed.values, proposed.right)
    named = dict(zip(names, weights.tolist(), strict=True))
    rescorer = Rescorer(bias=bias, weights=named, thresholds=thresholds)
    return Rescored(rescorer, count, before, after, p)


def with_rescorer(extractor: Extractor, rescorer: Rescorer | None) -> Extractor:
    """The same extractor with another rescorer or none; it no longer knows a folder to be loaded
    from.

    Raises InputError for a system that cannot have one, and for weights of other features.
    """
    system_spec(extractor.system).require("rescoring")
    own = cast(Rescoring, extractor.predictor)
    if rescorer is not None and set(rescorer.weights) != set(own.features):
        features = ", ".join(own.features)
        given = ", ".join(rescorer.weights)
        raise InputError(
            f"a rescorer of {extractor.system} has weights of {features}; this one of {given}"
        )
    predictor = own.with_rescorer(rescorer)
    return replace(extractor, predictor=predictor, source=None)


def _proposed(
    extractor: Extractor, gold: Sequence[Document], found: Sequence[Document]
) -> _Proposed:
    from trigner.evaluation import sentence_counts

    predictor = cast(Rescoring, extractor.predictor)
    values, right, discontinuous, places, folds = [], [], [], [], []
    before = 0  # sentences of the documents before
    for number, document in enumerate(gold):
        sentences = segment(document).sentences
        for inputs in extractor.batches(predictor.prepare(sentences).inputs):
            for own, candidates in zip(inputs, predictor.candidates(inputs), strict=True):
                place = before + own.sentence
                for candidate in candidates:
                    values.append(candidate.features)
                    right.append(candidate.mention in sentences[own.sentence].mentions)
                    discontinuous.append(candidate.mention.is_discontinuous)
                    places.append(place)
                    # Sentences make the folds where there are too few documents for them.
                    folds.append((number if len(gold) >= FOLDS else place) % FOLDS)
        before += max(1, len(sentences))  # as `sentence_counts` has it
    counts = sentence_counts(gold, found).slices
    of_all, of_discontinuous = (int(counts[s][:, 2].sum()) for s in ("overall", "discontinuous"))
    return _Proposed(
        values=np.array(values).reshape(len(right), len(predictor.features)),
        right=np.array(right, dtype=bool),
        discontinuous=np.array(discontinuous, dtype=bool),
        sentences=np.array(places, dtype=np.int64),
        folds=np.array(folds, dtype=np.int64),
        gold=(of_all - of_discontinuous, of_discontinuous),
        counts=counts["overall"],
    )


def _reached(
    probabilities: Floats, proposed: _Proposed, thresholds: tuple[float, float]
) -> Booleans:
    own: Booleans = probabilities >= np.where(proposed.discontinuous, thresholds[1], thresholds[0])
    return own


def _thresholds(probabilities: Floats, proposed: _Proposed, among: Booleans) -> tuple[float, float]:
    """Of continuous and of discontinuous mentions, by the best F1 of each among some candidates.

    Of what there is to find these are taken to have their share.
    """
    share = among.mean()
    of_all = _best_f1(probabilities[among], proposed.right[among], share * sum(proposed.gold)) / 2
    if proposed.gold[1] < FEWEST_DISCONTINUOUS:
        return of_all, of_all
    continuous, discontinuous = (
        _best_f1(probabilities[own], proposed.right[own], share * gold) / 2
        for own, gold in zip(
            (among & ~proposed.discontinuous, among & proposed.discontinuous),
            proposed.gold,
            strict=True,
        )
    )
    return continuous, discontinuous


def _best_f1(probabilities: Floats, right: Booleans, gold: float) -> float:
    """The largest F1 of those with at least some probability."""
    order = np.argsort(-probabilities, kind="stable")
    correct = np.cumsum(right[order])
    found = 2 * correct / (np.arange(1, len(order) + 1) + gold)
    least = np.diff(probabilities[order], append=-1.0) < 0  # the last of equal ones
    return float(found[least].max(initial=0.0))


def _regression(values: Floats, right: Booleans) -> tuple[float, Floats]:
    """Bias and weights of a logistic regression with a ridge penalty, by Newton's method.

    Features are standardised for the penalty; the weights are those of the features as given.
    """
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    deviation[deviation < 1e-9] = 1.0  # of features that are all alike
    x = np.column_stack([np.ones(len(values)), (values - mean) / deviation])
    penalty = np.array([0.0, *[RIDGE] * values.shape[1]])
    weights = np.zeros(x.shape[1])
    for _ in range(100):
        expected = logistic(x @ weights)
        gradient = x.T @ (expected - right) + penalty * weights
        curvature = (x * (expected * (1 - expected))[:, None]).T @ x + np.diag(penalty)
        step = np.linalg.solve(curvature + 1e-9 * np.eye(len(weights)), gradient)
        weights -= step
        if np.abs(step).max() < 1e-9:
            break
    own = weights[1:] / deviation
    return float(weights[0] - own @ mean), own
