"""An encoder in 8 bits: smaller, faster, and still independent of what else is in the batch.

A matrix of weights has one scale a column, settled here. What is multiplied with it has one scale a
row, taken from that row alone when it comes: never one scale for a whole tensor, which would let
the sentences of a batch change each other's scores. Everything behind the encoder (a small part of
the time) computes in float32, from weights kept in float16.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import GraphProto, NodeProto, TensorProto, helper, numpy_helper

from trigner.errors import TrignerError

Array = NDArray[np.generic]

LEVELS = 127
"""Largest step in 8 bits with sign."""

ZERO = 128
"""What 0 is in 8 bits without sign, which processors multiply fastest."""

SMALLEST = 1e-20
"""Scale of a row of zeros."""

CONTRIB = "com.microsoft"
"""Domain of ONNX Runtime's own operators."""

SUBWORDS, WORDS = ("input_ids", "attention_mask"), ("word_subwords", "lengths")
"""What an encoder reads, and what only the layers behind it do, from the pooling on."""

LARGE = 4096
"""Weights of at least so many numbers are kept in fewer bits."""


def to_int8(graph: bytes) -> bytes:
    """The graph of `families.tagging.exporting.to_onnx` with its encoder's weights in 8 bits.

    Raises TrignerError when that would be none of them.
    """
    model = onnx.load_model_from_string(graph)
    weights = {w.name: numpy_helper.to_array(w) for w in model.graph.initializer}
    encoder = _encoder(model.graph)
    quantized = _Quantized()
    constants = len(quantized.weights)
    for node in model.graph.node:
        if node.output[0] not in encoder:
            quantized.nodes.append(node)
        elif node.op_type == "MatMul" and _is_large(weights.get(node.input[1])):
            quantized.multiply(node, weights[node.input[1]])
        elif node.op_type == "Gather" and _is_large(weights.get(node.input[0])):
            quantized.look_up(node, weights[node.input[0]])
        else:
            quantized.nodes.append(node)
    if len(quantized.weights) == constants:
        raise TrignerError("no weights of this encoder go into 8 bits: export it without --int8")
    used = {name for node in quantized.nodes for name in node.input}
    for name, weight in weights.items():
        if name in used:
            quantized.keep(name, weight)
    del model.graph.node[:], model.graph.initializer[:]
    model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
    model.graph.node.extend([*quantized.first, *quantized.nodes])
    model.graph.initializer.extend(quantized.weights)
    onnx.checker.check_model(model)
    small: bytes = model.SerializeToString()
    return small


def _is_large(weight: Array | None) -> bool:
    return weight is not None and weight.ndim == 2 and weight.size >= LARGE


def _encoder(graph: GraphProto) -> set[str]:
    """Names of all values that the subwords' states are made of.

    These end where words come in: the first nodes that read `WORDS` take them.
    """
    subwords = _made_from(graph, SUBWORDS)
    words = _made_from(graph, WORDS)
    behind = (node for node in graph.node if not words.isdisjoint(node.output))
    waiting = [name for node in behind for name in node.input if name in subwords - words]
    makers = {name: node for node in graph.node for name in node.output}
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in makers and name not in found:
            found.add(name)
            waiting += makers[name].input
    return found


def _made_from(graph: GraphProto, inputs: Iterable[str]) -> set[str]:
    """Names of these inputs and of all values that what is in them changes, not just its shape."""
    found = set(inputs)
    for node in graph.node:  # makers stand before takers
        if node.op_type != "Shape" and not found.isdisjoint(node.input):
            found |= {*node.output}
    return found


class _Quantized:
    """Nodes and weights of the new graph as they are made."""

    def __init__(self) -> None:
        self.first: list[NodeProto] = []
        self.nodes: list[NodeProto] = []
        self.weights: list[TensorProto] = []
        self._rows: dict[str, tuple[str, str]] = {}
        self._axis = self._weight("int8/axis", np.array([-1], np.int64))
        self._step = self._weight("int8/step", np.array(1 / LEVELS, np.float32))
        self._smallest = self._weight("int8/smallest", np.array(SMALLEST, np.float32))
        self._one = self._weight("int8/one", np.array(1, np.float32))
        self._zero = self._weight("int8/zero", np.array(ZERO, np.uint8))

    def multiply(self, node: NodeProto, weight: Array) -> None:
        """`x @ weight` with `weight [K, N]`: a scale a row of `x`, a scale a column of `weight`."""
        rows, scale = self._quantized_rows(node.input[0])
        steps, columns = _steps(weight, axis=0)
        out = node.output[0]
        factors = [self._weight(f"{out}/w", steps), self._one]
        factors += [self._weight(f"{out}/scale", columns[0]), self._zero]
        # ONNX Runtime's own operator: `MatMulInteger` and the product with the columns' scales.
        product = self._node("MatMulIntegerToFloat", [rows, *factors])
        self._node("Mul", [product, scale], out)

    def look_up(self, node: NodeProto, weight: Array) -> None:
        """Rows of an embedding `[V, D]`, with a scale a row."""
        steps, scales = _steps(weight, axis=1)
        out, ids = node.output[0], node.input[1]
        found = self._node("Gather", [self._weight(f"{out}/w", steps), ids])
        number = self._node("Cast", [found], to=TensorProto.FLOAT)
        scale = self._node("Gather", [self._weight(f"{out}/scale", scales), ids])
        self._node("Mul", [number, scale], out)

    def keep(self, name: str, weight: Array) -> None:
        """A weight under its own name; a large one of float32 is stored in 16 bits."""
        if weight.dtype == np.float32 and weight.size >= LARGE:
            stored = self._weight(f"{name}/half", weight.astype(np.float16))
            self.first.append(_node("Cast", [stored], name, to=TensorProto.FLOAT))
        else:
            self._weight(name, weight)

    def _quantized_rows(self, name: str) -> tuple[str, str]:
        """Names of a value in 8 bits and of its rows' scales `[..., 1]`."""
        if name not in self._rows:
            largest = self._node("ReduceMax", [self._node("Abs", [name]), self._axis], keepdims=1)
            step = self._node("Mul", [largest, self._step])
            scale = self._node("Max", [step, self._smallest])
            steps = self._node("Div", [name, scale])
            rows = self._node("QuantizeLinear", [steps, self._one, self._zero])
            self._rows[name] = (rows, scale)
        return self._rows[name]

    def _node(self, operator: str, inputs: list[str], out: str = "", **options: int) -> str:
        node = _node(operator, inputs, out or f"int8/{len(self.nodes)}", **options)
        self.nodes.append(node)
        return str(node.output[0])

    def _weight(self, name: str, value: Array) -> str:
        self.weights.append(numpy_helper.from_array(value, name))
        return name


def _node(operator: str, inputs: list[str], out: str, **options: int) -> NodeProto:
    node = helper.make_node(operator, inputs, [out], f"{operator}/{out}", **options)  # type: ignore[arg-type]
    if operator == "MatMulIntegerToFloat":
        node.domain = CONTRIB
    return node


def _steps(weight: Array, axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Weights in steps of -127 to 127, and the size of a step for each row or column."""
    largest = np.abs(weight).max(axis=axis, keepdims=True)
    scale = np.maximum(largest / LEVELS, SMALLEST).astype(np.float32)
    return np.rint(weight / scale).astype(np.int8), scale
