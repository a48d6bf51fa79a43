from __future__ import annotations

import numpy as np
import pytest

from trigner.mentions import Mention
from trigner.schemes.span_grid import SpanGrid

LABELS = ("ADR", "Drug")
GRID = SpanGrid(LABELS)


def named(tags):
    """Tag name and cell of each tag that is there."""
    return {(GRID.tags[tag], int(i), int(j)) for i, j, tag in np.argwhere(tags)}


def tags_of(*words, length=10):
    return GRID.encode([Mention(own, "ADR") for own in words], length).tags


def decoded(tags):
    return {scored.mention.words for scored in GRID.decode_tags(tags).mentions}


def test_tags_of_two_mentions():
    assert named(tags_of((0, 2), (0, 1, 2, 4))) == {
        *[("BI-ADR", 0, 0), ("II-N-ADR", 1, 1), ("IE-ADR", 2, 2)],
        *[("BI-ADR", 0, 2), ("II-N-ADR", 3, 3), ("IE-ADR", 4, 4)],
    }
    assert decoded(tags_of((0, 2), (0, 1, 2, 4))) == {(0, 2), (0, 1, 2, 4)}


def test_three_segments_and_two_gaps():
    assert named(tags_of((0, 3, 4, 7))) == {
        *[("BI-ADR", 0, 0), ("II-ADR", 3, 4), ("IE-ADR", 7, 7)],
        *[("II-N-ADR", 1, 2), ("II-N-ADR", 5, 6)],
    }
    assert named(GRID.encode([Mention((1, 2), "Drug")], 4).tags) == {("BE-Drug", 1, 2)}


def test_groups_of_tags():
    assert GRID.tags[4:8] == ("BE-Drug", "BI-Drug", "II-Drug", "IE-Drug")
    assert GRID.tags[8:] == ("II-N-ADR", "II-N-Drug")
    segments, gaps = GRID.groups
    assert (segments.start, segments.stop, gaps.start, gaps.stop) == (0, 8, 8, 10)
    assert segments.triangle == "upper"
    assert gaps.triangle == "upper"


@pytest.mark.parametrize(
    "gold",
    [
        {(0, 1, 2), (0, 2, 4)},
        {(0, 1, 3, 4, 6), (0, 2, 3, 5, 6)},
        {(0,), (0, 2)},
        {(0, 4), (0, 2, 4), (0, 2), (2, 4)},
        {(0, 4), (0, 6), (2, 4), (2, 6)},
    ],
)
def test_exact(gold):
    assert decoded(tags_of(*gold)) == gold


def test_segments_that_end_with_the_same_word_exchange_what_follows():
    gold = {(0, 2, 4), (1, 2, 5)}
    assert decoded(tags_of(*gold)) == {*gold, (0, 2, 5), (1, 2, 4)}
    gold = {(0, 2, 4, 6), (0, 3, 4, 7)}
    assert decoded(tags_of(*gold)) > gold


@pytest.mark.parametrize("missing", ["BI", "II", "IE", "II-N"])
def test_without_one_of_its_tags_there_is_no_mention(missing):
    tags = tags_of((0, 2, 4))
    tags[:, :, GRID.tags.index(f"{missing}-ADR")] = 0
    assert decoded(tags) == set()
