from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from oracles.triplets_naive import Triplet, naive_candidates, naive_triplets
from trigner.training.settings import resolve
from trigner.triplets import candidates
from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.candidates import Candidates
from trigner.triplets.loss import TripletLoss
from trigner.triplets.metrics import METRICS
from trigner.triplets.selection import SELECTIONS, Triplets, triplet_count
from trigner.triplets.settings import SELECTION_ALIASES, TripletSettings

EUCLIDEAN = METRICS["euclidean"]
CLEAN, PAPER = TripletSettings(), resolve(preset="paper").triplets


def on_a_line(anchor: float, positives: list[float], negatives: list[float]):
    """One anchor and cells at places of a line: states `[N, 1]` and the batch."""
    places = [anchor, *positives, *negatives]
    count = len(places)
    found = Candidates(
        cells=torch.arange(2 * count, dtype=torch.int32).view(count, 2).numpy(),
        anchors=torch.zeros(1, dtype=torch.int32).numpy(),
        positives=torch.tensor(
            [(0, 1 + p) for p in range(len(positives))], dtype=torch.int32
        ).numpy(),
        negatives=(torch.arange(count) > len(positives)).view(1, -1).numpy(),
    )
    return torch.tensor(places)[:, None], collate([found])


def line_triplets(name: str, states: Tensor, batch: CandidateBatch, margin: float = 1.0):
    chosen = SELECTIONS[name](states, batch, metric=EUCLIDEAN, margin=margin)
    return [tuple(v.item() for v in triplet) for triplet in rows(chosen)]


def rows(chosen: Triplets) -> list[Triplet]:
    valid = range(len(chosen.anchors)) if chosen.valid is None else chosen.valid.nonzero().flatten()
    return [(chosen.anchors[t], chosen.positives[t], chosen.negatives[t]) for t in valid]


def test_centroid_makes_one_triplet_an_anchor():
    line = on_a_line(0.0, [1.0, 2.0], [3.0, 4.0, 8.0])
    assert line_triplets("ce", *line) == [(0, 1.5, 5)]


def test_centroid_makes_one_triplet_for_every_anchor_with_a_positive():
    sentences = [candidates([(0, 1, 3), (2,)], 5, PAPER), candidates([(1, 2, 5)], 8, PAPER)]
    batch = collate(sentences)
    chosen = SELECTIONS["ce"](torch.randn(len(batch.rows), 3), batch, metric=EUCLIDEAN, margin=1.0)
    assert len(rows(chosen)) == sum(len(found.anchors) for found in sentences) == 5


def test_negative_centroid_makes_one_triplet_a_pair():
    line = on_a_line(0.0, [1.0, 2.0], [3.0, 4.0, 8.0])
    assert line_triplets("nc", *line) == [(0, 1, 5), (0, 2, 5)]


def test_hard_negative_repeats_the_nearest_for_every_positive():
    line = on_a_line(0.0, [1.0, 2.0], [3.0, -0.5, 8.0])
    assert line_triplets("hn", *line) == [(0, 1, -0.5), (0, 2, -0.5)]


def test_semi_hard_is_the_nearest_strictly_between_the_bounds():
    # 1 is as near as the positive, 0.5 nearer, 2 just out of the margin.
    line = on_a_line(0.0, [1.0], [2.0, 1.75, 1.5, 1.0, 0.5])
    assert line_triplets("sn", *line) == [(0, 1, 1.5)]


@pytest.mark.parametrize("negatives", [[1.0], [0.5], [2.0], [3.0], [0.5, 1.0, 2.0, 7.0]], ids=repr)
def test_semi_hard_skips_a_pair_with_nothing_between(negatives):
    line = on_a_line(0.0, [1.0], negatives)
    assert line_triplets("sn", *line) == []
    assert line_triplets("sn-hn", *line) == [(0, 1, min(negatives))]


def test_semi_hard_looks_at_every_pair_on_its_own():
    line = on_a_line(0.0, [1.0, 4.0, 2.0], [1.5, 2.5])
    assert line_triplets("sn", *line) == [(0, 1, 1.5), (0, 2, 2.5)]
    assert line_triplets("sn-hn", *line) == [(0, 1, 1.5), (0, 4, 1.5), (0, 2, 2.5)]


def test_the_margin_bounds_semi_hard():
    line = on_a_line(0.0, [1.0], [1.5])
    assert line_triplets("sn", *line, margin=0.25) == []


def test_names(refused):
    released = {"grid_hardneg": "hn", "grid_semineg": "sn", "grid_semihard": "sn"}
    released |= {"grid_centroid": "ce", "grid_negcentroid": "nc"}
    assert released.items() <= SELECTION_ALIASES.items()
    assert set(SELECTION_ALIASES.values()) == set(SELECTIONS)
    assert not set(SELECTION_ALIASES) & set(SELECTIONS)
    for alias, name in SELECTION_ALIASES.items():
        assert TripletLoss(alias).select is TripletLoss(name).select is SELECTIONS[name]
    with refused():
        TripletLoss("grid_hardest")


@st.composite
def grids(draw: st.DrawFn):
    """Sentences, candidate settings, and vectors `[B, L, L, D]` of all cells; distinct ones."""
    sentences = []
    for _ in range(draw(st.integers(1, 3))):
        length = draw(st.integers(1, 6))
        words = st.sets(st.integers(0, length - 1), min_size=1, max_size=4)
        sentences.append((draw(st.lists(words.map(sorted), max_size=3)), length))
    size = 2 + max(length for _, length in sentences)
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))
    states = torch.randn(
        len(sentences), size, size, draw(st.sampled_from([1, 3, 64])), generator=random
    ).double()
    preset = draw(st.sampled_from([CLEAN, PAPER])).model_copy(
        update={
            "window": draw(st.sampled_from([None, 2])),
            "unique_pairs": draw(st.booleans()),
        }
    )
    return sentences, preset, states


@settings(max_examples=60)
@given(grids(), st.sampled_from(sorted(SELECTIONS)), st.sampled_from([0.1, 1.0, 5.0]))
def test_same_triplets_as_the_definitions(drawn, name, margin):
    sentences, preset, grid = drawn
    batch = collate([candidates(mentions, length, preset) for mentions, length in sentences])
    states = grid[batch.sentences, batch.rows, batch.columns]
    chosen = rows(SELECTIONS[name](states, batch, metric=EUCLIDEAN, margin=margin))
    found = [naive_candidates(mentions, length, preset) for mentions, length in sentences]
    expected = naive_triplets(list(grid), found, name, margin)
    assert len(chosen) == len(expected)
    other = next(alias for alias, own in SELECTION_ALIASES.items() if own == name)
    count, again = (
        sum(triplet_count(candidates(*each, preset), own) for each in sentences)
        for own in (name, other)
    )
    assert count == again
    assert count == len(expected) or (name == "sn" and count > len(expected))
    for ours, naive in zip(chosen, expected, strict=True):
        for vector, same in zip(ours, naive, strict=True):
            torch.testing.assert_close(vector, same, rtol=0, atol=1e-12)
