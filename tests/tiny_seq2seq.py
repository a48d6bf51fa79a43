"""Encoder-decoders with random weights, and systems around them or around a tiny encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

from tiny_encoder_decoders import tiny_encoder_decoder_model
from tiny_encoders import WORDS, tiny_encoder
from trigner.families.seq2seq.automaton import END
from trigner.families.seq2seq.system import Seq2SeqSystem, build
from trigner.training.settings import resolve

KINDS = ("bert", "bart", "t5")
SMALL = (
    "model.lstm_size=16",
    "model.decoder_layers=2",
    "model.decoder_heads=2",
    "model.decoder_feed_forward=12",
)


def tiny_encoder_decoder(folder: Path, kind: str, *, positions: int = 40) -> Path:
    """Save an encoder-decoder of a kind of `CONFIGS`, with a byte-level tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    bpe = ByteLevelBPETokenizer(add_prefix_space=True)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    bpe.train_from_iterator(
        [WORDS.replace("#", "")] * 3, vocab_size=320, special_tokens=special, show_progress=False
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer,
        bos_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
    )
    tokenizer.save_pretrained(folder)
    model = tiny_encoder_decoder_model(kind, bpe.get_vocab_size(), positions)
    model.save_pretrained(folder)
    return folder


def encoder_of(folder: Path, kind: str, **options: Any) -> Path:
    """An encoder or encoder-decoder of a kind of `KINDS`."""
    if kind == "bert":
        return tiny_encoder(folder, kind, head=False, **options)
    return tiny_encoder_decoder(folder, kind, **options)


def settings_of(encoder: Path, *assignments: str) -> Any:
    """Settings of a training with `SMALL` model settings."""
    return resolve(
        preset="clean",
        options={"system": "seq2seq", "encoder": str(encoder)},
        assignments=[*SMALL, *assignments],
    )


def tiny_system(
    folder: Path, kind: str = "bert", *assignments: str, labels: tuple[str, ...] = ("ADR", "Drug")
) -> Seq2SeqSystem:
    """An untrained system whose scores lie apart, and which does not end at once."""
    encoder = folder if folder.is_dir() else encoder_of(folder, kind)
    torch.manual_seed(3)
    system = build(settings_of(encoder, *assignments), labels)
    with torch.no_grad():
        # Names that the vocabulary lacks make types alike.
        noise = torch.randn(system.network.special.shape)
        system.network.special.mul_(4).add_(noise, alpha=0.3)
        system.network.special[END].mul_(0.1)
        for parameter in system.network.states.parameters():
            parameter.mul_(4)
        # A decoder that hardly looks back gives the same tokens in another order the same score.
        for parameter in system.network.decoder.parameters():
            if parameter.dim() > 1:
                parameter.mul_(10)
    return system
