"""A reader's folder, with an encoder so small that trainings of the pages take seconds."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import torch
import yaml
from transformers import BertConfig, BertModel

from page_snippets import Reader

ROOT = Path(__file__).resolve().parents[2]

QUICK = {
    "model": {
        "lstm_size": 64,
        "distance_size": 4,
        "region_size": 4,
        "channels": 16,
        "pair_size": 24,
        "grid_size": 24,
        "encoder_layers": 1,
        "embedding_dropout": 0.1,
        "feature_dropout": 0.1,
        "output_dropout": 0.1,
    },
    "triplets": {"weight": 0.0},
    "optimisation": {"batch_size": 4, "encoder_lr": 0.01, "learning_rate": 0.01},
}
"""In place of the shipped corpus's own settings: the least that learns to find something in it."""


@pytest.fixture(scope="session")
def word_encoder(tmp_path_factory):
    """An encoder of one layer whose subwords are the words of the shipped corpus."""
    texts = [f.read_text("utf-8") for f in sorted((ROOT / "data/mini-adr/train").glob("*.txt"))]
    words = Counter(w for text in texts for w in re.findall(r"\w+|[^\w\s]", text.lower()))
    letters = sorted({letter for word in words for letter in word})
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    subwords = list(dict.fromkeys([*special, *letters, *(f"##{x}" for x in letters), *words]))
    folder = tmp_path_factory.mktemp("word-encoder")
    (folder / "vocab.txt").write_text("\n".join(subwords) + "\n", encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "BertTokenizer"}))
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(subwords),
        max_position_embeddings=128,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def make_folder(tmp_path_factory, word_encoder):
    """A folder as a checkout's reader has it, its corpus with settings for so many epochs."""

    def make(*, epochs: int) -> Path:
        folder = tmp_path_factory.mktemp("reader")
        shutil.copytree(ROOT / "data", folder / "data")
        settings = {**QUICK, "encoder": str(word_encoder)}
        settings["optimisation"] = {**QUICK["optimisation"], "epochs": epochs}
        (folder / "data/mini-adr/demo.yaml").write_text(yaml.safe_dump(settings))
        return folder

    return make


@pytest.fixture(scope="session")
def tutorial(make_folder):
    """A reader who has been through the tutorial; its service is still running."""
    if not entry_points(group="spacy_factories", name="trigner"):
        # Run from a working copy that is not installed: spaCy cannot find the component itself.
        importlib.import_module("trigner.integrations.spacy")
    with Reader(make_folder(epochs=6)) as reader:
        reader.follow(ROOT / "docs/tutorial.md")
        yield reader
