from __future__ import annotations

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trigner
from trigner.batches.collation import collate
from trigner.errors import TrignerError
from trigner.families.onnx.quantization import CONTRIB, to_int8
from trigner.families.tagging.exporting import to_onnx
from trigner.families.tagging.onnx_runtime import _session, onnx_scorer

WORDS = ["my", "left", "leg", "arm", "hurt", "numb", "after", "the", "tablet", "no", "pain", "s"]


@pytest.fixture(scope="module")
def scorer(in_8_bits):
    return onnx_scorer(in_8_bits / "model.onnx", ["CPUExecutionProvider"])


def test_the_encoder_is_in_8_bits_and_nothing_has_one_scale_for_all(in_8_bits):
    graph = onnx.load(str(in_8_bits / "model.onnx")).graph
    operators = [node.op_type for node in graph.node]
    # Per layer: query, key, value, output and the two of the feed-forward part.
    assert operators.count("MatMulIntegerToFloat") == 2 * 6
    assert "DynamicQuantizeLinear" not in operators
    kinds = {w.name: w.data_type for w in graph.initializer}
    tables = [n for n in graph.node if n.op_type == "Gather" and n.input[0] in kinds]
    assert onnx.TensorProto.INT8 in {kinds[n.input[0]] for n in tables}
    assert onnx.TensorProto.FLOAT16 in kinds.values()


@pytest.mark.parametrize("scheme", [pytest.param("mac", marks=pytest.mark.slow), "corro"])
def test_so_it_is_where_the_first_lstm_is_behind_more_or_there_is_none(quantised, scheme):
    graph = onnx.load(str(quantised(scheme) / "model.onnx")).graph
    assert [node.op_type for node in graph.node].count("MatMulIntegerToFloat") == 2 * 6


def test_an_encoder_without_a_weight_for_8_bits_is_told(to_export, refused):
    graph = to_onnx(to_export("w2ner"))  # whose weights are all too small
    with refused(error=TrignerError):
        to_int8(graph)


def test_scores_stay_near_those_of_the_model(tiny, scorer, same_scores):
    same_scores(tiny(), scorer, [WORDS[:5], WORDS, ["pain"]], tolerance=0.05)


def test_the_largest_products_are_exact_on_every_processor(tmp_path):
    """Two products of 255 * 127 are more than 16 bits hold, in which some processors add them."""
    random = np.random.default_rng(0)
    weight = random.choice([-127, 127], (64, 16)).astype(np.int8)
    rows = random.choice([0, 1, 255], (8, 64)).astype(np.uint8)
    one, zero = np.float32(1), np.uint8(128)
    constants = {"w": weight, "a": one, "b": np.ones(16, np.float32), "z": zero}
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node(
                "MatMulIntegerToFloat", ["x", "w", "a", "b", "z"], ["y"], domain=CONTRIB
            )
        ],
        "product",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.UINT8, [8, 64])],
        [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [8, 16])],
        [onnx.numpy_helper.from_array(np.asarray(v), name) for name, v in constants.items()],
    )
    domains = [onnx.helper.make_opsetid("", 20), onnx.helper.make_opsetid(CONTRIB, 1)]
    model = onnx.helper.make_model(graph, opset_imports=domains, ir_version=10)
    onnx.save(model, tmp_path / "product.onnx")
    session = _session(tmp_path / "product.onnx", ["CPUExecutionProvider"], 1)
    (found,) = session.run(None, {"x": rows})
    exact = (rows.astype(np.int64) - 128) @ weight.astype(np.int64)
    np.testing.assert_array_equal(found, exact)


def test_they_differ_from_those_of_float32(tiny, scorer, same_scores):
    with pytest.raises(AssertionError):
        same_scores(tiny(), scorer, [WORDS], tolerance=1e-7)


@pytest.fixture(
    params=[
        "w2ner",
        "corro",
        *(pytest.param(s, marks=pytest.mark.slow) for s in ("toe", "mac", "span_grid", "gap_grid")),
    ],
    scope="module",
)
def model_and_scorer(request, to_export, quantised):
    graph = quantised(request.param) / "model.onnx"
    return to_export(request.param), onnx_scorer(graph, ["CPUExecutionProvider"])


@settings(max_examples=15, deadline=None)
@given(
    sentences=st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=20), min_size=2, max_size=6
    )
)
def test_a_sentences_scores_do_not_depend_on_its_batch(model_and_scorer, sentences):
    model, scorer = model_and_scorer
    subwords = model.inputs.tokenizer(sentences)
    together = scorer(collate(subwords, padding_id=model.padding_id))
    for n, own in enumerate(subwords):
        alone = scorer(collate([own], padding_id=model.padding_id))[0]
        words = [slice(len(own.word_subwords))] * model.scheme.tag_space.word_axes
        np.testing.assert_allclose(together[(n, *words)], alone, atol=1e-4)


def test_entities_do_not_depend_on_batch_size_or_order(in_8_bits):
    extract = trigner.load(in_8_bits)
    texts = [" ".join(WORDS[n:] + WORDS[:n]) + "." for n in range(12)]
    one_by_one = [extract(text).entities for text in texts]
    assert any(one_by_one)
    for size in (2, 5, 12):
        found = [d.entities for d in extract.stream(texts[::-1], batch_size=size)][::-1]
        for mine, other in zip(found, one_by_one, strict=True):
            assert [(e.label, e.fragments) for e in mine] == [(e.label, e.fragments) for e in other]
