"""Language models with random weights in folders as the Hub has them, and systems around them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BioGptConfig,
    BioGptForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedTokenizerFast,
)

from tiny_encoder_decoders import tiny_encoder_decoder_model
from tiny_encoders import WORDS
from trigner.families.generative.spelling import TASK
from trigner.families.generative.system import GenerativeSystem, build
from trigner.training.settings import resolve

KINDS = ("gpt2", "llama", "bart", "t5")
END = 2


def tiny_language_model(
    folder: Path, kind: str, *, positions: int = 400, end: str | None = "</s>"
) -> Path:
    """Save a language model with a byte-level tokenizer.

    Of a kind of `KINDS`, `opt` or `biogpt`, or an encoder-decoder by kind.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Cuts words without a blank before them otherwise, as those of large models do.
    bpe = ByteLevelBPETokenizer(add_prefix_space=False)
    text = f"{WORDS} {TASK} Mentions: | ADR Drug #2 #3".replace("##", "")
    bpe.train_from_iterator(
        [text] * 3,
        vocab_size=420,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        show_progress=False,
    )
    PreTrainedTokenizerFast(
        tokenizer_object=bpe._tokenizer, bos_token="<s>", pad_token="<pad>", eos_token=end
    ).save_pretrained(folder)
    torch.manual_seed(7)
    _make(kind, bpe.get_vocab_size(), positions).save_pretrained(folder)
    return folder


def _make(kind: str, size: int, positions: int) -> Any:
    ends = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": END}
    if kind == "gpt2":
        return GPT2LMHeadModel(
            GPT2Config(
                vocab_size=size, n_embd=16, n_layer=2, n_head=2, n_positions=positions, **ends
            )
        )
    if kind == "llama":
        return LlamaForCausalLM(
            LlamaConfig(
                vocab_size=size,
                hidden_size=16,
                intermediate_size=24,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=positions,
                **ends,
            )
        )
    if kind in ("opt", "biogpt"):
        sizes = {
            "vocab_size": size,
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "max_position_embeddings": positions,
        }
        if kind == "biogpt":
            return BioGptForCausalLM(BioGptConfig(intermediate_size=24, **sizes, **ends))
        return OPTForCausalLM(OPTConfig(ffn_dim=24, word_embed_proj_dim=16, **sizes, **ends))
    return tiny_encoder_decoder_model(kind, size, positions)


def settings_of(model: Path, *assignments: str) -> Any:
    """Settings of a training."""
    return resolve(
        preset="clean",
        options={"system": "generative", "encoder": str(model)},
        assignments=assignments,
    )


def tiny_generative(
    folder: Path, *assignments: str, labels: tuple[str, ...] = ("ADR", "Drug")
) -> GenerativeSystem:
    """An untrained system whose scores lie apart."""
    torch.manual_seed(3)
    system = build(settings_of(folder, *assignments), labels)
    with torch.no_grad():
        for name, parameter in system.network.named_parameters():
            if parameter.dim() > 1:
                parameter.mul_(6)
            if "lora_B" in name:
                parameter.normal_(std=0.3)
    return system
