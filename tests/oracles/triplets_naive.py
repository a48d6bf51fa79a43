"""Candidates, selections and the triplet loss cell by cell, as the definitions read."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from trigner.triplets.settings import TripletSettings

Cell = tuple[int, int]
Found = dict[Cell, tuple[list[Cell], list[Cell]]]
"""Anchor to (positives, negatives); an anchor without positives makes no triplet."""
Triplet = tuple[Tensor, Tensor, Tensor]
"""Vectors of an anchor, a positive and a negative, each `[D]`."""

POS, NEG = (0, 0), (1, 1)


def naive_candidates(
    mentions: Sequence[Sequence[int]], length: int, settings: TripletSettings
) -> Found:
    """Every anchor with its positives and negatives, shifted by the two special words."""
    entities = [sorted({word + 2 for word in mention}) for mention in mentions]
    pool = _pool(entities, settings)
    positives: dict[Cell, list[Cell]] = {}
    others: dict[Cell, list[Cell]] = {}
    for anchor in pool:
        positives[anchor], others[anchor] = [], []
        for cell in pool:
            if cell == anchor or not _near(anchor, cell, settings):
                continue
            positive = _together(anchor, cell, entities) if settings.per_entity else True
            if positive and (cell > anchor or not settings.unique_pairs):
                positives[anchor].append(cell)
            both = settings.unique_pairs and settings.unique_masks == "both"
            if not positive and (cell > anchor or not both):
                others[anchor].append(cell)
    used = [cell for cells in positives.values() for cell in cells]
    return {
        anchor: (
            positives[anchor] or ([] if _taken(anchor, used, settings) else [POS]),
            _negatives(anchor, others[anchor], pool, entities, length, settings),
        )
        for anchor in pool
    }


def _pool(entities: list[list[int]], settings: TripletSettings) -> list[Cell]:
    cells: set[Cell] = set()
    for words in entities:
        if len(words) == 1:
            (t,) = words
            cells.add(
                {"row": (0, t), "column": (t, 0), "diagonal": (t, t)}[settings.one_word_anchor]
            )
        else:
            cells |= {(x, y) for x in words for y in words if x < y or settings.full_grid}
    return sorted(cells)


def _together(one: Cell, other: Cell, entities: list[list[int]]) -> bool:
    return any(set(one) | set(other) <= set(words) for words in entities)


def _near(anchor: Cell, cell: Cell, settings: TripletSettings) -> bool:
    if not settings.window:
        return True
    (row, column), (other_row, other_column) = (_place(c, settings) for c in (anchor, cell))
    down, right = abs(row - other_row), abs(column - other_column)
    distance = {
        "euclid_rounded": round(math.hypot(down, right)),
        "chebyshev": max(down, right),
        "manhattan": down + right,
    }[settings.window_metric]
    return distance <= settings.window


def _place(cell: Cell, settings: TripletSettings) -> Cell:
    if settings.window_from == "word" and 0 in cell:
        return max(cell), max(cell)
    return cell


def _taken(anchor: Cell, used: list[Cell], settings: TripletSettings) -> bool:
    if settings.special_positive == "cell":
        return anchor in used
    return any(anchor[0] == row or anchor[1] == column for row, column in used)


def _negatives(
    anchor: Cell,
    others: list[Cell],
    pool: list[Cell],
    entities: list[list[int]],
    length: int,
    settings: TripletSettings,
) -> list[Cell]:
    outside = []
    for x in range(2, length + 2):
        for y in range(2, length + 2):
            if not settings.full_grid and x >= y:
                continue
            # On the whole grid, the cell that carries a one-word entity's tag is an entity's cell.
            of_an_entity = (x, y) in pool or _together((x, y), (x, y), entities)
            if not of_an_entity and _near(anchor, (x, y), settings):
                outside.append((x, y))
    if settings.negatives == "inter_first":
        found = others or outside
    else:
        found = outside if settings.negatives == "non_entity" else others + outside
    return sorted(found) or [NEG]


def naive_triplets(
    grids: Sequence[Tensor], found: Sequence[Found], selection: str, margin: float
) -> list[Triplet]:
    """The triplets of all sentences, selected by Euclidean distance; `grids` are each `[L, L, D]`.

    `selection` is hn, sn, ce, nc, or sn-hn: semi-hard, else hard.
    """
    triplets: list[Triplet] = []
    for grid, anchors in zip(grids, found, strict=True):
        for anchor, (positives, negatives) in anchors.items():
            a = grid[anchor]
            ps, ns = [grid[cell] for cell in positives], [grid[cell] for cell in negatives]
            if not ps:
                continue
            if selection == "ce":
                triplets.append((a, sum(ps) / len(ps), sum(ns) / len(ns)))
            elif selection == "nc":
                triplets += [(a, p, sum(ns) / len(ns)) for p in ps]
            else:
                chosen = [(p, _negative(a, p, ns, selection, margin)) for p in ps]
                triplets += [(a, p, n) for p, n in chosen if n is not None]
    return triplets


def _negative(
    a: Tensor, p: Tensor, ns: list[Tensor], selection: str, margin: float
) -> Tensor | None:
    def away(vector: Tensor) -> float:
        return math.sqrt(((a - vector) ** 2).sum().item())

    hardest = min(ns, key=away)
    if selection == "hn":
        return hardest
    between = [n for n in ns if away(p) < away(n) < away(p) + margin]
    if between:
        return min(between, key=away)
    return hardest if selection == "sn-hn" else None


def naive_loss(triplets: Sequence[Triplet], margin: float, reduction: str) -> Tensor:
    """Reduced hinges; 0 without triplets. Distances as PyTorch's triplet margin loss has them."""
    hinges = []
    for a, p, n in triplets:
        hinge = margin + ((a - p + 1e-6) ** 2).sum().sqrt() - ((a - n + 1e-6) ** 2).sum().sqrt()
        if hinge > 0 or reduction == "mean_all":
            hinges.append(hinge.clamp(min=0))
    if not hinges:
        return torch.tensor(0.0)
    total = torch.stack(hinges).sum()
    return total if reduction == "sum" else total / len(hinges)
