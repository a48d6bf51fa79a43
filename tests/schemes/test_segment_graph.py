from __future__ import annotations

import numpy as np
import pytest

from trigner.schemes.cliques import Effort
from trigner.schemes.scheme import log_probability
from trigner.schemes.segment_graph import Bounds, Clique, LinkScores, mentions

SPANS = [(0, 0), (2, 3), (5, 5)]


def grid(*cells, length=6, logit=2.0):
    """Logits `[L, L]`, below 0 but for some cells."""
    logits = np.full((length, length), -3.0)
    for cell in cells:
        logits[cell] = logit
    return logits


def joining(*pairs):
    """Links, heads and tails alone, between pairs of spans."""
    heads, tails = ([(a[side], b[side]) for a, b in pairs] for side in (0, 1))
    return LinkScores(grid(*heads), grid(*tails))


def bounds(**changes):
    return Bounds(**{"mentions": 100, "nodes": 50, "effort": Effort(10_000), **changes})


ALL = joining((SPANS[0], SPANS[1]), (SPANS[1], SPANS[2]), (SPANS[2], SPANS[0]))


def test_a_triangle_and_what_it_weighs():
    found = mentions(grid(*SPANS), ALL, None, bounds())
    assert list(found.by_words) == [(0, 2, 3, 5)]
    (clique,) = found.by_words.values()
    assert clique.segments == tuple(SPANS)
    # Three nodes and two links for each of three edges.
    assert clique.weight == pytest.approx(9 * float(log_probability(np.array(2.0))))
    assert found.complete


def test_within_a_span_there_is_less():
    around = grid((0, 3))
    (clique,) = mentions(grid(*SPANS), ALL, around, bounds()).by_words.values()
    assert (clique.words, clique.around) == ((0, 2, 3), (0, 3))


def test_of_two_cliques_with_the_same_words_the_more_probable_is_kept():
    segments = grid((1, 1), (2, 2), logit=0.5)
    segments[1, 2] = 5.0
    links = joining(((1, 1), (2, 2)))
    found = mentions(segments, links, grid((1, 2)), bounds()).by_words
    assert found[1, 2].segments == ((1, 2),)
    segments[1, 2] = 0.1
    segments[[1, 2], [1, 2]] = 9.0
    assert mentions(segments, links, grid((1, 2)), bounds()).by_words[1, 2].segments == (
        (1, 1),
        (2, 2),
    )


def test_nodes_beyond_the_bound_are_no_mentions_of_their_own():
    segments = grid(*SPANS)
    segments[5, 5] = 0.5
    found = mentions(segments, ALL, None, bounds(nodes=2))
    assert set(found.by_words) == {(0, 2, 3)}
    assert not found.complete


def test_words_of_a_clique():
    assert Clique(0.0, ((1, 2), (4, 4))).words == (1, 2, 4)
