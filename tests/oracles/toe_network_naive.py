"""TOE's network for one sentence, written layer by layer from its description; no dropout.

Every grid is built whole and no padding exists. Weights are those of the module under test.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from oracles import pair_grid_naive
from trigner.families.tagging.co_predictor import CoPredictor, TrignerCoPredictor
from trigner.families.tagging.toe_tagger import ToeTagger


def attention(layer: nn.MultiheadAttention, queries: Tensor, keys: Tensor) -> Tensor:
    """Heads one by one; `[L, D]` from `[L, D]` and `[K, D]`."""
    size = layer.embed_dim
    weights, biases = layer.in_proj_weight.split(size), layer.in_proj_bias.split(size)
    q, k, v = (
        functional.linear(words, weight, bias)
        for words, weight, bias in zip((queries, keys, keys), weights, biases, strict=True)
    )
    heads = []
    for own in torch.arange(size).split(layer.head_dim):
        scores = q[:, own] @ k[:, own].T / layer.head_dim**0.5
        heads.append(scores.softmax(dim=1) @ v[:, own])
    return layer.out_proj(torch.cat(heads, dim=1))


def decoder_layer(layer: nn.TransformerDecoderLayer, words: Tensor, states: Tensor) -> Tensor:
    words = layer.norm1(words + attention(layer.self_attn, words, words))
    words = layer.norm2(words + attention(layer.multihead_attn, words, states))
    return layer.norm3(words + layer.linear2(functional.gelu(layer.linear1(words))))


def predicted(layer: CoPredictor, states: Tensor, features: Tensor) -> Tensor:
    """`[C, L, L]` from features `[L, L, F]`."""
    trigner = isinstance(layer, TrignerCoPredictor)
    scores = pair_grid_naive.trigner_scores if trigner else pair_grid_naive.w2ner_scores
    return scores(layer, states[None], features.permute(2, 0, 1)[None])[0]


def cellwise(layer: nn.Conv2d, grid: Tensor) -> Tensor:
    """A 1 x 1 convolution as the linear layer that it is, `[L, L, F]`."""
    return functional.linear(grid, layer.weight[:, :, 0, 0], layer.bias)


def logits(
    tagger: ToeTagger,
    input_ids: Tensor,
    attention_mask: Tensor,
    word_subwords: Tensor,
    lengths: Tensor,
) -> Tensor:
    """`[L, L, C]` of a batch of one sentence."""
    length = int(lengths[0])
    hidden = tagger.encoder.model(
        input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
    ).hidden_states
    subwords = sum(hidden[-tagger.encoder.layers :]) / tagger.encoder.layers
    words = pair_grid_naive.word_states(subwords, word_subwords, tagger.pooling.empty_word)
    states = pair_grid_naive.in_context(tagger.recurrent.lstm, words, [length])[0]
    enhancement = tagger.enhancement
    rows, columns = enhancement.row_view(states), enhancement.column_view(states)
    for remaining in reversed(range(enhancement.rounds)):
        features = pair_grid_naive.pair_features(
            enhancement.features, rows[None], [length], columns[None]
        )[0].permute(1, 2, 0)
        table = cellwise(enhancement.table, features)
        if remaining:
            by_row = enhancement.from_rows(table.max(dim=1).values)
            by_column = enhancement.from_columns(table.max(dim=0).values)
            rows = rows + decoder_layer(enhancement.attention, by_row, states)
            columns = columns + decoder_layer(enhancement.attention, by_column, states)
    scores = cellwise(enhancement.output, table)
    main, auxiliary = scores.split([tagger.main_features.in_channels, 3], dim=2)
    parts = (
        predicted(tagger.main, states, cellwise(tagger.main_features, main)),
        predicted(tagger.auxiliary, states, cellwise(tagger.auxiliary_features, auxiliary)),
    )
    return torch.cat(parts).permute(1, 2, 0)
