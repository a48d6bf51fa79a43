from __future__ import annotations

import numpy as np
import pytest

from trigner.mentions import Mention
from trigner.schemes.gap_grid import GapGrid

LABELS = ("ADR", "Drug")
GRID = GapGrid(LABELS)


def named(tags):
    """Tag name and cell of each tag that is there."""
    return {(GRID.tags[tag], int(i), int(j)) for i, j, tag in np.argwhere(tags)}


def tags_of(*words, length=10):
    return GRID.encode([Mention(own, "ADR") for own in words], length).tags


def decoded(tags):
    return {scored.mention.words for scored in GRID.decode_tags(tags).mentions}


def test_three_segments_and_two_gaps():
    assert named(tags_of((0, 3, 4, 7, 8))) == {
        *[("Frag", 0, 0), ("Frag", 3, 4), ("Frag", 7, 8)],
        *[("Gap", 1, 2), ("Gap", 5, 6), ("DiscE-ADR", 8, 0)],
    }


def test_mentions_of_one_segment():
    tags = GRID.encode([Mention((2, 3), "Drug"), Mention((5,), "ADR")], 6).tags
    assert named(tags) == {
        *[("Frag", 2, 3), ("ConE-Drug", 3, 2), ("Frag", 5, 5), ("ConE-ADR", 5, 5)]
    }


def test_groups_of_tags():
    assert GRID.tags == ("Frag", "Gap", "ConE-ADR", "DiscE-ADR", "ConE-Drug", "DiscE-Drug")
    spans, entities = GRID.groups
    assert (spans.start, spans.stop, spans.triangle) == (0, 2, "upper")
    assert (entities.start, entities.stop, entities.triangle) == (2, 6, "lower")


@pytest.mark.parametrize(
    "gold",
    [
        {(0, 3), (1, 4)},
        {(0, 2, 4), (1, 2, 5)},
        {(0, 2, 6), (0, 4, 6)},
        {(0, 2, 4, 6), (0, 6)},
        {(0, 2, 4, 6), (1, 2, 4, 7)},
        {(0, 1, 3), (1,)},
        {(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)},
    ],
)
def test_exact(gold):
    assert decoded(tags_of(*gold)) == gold


@pytest.mark.parametrize(
    ("gold", "more"),
    [
        ({(0, 2), (0, 1, 2, 4)}, {(0, 2, 4)}),
        ({(0, 1, 2), (0, 2, 4)}, {(0, 1, 2, 4)}),
        ({(0, 2), (2, 4), (0, 4)}, {(0, 2, 4)}),
        ({(0, 2, 6), (0, 4, 6), (2, 4)}, {(0, 2, 4, 6)}),
    ],
)
def test_other_paths_between_the_ends_come_back_too(gold, more):
    assert decoded(tags_of(*gold)) == gold | more


def test_types_share_fragments_and_gaps():
    gold = [Mention((0, 2, 5), "ADR"), Mention((0, 3, 5), "Drug")]
    found = {s.mention for s in GRID.decode_tags(GRID.encode(gold, 6).tags).mentions}
    exchanged = {Mention((0, 3, 5), "ADR"), Mention((0, 2, 5), "Drug")}
    assert found == {*gold, *exchanged}


@pytest.mark.parametrize("missing", ["Frag", "Gap", "DiscE-ADR"])
def test_without_one_of_its_tags_there_is_no_mention(missing):
    tags = tags_of((0, 2, 4))
    tags[:, :, GRID.tags.index(missing)] = 0
    assert decoded(tags) == set()


def test_a_gap_that_is_gone_takes_its_paths_alone():
    tags = tags_of((0, 2, 6), (0, 4, 6))
    tags[3, 5, GRID.tags.index("Gap")] = 0
    assert decoded(tags) == {(0, 4, 6)}
