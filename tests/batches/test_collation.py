from __future__ import annotations

import numpy as np

from trigner.batches.collation import IGNORED, collate, pad_tags
from trigner.batches.subwords import SentenceSubwords


def test_collate_pads_subwords_words_and_widths():
    short = SentenceSubwords(np.array([1, 7, 2]), np.array([[1]]))
    long = SentenceSubwords(np.array([1, 5, 6, 8, 2]), np.array([[1, 2], [-1, -1], [3, -1]]))
    batch = collate([short, long], padding_id=9)
    assert batch.input_ids.tolist() == [[1, 7, 2, 9, 9], [1, 5, 6, 8, 2]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch.word_subwords.tolist() == [
        [[1, -1], [-1, -1], [-1, -1]],
        [[1, 2], [-1, -1], [3, -1]],
    ]
    assert batch.lengths.tolist() == [1, 3]


def test_pad_tags_of_a_grid_leaves_room_for_special_words():
    tags = [np.array([[3]]), np.array([[1, 2], [3, 4]])]
    none = IGNORED
    assert pad_tags(tags, word_axes=2, offset=1).tolist() == [
        [[0, 0, none], [0, 3, none], [none, none, none]],
        [[0, 0, 0], [0, 1, 2], [0, 3, 4]],
    ]


def test_pad_tags_of_a_grid_with_several_tags_a_cell():
    tags = [np.ones((1, 1, 3), dtype=np.int8), np.ones((2, 2, 3), dtype=np.int8)]
    padded = pad_tags(tags, word_axes=2, offset=1)
    assert (padded.shape, padded.dtype) == ((2, 3, 3, 3), np.int8)
    assert padded[0, :, :, 0].tolist() == [[0, 0, IGNORED], [0, 1, IGNORED], [IGNORED] * 3]
    assert padded[1, :, :, 2].tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_pad_tags_of_a_sequence():
    padded = pad_tags([np.array([3]), np.array([1, 2])], word_axes=1)
    assert padded.tolist() == [[3, IGNORED], [1, 2]]


def test_pad_tags_of_a_sequence_with_several_numbers_a_word():
    padded = pad_tags([np.array([[0.5, 0.25]]), np.ones((2, 2))], word_axes=1)
    assert padded.tolist() == [[[0.5, 0.25], [IGNORED] * 2], [[1, 1], [1, 1]]]
