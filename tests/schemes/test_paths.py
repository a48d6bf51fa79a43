from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.schemes.paths import Links, best_paths


def every_path(links, word, tail):
    if word == tail:
        return [(word,)]
    return [
        (word, *rest)
        for (row, column) in links
        if row == word
        for rest in every_path(links, column, tail)
    ]


@given(st.integers(1, 7), st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_the_best_of_all_paths_in_order(length, seed, limit):
    generator = np.random.default_rng(seed)
    weights = np.triu(-generator.random((length, length)), 1) * (generator.random() < 0.9)
    weights[generator.random((length, length)) < 0.3] = 0
    rows, columns = np.nonzero(weights)
    links = {(int(i), int(j)): weights[i, j] for i, j in zip(rows, columns, strict=True)}
    heads, tails = np.nonzero(np.triu(generator.random((length, length)) < 0.4))
    own = -generator.random(len(heads))
    expected = sorted(
        (
            (own[pair] + sum(links[step] for step in pairwise(path)), pair, path)
            for pair, (head, tail) in enumerate(zip(heads.tolist(), tails.tolist(), strict=True))
            for path in every_path(links, head, tail)
        ),
        reverse=True,
    )
    made = Links(rows, columns, weights[rows, columns], length)
    found = best_paths(made, heads, tails, own, limit)
    assert [score for score, _, _ in found.found] == pytest.approx(
        [score for score, _, _ in expected[:limit]]
    )
    assert {p[1:] for p in found.found} <= {p[1:] for p in expected}
    assert len({p[1:] for p in found.found}) == len(found.found)
    assert found.complete == (len(expected) <= limit)


def test_a_head_that_is_its_own_tail_needs_no_link():
    none = np.zeros(0, dtype=np.int64)
    links = Links(none, none, np.zeros(0), 3)
    found = best_paths(links, np.array([1, 0]), np.array([1, 2]), np.array([-0.5, -0.1]), None)
    assert found.found == [(-0.5, 0, (1,))]
    assert found.complete
