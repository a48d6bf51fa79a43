"""Exported graphs made into others: each function changes a `GraphProto` at its first output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import trigner
from model_changes import accept_files, change_description
from trigner.errors import InputError


def spoilt(folder: Path, change: Any) -> Path:
    """A model folder with a changed graph, and hashes that fit."""
    model = onnx.load(folder / "model.onnx")
    change(model.graph)
    onnx.save(model, folder / "model.onnx")
    return accept_files(folder)


def rename_input(graph):
    for node in graph.node:
        for place, name in enumerate(node.input):
            if name == "lengths":
                node.input[place] = "others"
    next(own for own in graph.input if own.name == "lengths").name = "others"


def float_input(graph):
    graph.input.append(helper.make_tensor_value_info("more", onnx.TensorProto.FLOAT, [1]))


def no_numbers(graph):
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32 and values.ndim == 2:
            tensor.CopyFrom(numpy_helper.from_array(np.full_like(values, np.nan), tensor.name))


def infinite(graph):
    multiply = helper.make_node("Mul", [graph.output[0].name, "huge"], ["infinite"])
    graph.initializer.append(numpy_helper.from_array(np.float32(np.inf), "huge"))
    graph.node.append(multiply)
    graph.output[0].name = "infinite"


def one_score(graph):
    graph.node.append(helper.make_node("ReduceSum", [graph.output[0].name], ["sum"], keepdims=1))
    graph.output[0].CopyFrom(
        helper.make_tensor_value_info("sum", onnx.TensorProto.FLOAT, ["a", "b", "c", "d"])
    )


def twice(graph):
    name = graph.output[0].name
    graph.node.append(helper.make_node("Concat", [name, name], ["twice"], axis=0))
    graph.output[0].CopyFrom(
        helper.make_tensor_value_info("twice", onnx.TensorProto.FLOAT, ["a", "b", "c", "d"])
    )


def two_outputs(graph):
    graph.output.append(graph.output[0])


def doubled(output: int, axis: int) -> Any:
    """A change: this output stands twice along this axis."""

    def change(graph):
        own = graph.output[output]
        graph.node.append(helper.make_node("Concat", [own.name, own.name], ["doubled"], axis=axis))
        _replace(graph, output, "doubled", own.type.tensor_type.elem_type)

    change.__name__ = f"doubled_{output}_{axis}"
    return change


def cast_to(output: int, kind: int) -> Any:
    """A change: this output has another kind of numbers."""

    def change(graph):
        graph.node.append(helper.make_node("Cast", [graph.output[output].name], ["cast"], to=kind))
        _replace(graph, output, "cast", kind)

    change.__name__ = f"cast_{output}_{kind}"
    return change


def constant(output: int, number: float) -> Any:
    """A change: this output is the same number everywhere."""

    def change(graph):
        own = graph.output[output]
        kind = own.type.tensor_type.elem_type
        values = np.array([number], helper.tensor_dtype_to_np_dtype(kind))
        filled = helper.make_node(
            "ConstantOfShape", ["shape_of"], ["filled"], value=numpy_helper.from_array(values)
        )
        graph.node.extend([helper.make_node("Shape", [own.name], ["shape_of"]), filled])
        _replace(graph, output, "filled", kind)

    change.__name__ = f"constant_{output}_{number}"
    return change


def only_first(graph):
    del graph.output[1:]


OF_ALL = (
    (rename_input, "a tagger's inputs"),
    (float_input, "a tagger's inputs"),
    (no_numbers, "NaN or infinite"),
    (infinite, "NaN or infinite"),
    (two_outputs, "model.onnx"),
    (only_first, "the graph of another system"),
)
"""Changes that no system of several outputs takes, and what they end with."""


def complaint(folder: Path, change: Any, text: str) -> str:
    """The error of extracting from a text with a changed graph."""
    with pytest.raises(InputError) as raised:
        trigner.load(spoilt(folder, change))(text)
    return str(raised.value)


def refuses_special_words(folder: Path) -> None:
    """Holds that the system of an exported model is not loaded with special words."""
    change_description(folder, runtime={"special_words": ["[POS]"]})
    with pytest.raises(InputError, match="special_words must be"):
        trigner.load(folder)


def _replace(graph: Any, output: int, name: str, kind: int) -> None:
    axes = len(graph.output[output].type.tensor_type.shape.dim)
    shape = [f"axis_{n}" for n in range(axes)]
    graph.output[output].CopyFrom(helper.make_tensor_value_info(name, kind, shape))
