"""Subwords of a batch of sentences -> states of its words: the part that networks share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from trigner.batches import Batch
from trigner.encoders import Encoder
from trigner.families.core.settings import WordSettings
from trigner.networks import BiLstm, Dropout, WordByWord, WordPooling


class WordNetwork(nn.Module):
    """Encoder, word pooling, and what reads the words: a BiLSTM (W2NER, section 4.1).

    `encoder` is the pretrained part, with a learning rate of its own.
    """

    def __init__(
        self, *, encoder: Encoder, pooling: WordPooling, recurrent: BiLstm | WordByWord
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.pooling = pooling
        self.recurrent = recurrent

    def word_states(
        self, input_ids: Tensor, attention_mask: Tensor, word_subwords: Tensor, lengths: Tensor
    ) -> tuple[Tensor, Tensor]:
        """`H [B, L, D]`, and which positions are words of their sentence, `[B, L]`.

        Takes the arrays of `batches.Batch`.
        """
        subwords = self.encoder(input_ids, attention_mask)
        states = self.recurrent(self.pooling(subwords, word_subwords), lengths)
        positions = torch.arange(word_subwords.shape[1], device=lengths.device)
        return states, positions < lengths[:, None]


def word_parts(
    encoder: Encoder, settings: WordSettings, *, recurrent: bool = True
) -> dict[str, Any]:
    """The parts of a `WordNetwork`, as its arguments; without a BiLSTM there is its dropout."""
    size, dropout = settings.lstm_size, settings.embedding_dropout
    return {
        "encoder": encoder,
        "pooling": WordPooling(empty_word=settings.empty_word),
        "recurrent": BiLstm(input_size=encoder.size, size=size, dropout=dropout)
        if recurrent
        else WordByWord(Dropout(dropout)),
    }


def batch_tensors(batch: Batch, device: torch.device | None = None) -> dict[str, Tensor]:
    """The arrays of a batch as the arguments of `WordNetwork.word_states`."""
    return {
        name: torch.from_numpy(getattr(batch, name)).to(device)
        for name in ("input_ids", "attention_mask", "word_subwords", "lengths")
    }


@contextmanager
def evaluating(network: nn.Module) -> Iterator[torch.device]:
    """Evaluation mode without gradients for a while; gives the device of the network's weights."""
    was_training = network.training
    network.eval()
    try:
        with torch.inference_mode():
            yield next(network.parameters()).device
    finally:
        network.train(was_training)


def parameter_groups(
    network: nn.Module, *, encoder_lr: float, learning_rate: float, weight_decay: float
) -> list[dict[str, Any]]:
    """Three groups: the encoder, its biases and layer norms (no decay), everything else."""
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    for name, parameter in network.get_submodule("encoder").named_parameters():
        kept = name.endswith("bias") or "layernorm" in name.lower().replace("_", "")
        (plain if kept else decayed).append(parameter)
    encoder = {id(p) for p in (*decayed, *plain)}
    others = [p for p in network.parameters() if id(p) not in encoder]
    return [
        {"params": decayed, "lr": encoder_lr, "weight_decay": weight_decay},
        {"params": plain, "lr": encoder_lr, "weight_decay": 0.0},
        {"params": others, "lr": learning_rate, "weight_decay": weight_decay},
    ]
