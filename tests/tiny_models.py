"""Models with random weights that find mentions in nearly any text."""

from __future__ import annotations

from pathlib import Path

import torch

from tiny_encoders import tiny_encoder
from trigner.batches import collate
from trigner.inference.torch_runtime import torch_scorer
from trigner.networks import Model, NetworkSettings, create

SMALL = NetworkSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)
TEXT = "my left leg hurt. no pain in arm, numb after the tablet."


def tiny_model(folder: Path) -> Model:
    """A model around a tiny encoder, no class ahead of the others on average."""
    torch.manual_seed(1)
    made = create(str(tiny_encoder(folder, "bert", head=False)), "w2ner", ("ADR", "Drug"), SMALL)
    batch = collate(made.word_pieces([TEXT.split()]), padding_id=made.padding_id)
    mean = torch.from_numpy(torch_scorer(made.tagger)(batch).mean(axis=(0, 1, 2)))
    with torch.no_grad():
        made.tagger.co_predictor.pairs.output.bias -= mean
    return made
