from __future__ import annotations

import numpy as np

from trigner.batches import IGNORED, SentencePieces, collate, pad_grids


def test_collate_pads_pieces_words_and_widths():
    short = SentencePieces(np.array([1, 7, 2]), np.array([[1]]))
    long = SentencePieces(np.array([1, 5, 6, 8, 2]), np.array([[1, 2], [-1, -1], [3, -1]]))
    batch = collate([short, long], padding_id=9)
    assert batch.piece_ids.tolist() == [[1, 7, 2, 9, 9], [1, 5, 6, 8, 2]]
    assert batch.attention_mask.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert batch.word_pieces.tolist() == [
        [[1, -1], [-1, -1], [-1, -1]],
        [[1, 2], [-1, -1], [3, -1]],
    ]
    assert batch.lengths.tolist() == [1, 3]


def test_pad_grids_leaves_room_for_special_words():
    padded = pad_grids([np.array([[3]]), np.array([[1, 2], [3, 4]])], offset=1)
    none = IGNORED
    assert padded.tolist() == [
        [[0, 0, none], [0, 3, none], [none, none, none]],
        [[0, 0, 0], [0, 1, 2], [0, 3, 4]],
    ]
