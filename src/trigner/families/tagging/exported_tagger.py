"""A tagger written with operators that ONNX has: the same scores from the same weights."""

from __future__ import annotations

import copy
from typing import TypeVar

import torch
from torch import Tensor, nn

from trigner.families.core import EmptyWord
from trigner.families.tagging.pair_maps import FullPairMap, trilinear, with_one
from trigner.families.tagging.span_lstm import SpanLstm
from trigner.families.tagging.tagger import Tagger
from trigner.networks import BiLstm, WordPooling

LSTM_OPSET = 20

Network = TypeVar("Network", bound=nn.Module)


class ExportedTagger(nn.Module):
    """Logits of a tagger (as in `networks.TagScores`) whose layers that do not export are replaced.

    Inputs as in `batches.Batch`. Weights that only training needs are folded away.
    """

    def __init__(self, tagger: Tagger) -> None:
        super().__init__()
        self.tagger = with_onnx_layers(tagger)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> Tensor:
        return self.tagger(input_ids, attention_mask, word_subwords, lengths).logits


def with_onnx_layers(network: Network) -> Network:
    """A copy of a network whose layers that do not export are replaced, in single precision."""
    exported = copy.deepcopy(network).float().cpu().eval()
    _replace_layers(exported)
    return exported


def _replace_layers(module: nn.Module) -> None:
    for name, layer in module.named_children():
        if isinstance(layer, WordPooling):
            setattr(module, name, GatheredPooling(layer.empty_word))
        elif isinstance(layer, BiLstm):
            setattr(module, name, OnnxBiLstm(layer.lstm))
        elif isinstance(layer, SpanLstm):
            setattr(module, name, OnnxSpanLstm(layer))
        elif isinstance(layer, FullPairMap):
            setattr(module, name, FoldedPairMap(layer))
        else:
            _replace_layers(layer)


class GatheredPooling(nn.Module):
    """`networks.WordPooling` without a loop whose length depends on the data."""

    def __init__(self, empty_word: EmptyWord) -> None:
        super().__init__()
        self.empty_word = empty_word

    def forward(self, subword_states: Tensor, word_subwords: Tensor) -> Tensor:
        """`[B, L, D]` from `[B, P, D]` and `[B, L, K]`, by way of `[B, L, K, D]`."""
        batch, length, width = word_subwords.shape
        size = subword_states.shape[2]
        present = (word_subwords >= 0)[..., None]
        places = word_subwords.clamp(min=0).reshape(batch, length * width, 1).expand(-1, -1, size)
        subwords = subword_states.gather(1, places).reshape(batch, length, width, size)
        lowest = torch.finfo(subwords.dtype).min
        pooled = torch.where(present, subwords, lowest).amax(dim=2)
        fill = subword_states.min() if self.empty_word == "batch_minimum" else 0.0
        return torch.where(present[:, :, 0], pooled, fill)


class OnnxBiLstm(nn.Module):
    """`networks.BiLstm` as ONNX's own operator, which takes the true lengths."""

    def __init__(self, lstm: nn.LSTM) -> None:
        super().__init__()
        self.size = lstm.hidden_size
        of = {name: _reordered(weight) for name, weight in lstm.named_parameters()}

        def both(name: str) -> Tensor:
            return torch.stack([of[name], of[f"{name}_reverse"]])

        self.on_input = nn.Parameter(both("weight_ih_l0"))
        self.on_hidden = nn.Parameter(both("weight_hh_l0"))
        self.bias = nn.Parameter(torch.cat([both("bias_ih_l0"), both("bias_hh_l0")], dim=1))

    def forward(self, word_states: Tensor, lengths: Tensor) -> Tensor:
        """`H [B, L, 2 * size]` from word states `[B, L, D]`; zero in padding."""
        batch, length, _ = word_states.shape
        outputs = torch.onnx.ops.symbolic(
            "LSTM",
            [
                word_states.transpose(0, 1),
                self.on_input,
                self.on_hidden,
                self.bias,
                lengths.to(torch.int32),
            ],
            {"direction": "bidirectional", "hidden_size": self.size},
            dtype=word_states.dtype,
            shape=(length, 2, batch, self.size),
            version=LSTM_OPSET,
        )
        states = outputs.permute(2, 0, 1, 3).reshape(batch, length, 2 * self.size)
        # What ONNX Runtime leaves behind a sentence's end is not always a number.
        inside = torch.arange(length) < lengths[:, None]
        return torch.where(inside[:, :, None], states, 0.0)


class OnnxSpanLstm(nn.Module):
    """`networks.SpanLstm` as ONNX's own operator, a sequence for each start of a span."""

    def __init__(self, spans: SpanLstm) -> None:
        super().__init__()
        self.lstm = spans.lstm  # for its size
        self.reach = spans.reach
        of = {name: _reordered(weight) for name, weight in spans.lstm.named_parameters()}
        self.on_input = nn.Parameter(of["weight_ih_l0"][None])
        self.on_hidden = nn.Parameter(of["weight_hh_l0"][None])
        self.bias = nn.Parameter(torch.cat([of["bias_ih_l0"], of["bias_hh_l0"]])[None])

    def forward(self, words: Tensor, lengths: Tensor, read: Tensor) -> Tensor:
        """As `SpanLstm.forward`."""
        batch, length, size = words.shape
        positions = torch.arange(length)
        steps = positions if self.reach is None else positions[: self.reach]
        places = (positions + steps[:, None]).clamp(max=length - 1)
        # Words by step, sentence and start.
        sequences = words[:, places].permute(1, 0, 2, 3).reshape(-1, batch * length, size)
        left = (lengths[:, None] - positions).clamp(min=1).clamp(max=steps.shape[0]).flatten()
        outputs = torch.onnx.ops.symbolic(
            "LSTM",
            [sequences, self.on_input, self.on_hidden, self.bias, left.to(torch.int32)],
            {"hidden_size": self.lstm.hidden_size},
            dtype=words.dtype,
            shape=(sequences.shape[0], 1, batch * length, self.lstm.hidden_size),
            version=LSTM_OPSET,
        )
        # What ONNX Runtime leaves behind a sequence's end is not always a number.
        read_all = torch.where((steps[:, None] < left)[:, None, :, None], outputs, 0.0)
        scores = read_all[:, 0] @ read.t()
        return scores.reshape(-1, batch, length, read.shape[0]).permute(1, 2, 0, 3)


def _reordered(weight: Tensor) -> Tensor:
    """Gates in ONNX's order (input, output, forget, cell) from PyTorch's (i, f, c, o)."""
    i, f, c, o = weight.detach().chunk(4)
    return torch.cat([i, o, f, c])


class FoldedPairMap(nn.Module):
    """The full pair map in weights `[C, D + 1, D + 1]`; its bias is where 1 meets 1."""

    def __init__(self, pairs: FullPairMap) -> None:
        super().__init__()
        layer, of_size = pairs.output, pairs.weight.shape[1:]
        with torch.no_grad():
            weight = (layer.weight @ pairs.weight.flatten(1)).unflatten(1, of_size)
            weight[:, -1, -1] += layer.bias
        self.weight = nn.Parameter(weight)

    def forward(self, states: Tensor) -> Tensor:
        """Scores `[B, C, L, L]` of word states `[B, L, D]`."""
        words = with_one(states)
        return trilinear(words, self.weight, words)
