"""What of a graph's file is refused before ONNX Runtime reads it, compared with what ONNX says."""

from __future__ import annotations

import shutil

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper, numpy_helper

import trigner
from graph_changes import spoilt
from trigner.errors import InputError
from trigner.families.onnx import graph_files
from trigner.families.onnx.graph_files import check_graph_file
from trigner.models.folder import BUNDLED, GRAPH

FLOAT, BOOL, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL, onnx.TensorProto.INT64


def value(name, kind=FLOAT, shape=()):
    return helper.make_tensor_value_info(name, kind, list(shape))


def body(*nodes, inputs=(), outputs=("y",)):
    """A graph within an operator."""
    made = nodes or (helper.make_node("Identity", ["x"], ["y"]),)
    return helper.make_graph(list(made), "body", list(inputs), [value(name) for name in outputs])


def loop(steps=2**62):
    """Nodes of a loop of so many steps."""
    inside = body(
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Identity", ["before"], ["after"]),
        inputs=[value("step", INT64), value("go", BOOL), value("before")],
        outputs=[],
    )
    inside.output.extend([value("on", BOOL), value("after")])
    constants = {"steps": np.int64(steps), "yes": np.bool_(True), "none": np.float32(0)}
    return [
        *(
            helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(own)))
            for name, own in constants.items()
        ),
        helper.make_node("Loop", ["steps", "yes", "none"], ["looped"], body=inside),
    ]


def external():
    tensor = numpy_helper.from_array(np.ones(3, np.float32), "outside")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")
    return tensor


def model(*nodes, functions=(), **fields):
    graph = helper.make_graph(list(nodes), "graph", [value("x")], [value("y")], **fields)
    return helper.make_model(graph, functions=list(functions))


def function(*nodes):
    opset = [helper.make_opsetid("", 20)]
    return helper.make_function("own", "F", ["x"], ["y"], list(nodes), opset)


def refused_by_onnx(proto):
    """The oracle: the same question asked of the messages as ONNX reads them."""

    def tensor(own):
        return bool(own.external_data) or own.data_location == onnx.TensorProto.EXTERNAL

    def node(own):
        tensors = [t for a in own.attribute for t in (a.t, *a.tensors)]
        sparse = [t for a in own.attribute for t in (a.sparse_tensor, *a.sparse_tensors)]
        tensors += [t for s in sparse for t in (s.values, s.indices)]
        graphs = any(a.HasField("g") or a.graphs for a in own.attribute)
        return own.op_type in ("If", "Loop", "Scan") or graphs or any(map(tensor, tensors))

    sparse = [t for s in proto.graph.sparse_initializer for t in (s.values, s.indices)]
    return bool(
        proto.functions
        or any(map(node, proto.graph.node))
        or any(map(tensor, [*proto.graph.initializer, *sparse]))
    )


def message_of(path, proto):
    path.write_bytes(proto.SerializeToString())
    try:
        check_graph_file(path)
    except InputError as error:
        return str(error)
    return ""


IDENTITY = helper.make_node("Identity", ["x"], ["y"])
SPARSE = onnx.SparseTensorProto(values=external())
MODELS = {
    "fine": (model(IDENTITY, initializer=[numpy_helper.from_array(np.ones(3), "w")]), ""),
    "named like": (model(helper.make_node("Identity", ["Loop"], ["If"], name="Scan")), ""),
    "Loop": (model(*loop()), "the operator 'Loop'"),
    "Loop without a body": (model(helper.make_node("Loop", ["x"], ["y"])), "'Loop'"),
    "of another domain": (model(helper.make_node("Scan", [], ["y"], domain="own")), "'Scan'"),
    "If": (
        model(helper.make_node("If", ["x"], ["y"], then_branch=body(), else_branch=body())),
        "the operator 'If'",
    ),
    "a graph": (model(helper.make_node("BeamSearch", [], ["y"], decoder=body())), "'BeamSearch'"),
    "graphs": (model(helper.make_node("Any", [], ["y"], each=[body(), body()])), "'Any'"),
    "a function": (model(IDENTITY, functions=[function(IDENTITY)]), "functions of its own"),
    "outside": (model(IDENTITY, initializer=[external()]), "weights in another file"),
    "outside, sparse": (model(IDENTITY, sparse_initializer=[SPARSE]), "weights in another file"),
    "outside, in a node": (
        model(helper.make_node("Constant", [], ["y"], value=external())), "weights in another file",
    ),
    "outside, sparse, in a node": (
        model(helper.make_node("Constant", [], ["y"], sparse_value=SPARSE)),
        "weights in another file",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_what_is_refused(tmp_path, name):
    proto, message = MODELS[name]
    found = message_of(tmp_path / "model.onnx", proto)
    assert message in found
    assert not found or found.startswith(f"{tmp_path / 'model.onnx'}: ")
    assert bool(found) == bool(message) == refused_by_onnx(proto)


@given(st.lists(st.sampled_from(sorted(MODELS)), min_size=1, max_size=5))
def test_parts_of_several_models(tmp_path_factory, names):
    """Messages one behind the other are one message, with the fields of all."""
    content = b"".join(MODELS[name][0].SerializeToString() for name in names)
    proto = onnx.ModelProto.FromString(content)
    path = tmp_path_factory.mktemp("graph") / "model.onnx"
    assert bool(message_of(path, proto)) == refused_by_onnx(proto)  # as ONNX would write them
    path.write_bytes(content)
    if not refused_by_onnx(proto):
        check_graph_file(path)
        return
    with pytest.raises(InputError):
        check_graph_file(path)


def test_the_bundled_graph_is_accepted():
    check_graph_file(BUNDLED / GRAPH)
    assert not refused_by_onnx(onnx.load(BUNDLED / GRAPH))


def test_an_endless_graph_is_refused_before_it_runs(exported_model, tmp_path, refused):
    folder = shutil.copytree(exported_model, tmp_path / "model")

    def endless(graph):
        name = graph.output[0].name
        graph.node.extend([*loop(), helper.make_node("Add", [name, "looped"], ["late"])])
        graph.output[0].name = "late"

    with refused():
        trigner.load(spoilt(folder, endless))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x3a",
        b"\x3a\x05\x00",
        b"\x3b\x3c",  # a group
        b"\x00\x00",
        b"\xff" * 20,
        b"\x08" + b"\xff" * 11,
        b"\xba\x80\x80\x80\x70\x00",  # 32 bits of it are the number of the graph
    ],
)
def test_what_is_no_message(tmp_path, content, refused):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with refused():
        check_graph_file(path)


@given(st.binary(max_size=60))
def test_any_bytes(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("graph") / "model.onnx"
    path.write_bytes(content)
    try:
        check_graph_file(path)
    except InputError:
        return
    try:
        proto = onnx.ModelProto.FromString(content)
    except Exception:
        return  # ONNX Runtime says so, too
    assert not refused_by_onnx(proto)


def test_numbers_may_be_longer_than_they_need_be(tmp_path, refused):
    """Protobuf reads them so, and a loop must not pass for it."""
    content = model(*loop()).graph.SerializeToString()
    size = bytes([0x80 | len(content) & 0x7F, 0x80 | len(content) >> 7, 0x80, 0])
    whole = b"\xba\x80\x00" + size + content
    assert onnx.ModelProto.FromString(whole).graph.node
    path = tmp_path / "model.onnx"
    path.write_bytes(whole)
    with refused():
        check_graph_file(path)


def test_reading_is_bounded(tmp_path, monkeypatch, refused):
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x00" * 1001)
    check_graph_file(path)
    monkeypatch.setattr(graph_files, "MOST_FIELDS", 1000)
    with refused():
        check_graph_file(path)
