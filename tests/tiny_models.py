"""Models with random weights that find mentions in nearly any text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from trigner.inference.torch_runtime import torch_scorer

from tiny_encoders import tiny_encoder
from trigner.batches import collate
from trigner.networks import Model, NetworkSettings, create
from trigner.schemes import TagSpace
from trigner.schemes import scheme as make_scheme
from trigner.systems.network_settings import MacSettings, ToeSettings

SMALL = NetworkSettings(
    lstm_size=8,
    distance_size=3,
    region_size=3,
    channels=4,
    pair_size=6,
    grid_size=5,
    biaffine_size=5,
    mac=MacSettings(size=12, span_size=8, span_reach=6, length_size=3),
    toe=ToeSettings(table_size=6, heads=2, feed_forward=7),
)
LAST_LAYERS = {
    "w2ner": ("co_predictor.grid.output",),
    "mac": ("segments.output", "links.output"),
    "mac_minimal": ("segments.output", "links.output"),
    "toe": ("main.grid.output", "auxiliary.grid.output"),
    **dict.fromkeys(("corro", "biohd", "biohd1234", "bio"), ("output",)),
}
"""One line a scheme: layers whose biases are those of its tags, one behind the other."""

TEXT = "my left leg hurt. no pain in arm, numb after the tablet."


def tiny_model(folder: Path, scheme: str = "w2ner", kind: str = "bert", **changes: Any) -> Model:
    """A model around a tiny encoder, `SMALL` but for `changes`.

    On average no class is ahead of the others; of tags that stand side by side each has its turn.
    """
    torch.manual_seed(1)
    encoder = tiny_encoder(folder, kind, head=False)
    pairs = make_scheme(scheme, ()).tag_space is not TagSpace.SEQUENCE
    settings = SMALL.model_copy(update={"special_words": pairs, **changes})
    made = create(str(encoder), scheme, ("ADR", "Drug"), settings)
    batch = collate(made.subwords([TEXT.split()]), padding_id=made.padding_id)
    scores = torch_scorer(made.tagger)(batch).reshape(-1, len(made.scheme.tags))
    several = made.scheme.tag_space is TagSpace.MULTI_LABEL_GRID
    middle = np.quantile(scores, 0.7, axis=0) if several else scores.mean(axis=0)
    layers = [made.tagger.get_submodule(name) for name in LAST_LAYERS[scheme]]
    start = 0
    with torch.no_grad():
        for layer in layers:
            stop = start + len(layer.bias)
            layer.bias -= torch.from_numpy(middle[start:stop])
            start = stop
    return made
