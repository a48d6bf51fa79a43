"""Fitting a rescorer: a logistic regression on what a model proposes in documents it did not learn
from.

Kept is a candidate whose probability is at least half of the F1 that can be had: the threshold that
maximises F1 where probabilities are calibrated (Lipton, Elkan and Naryanaswamy, Optimal
thresholding of classifiers to maximize F1 measure, 2014). Continuous and discontinuous mentions
have one each, as far fewer of the latter are found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from trigner.arrays import Booleans, Floats, Integers, logistic
from trigner.inference.extraction import Extractor
from trigner.mentions import Document
from trigner.rescorer import Rescorer
from trigner.systems import Rescoring, system_spec
from trigner.text import segment

FEWEST = 30
"""Right and wrong candidates each without which nothing is fitted."""

FEWEST_DISCONTINUOUS = 10
"""Discontinuous mentions in the documents without which those have the threshold of all."""

FOLDS = 10
RIDGE = 10.0
"""Penalty of the squared weights of standardised features: 1 / `C` of scikit-learn."""


@dataclass(frozen=True, slots=True)
class Rescored:
    """A rescorer, or None where it was not worth one and `why`.

    `f1` and `f1_before` are of these documents' mentions with it, weights and thresholds being
    those of the other folds each time, and without.
    """

    rescorer: Rescorer | None
    candidates: int
    f1_before: float = 0.0
    f1: float = 0.0
    why: str = ""

    @property
    def figures(self) -> dict[str, Any]:
        """What is kept of it with a model's provenance."""
        own = {"candidates": self.candidates, "f1_before": self.f1_before, "f1": self.f1}
        return {**own, "why": self.why} if self.why else own


@dataclass(frozen=True, slots=True)
class _Proposed:
    """Candidates of documents: features `[N, F]`, whether each is right, discontinuous, and which
    fold it is in. `gold` counts continuous and discontinuous mentions, `found` those of them that
    the model finds without a rescorer, and what it finds."""

    values: Floats
    right: Booleans
    discontinuous: Booleans
    folds: Integers
    gold: tuple[int, int]
    found: tuple[int, int]


def fit_rescorer(extractor: Extractor, gold: Sequence[Document]) -> Rescored:
    """A rescorer for a model, fitted on documents that its training did not see.

    None where the documents have too few candidates, right or wrong, or where F1 is not raised by
    it. Raises InputError for a system that cannot have one.
    """
    from trigner.evaluation import Score  # extraction needs none of it

    system_spec(extractor.system).require("rescoring")
    names = cast(Rescoring, extractor.predictor).features
    proposed = _proposed(with_rescorer(extractor, None), gold)
    count, right = len(proposed.right), int(proposed.right.sum())
    before = Score(*proposed.found, sum(proposed.gold)).f1
    if min(right, count - right) < FEWEST:
        why = (
            f"of {count} candidates on dev {right} are right: {FEWEST} right and {FEWEST} wrong"
            " ones are needed"
        )
        return Rescored(None, count, before, before, why)
    held_out, kept = np.empty(count), np.empty(count, dtype=bool)
    folds = [proposed.folds == fold for fold in np.unique(proposed.folds)]
    if any(len({*proposed.right[~own]}) < 2 for own in folds):
        return Rescored(None, count, before, before, "dev cannot be divided for cross-validation")
    for own in folds:
        bias, weights = _logistic(proposed.values[~own], proposed.right[~own])
        held_out[own] = logistic(bias + proposed.values[own] @ weights)
    for own in folds:
        kept[own] = _reached(held_out, proposed, _thresholds(held_out, proposed, ~own))[own]
    after = Score(int(proposed.right[kept].sum()), int(kept.sum()), sum(proposed.gold)).f1
    if after <= before:
        return Rescored(None, count, before, after, "it does not raise F1 on dev")
    thresholds = _thresholds(held_out, proposed, np.ones(count, dtype=bool))
    bias, weights = _logistic(proposed.values, proposed.right)
    named = dict(zip(names, weights.tolist(), strict=True))
    return Rescored(Rescorer(bias=bias, weights=named, thresholds=thresholds), count, before, after)


def with_rescorer(extractor: Extractor, rescorer: Rescorer | None) -> Extractor:
    """The same extractor with another rescorer or none; it no longer knows a folder to be loaded
    from."""
    predictor = cast(Rescoring, extractor.predictor).with_rescorer(rescorer)
    return replace(extractor, predictor=predictor, source=None)


def _proposed(extractor: Extractor, gold: Sequence[Document]) -> _Proposed:
    predictor = cast(Rescoring, extractor.predictor)
    values, right, discontinuous, groups = [], [], [], []
    counts, found = [0, 0], [0, 0]
    before = 0  # sentences of the documents before
    for number, document in enumerate(gold):
        sentences = segment(document).sentences
        expected = [set(sentence.mentions) for sentence in sentences]
        for mention in (own for of_sentence in expected for own in of_sentence):
            counts[mention.is_discontinuous] += 1
        for inputs in extractor.batches(predictor.prepare(sentences).inputs):
            found_in = predictor.candidates(inputs), predictor.predict(inputs)
            for own, candidates, prediction in zip(inputs, *found_in, strict=True):
                # Sentences make the folds where there are too few documents for them.
                group = number if len(gold) >= FOLDS else before + own.sentence
                for candidate in candidates:
                    values.append(candidate.features)
                    right.append(candidate.mention in expected[own.sentence])
                    discontinuous.append(candidate.mention.is_discontinuous)
                    groups.append(group % FOLDS)
                own_right = (s.mention in expected[own.sentence] for s in prediction.mentions)
                found[0] += sum(own_right)
                found[1] += len(prediction.mentions)
        before += len(sentences)
    return _Proposed(
        values=np.array(values).reshape(len(right), len(predictor.features)),
        right=np.array(right, dtype=bool),
        discontinuous=np.array(discontinuous, dtype=bool),
        folds=np.array(groups, dtype=np.int64),
        gold=(counts[0], counts[1]),
        found=(found[0], found[1]),
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


def _logistic(values: Floats, right: Booleans) -> tuple[float, Floats]:
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
