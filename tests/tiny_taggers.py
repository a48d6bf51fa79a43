"""Taggers of any scheme around a tiny encoder, as they are built, and batches for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from trigner.batches.collation import collate
from trigner.batches.subwords import SubwordTokenizer
from trigner.encoders.pretrained import load_encoder
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.conditional_norm import ConditionalNorm
from trigner.families.tagging.network_settings import TaggerSettings
from trigner.families.tagging.tagger import Tagger
from trigner.schemes.scheme import Scheme

SENTENCES = [
    ["my", "left", "leg", "hurt", "."],
    ["no", "pain"],
    ["then", "my", "\u200b", "arms", "and", "legs", "felt", "numb", "after", "the", "tablet", "."],
]
ARRAYS = ("input_ids", "attention_mask", "word_subwords", "lengths")

Batches = Callable[[Sequence[Sequence[str]]], list[Tensor]]


def tiny_tagger(folder: Path, scheme: Scheme, settings: TaggerSettings) -> tuple[Tagger, Batches]:
    """A tagger whose conditional norms are no plain ones any more, and what makes its inputs."""
    torch.manual_seed(1)
    model, tokenizer, padding_id = load_encoder(str(folder), settings.leading_words)
    tagger = build_tagger(model, settings, scheme)
    for layer in tagger.modules():
        if isinstance(layer, ConditionalNorm):
            for linear in (layer.scale, layer.shift):
                torch.nn.init.normal_(linear.weight, std=0.3)
    subwords = SubwordTokenizer(tokenizer, settings.leading_words)

    def batch(sentences):
        arrays = collate(subwords(sentences), padding_id=padding_id)
        return [torch.from_numpy(getattr(arrays, name)) for name in ARRAYS]

    return tagger, batch


def valid_cells(lengths: Tensor) -> Tensor:
    """`[B, L, L]`: True for cells of two words of their sentence."""
    inside = torch.arange(int(lengths.max())) < lengths[:, None]
    return inside[:, :, None] & inside[:, None]
