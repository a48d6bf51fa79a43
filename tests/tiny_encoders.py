"""Encoders with random weights and small vocabularies, in folders as the Hub has them."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    MPNetConfig,
    MPNetForMaskedLM,
    MPNetModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    RobertaModel,
)

WORDS = "my left right leg arm hurt s and felt numb after the second tablet no pain then ##s ##ness"
KINDS = ("bert", "mpnet", "roberta")

_SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "hidden_dropout_prob": 0.1,
}


def tiny_encoder(folder: Path, kind: str, *, head: bool, positions: int = 40) -> Path:
    """Save an encoder of a kind of `KINDS`, with or without its head for hidden subwords."""
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    make = {"bert": _bert, "mpnet": _mpnet, "roberta": _roberta}[kind]
    make(folder, head, positions).save_pretrained(folder)
    return folder


def _bert(folder: Path, head: bool, positions: int) -> PreTrainedModel:
    subwords = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ",", *WORDS.split()]
    size = _write_vocabulary(folder, subwords, "BertTokenizer")
    config = BertConfig(vocab_size=size, max_position_embeddings=positions, **_SIZES)
    return BertForMaskedLM(config) if head else BertModel(config, add_pooling_layer=False)


def _mpnet(folder: Path, head: bool, positions: int) -> PreTrainedModel:
    subwords = ["<s>", "<pad>", "</s>", "[UNK]", ".", ",", *WORDS.split(), "<mask>"]
    size = _write_vocabulary(folder, subwords, "MPNetTokenizer")
    config = MPNetConfig(vocab_size=size, max_position_embeddings=positions + 2, **_SIZES)
    return MPNetForMaskedLM(config) if head else MPNetModel(config, add_pooling_layer=False)


def _roberta(folder: Path, head: bool, positions: int) -> PreTrainedModel:
    tokenizer = ByteLevelBPETokenizer(add_prefix_space=True)
    tokenizer.train_from_iterator(
        [WORDS.replace("#", "")] * 3,
        vocab_size=320,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        show_progress=False,
    )
    tokenizer.save_model(str(folder))
    _write_class(folder, "RobertaTokenizer")
    config = RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=positions + 2, **_SIZES
    )
    return RobertaForMaskedLM(config) if head else RobertaModel(config, add_pooling_layer=False)


def _write_vocabulary(folder: Path, subwords: list[str], tokenizer_class: str) -> int:
    (folder / "vocab.txt").write_text("\n".join(subwords) + "\n", encoding="utf-8")
    _write_class(folder, tokenizer_class)
    return len(subwords)


def _write_class(folder: Path, tokenizer_class: str) -> None:
    description = json.dumps({"tokenizer_class": tokenizer_class})
    (folder / "tokenizer_config.json").write_text(description, encoding="utf-8")
