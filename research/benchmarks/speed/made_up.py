"""Models and sentences that the benchmark is run on."""

from __future__ import annotations

import atexit
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import torch
from candidates import mention
from tokenizers import ByteLevelBPETokenizer
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MPNetConfig,
    MPNetModel,
    PreTrainedTokenizerFast,
)

from trigner.batches.batching import by_cost
from trigner.batches.collation import Batch, collate
from trigner.batches.examples import Example, windowing
from trigner.batches.windows import Window
from trigner.corpora import read
from trigner.encoders.pretrained import quiet
from trigner.families.generative.spelling import ANSWER, TASK
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.model import Model, create
from trigner.families.tagging.network_settings import GridSettings
from trigner.mentions import Mention, Sentence
from trigner.pipeline.extraction import CELL_BUDGET
from trigner.systems.registry import system_spec
from trigner.text.segmentation import segment
from trigner.training.settings import Settings

LABEL = "ADR"
END = "<|endoftext|>"
MPNET = "mpnet"
"""An encoder of MPNet's shape (12 layers of 768) with random weights and MiniLM's tokenizer."""

LANGUAGE_MODEL = {
    "vocab_size": 49_152,
    "hidden_size": 576,
    "intermediate_size": 1536,
    "num_hidden_layers": 30,
    "num_attention_heads": 9,
    "num_key_value_heads": 3,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}
"""The shape of SmolLM2 with 135 M parameters, which `generative` has by default."""

MINI_ADR = Path(__file__).parents[3] / "data" / "mini-adr"


def model(encoder: str, pair_map: str = "low_rank") -> Model:
    """A fresh model, one label, as ready as a trained one: no weight is left at its zero."""
    torch.manual_seed(1)
    network = GridSettings(pair_map=pair_map)
    made = create("minilm" if encoder == MPNET else encoder, "w2ner", (LABEL,), network)
    if encoder == MPNET:
        config = MPNetConfig(vocab_size=made.tokenizer.get_vocab_size())
        large = MPNetModel(config, add_pooling_layer=False)
        tagger = build_tagger(large, network, made.scheme)
        made = Model(tagger, made.scheme, made.tokenizer, made.padding_id, network)
    for layer in (made.tagger.features.norm.scale, made.tagger.features.norm.shift):
        torch.nn.init.normal_(layer.weight, std=0.02)
    if pair_map == "full":  # its own initialisation leaves next to nothing of it in the scores
        torch.nn.init.normal_(made.tagger.co_predictor.pairs.weight, std=0.02)
    made.tagger.eval()
    return made


def system(encoder: str, settings: Settings) -> Any:
    """Any system, fresh, one label. `generative` has a language model for the encoder."""
    torch.manual_seed(1)
    own = language_model() if settings.system == "generative" else encoder
    build = system_spec(settings.system).implementation("build")
    return build(settings.model_copy(update={"encoder": own}), (LABEL,))


@cache
def language_model() -> str:
    """A folder with a language model of random weights and subwords of the shipped corpus."""
    folder = mkdtemp(prefix="trigner-language-model-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    bpe = ByteLevelBPETokenizer()
    bpe.train_from_iterator(
        [document.text for document in read(MINI_ADR / "train").documents] + [TASK, ANSWER] * 2,
        vocab_size=LANGUAGE_MODEL["vocab_size"],
        special_tokens=[END],
        show_progress=False,
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe._tokenizer, eos_token=END)
    with quiet():
        tokenizer.save_pretrained(folder)
        LlamaForCausalLM(LlamaConfig(**LANGUAGE_MODEL)).save_pretrained(folder)
    return folder


def vocabulary() -> list[str]:
    """The words of the shipped corpus, as often as they stand in it."""
    documents = read(MINI_ADR / "train").documents
    return [word for d in documents for s in segment(d).sentences for word in s.words]


def sentences(lengths: Sequence[int], seed: int, *, mentions: int = 0) -> list[Sentence]:
    """Sentences of random words with these lengths, each with `mentions` random mentions."""
    random = np.random.default_rng(seed)
    words = vocabulary()
    made: list[Any] = []
    for length in lengths:
        chosen = tuple(words[i] for i in random.integers(0, len(words), length))
        own = {Mention(mention(random, length), LABEL) for _ in range(mentions)}
        ends = np.cumsum([len(word) + 1 for word in chosen]).tolist()
        offsets = tuple((e - len(w) - 1, e - 1) for e, w in zip(ends, chosen, strict=True))
        made.append(Sentence("made-up", len(made), chosen, offsets, tuple(own)))
    return made


def cadec_batch(size: int, longest: int) -> list[Sentence]:
    """A random training batch of the paper's CADEC setting: 17 words on average, one longest.

    Mentions are as many as CADEC's training sentences with any have: two a sentence.
    """
    random = np.random.default_rng(3)
    lengths = np.clip(np.rint(random.lognormal(2.6, 0.7, size)), 2, longest).astype(int)
    lengths[0] = longest
    return sentences(lengths.tolist(), 4, mentions=2)


def sample_sentences(corpus: Path | None, count: int) -> tuple[list[Sentence], str]:
    """Sentences to extract from, at most `count`, and what they are."""
    if corpus is not None:
        documents = read(corpus).documents
        found = [s for d in documents for s in segment(d).sentences if s.words]
        step = max(1, len(found) // count)
        return found[::step], f"every {step}. sentence of {corpus.parent.name}/{corpus.name}"
    found = [s for d in read(MINI_ADR / "test").documents for s in segment(d).sentences]
    random = np.random.default_rng(5)
    lengths = np.clip(np.rint(random.lognormal(2.86, 0.93, count)), 1, 127).astype(int).tolist()
    made = [*found, *sentences(lengths, 6)][:count]
    return made, (
        f"mini-adr's {len(found)} test sentences and random words in sentences as long as those "
        f"of spl-adr's test part (log-normal, mean 24, longest 127): {len(made)} together"
    )


def examples(model: Model, sentences: Sequence[Sentence]) -> list[Example]:
    """As training and extraction cut them."""
    return list(
        windowing(sentences, model.inputs.tokenizer, model.tagger.encoder.max_subwords).inputs
    )


def extraction_batches(model: Model, sentences: Sequence[Sentence]) -> list[Batch]:
    """The very batches that extraction makes."""
    return [
        collate([example.subwords for example in batch], padding_id=model.padding_id)
        for batch in batched(examples(model, sentences))
    ]


def batched(made: Sequence[Example]) -> list[list[Example]]:
    """Examples in the batches that extraction makes."""
    lengths = [example.size for example in made]
    return [[made[i] for i in batch] for batch in by_cost(lengths, sentences=32, cells=CELL_BUDGET)]


def one_subword_words(model: Model, length: int) -> Batch:
    """One sentence of `length` words of one subword each, special words included."""
    own = length - model.inputs.offset
    example = Example(0, Window(0, own, 0, own), model.inputs.tokenizer([["pain"] * own])[0])
    return collate([example.subwords], padding_id=model.padding_id)


def inputs(batch: Batch) -> dict[str, torch.Tensor]:
    """What a tagger takes."""
    return {
        "input_ids": torch.from_numpy(batch.input_ids),
        "attention_mask": torch.from_numpy(batch.attention_mask),
        "word_subwords": torch.from_numpy(batch.word_subwords),
        "lengths": torch.from_numpy(batch.lengths),
    }
