"""Paired tests of two systems, one resample and one sentence after another."""

from __future__ import annotations

import itertools

Sentence = tuple[int, int, int]
"""Correct, predicted and gold mentions."""


def naive_f1(runs: list[list[Sentence]]) -> float:
    """Mean F1 of several runs."""
    values = []
    for run in runs:
        correct = sum(c for c, _, _ in run)
        total = sum(p + g for _, p, g in run)
        values.append(2 * correct / total if total else 0.0)
    return sum(values) / len(values)


def naive_difference(a: list[list[Sentence]], b: list[list[Sentence]]) -> float:
    return naive_f1(b) - naive_f1(a)


def exact_bootstrap(a: list[list[Sentence]], b: list[list[Sentence]]) -> list[float]:
    """The difference for every way to draw as many sentences as there are, with replacement."""
    size = len(a[0])
    return [
        naive_difference([[run[i] for i in drawn] for run in a], [[r[i] for i in drawn] for r in b])
        for drawn in itertools.product(range(size), repeat=size)
    ]


def exact_randomisation(a: list[list[Sentence]], b: list[list[Sentence]]) -> list[float]:
    """The difference for every way to swap sentences between the systems, all seeds at once."""
    found = []
    for swaps in itertools.product((False, True), repeat=len(a[0])):
        one = [_mixed(x, y, swaps) for x, y in zip(a, b, strict=True)]
        other = [_mixed(y, x, swaps) for x, y in zip(a, b, strict=True)]
        found.append(naive_difference(one, other))
    return found


def share_as_far(differences: list[float], observed: float) -> float:
    return sum(abs(d) >= abs(observed) - 1e-12 for d in differences) / len(differences)


def _mixed(x: list[Sentence], y: list[Sentence], swaps: tuple[bool, ...]) -> list[Sentence]:
    return [second if swap else first for first, second, swap in zip(x, y, swaps, strict=True)]
