"""Bias initialisation: scores start at what is true of most cells, of which hardly any has a tag.

A network that holds each tag for as likely as none spends its first epochs on unlearning that, and
what it does then stays in AdamW's averages for a thousand updates
(`research/decisions/bias-init.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch

from trigner.arrays import Floats
from trigner.batches import Example
from trigner.families.tagging.model import Model
from trigner.families.tagging.tagger import PairTagger
from trigner.schemes import Scheme, TagSpace


def initialise_biases(model: Model, examples: Sequence[Example]) -> None:
    """Let the untrained network of a grid give each tag its share of the examples' cells.

    Lin et al., Focal Loss for Dense Object Detection, ICCV 2017, section 3.3, with the shares in
    place of a constant.
    """
    shares = tag_shares(model.scheme, examples, offset=model.inputs.offset)
    if model.scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
        scores = np.log(shares / shares[0])
    else:
        scores = np.log(shares / (1 - shares))
    cast(PairTagger, model.tagger).initialise_bias(torch.from_numpy(scores).float())


def tag_shares(scheme: Scheme, examples: Sequence[Example], *, offset: int) -> Floats:
    """The share `[C]` of cells that have each tag of a grid, special words' cells included.

    One cell is added to each tag's, so that none has a share of 0 or 1. Tags that stand in
    one triangle have half the cells.
    """
    tags = np.ones(len(scheme.tags))
    cells = np.full(len(scheme.tags), 2.0)
    half = np.zeros(len(scheme.tags), dtype=bool)
    for group in scheme.groups:
        half[group.start : group.stop] = group.triangle != "both"
    for example in examples:
        own = scheme.encode(example.mentions, example.length).tags
        length = example.length + offset
        cells += np.where(half, length * (length + 1) / 2, length**2)
        if scheme.tag_space is TagSpace.EXCLUSIVE_GRID:
            tags += np.bincount(own.ravel(), minlength=len(tags))
            tags[0] += length**2 - own.size
        else:
            tags += own.sum(axis=(0, 1))
    shares: Floats = tags / cells
    return shares
