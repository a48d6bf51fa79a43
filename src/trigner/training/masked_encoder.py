"""Pretrained encoders with the head that predicts hidden subwords, also where they come without."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from trigner.encoders import encoder_source
from trigner.errors import InputError
from trigner.networks.encoder import Encoder
from trigner.networks.pretrained import (
    load_checkpoint,
    named,
    quiet,
    refuse_unknown_subwords,
    refuse_weights,
    tokenizer_for_words,
)
from trigner.training.masking import UNSCORED


@dataclass(frozen=True, slots=True)
class MaskedEncoder:
    """An encoder that predicts hidden subwords, and the tokenizer that feeds it.

    `fresh_head` is True when the checkpoint had no head: its transform was drawn anew, and its
    decoder is the input embeddings. `tokenizer` is the checkpoint's own, to be saved;
    `subwords` cuts ready words, byte-level tokenizers with the blank before each.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    subwords: Tokenizer
    fresh_head: bool

    @property
    def max_subwords(self) -> int:
        """Longest input in subwords, the tokenizer's own start and end included."""
        return Encoder(cast(PreTrainedModel, self.model.base_model)).max_subwords


def load_masked_encoder(name: str | Path) -> MaskedEncoder:
    """An encoder by folder, name on the Hub, or one of the short names.

    A missing head is drawn from torch's global random state. Raises InputError when the encoder
    cannot be had, lacks weights of its own, or cannot be trained on hidden subwords.
    """
    name = str(name)
    with quiet():
        subwords = tokenizer_for_words(name).backend_tokenizer
        with named(name):
            tokenizer = AutoTokenizer.from_pretrained(encoder_source(name), trust_remote_code=False)
        model, missing = load_checkpoint(name, AutoModelForMaskedLM)
    if tokenizer.mask_token_id is None:
        raise InputError(f"the tokenizer of the encoder {name!r} has no mask token")
    refuse_unknown_subwords(name, subwords, model)
    return MaskedEncoder(model, tokenizer, subwords, _complete_head(name, model, missing))


def hidden_loss(model: PreTrainedModel, batch: Mapping[str, Tensor]) -> Tensor:
    """Mean cross-entropy in nats of the hidden subwords of a batch (`masking_collator`); 0 of none.

    As the model's own forward gives it for the labels, but the decoder, a matrix over the whole
    vocabulary, reads the hidden subwords alone: the others would double the time of an update.
    """
    labels = batch["labels"]
    hidden = labels != UNSCORED
    inputs = {name: value for name, value in batch.items() if name != "labels"}
    if model.config.is_encoder_decoder:  # without labels it would read other ids
        inputs["decoder_input_ids"] = cast(Any, model).prepare_decoder_input_ids_from_labels(labels)

    def select(_: nn.Module, read: tuple[Tensor, ...]) -> tuple[Tensor, ...] | None:
        per_subword = bool(read) and read[0].shape[:-1] == hidden.shape
        return (read[0][hidden], *read[1:]) if per_subword else None

    decoder = model.get_output_embeddings()
    with nullcontext() if decoder is None else decoder.register_forward_pre_hook(select):
        scores = model(**inputs)[0]
    if scores.shape[:-1] == hidden.shape:  # some heads use the decoder's weights without calling it
        scores = scores[hidden]
    expected = labels[hidden]
    total = F.cross_entropy(scores.float(), expected, reduction="sum")
    return total / max(1, len(expected))


def _complete_head(name: str, model: PreTrainedModel, missing: set[str]) -> bool:
    """Give defined values to weights that the checkpoint lacks; True when that is the head."""
    own = f"{model.base_model_prefix}."
    lacking = (key for key in missing if key.startswith(own) and ".pooler." not in key)
    refuse_weights(name, "lacks", lacking)
    embeddings = cast(nn.Embedding, model.get_input_embeddings())
    decoder = model.get_output_embeddings()
    if decoder is not None and decoder.weight is not embeddings.weight:
        names = {key for key, value in model.named_parameters() if value is decoder.weight}
        if names & missing:
            model.config.tie_word_embeddings = True
            decoder.weight = embeddings.weight
    fresh = False
    parameters = dict(model.named_parameters())
    for key in sorted(missing & parameters.keys()):
        if key.startswith(own) or parameters[key] is embeddings.weight:
            continue
        _draw(parameters[key], float(getattr(model.config, "initializer_range", 0.02)), key)
        fresh |= parameters[key].ndim > 1
    return fresh


@torch.no_grad()
def _draw(parameter: Tensor, deviation: float, key: str) -> None:
    # Not left to the library, which has no rule for every head's bare parameters.
    if parameter.ndim > 1:
        parameter.normal_(std=deviation)
    elif key.endswith("bias"):
        parameter.zero_()
    else:
        parameter.fill_(1.0)
