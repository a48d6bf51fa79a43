"""Whether the file of an exported graph may be run: read before ONNX Runtime does, without ONNX.

A graph of ours is one list of operators. One with a loop in it may never end, functions that call
each other may become any number of operators, and weights elsewhere on the disk are none of the
model's. This reads the file's messages of protobuf (fields: onnx.proto of https://onnx.ai;
encoding: https://protobuf.dev/programming-guides/encoding) no further than to where such things
stand, and no weights.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from trigner.errors import InputError

CONTROL_FLOW = ("If", "Loop", "Scan")
"""Operators that run others, as often as they say."""

MOST_FIELDS = 2_000_000
"""Fields that are read of a file, a few seconds' worth. The bundled graph has some 10,000."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
"""Wire types: what a field's content looks like."""

_LONGEST_TAG, _LONGEST_VARINT = 5, 10
"""Bytes."""

_SHOWN = 40
"""Bytes of an operator's name in a message."""

# Which fields of a message are messages that are read, too, by their numbers.
_INSIDE = {
    "model": {7: "graph"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 10: "tensor", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
_FUNCTIONS = 25
"""Of a model."""
_OPERATOR = 4
"""Of a node: its name."""
_GRAPHS = (6, 11)
"""Of an attribute."""
_EXTERNAL, _LOCATION = 13, 14
"""Of a tensor: where its values are, and 0 where they are in the file."""

_Field = tuple[int, int, int, int]
"""Number, wire type, and where the content starts and stops; of a `_VARINT` 0 and its value."""


def check_graph_file(graph: Path) -> None:
    """Raises InputError for a file with control flow, functions or weights in other files.

    It names the operator. Raises InputError, too, for what is no message of protobuf, and for one
    of more than `MOST_FIELDS` fields.
    """
    try:
        with graph.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check(data, graph)
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise InputError(f"is not a graph of ONNX: {error}", path=graph) from error


def _check(data: mmap.mmap, graph: Path) -> None:
    waiting = [("model", 0, len(data), "")]
    count = 0
    while waiting:
        message, start, stop, operator = waiting.pop()
        fields = []
        for field in _fields(data, start, stop):
            count += 1
            if count > MOST_FIELDS:
                raise InputError(
                    f"has more than {MOST_FIELDS:,} fields: no graph of ours", path=graph
                )
            # Of a graph or a tensor there may be many: what is not looked at is not kept.
            if field[0] in _INSIDE[message] or (message, field[0]) in _LOOKED_AT:
                fields.append(field)
        if message == "node":
            named = [field for field in fields if field[:2] == _NAME]
            names = [data[a : min(b, a + _SHOWN)] for *_, a, b in named]
            for name in names:
                if name in _FORBIDDEN:
                    raise _refused(name.decode(), graph)
            operator = names[-1].decode("utf-8", "replace") if names else ""
        for number, wire, a, b in fields:
            if message == "model" and number == _FUNCTIONS:
                raise InputError("has functions of its own: export the model again", path=graph)
            if message == "attribute" and number in _GRAPHS and wire == _BYTES:
                raise _refused(operator, graph)
            if message == "tensor" and (number == _EXTERNAL or (number == _LOCATION and b)):
                raise InputError("has weights in another file: export the model again", path=graph)
            if wire == _BYTES and number in _INSIDE[message]:
                waiting.append((_INSIDE[message][number], a, b, operator))


_NAME = (_OPERATOR, _BYTES)
_FORBIDDEN = {name.encode() for name in CONTROL_FLOW}
_LOOKED_AT = {
    ("model", _FUNCTIONS),
    ("node", _OPERATOR),
    *(("attribute", number) for number in _GRAPHS),
    ("tensor", _EXTERNAL),
    ("tensor", _LOCATION),
}


def _refused(operator: str, graph: Path) -> InputError:
    what = f"has the operator {operator!r}, which runs others as often as it says"
    return InputError(f"{what}: no graph of ours has one; export the model again", path=graph)


def _fields(data: mmap.mmap, start: int, stop: int) -> Iterator[_Field]:
    """The fields of a message. Raises ValueError when it is none.

    Stricter than protobuf: groups are refused, which nothing writes any more.
    """
    while start < stop:
        tag, start = _varint(data, start, stop, _LONGEST_TAG)
        number, wire = tag >> 3, tag & 7
        if not number or tag >= 1 << 32:
            raise ValueError("a field has no number")
        if wire == _VARINT:
            value, start = _varint(data, start, stop, _LONGEST_VARINT)
            yield number, wire, 0, value
            continue
        if wire == _BYTES:
            size, start = _varint(data, start, stop, _LONGEST_TAG)
        elif wire in (_FIXED64, _FIXED32):
            size = 8 if wire == _FIXED64 else 4
        else:
            raise ValueError("a field is of no known type")
        if size > stop - start:
            raise ValueError("a field is longer than what it is in")
        yield number, wire, start, start + size
        start += size


def _varint(data: mmap.mmap, start: int, stop: int, longest: int) -> tuple[int, int]:
    """A whole number of at most so many bytes, and where it ends."""
    value = 0
    for place in range(start, min(stop, start + longest)):
        byte = data[place]
        value |= (byte & 0x7F) << 7 * (place - start)
        if byte < 0x80:
            return value, place + 1
    raise ValueError("a number does not end")
