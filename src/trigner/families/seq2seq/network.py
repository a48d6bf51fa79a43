"""The network: an encoder, and a decoder that points at what it read (paper, section 3.3).

`B` sentences, `P` subwords, `U` pointers, `C` types, `V = 2 + C + U` tokens, `T` steps, `D`
features.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor, nn
from transformers import EncoderDecoderCache

from trigner.encoders import Encoder
from trigner.families.seq2seq.automaton import FIRST_TYPE
from trigner.families.seq2seq.decoders import Decoder
from trigner.networks import BiLstm, Dropout, WordByWord


@dataclass(frozen=True, eq=False)
class EncodedSource:
    """What the encoder read of sentences.

    `memory [B, P, D]` and `memory_mask [B, P]` are attended to; `inputs`, `outputs` `[B, V, D]` are
    the vectors of every token of a sentence: as the decoder reads them and as its states are
    compared with.
    """

    memory: Tensor
    memory_mask: Tensor
    inputs: Tensor
    outputs: Tensor

    def select(self, sentences: Tensor) -> EncodedSource:
        """Those of some sentences, by index."""
        return EncodedSource(
            self.memory[sentences],
            self.memory_mask[sentences],
            self.inputs[sentences],
            self.outputs[sentences],
        )


class Seq2SeqNetwork(nn.Module):
    """Scores the next token: dot products of a decoder state with the sentence's token vectors.

    A pointer's vector is `a * MLP(e) + (1 - a) * x` of its subword's encoder state `e` and
    embedding `x`, with `a` the `state_share`. The decoder of the paper reads `x`; a fresh one,
    which has learnt no embeddings, reads the same vector that it is compared with.
    """

    def __init__(
        self,
        *,
        encoder: Encoder,
        recurrent: BiLstm | WordByWord,
        decoder: Decoder,
        types: int,
        encoder_mlp: bool,
        state_share: float,
        dropout: float,
        tied_inputs: bool,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.recurrent = recurrent
        self.decoder = decoder
        self.state_share = state_share
        self.tied_inputs = tied_inputs
        self.dropout = Dropout(dropout)
        size = decoder.size
        width = cast(nn.Embedding, encoder.model.get_input_embeddings()).embedding_dim
        self.states = (
            nn.Sequential(Dropout(dropout), nn.Linear(size, size), nn.ReLU(), nn.Linear(size, size))
            if encoder_mlp
            else nn.Identity()
        )
        self.project: nn.Module = nn.Linear(width, size) if tied_inputs else nn.Identity()
        self.special = nn.Parameter(torch.empty(FIRST_TYPE + types, size).normal_(std=size**-0.5))

    def read(self, input_ids: Tensor, attention_mask: Tensor, targets: Tensor) -> EncodedSource:
        """Encode sentences, `[B, P]`, with the subword of each pointer, `targets [B, U]`.

        A target of -1 is no subword: its state and embedding are zeros.
        """
        read = self.encoder(input_ids, attention_mask)
        memory = self.recurrent(read, attention_mask.sum(dim=1))
        embeddings = nn.functional.embedding(
            input_ids, cast(nn.Embedding, self.encoder.model.get_input_embeddings()).weight
        )
        states, pointed = _at(memory, targets), _at(embeddings, targets)
        share = self.state_share
        keys = share * self.states(states) + (1 - share) * self.project(self.dropout(pointed))
        special = self.special.expand(len(memory), -1, -1)
        outputs = torch.cat([self.dropout(special), keys], dim=1)
        read_back = keys if self.tied_inputs else self.decoder.input_scale * pointed
        inputs = torch.cat([self.decoder.input_scale * special, read_back], dim=1)
        return EncodedSource(memory, attention_mask, inputs, outputs)

    def scores(self, source: EncodedSource, tokens: Tensor) -> Tensor:
        """Scores `[B, T, V]` of what follows each of these tokens, `[B, T]`, `START` first."""
        given = _tokens(source.inputs, tokens)
        states = self._decode(source.memory, source.memory_mask, given, None)
        return self._compare(states, source.outputs)

    def next_scores(
        self, source: EncodedSource, tokens: Tensor, cache: EncoderDecoderCache
    ) -> Tensor:
        """Scores `[S, K, V]` behind the last tokens, `[S, K]`, of `K` outputs for each sentence.

        `source` holds `S` sentences; the cache keeps what came before, its rows are the outputs,
        those of one sentence side by side.
        """
        sentences, beams = tokens.shape
        given = _tokens(source.inputs, tokens).reshape(sentences * beams, 1, -1)
        memory = source.memory.repeat_interleave(beams, dim=0)
        mask = source.memory_mask.repeat_interleave(beams, dim=0)
        states = self._decode(memory, mask, given, cache)
        return self._compare(states.view(sentences, beams, -1), source.outputs)

    def _decode(
        self, memory: Tensor, mask: Tensor, given: Tensor, cache: EncoderDecoderCache | None
    ) -> Tensor:
        kept: dict[str, Any] = {"past_key_values": cache} if cache is not None else {}
        output = self.decoder(
            inputs_embeds=given,
            encoder_hidden_states=memory,
            encoder_attention_mask=mask,
            use_cache=cache is not None,
            **kept,
        )
        return cast(Tensor, output.last_hidden_state)

    def _compare(self, states: Tensor, outputs: Tensor) -> Tensor:
        scaled = self.dropout(states) * self.decoder.output_scale
        return torch.bmm(scaled, outputs.transpose(1, 2))


def _tokens(vectors: Tensor, tokens: Tensor) -> Tensor:
    """`[B, T, D]` of tokens `[B, T]` from the vectors of all, `[B, V, D]`."""
    return vectors.gather(1, tokens[:, :, None].expand(-1, -1, vectors.shape[2]))


def _at(values: Tensor, targets: Tensor) -> Tensor:
    """`[B, U, D]` from `values [B, P, D]`, zeros where the target is -1."""
    return _tokens(values, targets.clamp(min=0)).masked_fill(targets[:, :, None] < 0, 0.0)
