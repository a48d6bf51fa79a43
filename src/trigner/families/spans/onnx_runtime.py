"""Exported span networks: ONNX Runtime scores, nothing here needs PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trigner.arrays import Integers
from trigner.batches import Batch
from trigner.errors import InputError
from trigner.families.spans.predictor import RawScores, Scorer
from trigner.families.spans.settings import SpanSettings, kept_of
from trigner.families.tagging import check_array, onnx_outputs

OUTPUTS = ("fragments", "kept", "relations")
"""The graph's outputs, as `RawScores` has them."""


def onnx_scorer(graph: Path, providers: Sequence[Any], threads: int | None = None) -> Scorer:
    """Scores from a graph. Raises InputError when ONNX Runtime cannot load it."""
    outputs = onnx_outputs(graph, providers, (4, 2, 4), threads)

    def scorer(batch: Batch) -> RawScores:
        return RawScores(*outputs(batch))

    return scorer


def checked_scorer(
    graph: Path,
    providers: Sequence[Any],
    threads: int | None,
    *,
    classes: int,
    settings: SpanSettings,
) -> Scorer:
    """The same for a model with so many classes of fragments.

    Its scorer raises InputError for scores of other shapes than the batch and the settings ask for,
    and for a kept span that is none of its sentence's.
    """
    scores = onnx_scorer(graph, providers, threads)
    reach = settings.max_width

    def scorer(batch: Batch) -> RawScores:
        found = scores(batch)
        count, length, _ = batch.word_subwords.shape
        kept = kept_of(length, settings.kept)
        check_array(found.fragments, (count, length, reach, classes), graph)
        check_array(found.kept, (count, kept), graph, what="spans", kind=np.signedinteger)
        check_array(found.relations, (count, kept, kept, 2), graph)
        check_kept(found.kept, batch.lengths, reach, graph)
        return found

    return scorer


def check_kept(kept: Integers, lengths: Integers, reach: int, graph: Path) -> None:
    """Raises InputError unless each of `kept [B, K]` is -1 or a span of its sentence, and once.

    The span of number `n` begins at the word `n // reach` and ends `n % reach` words behind it.
    """
    inside = kept >= 0
    first, behind = np.divmod(kept, reach)
    ordered = np.sort(kept, axis=1)
    again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
    # `first` alone, too: a sum with a number near the largest would be negative.
    beyond = inside & ((first >= lengths[:, None]) | (first + behind >= lengths[:, None]))
    if (kept < -1).any() or beyond.any() or again.any():
        raise InputError("keeps what is no span of the sentence, or one twice", path=graph)
