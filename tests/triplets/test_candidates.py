from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.triplets_naive import Found, naive_candidates
from trigner.training.settings import resolve
from trigner.triplets import candidates
from trigner.triplets.candidates import Candidates
from trigner.triplets.settings import TripletSettings

POS, NEG = (0, 0), (1, 1)
CLEAN = TripletSettings()
PRESETS = {name: resolve(preset=name).triplets for name in ("clean", "paper")}
PAPER = PRESETS["paper"]


def cells_of(found: Candidates) -> Found:
    """Anchor cell to positive and negative cells, sorted."""
    cells = [(int(row), int(column)) for row, column in found.cells]
    named: Found = {cells[anchor]: ([], []) for anchor in found.anchors}
    anchors = list(named)
    for anchor, cell in found.positives:
        named[anchors[anchor]][0].append(cells[cell])
    for anchor, cell in np.argwhere(found.negatives):
        named[anchors[anchor]][1].append(cells[cell])
    return {a: (sorted(ps), sorted(ns)) for a, (ps, ns) in named.items()}


def upper(first: int, last: int) -> set[tuple[int, int]]:
    return {(x, y) for x in range(first, last + 1) for y in range(x + 1, last + 1)}


# (words, mentions, window, further options, what both presets give, what clean has instead)
# Where clean differs, it is for one of these:
# item 13: an earlier cell of another entity stays a negative of the later one;
# item 16: a one-word anchor's window is measured from the word, not from the grid's first row;
# item 17: only the very cell that serves as a positive goes without the special positive.
VECTORS = {
    "gap": (
        5,
        [(0, 1, 3)],
        2,
        {},
        {
            (2, 3): ([(2, 5), (3, 5)], [(2, 4), (3, 4)]),
            (2, 5): ([(3, 5)], [(2, 4), (2, 6), (3, 4), (3, 6), (4, 5), (4, 6)]),
        },
        {},
    ),
    "two entities": (
        5,
        [(0, 1), (0, 3)],
        3,
        {},
        {
            (2, 3): ([POS], [(2, 4), (2, 5), (2, 6), (3, 4), (3, 5), (3, 6), (4, 5)]),
            (2, 5): ([POS], sorted(upper(2, 6) - {(2, 3), (2, 5)})),
        },
        {(2, 5): ([POS], sorted(upper(2, 6) - {(2, 5)}))},  # item 13
    ),
    "two entities, every pair twice": (
        5,
        [(0, 1), (0, 3)],
        3,
        {"unique_pairs": False},
        {
            (2, 3): ([POS], [(2, 4), (2, 5), (2, 6), (3, 4), (3, 5), (3, 6), (4, 5)]),
            (2, 5): ([POS], sorted(upper(2, 6) - {(2, 5)})),
        },
        {},
    ),
    "two entities, taken together": (
        5,
        [(0, 1), (0, 3)],
        3,
        {"per_entity": False},
        {(2, 3): ([(2, 5)], [(2, 4), (2, 6), (3, 4), (3, 5), (3, 6), (4, 5)])},
        {},
    ),
    "one word": (1, [(0,)], 0, {}, {(0, 2): ([POS], [NEG])}, {}),
    "first of four": (
        4,
        [(0,)],
        2,
        {},
        {(0, 2): ([POS], [(2, 3)])},
        {(0, 2): ([POS], [(2, 3), (2, 4), (3, 4)])},  # item 16
    ),
    "first of four, nothing in reach": (
        4,
        [(0,)],
        1,
        {},
        {(0, 2): ([POS], [NEG])},
        {(0, 2): ([POS], [(2, 3)])},  # item 16
    ),
    "last of four": (
        4,
        [(3,)],
        2,
        {},
        {(0, 5): ([POS], [(2, 4), (2, 5)])},
        {(0, 5): ([POS], [(3, 4), (3, 5), (4, 5)])},  # item 16
    ),
    "two single words": (
        4,
        [(0,), (2,)],
        3,
        {},
        {
            (0, 2): ([POS], [(0, 4), (2, 3), (2, 4)]),
            (0, 4): ([POS], [(2, 3), (2, 4), (2, 5), (3, 4), (3, 5)]),
        },
        {
            (0, 2): ([POS], [(0, 4), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5)]),  # item 16
            (0, 4): ([POS], [(0, 2), *sorted(upper(2, 5))]),  # items 13 and 16
        },
    ),
    "shared word": (
        4,
        [(0, 1, 2), (1, 3)],
        0,
        {},
        {
            (2, 3): ([(2, 4), (3, 4)], [(2, 5), (3, 5), (4, 5)]),
            (2, 4): ([(3, 4)], [(2, 5), (3, 5), (4, 5)]),
        },
        {(3, 5): ([POS], sorted(upper(2, 5) - {(3, 5)}))},  # items 17 and 13
    ),
    "single word of a longer entity": (
        5,
        [(0, 1, 4), (4,)],
        0,
        {},
        {
            (2, 3): ([(2, 6), (3, 6)], sorted(upper(2, 6) - {(2, 3), (2, 6), (3, 6)})),
            (2, 6): ([(3, 6)], sorted(upper(2, 6) - {(2, 3), (2, 6), (3, 6)})),
        },
        {
            (0, 6): ([POS], sorted(upper(2, 6))),  # item 17
            # item 13: (0, 6) comes before both
            (2, 3): ([(2, 6), (3, 6)], [(0, 6), *sorted(upper(2, 6) - {(2, 3), (2, 6), (3, 6)})]),
            (2, 6): ([(3, 6)], [(0, 6), *sorted(upper(2, 6) - {(2, 3), (2, 6), (3, 6)})]),
        },
    ),
}


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("vector", VECTORS)
def test_vectors(vector, preset):
    length, mentions, window, options, expected, instead = VECTORS[vector]
    settings = PRESETS[preset].model_copy(update={"window": window, **options})
    if preset == "clean":
        expected = expected | instead
    assert cells_of(candidates(mentions, length, settings)) == expected
    naive = naive_candidates(mentions, length, settings)
    assert {a: found for a, found in naive.items() if found[0]} == expected


def test_the_last_cell_of_an_entity_is_skipped_when_pairs_are_unique():
    found = candidates([(0, 1, 3)], 5, PAPER)
    assert (3, 5) not in cells_of(found)


@pytest.mark.parametrize(
    ("metric", "reached"),
    [
        ("euclid_rounded", [(3, 1), (2, 2)]),
        ("chebyshev", [(3, 1), (3, 2), (2, 2)]),
        ("manhattan", []),
    ],
)
def test_window_of_three_reaches_these_offsets(metric, reached):
    settings = TripletSettings(window=3, window_metric=metric, full_grid=True)
    negatives = cells_of(candidates([(8, 9)], 20, settings))[10, 11][1]
    offsets = [(3, 1), (3, 2), (2, 2)]
    assert [o for o in offsets if (10 + o[0], 11 + o[1]) in negatives] == reached


def test_no_window_is_written_0_or_none():
    mentions = [(0, 3), (9,)]
    unlimited = cells_of(candidates(mentions, 30, PAPER.model_copy(update={"window": 0})))
    assert unlimited == cells_of(
        candidates(mentions, 30, PAPER.model_copy(update={"window": None}))
    )
    assert len(unlimited[2, 5][1]) == 30 * 29 // 2 - 1


def test_whole_grid_has_mirror_and_diagonal_cells():
    settings = TripletSettings(window=None, full_grid=True, unique_pairs=False)
    found = cells_of(candidates([(0, 1), (3,)], 4, settings))
    assert list(found) == [(0, 5), (2, 2), (2, 3), (3, 2), (3, 3)]
    assert found[3, 2][0] == [(2, 2), (2, 3), (3, 3)]
    # The cell that carries the tag of the one-word entity is nobody's negative.
    assert all((5, 5) not in negatives and (4, 4) in negatives for _, negatives in found.values())


@pytest.mark.parametrize(
    ("place", "cell"), [("row", (0, 4)), ("column", (4, 0)), ("diagonal", (4, 4))]
)
def test_anchor_of_a_one_word_entity(place, cell):
    found = candidates([(2,)], 5, TripletSettings(window=1, one_word_anchor=place))
    assert cells_of(found) == {cell: ([POS], [(3, 4), (3, 5), (4, 5)])}


@pytest.mark.parametrize(
    ("negatives", "with_a_neighbour", "alone"),
    [
        ("all", [(2, 4), (2, 5), (3, 4), (3, 5), (4, 5)], [(2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]),
        ("inter_first", [(4, 5)], [(2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]),
        ("non_entity", [(2, 4), (2, 5), (3, 4), (3, 5)], [(2, 4), (2, 5), (3, 4), (3, 5), (4, 5)]),
    ],
)
def test_kinds_of_negatives(negatives, with_a_neighbour, alone):
    settings = TripletSettings(window=2, window_metric="chebyshev", negatives=negatives)
    near = cells_of(candidates([(0, 1), (2, 3)], 6, settings))
    far = cells_of(candidates([(0, 1), (4, 5)], 6, settings))
    assert (near[2, 3][1], far[2, 3][1]) == (with_a_neighbour, alone)


@st.composite
def sentences(draw: st.DrawFn) -> tuple[list[tuple[int, ...]], int]:
    length = draw(st.integers(1, 9))
    words = st.sets(st.integers(0, length - 1), min_size=1, max_size=4)
    mentions = draw(st.lists(words, max_size=4))
    return [tuple(sorted(mention)) for mention in mentions], length


every_setting = st.builds(
    TripletSettings,
    window=st.one_of(st.none(), st.integers(0, 8)),
    window_metric=st.sampled_from(["euclid_rounded", "chebyshev", "manhattan"]),
    window_from=st.sampled_from(["word", "anchor"]),
    unique_pairs=st.booleans(),
    unique_masks=st.sampled_from(["positives", "both"]),
    per_entity=st.booleans(),
    full_grid=st.booleans(),
    negatives=st.sampled_from(["all", "inter_first", "non_entity"]),
    one_word_anchor=st.sampled_from(["row", "column", "diagonal"]),
    special_positive=st.sampled_from(["cell", "row_or_column"]),
)


@given(sentences(), every_setting)
def test_same_as_cell_by_cell(sentence, settings):
    mentions, length = sentence
    found = candidates(mentions, length, settings)
    naive = naive_candidates(mentions, length, settings)
    assert cells_of(found) == {a: (sorted(p), sorted(n)) for a, (p, n) in naive.items() if p}


@given(sentences(), every_setting)
def test_what_selection_relies_on(sentence, settings):
    found = candidates(*sentence, settings)
    assert found.negatives.shape == (len(found.anchors), len(found.cells))
    assert found.negatives.any(axis=1).all()
    assert sorted(set(found.positives[:, 0])) == list(range(len(found.anchors)))
    assert found.positives.tolist() == sorted(found.positives.tolist())
    used = found.negatives.any(axis=0)
    used[found.anchors] = used[found.positives[:, 1]] = True
    assert used.all()
    assert found.cells.dtype == found.anchors.dtype == found.positives.dtype == np.int32


@given(sentences(), every_setting)
def test_order_and_repetition_of_mentions_and_words_change_nothing(sentence, settings):
    mentions, length = sentence
    once = cells_of(candidates(mentions, length, settings))
    again = [mention[::-1] for mention in mentions[::-1]]
    assert once == cells_of(candidates(again + mentions, length, settings))


@pytest.mark.parametrize("mention", [(), (4,), (-1, 0)])
def test_words_outside_the_sentence_are_refused(mention, refused):
    with refused(error=ValueError):
        candidates([(0,), mention], 4, CLEAN)


def test_a_sentence_without_mentions_has_no_candidates():
    found = candidates([], 400, CLEAN)
    assert len(found.cells) == len(found.anchors) == len(found.positives) == 0


@pytest.mark.parametrize("window", [25, None])
def test_memory_of_a_long_sentence(window):
    random = np.random.default_rng(0)
    mentions = [tuple(range(start, start + 4)) for start in random.integers(0, 396, 60).tolist()]
    settings = TripletSettings(window=window)
    tracemalloc.start()
    found = candidates(mentions, 400, settings)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.anchors) > 200
    assert peak < 80e6
