"""Encoder-decoders with random weights, of the families that keep what is scaled, tied or limited
in ways of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
import transformers
from transformers import PreTrainedModel

_OF_BART = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
}
_OF_T5 = {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2}
_IDS = {"pad_token_id": 1, "eos_token_id": 2}
START = 1


def _scaled(family: str, **options: Any) -> Callable[[int, int], Any]:
    def config(size: int, positions: int) -> Any:
        own = {**_OF_BART, **_IDS, "bos_token_id": 0, "scale_embedding": True, **options}
        kind = getattr(transformers, f"{family}Config")
        return kind(vocab_size=size, max_position_embeddings=positions, **own)

    return config


def _led(size: int, positions: int) -> Any:
    return transformers.LEDConfig(
        vocab_size=size,
        max_encoder_position_embeddings=2 * positions,
        max_decoder_position_embeddings=positions,
        attention_window=4,
        **_OF_BART,
        **_IDS,
    )


def _fsmt(size: int, positions: int) -> Any:
    """Its halves know no embeddings in place of ids."""
    vocabularies = {"src_vocab_size": size, "tgt_vocab_size": size, "langs": ["a", "b"]}
    return transformers.FSMTConfig(
        **vocabularies, max_position_embeddings=positions, **_OF_BART, **_IDS
    )


def _t5(family: str, **options: Any) -> Callable[[int, int], Any]:
    def config(size: int, positions: int) -> Any:
        kind = getattr(transformers, f"{family}Config")
        own = {**_OF_T5, **_IDS, "decoder_start_token_id": START, **options}
        return kind(vocab_size=size, **own)

    return config


CONFIGS: Mapping[str, Callable[[int, int], Any]] = {
    "bart": _scaled("Bart", decoder_start_token_id=2),
    "mbart": _scaled("MBart"),  # names nothing that texts start with
    "pegasus": _scaled("Pegasus"),
    "blenderbot-small": _scaled("BlenderbotSmall"),
    "marian": _scaled("Marian", decoder_start_token_id=START),
    "marian-apart": _scaled(
        "Marian", decoder_start_token_id=START, share_encoder_decoder_embeddings=False
    ),
    "mvp": _scaled("Mvp"),
    "fsmt": _fsmt,
    "led": _led,
    "t5": _t5("T5"),
    "t5-untied": _t5("T5", tie_word_embeddings=False),
    "mt5": _t5("MT5"),
}
"""Configurations by kind, for so many subwords and positions."""


def tiny_encoder_decoder_model(kind: str, size: int, positions: int) -> PreTrainedModel:
    """A language model of a kind of `CONFIGS`.

    Those of T5's family that do not tie their table to their output have an output of their own.
    """
    torch.manual_seed(7)
    config = CONFIGS[kind](size, positions)
    model: Any = transformers.AutoModelForSeq2SeqLM.from_config(config)
    if kind in ("t5-untied", "mt5"):
        model.lm_head.weight = torch.nn.Parameter(torch.randn(size, 16))
    return model
