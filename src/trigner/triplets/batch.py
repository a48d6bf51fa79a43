"""Candidates of several sentences as the tensors that selection works on.

Cells of all sentences are concatenated, so that the caller gathers their vectors once. Masks of
negatives stay separate, a block for each sentence: padding them to the largest sentence of a batch
costs up to a hundred times as much once one sentence is long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trigner.triplets.candidates import Candidates

# Mask entries of one block: bounds the distances that a long sentence needs at once (16 MB).
BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class Block:
    """Anchors of one sentence with the cells of that sentence, as ranges of a batch's tensors."""

    anchors: slice
    cells: slice
    pairs: slice
    mask: slice


@dataclass(frozen=True, slots=True, eq=False)
class CandidateBatch:
    """N cells, A anchors and Q anchor-positive pairs of the sentences of a batch."""

    sentences: Tensor
    """`[N]`, int64: which sentence of the batch a cell is in. With `rows` and `columns` it says
    where the caller gathers the cells' vectors."""
    rows: Tensor
    """`[N]`, int64."""
    columns: Tensor
    """`[N]`, int64."""
    anchors: Tensor
    """`[A]`, int64, into the N cells."""
    pair_anchors: Tensor
    """`[Q]`, int64, into the A anchors; increasing."""
    pair_cells: Tensor
    """`[Q]`, int64, into the N cells."""
    positive_counts: Tensor
    """`[A]`, float32, at least 1."""
    negative_counts: Tensor
    """`[A]`, float32, at least 1."""
    negatives: Tensor
    """Bool: the blocks' masks `[anchors, cells]`, flattened and concatenated."""
    blocks: tuple[Block, ...]

    def to(self, device: torch.device | str, non_blocking: bool = False) -> CandidateBatch:
        """A copy with all tensors on `device`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {
            name: value.to(device, non_blocking=non_blocking)
            for name, value in values.items()
            if isinstance(value, Tensor)
        }
        return replace(self, **moved)

    def masks(self) -> Iterator[tuple[Block, Tensor]]:
        """Each block with its negatives, bool `[anchors, cells]`."""
        for block in self.blocks:
            anchors = block.anchors.stop - block.anchors.start
            yield block, self.negatives[block.mask].view(anchors, -1)


def collate(sentences: Sequence[Candidates]) -> CandidateBatch:
    """One batch of the sentences' candidates, in this order; those without any are skipped."""
    filled = [(number, found) for number, found in enumerate(sentences) if len(found.anchors)]
    cell_starts = _starts([len(found.cells) for _, found in filled])
    anchor_starts = _starts([len(found.anchors) for _, found in filled])
    pairs = [found.positives.astype(np.int64) for _, found in filled]
    for pair, anchor, cell in zip(pairs, anchor_starts, cell_starts, strict=False):
        pair += (anchor, cell)
    cells = _joined([found.cells for _, found in filled], width=2)
    pair_anchors, pair_cells = _joined(pairs, width=2).T
    counts = np.bincount(pair_anchors, minlength=anchor_starts[-1])
    pair_starts = _starts(counts)
    return CandidateBatch(
        sentences=_tensor(
            np.repeat([number for number, _ in filled], [len(found.cells) for _, found in filled])
        ),
        rows=_tensor(cells[:, 0]),
        columns=_tensor(cells[:, 1]),
        anchors=_tensor(
            _joined([f.anchors + start for (_, f), start in zip(filled, cell_starts, strict=False)])
        ),
        pair_anchors=_tensor(pair_anchors),
        pair_cells=_tensor(pair_cells),
        positive_counts=torch.from_numpy(counts.astype(np.float32)),
        negative_counts=torch.from_numpy(
            _joined([found.negatives.sum(axis=1) for _, found in filled]).astype(np.float32)
        ),
        negatives=torch.from_numpy(
            _joined([found.negatives.ravel() for _, found in filled]).astype(np.bool_)
        ),
        blocks=tuple(_blocks(cell_starts, anchor_starts, pair_starts)),
    )


def _blocks(
    cell_starts: list[int], anchor_starts: list[int], pair_starts: list[int]
) -> Iterator[Block]:
    mask = 0
    for number, first_cell in enumerate(cell_starts[:-1]):
        cells = slice(first_cell, cell_starts[number + 1])
        size = cells.stop - cells.start
        step = max(1, BLOCK // size)
        last = anchor_starts[number + 1]
        for first in range(anchor_starts[number], last, step):
            stop = min(first + step, last)
            yield Block(
                anchors=slice(first, stop),
                cells=cells,
                pairs=slice(pair_starts[first], pair_starts[stop]),
                mask=slice(mask, mask + (stop - first) * size),
            )
            mask += (stop - first) * size


def _starts(counts: Sequence[int] | np.ndarray) -> list[int]:
    """Where parts of these sizes begin when they are concatenated, and the end."""
    return [0, *np.cumsum(counts, dtype=np.int64).tolist()]


def _joined(parts: Sequence[np.ndarray], width: int | None = None) -> np.ndarray:
    if not parts:
        return np.zeros(0 if width is None else (0, width), dtype=np.int64)
    return np.concatenate(parts)


def _tensor(array: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(array, dtype=np.int64))
