from __future__ import annotations

import torch
from torch import nn

from trigner.families.tagging.exported_tagger import FoldedPairMap, GatheredPooling
from trigner.families.tagging.pair_maps import FullPairMap
from trigner.networks.pooling import WordPooling


def test_pooling_is_that_of_training():
    states = torch.randn(2, 7, 5)
    word_subwords = torch.tensor([[[1, 2, 3], [4, -1, -1]], [[-1, -1, -1], [5, 6, -1]]])
    for empty_word in ("zeros", "batch_minimum"):
        expected = WordPooling(empty_word=empty_word)(states, word_subwords)
        assert GatheredPooling(empty_word)(states, word_subwords).equal(expected)


def test_the_full_map_is_folded_with_its_bias():
    torch.manual_seed(0)
    pairs = FullPairMap(input_size=6, size=9, classes=3)
    nn.init.normal_(pairs.output.bias)
    small = FoldedPairMap(pairs)
    states = torch.randn(2, 4, 6)
    assert sum(p.numel() for p in small.parameters()) == 3 * 7 * 7
    torch.testing.assert_close(small(states), pairs(states))
