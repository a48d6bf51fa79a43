"""W2NER's and TriG-NER's network over word pairs, written layer by layer from their descriptions.

Every grid is built whole: `[B, L, L, H]` for the conditional layer norm, `[B, L, L, H + 40]` before
the convolutions, `[B, L, L, O]` for the biaffine. Weights are those of the module under test.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from trigner.families.tagging.co_predictor import GridBranch, TrignerCoPredictor, W2nerCoPredictor
from trigner.families.tagging.grid_tagger import GridTagger
from trigner.families.tagging.pair_features import PairFeatures
from trigner.families.tagging.pair_maps import FullPairMap, LowRankPairMap
from trigner.networks.dropout import Dropout


def distance_id(row: int, column: int) -> int:
    """Log bucket of the signed distance; 19 on the diagonal."""
    if row == column:
        return 19
    bucket, upper = 1, 2
    while abs(row - column) >= upper and bucket < 9:
        bucket, upper = bucket + 1, upper * 2
    return bucket if row > column else bucket + 9


def region_id(row: int, column: int) -> int:
    return 1 if row < column else 2


def conditional_layer_norm(firsts: Tensor, seconds: Tensor, layer: PairFeatures) -> Tensor:
    """`V [B, L, L, H]`: one word of a pair is normalised, the other gives scale and shift."""
    length = firsts.shape[1]
    rows = []
    for i in range(length):
        cells = []
        for j in range(length):
            x, condition = firsts[:, i], seconds[:, j]
            if layer.norm.normalised == "column":
                x, condition = condition, x
            mean = x.mean(-1, keepdim=True)
            variance = ((x - mean) ** 2).mean(-1, keepdim=True)
            normal = (x - mean) / (variance + 1e-12).sqrt()
            gamma, beta = layer.norm.scale(condition), layer.norm.shift(condition)
            cells.append(gamma * normal + beta)
        rows.append(torch.stack(cells, 1))
    return torch.stack(rows, 1)


def pair_features(
    layer: PairFeatures, states: Tensor, lengths: list[int], columns: Tensor | None = None
) -> Tensor:
    """`Q [B, n * channels, L, L]`; `columns` are the second words' states where they differ."""
    columns = states if columns is None else columns
    batch, length, _ = states.shape
    valid = torch.zeros(batch, length, length, dtype=states.dtype)
    distances = torch.zeros(batch, length, length, dtype=torch.long)
    regions = torch.zeros(batch, length, length, dtype=torch.long)
    for b, own in enumerate(lengths):
        for i in range(own):
            for j in range(own):
                valid[b, i, j] = 1
                distances[b, i, j] = distance_id(i, j)
                regions[b, i, j] = region_id(i, j)
    norm = conditional_layer_norm(states, columns, layer)
    grid = torch.cat([layer.distance(distances), layer.region(regions), norm], dim=-1)
    # Laid out channels first: where dropout falls depends on the order in memory.
    grid = (grid * valid[..., None]).permute(0, 3, 1, 2).contiguous()
    valid = valid[:, None]
    grid = functional.dropout2d(grid, layer.dropout, layer.training)
    grid = functional.conv2d(grid, layer.reduce.weight[:, :, None, None], layer.reduce.bias)
    grid = functional.gelu(grid)
    if layer.mask_between:
        grid = grid * valid
    first, outputs = grid, []
    for convolution in layer.convolutions:
        grid = functional.gelu(convolution(grid if layer.chained else first))
        if layer.mask_between:
            grid = grid * valid
        outputs.append(grid)
    return torch.cat(outputs, dim=1) * valid


def with_one(states: Tensor) -> Tensor:
    return torch.cat([states, torch.ones(*states.shape[:-1], 1, dtype=states.dtype)], dim=-1)


def pair_states(layer: torch.nn.Module, states: Tensor) -> Tensor:
    """`H^bi [B, L, L, O]` of a pair map."""
    if isinstance(layer, LowRankPairMap):
        mean, variance = states.mean(-1, keepdim=True), states.var(-1, correction=0, keepdim=True)
        normal = (states - mean) / (variance + 1e-5).sqrt()
        states = normal * layer.norm.weight + layer.norm.bias
        return layer.left(states)[:, :, None] * layer.right(states)[:, None]
    assert isinstance(layer, FullPairMap)
    words = with_one(states)
    return torch.einsum("bid,ode,bje->bijo", words, layer.weight, words)


def pair_scores(layer: torch.nn.Module, states: Tensor) -> Tensor:
    """Scores `[B, C, L, L]`: the pair states through the linear layer."""
    return layer.output(pair_states(layer, states)).permute(0, 3, 1, 2)


def grid_scores(layer: GridBranch, features: Tensor) -> Tensor:
    hidden = functional.gelu(layer.hidden(dropped_cells(features, layer.dropout)))
    return layer.output(dropped_cells(hidden, layer.dropout))


def dropped_cells(grid: Tensor, layer: Dropout) -> Tensor:
    """Dropout of `[B, F, L, L]`, its masks drawn cell by cell."""
    return layer(grid.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def trigner_scores(layer: TrignerCoPredictor, states: Tensor, features: Tensor) -> Tensor:
    return pair_scores(layer.pairs, states) + grid_scores(layer.grid, features)


def w2ner_scores(layer: W2nerCoPredictor, states: Tensor, features: Tensor) -> Tensor:
    sides = []
    for linear in (layer.row, layer.column):
        hidden = functional.gelu(linear(layer.dropout(states)))
        sides.append(with_one(layer.dropout(hidden)))
    biaffine = torch.einsum("bid,cde,bje->bcij", sides[0], layer.weight, sides[1])
    return biaffine + grid_scores(layer.grid, features)


def word_states(subwords: Tensor, word_subwords: Tensor, empty_word: str) -> Tensor:
    """Element-wise maximum over each word's subwords, word by word."""
    fill = subwords.min().item() if empty_word == "batch_minimum" else 0.0
    batch, length, _ = word_subwords.shape
    found = torch.full((batch, length, subwords.shape[2]), fill, dtype=subwords.dtype)
    for b in range(batch):
        for i in range(length):
            own = [p for p in word_subwords[b, i].tolist() if p >= 0]
            if own:
                found[b, i] = subwords[b, own].max(dim=0).values
    return found


def in_context(lstm: torch.nn.LSTM, words: Tensor, lengths: list[int]) -> Tensor:
    """The BiLSTM over one sentence at a time; zero in padding."""
    found = torch.zeros(*words.shape[:2], 2 * lstm.hidden_size)
    for b, own in enumerate(lengths):
        found[b, :own] = lstm(words[b : b + 1, :own])[0][0]
    return found


def logits(
    tagger: GridTagger,
    input_ids: Tensor,
    attention_mask: Tensor,
    word_subwords: Tensor,
    lengths: Tensor,
) -> Tensor:
    """`Y [B, L, L, C]` of a whole tagger."""
    hidden = tagger.encoder.model(
        input_ids=input_ids, attention_mask=attention_mask, output_hidden_states=True
    ).hidden_states
    subwords = sum(hidden[-tagger.encoder.layers :]) / tagger.encoder.layers
    words = word_states(subwords, word_subwords, tagger.pooling.empty_word)
    recurrent = tagger.recurrent
    states = in_context(recurrent.lstm, recurrent.dropout(words), lengths.tolist())
    features = pair_features(tagger.features, states, lengths.tolist())
    scores = trigner_scores if isinstance(tagger.co_predictor, TrignerCoPredictor) else w2ner_scores
    return scores(tagger.co_predictor, states, features).permute(0, 2, 3, 1)
