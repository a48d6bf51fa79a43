from __future__ import annotations

from dataclasses import fields

import numpy as np
import torch
from torch import Tensor

from trigner.triplets import batch as batch_module
from trigner.triplets import candidates
from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.settings import TripletSettings

CLEAN = TripletSettings()
SENTENCES = [
    candidates([], 7, CLEAN),
    candidates([(0, 1, 3), (2,)], 6, CLEAN),
    candidates([(0,)], 1, CLEAN),
    candidates([], 3, CLEAN),
    candidates([(1, 2), (2, 5, 6), (0, 7)], 9, CLEAN),
]


def tensors(batch: CandidateBatch) -> dict[str, Tensor]:
    return {f.name: getattr(batch, f.name) for f in fields(batch) if f.name != "blocks"}


def test_every_sentence_keeps_its_cells_pairs_and_negatives():
    batch = collate(SENTENCES)
    where = torch.stack([batch.rows, batch.columns], dim=1)
    for number, found in enumerate(SENTENCES):
        assert where[batch.sentences == number].tolist() == found.cells.tolist()
    expected = [(n, *f.cells[a].tolist()) for n, f in enumerate(SENTENCES) for a in f.anchors]
    cells = torch.stack([batch.sentences, batch.rows, batch.columns], dim=1)
    assert cells[batch.anchors].tolist() == [list(anchor) for anchor in expected]

    pairs = torch.cat([cells[batch.anchors[batch.pair_anchors]], cells[batch.pair_cells]], dim=1)
    assert pairs.tolist() == [
        [n, *f.cells[f.anchors[a]].tolist(), n, *f.cells[c].tolist()]
        for n, f in enumerate(SENTENCES)
        for a, c in f.positives
    ]
    filled = [found for found in SENTENCES if len(found.anchors)]
    for (block, mask), found in zip(batch.masks(), filled, strict=True):
        assert np.array_equal(mask.numpy(), found.negatives)
        assert len(batch.rows[block.cells]) == len(found.cells)


def test_counts():
    batch = collate(SENTENCES)
    counts = torch.bincount(batch.pair_anchors)
    assert batch.positive_counts.tolist() == counts.tolist()
    assert batch.negative_counts.sum() == batch.negatives.sum()


def test_indices_are_int64_and_masks_bool():
    for name, tensor in tensors(collate(SENTENCES)).items():
        floating = name.endswith("_counts")
        expected = torch.float32 if floating else torch.bool if name == "negatives" else torch.int64
        assert tensor.dtype == expected, name


def test_a_batch_without_candidates():
    for sentences in ([], [SENTENCES[0]], [SENTENCES[0], SENTENCES[3]]):
        batch = collate(sentences)
        assert batch.blocks == ()
        assert all(len(tensor) == 0 for tensor in tensors(batch).values())


def test_a_large_sentence_is_cut_into_blocks(monkeypatch):
    whole = collate(SENTENCES)
    monkeypatch.setattr(batch_module, "BLOCK", 40)
    cut = collate(SENTENCES)
    assert len(cut.blocks) > len(whole.blocks)
    for name, tensor in tensors(whole).items():
        assert torch.equal(tensor, tensors(cut)[name]), name
    for block, mask in cut.masks():
        assert torch.equal(mask.sum(dim=1), cut.negative_counts[block.anchors].long())
        anchors = cut.pair_anchors[block.pairs]
        assert (anchors >= block.anchors.start).all()
        assert (anchors < block.anchors.stop).all()
    assert sum(len(cut.pair_anchors[block.pairs]) for block in cut.blocks) == len(cut.pair_anchors)


def test_collation_leaves_its_input_alone():
    before = SENTENCES[4].positives.copy(), SENTENCES[4].anchors.copy()
    collate(SENTENCES)
    assert np.array_equal(before[0], SENTENCES[4].positives)
    assert np.array_equal(before[1], SENTENCES[4].anchors)


def test_to_moves_every_tensor_and_keeps_the_blocks():
    batch = collate([candidates([(0, 1)], 3, TripletSettings(window=None))])
    moved = batch.to("meta")
    assert {tensor.device.type for tensor in tensors(moved).values()} == {"meta"}
    assert moved.blocks == batch.blocks
