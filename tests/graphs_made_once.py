"""`torch.onnx.export`, whose graph of a network is made once in a run of the tests.

It takes ten seconds and more even of a tiny network, and many tests export the same ones. Only the
graph is kept: what is done with it is done anew in each test.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import onnx
import torch
from transformers import PretrainedConfig

FOLDER = "TRIGNER_TEST_RUN"
"""Variable of the environment: a folder that all processes of a run share."""

NOT_COMPARED = {
    *("name_or_path", "_flat_weight_refs"),
    *(key for key in vars(torch.nn.Module()) if key.startswith("_")),
}
"""Attributes of modules: where an encoder was read from, and what PyTorch keeps beside weights."""

_export = torch.onnx.export


def equal_networks_have(network: torch.nn.Module, options: dict[str, Any]) -> str | None:
    """A text by weights and all other attributes; None where one cannot be told by its text."""
    told = hashlib.sha256(repr(sorted(options.items())).encode())
    for name, module in network.named_modules():
        told.update(f"{name} {type(module).__qualname__}".encode())
        for key, value in sorted(vars(module).items()):
            if isinstance(value, PretrainedConfig):
                value = value.to_dict() | {"_name_or_path": None}
            if isinstance(value, set):
                value = sorted(value, key=repr)  # a set's order is another one in each process
            if key not in NOT_COMPARED:
                if " at 0x" in repr(value):
                    return None
                told.update(f"{key} {value!r}".encode())
    for name, weights in network.state_dict().items():
        told.update(name.encode() + weights.contiguous().numpy().tobytes())
    return told.hexdigest()


def export_once(network: torch.nn.Module, args: Any, **options: Any) -> Any:
    """What `torch.onnx.export` gives, or a graph that it gave of an equal network."""
    folder = os.environ.get(FOLDER)
    name = equal_networks_have(network, {"args": args, **options}) if folder else None
    if folder is None or name is None:
        return _export(network, args, **options)
    path = Path(folder, name)
    if path.exists():
        return SimpleNamespace(model_proto=onnx.load_from_string(path.read_bytes()))
    program = _export(network, args, **options)
    partial = path.with_suffix(f".{os.getpid()}")
    partial.write_bytes(program.model_proto.SerializeToString())
    partial.replace(path)
    return program


torch.onnx.export = export_once
