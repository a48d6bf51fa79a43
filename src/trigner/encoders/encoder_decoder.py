"""What the configurations and modules of `transformers` say in several ways of models that write:
positions, the subword that texts start with, the scales of embeddings and of states."""

from __future__ import annotations

from typing import Any, Literal

from torch import nn
from transformers import PreTrainedModel

SCALES_IDS_ALONE = ("mvp",)
"""Families whose decoder scales the embeddings of ids behind the table, and not those that it is
given; others scale both, or in the table."""

SCALED_WHEN_TIED = ("longt5", "switch_transformers", "t5", "umt5")
"""Families whose decoder states are divided by the root of their size before they score tokens with
the table of subwords. T5 and LongT5 say so in a setting of its own from transformers 5 on."""


def positions_of(config: Any, half: Literal["encoder", "decoder"]) -> int | None:
    """The places that half a model can tell apart; None: any number.

    Of a model that has but one part they are the whole's.
    """
    names = ("max_position_embeddings", f"max_{half}_position_embeddings")
    found = [getattr(config, name, None) for name in names]
    # Below zero: no limit (XLNet).
    return min((int(own) for own in found if own is not None and own > 0), default=None)


def start_of(model: PreTrainedModel) -> int | None:
    """The subword that a decoder's texts start with; None where none is known.

    Where a model names none, as mBART, whose texts may start with any of many languages, it is the
    start or the end of sentences.
    """
    config, writing = model.config, getattr(model, "generation_config", None)
    found = (
        getattr(config, "decoder_start_token_id", None),
        getattr(writing, "decoder_start_token_id", None),
        getattr(config, "bos_token_id", None),
        end_of(config),
    )
    return next((int(own) for own in found if own is not None), None)


def end_of(config: Any) -> int | None:
    """The subword that ends texts, the first where there are several; None where none is known."""
    found = getattr(config, "eos_token_id", None)
    return next(iter(found), None) if isinstance(found, list | tuple) else found


def encoder_scale(model: PreTrainedModel) -> float:
    """What embeddings are multiplied with before an encoder-decoder's encoder is given them.

    The tables of some families scale what is looked up. The encoders of others do so, as long as
    they look it up themselves.
    """
    if hasattr(model.get_input_embeddings(), "embed_scale"):
        return 1.0
    return float(getattr(model.get_encoder(), "embed_scale", 1.0))


def decoder_scale(model: PreTrainedModel) -> float:
    """What rows of the table are multiplied with before the decoder is given them."""
    scaling: nn.Module = model.get_input_embeddings()
    if model.config.model_type in SCALES_IDS_ALONE:
        scaling = model.get_decoder()
    return float(getattr(scaling, "embed_scale", 1.0))


def output_scale(config: Any) -> float:
    """What decoder states are multiplied with before they are compared with rows of the table."""
    scaled = getattr(config, "scale_decoder_outputs", None)
    if scaled is None:
        scaled = config.model_type in SCALED_WHEN_TIED and config.tie_word_embeddings
    return float(config.hidden_size**-0.5) if scaled else 1.0
