"""The scheme mac through everything that works with models, around tiny encoders."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch

import trigner
from tiny_encoders import tiny_encoder
from tiny_models import export, extractor, save
from trigner.batches.collation import collate
from trigner.families.tagging.model import create, load
from trigner.families.tagging.network_settings import MacSettings
from trigner.families.tagging.onnx_runtime import onnx_scorer
from trigner.families.tagging.torch_runtime import torch_scorer
from trigner.models.folder import read_description

SMALL = MacSettings(
    lstm_size=8,
    embedding_dropout=0.5,
    mac={"recurrent": True, "size": 12, "span_size": 8, "span_reach": 6, "length_size": 3},
)
SENTENCES = [
    ["my", "left", "leg", "hurt"],
    ["pain"],
    ["no", "", "pain", "after", "the", "second", "hurtness", "and", "the", "tablet", ".", "numb"],
]
TEXT = "my left leg hurt. numb left and right arm, no pain after the second tablet"


def make(folder, kind="bert", scheme="mac", **changes):
    """A model with random weights that finds a fair number of mentions."""
    encoder = tiny_encoder(folder, kind, head=False)
    torch.manual_seed(1)
    network = SMALL.model_copy(update={"mac": SMALL.mac.model_copy(update=changes)})
    made = create(str(encoder), scheme, ("ADR", "Drug"), network)
    batch = collate(made.inputs.tokenizer([TEXT.split()]), padding_id=made.padding_id)
    logits = torch.from_numpy(torch_scorer(made.tagger)(batch)).flatten(0, 2)
    with torch.no_grad():
        # One cell in five has each tag.
        high = logits.kthvalue(int(0.8 * len(logits)), dim=0).values
        for part, own in zip(
            (made.tagger.segments, made.tagger.links), made.scheme.groups, strict=True
        ):
            part.output.bias -= high[own.start : own.stop]
    return made


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make(tmp_path_factory.mktemp("encoder") / "bert")


def found(document):
    return [(e.label, e.fragments) for e in document.entities]


def assert_same_scores(model, scorer, sentences, tolerance=1e-4):
    expected = torch_scorer(model.tagger)
    subwords = model.inputs.tokenizer(sentences)
    for some in [*([p] for p in subwords), subwords]:
        batch = collate(some, padding_id=model.padding_id)
        mine, other = scorer(batch), expected(batch)
        for n, length in enumerate(batch.lengths):
            own = np.s_[n, :length, :length]
            np.testing.assert_allclose(mine[own], other[own], atol=tolerance)


@pytest.mark.parametrize(
    ("kind", "scheme", "changes"),
    [
        ("bert", "mac", {}),
        pytest.param(
            "mpnet", "mac", {"span_reach": None, "recurrent": False}, marks=pytest.mark.slow
        ),
        pytest.param("roberta", "mac_minimal", {"squared_norm": True}, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_exported_scores_are_those_of_pytorch(tmp_path, kind, scheme, changes):
    model = make(tmp_path / "encoder", kind, scheme, **changes)
    folder = export(model, tmp_path / "out")
    scorer = onnx_scorer(folder / "model.onnx", ["CPUExecutionProvider"])
    assert_same_scores(model, scorer, SENTENCES)
    assert_same_scores(model, scorer, [["left"] * 30, ["arm", "hurt"]])
    before = extractor(model)(TEXT)
    assert before.entities
    assert found(trigner.load(folder)(TEXT)) == found(before)


def test_in_8_bits_batches_change_nothing(model, tmp_path, monkeypatch):
    # Its matrices are far smaller than those worth the trouble.
    monkeypatch.setattr("trigner.families.onnx.quantization.LARGE", 64)
    folder = export(model, tmp_path / "int8", int8=True)
    assert read_description(folder).runtime.precision == "int8"
    operators = [node.op_type for node in onnx.load(str(folder / "model.onnx")).graph.node]
    # The encoder's six a layer, and nothing between the BiLSTM and the span LSTM.
    assert operators.count("MatMulIntegerToFloat") == 2 * 6
    assert operators.count("LSTM") == 2
    scorer = onnx_scorer(folder / "model.onnx", ["CPUExecutionProvider"])
    assert_same_scores(model, scorer, SENTENCES, tolerance=0.2)
    subwords = model.inputs.tokenizer(SENTENCES)
    together = scorer(collate(subwords, padding_id=model.padding_id))
    for n, own in enumerate(subwords):
        alone = scorer(collate([own], padding_id=model.padding_id))[0]
        length = len(own.word_subwords)
        np.testing.assert_allclose(together[n, :length, :length], alone, atol=1e-4)


def test_saved_and_loaded_it_is_the_same(model, tmp_path):
    save(model, tmp_path)
    again = load(tmp_path)
    assert again.settings == model.settings
    for name, weight in model.tagger.state_dict().items():
        assert again.tagger.state_dict()[name].equal(weight), name
    assert found(extractor(again)(TEXT)) == found(extractor(model)(TEXT))
