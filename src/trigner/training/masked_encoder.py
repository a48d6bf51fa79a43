"""Pretrained encoders with the head that predicts hidden pieces, also where they come without."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from trigner.errors import InputError
from trigner.networks.build import encoder_source, quiet
from trigner.networks.encoder import Encoder


@dataclass(frozen=True, slots=True)
class MaskedEncoder:
    """An encoder that predicts hidden pieces, and the tokenizer that feeds it.

    `fresh_head` is True when the checkpoint had no head: its transform was drawn anew, and its
    decoder is the input embeddings. `tokenizer` is the checkpoint's own, to be saved;
    `pieces` cuts ready words, byte-level tokenizers with the blank before each.
    """

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    pieces: Tokenizer
    fresh_head: bool

    @property
    def max_pieces(self) -> int:
        """Longest input in pieces, the tokenizer's own start and end included."""
        return Encoder(cast(PreTrainedModel, self.model.base_model)).max_pieces


def load_masked_encoder(name: str | Path) -> MaskedEncoder:
    """An encoder by folder, name on the Hub, or one of the short names.

    A missing head is drawn from torch's global random state. Raises InputError when the encoder
    cannot be had, lacks weights of its own, or cannot be trained on hidden pieces.
    """
    source = encoder_source(str(name))
    try:
        with quiet():
            tokenizer = AutoTokenizer.from_pretrained(source)
            for_words = AutoTokenizer.from_pretrained(source, add_prefix_space=True)
            model, report = AutoModelForMaskedLM.from_pretrained(
                source, output_loading_info=True, dtype=torch.float32
            )
    except Exception as error:  # a folder that is no encoder fails in nearly every way
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot load the encoder '{name}': {reason}") from error
    _check_tokenizer(str(name), tokenizer, model)
    fresh = _complete_head(str(name), model, set(report["missing_keys"]))
    return MaskedEncoder(model, tokenizer, for_words.backend_tokenizer, fresh)


def _check_tokenizer(name: str, tokenizer: PreTrainedTokenizerBase, model: PreTrainedModel) -> None:
    if not tokenizer.is_fast:
        raise InputError(f"the encoder '{name}' has no fast tokenizer, which word alignment needs")
    if tokenizer.mask_token_id is None:
        raise InputError(f"the tokenizer of the encoder '{name}' has no mask")
    held = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
    if len(tokenizer) > held:
        raise InputError(
            f"the tokenizer of the encoder '{name}' knows {len(tokenizer)} pieces, "
            f"the encoder {held}"
        )


def _complete_head(name: str, model: PreTrainedModel, missing: set[str]) -> bool:
    """Give defined values to weights that the checkpoint lacks; True when that is the head."""
    own = f"{model.base_model_prefix}."
    lacking = sorted(key for key in missing if key.startswith(own) and ".pooler." not in key)
    if lacking:
        raise InputError(
            f"the encoder '{name}' lacks {len(lacking)} of its weights, such as {lacking[0]}"
        )
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
