from __future__ import annotations

import pytest
import torch
from transformers import (
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertModel,
    LongformerConfig,
    LongformerModel,
    MPNetConfig,
    MPNetModel,
    PreTrainedModel,
    RobertaConfig,
    RobertaModel,
)

from trigner.encoders.encoder import Encoder

SIZES = {"hidden_size": 8, "num_hidden_layers": 3, "num_attention_heads": 2}
SIZES |= {"intermediate_size": 8, "vocab_size": 30}
RELATIVE = {**SIZES, "relative_attention": True, "pos_att_type": ["p2c", "c2p"]}


def bert(**options):
    torch.manual_seed(1)
    return BertModel(BertConfig(**{**SIZES, **options}), add_pooling_layer=False).eval()


def mpnet(**options):
    return MPNetModel(MPNetConfig(**{**SIZES, **options}), add_pooling_layer=False).eval()


def roberta(**options):
    return RobertaModel(RobertaConfig(**{**SIZES, **options}), add_pooling_layer=False).eval()


def distilbert(**options):
    sizes = {"dim": 8, "n_layers": 3, "n_heads": 2, "hidden_dim": 8, "vocab_size": 30}
    return DistilBertModel(DistilBertConfig(**{**sizes, **options})).eval()


def ids(length):
    return torch.full((1, length), 5), torch.ones(1, length, dtype=torch.long)


@pytest.mark.parametrize(
    ("make", "options", "expected"),
    [
        (bert, {"max_position_embeddings": 12}, 12),
        (bert, {"max_position_embeddings": 12, "pad_token_id": 3}, 12),
        (distilbert, {"max_position_embeddings": 12}, 12),
        (mpnet, {"max_position_embeddings": 14}, 12),
        (roberta, {"max_position_embeddings": 14}, 12),
        (roberta, {"max_position_embeddings": 14, "pad_token_id": 3}, 10),
    ],
)
def test_the_longest_input_is_the_longest_that_works(make, options, expected):
    encoder = Encoder(make(**options))
    assert encoder.max_subwords == expected
    assert encoder(*ids(expected)).shape == (1, expected, 8)
    with pytest.raises((IndexError, RuntimeError)):
        encoder(*ids(expected + 1))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (BertConfig(), 512),
        (RobertaConfig(max_position_embeddings=514), 512),
        (MPNetConfig(max_position_embeddings=514), 512),
    ],
)
def test_published_sizes(config, expected):
    """The position table alone, as the rest of a base model would take seconds."""
    config.update({**SIZES, "num_hidden_layers": 1})
    kind: type[PreTrainedModel] = {
        "bert": BertModel,
        "roberta": RobertaModel,
        "mpnet": MPNetModel,
    }[config.model_type]
    assert Encoder(kind(config)).max_subwords == expected


def test_a_long_encoder():
    config = LongformerConfig(**SIZES, max_position_embeddings=34, attention_window=4)
    encoder = Encoder(LongformerModel(config, add_pooling_layer=False).eval())
    assert encoder.max_subwords == 32
    assert encoder(*ids(32)).shape == (1, 32, 8)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # 4.57 imports DeBERTa so
@pytest.mark.parametrize("version", [1, 3])
def test_relative_positions(version):
    from transformers import DebertaConfig, DebertaModel, DebertaV2Config, DebertaV2Model

    if version == 1:
        model = DebertaModel(DebertaConfig(**RELATIVE, max_position_embeddings=12))
    else:
        config = DebertaV2Config(
            **RELATIVE,
            max_position_embeddings=12,
            position_buckets=4,
            position_biased_input=False,
            share_att_key=True,
            norm_rel_ebd="layer_norm",
        )
        model = DebertaV2Model(config)
    encoder = Encoder(model.eval())
    assert encoder.max_subwords == 12
    assert encoder(*ids(12)).shape == (1, 12, 8)


@pytest.mark.parametrize(("layers", "averaged"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_the_last_layers_are_averaged(layers, averaged):
    model = bert()
    found = Encoder(model, layers=layers)(*ids(6))
    hidden = model(*ids(6), output_hidden_states=True).hidden_states
    torch.testing.assert_close(found, sum(hidden[-averaged:]) / averaged)


def test_mpnet_gets_no_segment_ids_and_bert_zeros():
    model = bert()
    segments = torch.zeros(1, 6, dtype=torch.long)
    hidden = model(*ids(6), token_type_ids=segments).last_hidden_state
    torch.testing.assert_close(Encoder(model, layers=1)(*ids(6)), hidden)
    assert Encoder(mpnet())(*ids(6)).shape == (1, 6, 8)


@pytest.mark.parametrize("make", [bert, roberta, mpnet, distilbert])
def test_padding_changes_nothing(make):
    encoder = Encoder(make())
    padding = {"bert": 0, "distilbert": 0}.get(encoder.model.config.model_type, 1)
    short = torch.tensor([[2, 7, 8, 9]])
    long = torch.tensor([[2, 7, 8, 9, padding, padding], [2, 9, 8, 7, 6, 3]])
    alone = encoder(short, torch.ones_like(short))
    beside = encoder(long, torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6]))
    torch.testing.assert_close(alone[0], beside[0, :4])


def test_size():
    assert Encoder(bert()).size == Encoder(distilbert()).size == 8
