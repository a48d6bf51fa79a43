"""Pretrained encoders and their tokenizers: by name, from a folder, from a configuration."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel
from torch import nn
from transformers import (
    MODEL_MAPPING,
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)
from transformers.utils import logging as transformers_logging

from trigner.encoders.names import check_encoder, encoder_source
from trigner.errors import InputError, first_line


def load_encoder(
    name: str, special_words: tuple[str, ...], *, encoder_decoder: bool = False
) -> tuple[PreTrainedModel, Tokenizer, int]:
    """A pretrained encoder, its tokenizer with the special words added, and the padding id.

    `name` is what `encoder_source` takes. Raises InputError when the encoder cannot be had, lacks
    weights of its own or does not fit its tokenizer, and for an `encoder_decoder` where it may not
    be one.
    """
    with quiet():
        tokenizer = tokenizer_for_words(name)
        if not encoder_decoder:
            _refuse_encoder_decoder(name)
        model, missing = load_checkpoint(name, AutoModel)
        refuse_weights(name, "lacks", (key for key in missing if "pooler." not in key))
        subwords, padding = tokenizer.backend_tokenizer, tokenizer.pad_token_id
        refuse_unknown_subwords(name, subwords, model)
        subwords.add_special_tokens(list(special_words))
        if rows_needed(subwords) > _rows(model):
            # Fresh random rows, as the paper's code has them.
            model.resize_token_embeddings(rows_needed(subwords), mean_resizing=False)
    return model, subwords, 0 if padding is None else int(padding)


def _refuse_encoder_decoder(name: str) -> None:
    with named(name):
        config = AutoConfig.from_pretrained(encoder_source(name), trust_remote_code=False)
    if config.is_encoder_decoder:
        raise InputError(
            f"{name!r} is an encoder-decoder, which the systems seq2seq and generative alone take:"
            " name an encoder"
        )


BLANK = "\u2581"
"""What SentencePiece writes in the place of a blank."""


def tokenizer_for_words(name: str) -> PreTrainedTokenizerBase:
    """The tokenizer of an encoder, for ready words.

    Raises InputError when it is not a fast one, or none comes with the encoder: the library then
    gives one that knows its special subwords alone, to which all words are the same or nothing.
    """
    with named(name):
        check_encoder(name)
        try:
            tokenizer = AutoTokenizer.from_pretrained(
                encoder_source(name), add_prefix_space=True, trust_remote_code=False
            )
        except TypeError as error:  # transformers 4 opens a vocabulary that is not there
            raise InputError(f"no tokenizer comes with {name!r}") from error
        except ValueError as error:  # some classes take it for a slow one
            if not any(words in str(error) for words in ("slow version", "backend tokenizer")):
                raise
            # A folder that is no model's at all is told as that.
            AutoConfig.from_pretrained(encoder_source(name), trust_remote_code=False)
            unread = f"no tokenizer comes with {name!r}, or only one that needs sentencepiece"
            raise InputError(unread) from error
    special = {*tokenizer.all_special_tokens, *tokenizer.get_added_vocab(), BLANK}
    if not set(tokenizer.get_vocab()) - special:
        raise InputError(f"no tokenizer comes with {name!r}")
    if not tokenizer.is_fast:
        raise InputError(f"the encoder {name!r} has no fast tokenizer, which word alignment needs")
    # Ready words carry no blank before them; byte-level tokenizers must put it there. Not every
    # tokenizer class passes the wish above on.
    step = tokenizer.backend_tokenizer.pre_tokenizer
    if isinstance(step, ByteLevel):
        step.add_prefix_space = True
    return tokenizer


def load_checkpoint(name: str, kind: Any) -> tuple[PreTrainedModel, set[str]]:
    """A pretrained model of a `kind` (a class of `transformers`) and the weights that it lacks.

    Single precision, without its sentence pooler where that is possible. Positions that are
    computed, as Pegasus and Marian have them, are in few checkpoints, and are not lacking. Raises
    InputError when it cannot be had or has weights of another shape.
    """
    with named(name):
        source = encoder_source(name)
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        model, report = kind.from_pretrained(
            source,
            config=config,
            dtype=torch.float32,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below, by name
            **(_without_pooler(config) if kind is AutoModel else {}),
        )
    # 4.57 gives names, 5 gives them with both shapes.
    mismatched = report["mismatched_keys"]
    unlike = (key if isinstance(key, str) else key[0] for key in mismatched)
    refuse_weights(name, "has another shape for", unlike)
    return cast(PreTrainedModel, model), set(report["missing_keys"]) - _computed(model)


def _computed(model: nn.Module) -> set[str]:
    return {
        f"{name}.weight"
        for name, module in model.named_modules()
        if "SinusoidalPositionalEmbedding" in type(module).__name__
    }


def refuse_weights(name: str, what: str, keys: Iterable[str]) -> None:
    """Raises InputError when there are such weights."""
    if found := sorted(keys):
        raise InputError(
            f"the encoder {name!r} {what} {len(found)} of its weights, such as {found[0]}"
        )


def refuse_unknown_subwords(name: str, subwords: Tokenizer, model: PreTrainedModel) -> None:
    """Raises InputError when the tokenizer has subwords that the encoder has no embedding for."""
    if rows_needed(subwords) > _rows(model):
        raise InputError(
            f"the tokenizer of the encoder {name!r} knows {rows_needed(subwords)} subwords, "
            f"the encoder {_rows(model)}"
        )


def _rows(model: PreTrainedModel) -> int:
    return cast(nn.Embedding, model.get_input_embeddings()).num_embeddings


@contextmanager
def named(name: str, doing: str = "load the encoder") -> Iterator[None]:
    """What fails while an encoder is being had, or tried, becomes an InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # a folder that is not an encoder fails in nearly every way
        raise InputError(f"cannot {doing} {name!r}: {first_line(error)}") from error


def rows_needed(subwords: Tokenizer) -> int:
    """Rows that an embedding needs for these subwords: a vocabulary may have holes."""
    return 1 + max(subwords.get_vocab(with_added_tokens=True).values())


@contextmanager
def quiet() -> Iterator[None]:
    """None of transformers' bars, reports and asides; errors are raised as ever."""
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            # 4.57 wonders about checkpoints that follow within a second.
            warnings.filterwarnings("ignore", message="mtime may not be reliable")
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


def encoder_from_config(folder: Path, kind: Callable[[Any], Any] | None = None) -> PreTrainedModel:
    """An encoder of the right shape, its weights still to be loaded.

    Or what `kind` says of its configuration: a class of `transformers`.
    """
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    options = {} if kind else _without_pooler(config)
    made = (kind(config) if kind else AutoModel).from_config(
        config, dtype=torch.float32, trust_remote_code=False, **options
    )
    return cast(PreTrainedModel, made)


def _without_pooler(config: Any) -> dict[str, bool]:
    """Leave out the sentence pooler, which no tag depends on, where the architecture allows it."""
    found: Any = MODEL_MAPPING[type(config)]
    architectures = found if isinstance(found, tuple) else (found,)
    pooler = "add_pooling_layer"
    allowed = all(pooler in inspect.signature(each).parameters for each in architectures)
    return {pooler: False} if allowed else {}
