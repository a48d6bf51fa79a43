from __future__ import annotations

import pytest

from tiny_models import TAG_SCHEMES, make_scheme, small_settings
from trigner.encoders.pretrained import encoder_from_config
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.co_predictor import TrignerCoPredictor, W2nerCoPredictor
from trigner.families.tagging.network_settings import GridSettings, ToeSettings
from trigner.families.tagging.pair_maps import FullPairMap, LowRankPairMap
from trigner.families.tagging.tagger import PairTagger
from trigner.schemes.scheme import TagSpace

SMALL = GridSettings(
    lstm_size=8, distance_size=3, region_size=5, channels=4, pair_size=6, grid_size=7
)
SCHEME = make_scheme("w2ner", ("A", "B", "C"))


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_every_scheme_has_a_network(encoders, name):
    """One that scores pairs of words, where the scheme tags these."""
    scheme = make_scheme(name, ("A", "B"))
    model = encoder_from_config(encoders["bert"])
    tagger = build_tagger(model, small_settings(name), scheme)
    assert tagger.encoder.model is model
    assert isinstance(tagger, PairTagger) == (scheme.tag_space is not TagSpace.SEQUENCE)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, LowRankPairMap),
        ({"pair_map": "full"}, FullPairMap),
    ],
)
def test_pair_maps(encoders, changes, expected):
    settings = SMALL.model_copy(update=changes)
    co_predictor = build_tagger(
        encoder_from_config(encoders["bert"]), settings, SCHEME
    ).co_predictor
    assert isinstance(co_predictor, TrignerCoPredictor)
    assert isinstance(co_predictor.pairs, expected)


def test_every_setting_reaches_the_network(encoders):
    settings = SMALL.model_copy(
        update={
            "encoder_layers": 2,
            "empty_word": "batch_minimum",
            "dilations": (2, 3),
            "chained": False,
            "normalised": "column",
            "mask_between": False,
            "embedding_dropout": 0.11,
            "feature_dropout": 0.22,
            "output_dropout": 0.44,
        }
    )
    tagger = build_tagger(encoder_from_config(encoders["bert"]), settings, SCHEME)
    assert tagger.encoder.layers == 2
    assert tagger.pooling.empty_word == "batch_minimum"
    assert tagger.recurrent.dropout.p == 0.11
    assert tagger.recurrent.lstm.hidden_size == 4
    features = tagger.features
    assert (features.chained, features.norm.normalised, features.mask_between) == (
        False,
        "column",
        False,
    )
    assert features.dropout == 0.22
    assert features.distance.weight.shape == (20, 3)
    assert features.region.weight.shape == (3, 5)
    assert features.reduce.weight.shape == (4, 16)
    assert [c.dilation for c in features.convolutions] == [(2, 2), (3, 3)]
    co_predictor = tagger.co_predictor
    assert co_predictor.pairs.left.weight.shape == (6, 8)
    assert co_predictor.pairs.output.weight.shape == (5, 6)
    assert co_predictor.grid.hidden.weight.shape == (7, 8, 1, 1)
    assert co_predictor.grid.dropout.p == 0.44
    own = build_tagger(
        encoder_from_config(encoders["bert"]),
        settings.model_copy(update={"co_predictor": "w2ner", "biaffine_size": 9}),
        SCHEME,
    ).co_predictor
    assert isinstance(own, W2nerCoPredictor)
    assert own.weight.shape == (5, 10, 10)
    assert own.dropout.p == own.grid.dropout.p == 0.44
    assert own.grid.hidden.weight.shape == (7, 8, 1, 1)


def test_every_setting_of_toe_reaches_its_network(encoders):
    toe = {"rounds": 2, "table_size": 11, "heads": 2, "feed_forward": 13, "dropout": 0.2}
    others = {
        "co_predictor": "w2ner",
        "biaffine_size": 9,
        "mask_between": False,
        "empty_word": "batch_minimum",
    }
    sizes = SMALL.model_dump(exclude={"dilations", "chained"})
    settings = ToeSettings(**{**sizes, **others, "toe": {**toe, "mask_padding": False}})
    tagger = build_tagger(
        encoder_from_config(encoders["bert"]), settings, make_scheme("toe", ("A", "B", "C"))
    )
    assert tagger.pooling.empty_word == "batch_minimum"
    enhancement = tagger.enhancement
    assert (enhancement.rounds, enhancement.mask_padding) == (2, False)
    assert not enhancement.features.chained
    assert not enhancement.features.mask_between
    assert enhancement.table.weight.shape == (11, 8, 1, 1)
    assert enhancement.output.weight.shape == (11, 11, 1, 1)  # 2 + 2 * 3 + 3 tags
    attention = enhancement.attention
    assert attention.self_attn.num_heads == attention.multihead_attn.num_heads == 2
    assert attention.linear1.weight.shape == (13, 8)
    assert {attention.dropout1.p, attention.dropout2.p, attention.dropout3.p} == {0.2}
    assert attention.self_attn.dropout == attention.multihead_attn.dropout == 0.2
    assert {n.eps for n in (attention.norm1, attention.norm2, attention.norm3)} == {1e-12}
    assert tagger.main.weight.shape == (8, 10, 10)
    assert tagger.auxiliary.weight.shape == (3, 10, 10)
    assert tagger.main_features.weight.shape == (8, 8, 1, 1)
    assert tagger.auxiliary_features.weight.shape == (8, 3, 1, 1)
