"""Mentions of a sentence -> anchors with their positive and negative cells (paper, section 3.3).

Cells are `(row, column)` of the grid of a sentence's words with `[POS]` (0) and `[NEG]` (1) before
them, so word `w` has index `w + 2`. All cells of a sentence are processed at once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from trigner.arrays import Booleans
from trigner.triplets.settings import TripletSettings

SPECIAL_COUNT = 2
POSITIVE_CELL = (0, 0)
NEGATIVE_CELL = (1, 1)

# Distances computed at once: bounds the memory that a long sentence takes.
_DISTANCES_AT_ONCE = 1 << 20

Indices = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What the triplets of one sentence are made of: only cells and anchors that take part in some.

    Negatives are a mask, as an anchor's window covers most of an ordinary sentence; positives are
    few, hence pairs.
    """

    cells: Indices
    """`[C, 2]`, row and column."""
    anchors: Indices
    """`[A]`, indices into `cells`, increasing."""
    positives: Indices
    """`[Q, 2]`: anchor (0 to A - 1) and index into `cells`. Sorted; every anchor has one."""
    negatives: Booleans
    """`[A, C]`; every anchor has one."""


def candidates(
    mentions: Collection[Sequence[int]], length: int, settings: TripletSettings
) -> Candidates:
    """Anchors of a sentence of `length` words, whose `mentions` are word indices (from 0).

    Mentions with the same words count once. Raises ValueError for a mention without words or with
    words outside the sentence.
    """
    entities = sorted({tuple(sorted(set(words))) for words in mentions})
    if not entities:
        return _NONE
    if not all(words and words[0] >= 0 and words[-1] < length for words in entities):
        raise ValueError(f"mentions must have words within 0 to {length - 1}: {entities}")
    size = length + SPECIAL_COUNT
    members = np.zeros((len(entities), size), dtype=np.bool_)
    for member, words in zip(members, entities, strict=True):
        member[[word + SPECIAL_COUNT for word in words]] = True
    pool = _pool(entities, settings)
    positions = _positions(pool, settings)
    positive, other = _within_pool(pool, positions, members, settings)
    outside = _outside(pool, members, settings)

    paired = positive.any(axis=1)
    special = ~paired & ~_taken(pool, positive, settings)
    anchors = np.flatnonzero(paired | special)
    count = len(pool)
    total = count + len(outside) + 2  # the last two: ([POS], [POS]) and ([NEG], [NEG])
    negatives = np.zeros((len(anchors), total), dtype=np.bool_)
    if settings.negatives != "non_entity":
        negatives[:, :count] = other[anchors]
    near = negatives[:, count:-2]
    _mark_near(near, positions[anchors], outside, settings)
    if settings.negatives == "inter_first":
        near[negatives[:, :count].any(axis=1)] = False
    negatives[:, -1] = ~negatives.any(axis=1)

    positive = positive[anchors]
    pairs = np.argwhere(positive)
    alone = np.flatnonzero(special[anchors])
    if len(alone):
        alone = np.stack([alone, np.full_like(alone, total - 2)], axis=1)
        pairs = np.concatenate([pairs, alone])
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    cells = np.concatenate([pool, outside, np.array([POSITIVE_CELL, NEGATIVE_CELL], np.int32)])
    return _of_used_cells(cells, anchors, pairs, negatives)


def _of_used_cells(
    cells: Indices,
    anchors: NDArray[np.intp],
    positives: NDArray[np.intp],
    negatives: Booleans,
) -> Candidates:
    used: Booleans = np.any(negatives, axis=0)
    used[anchors] = True
    used[positives[:, 1]] = True
    renumbered = np.cumsum(used, dtype=np.int32) - 1
    positives[:, 1] = renumbered[positives[:, 1]]
    return Candidates(
        cells=cells[used],
        anchors=renumbered[anchors],
        positives=positives.astype(np.int32),
        negatives=negatives[:, used],
    )


def _pool(entities: list[tuple[int, ...]], settings: TripletSettings) -> Indices:
    """Anchor cells `[P, 2]`, sorted by row, then column."""
    pool: set[tuple[int, int]] = set()
    for words in entities:
        if len(words) == 1:
            word = words[0] + SPECIAL_COUNT
            row = 0 if settings.one_word_anchor == "row" else word
            column = 0 if settings.one_word_anchor == "column" else word
            pool.add((row, column))
        else:
            shifted = [word + SPECIAL_COUNT for word in words]
            full = settings.full_grid
            pool.update(product(shifted, shifted) if full else combinations(shifted, 2))
    return np.array(sorted(pool), dtype=np.int32)


def _positions(pool: Indices, settings: TripletSettings) -> Indices:
    """The position of each pool cell when distances are measured, `[P, 2]`."""
    if settings.window_from == "anchor":
        return pool
    at_the_edge = (pool == 0).any(axis=1, keepdims=True)
    return np.where(at_the_edge, pool.max(axis=1, keepdims=True), pool)


def _within_pool(
    pool: Indices, positions: Indices, members: Booleans, settings: TripletSettings
) -> tuple[Booleans, Booleans]:
    """Which pool cells are positives, and which in other entities, for each anchor: `[P, P]`."""
    count = len(pool)
    near = np.zeros((count, count), dtype=np.bool_)
    _mark_near(near, positions, positions, settings)
    np.fill_diagonal(near, False)
    if settings.per_entity:
        # [POS] is in no entity, so nothing shares one with an anchor at the edge of the grid.
        holds = (members[:, pool[:, 0]] & members[:, pool[:, 1]]).astype(np.float32)
        together = (holds.T @ holds) > 0
        positive, other = near & together, near & ~together
    else:
        positive, other = near, np.zeros_like(near)
    if settings.unique_pairs:
        later = ~np.tri(count, dtype=np.bool_)
        positive &= later
        if settings.unique_masks == "both":
            other &= later
    return positive, other


def _outside(pool: Indices, members: Booleans, settings: TripletSettings) -> Indices:
    """Cells whose two words share no entity, `[N, 2]`, sorted by row, then column."""
    if settings.full_grid:
        allowed = np.ones((members.shape[1],) * 2, dtype=np.bool_)
        single = np.flatnonzero(members.any(axis=0))
        allowed[single, single] = False
    else:
        allowed = ~np.tri(members.shape[1], dtype=np.bool_)
    allowed[:SPECIAL_COUNT] = allowed[:, :SPECIAL_COUNT] = False
    allowed[pool[:, 0], pool[:, 1]] = False
    return np.argwhere(allowed).astype(np.int32)


def _taken(pool: Indices, positive: Booleans, settings: TripletSettings) -> Booleans:
    """Which anchors count as a positive of some anchor, `[P]`."""
    used: Booleans = np.any(positive, axis=0)
    if settings.special_positive == "cell":
        return used
    lines = np.zeros((2, int(pool.max()) + 1), dtype=np.bool_)
    lines[0, pool[used, 0]] = lines[1, pool[used, 1]] = True
    return lines[0, pool[:, 0]] | lines[1, pool[:, 1]]


def _mark_near(near: Booleans, anchors: Indices, cells: Indices, settings: TripletSettings) -> None:
    """Fill `near [A, C]`, all False before: which cells each anchor's window reaches."""
    window = settings.window
    if not window:
        near[:] = True
        return
    step = max(1, _DISTANCES_AT_ONCE // max(1, len(cells)))
    for start in range(0, len(anchors), step):
        down = anchors[start : start + step, :1] - cells[:, 0]
        right = anchors[start : start + step, 1:] - cells[:, 1]
        if settings.window_metric == "euclid_rounded":
            # round(d) <= w is d < w + 1/2, and no root of an integer lies between w * w + w
            # and (w + 1/2) squared.
            down *= down
            right *= right
            distance, limit = np.add(down, right, out=down), window * window + window
        else:
            np.abs(down, out=down)
            np.abs(right, out=right)
            chebyshev = settings.window_metric == "chebyshev"
            join = np.maximum if chebyshev else np.add
            distance, limit = join(down, right, out=down), window
        np.less_equal(distance, limit, out=near[start : start + step])


_NONE = Candidates(
    cells=np.zeros((0, 2), np.int32),
    anchors=np.zeros(0, np.int32),
    positives=np.zeros((0, 2), np.int32),
    negatives=np.zeros((0, 0), np.bool_),
)
