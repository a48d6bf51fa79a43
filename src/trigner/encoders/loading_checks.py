"""What a model folder asks for, checked before any of it is built: sizes, and the weights' shapes;
then whether the weights are numbers.

A network of absurd size would fill the memory or never be finished, long before its weights are
found to be of another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch import nn

from trigner.encoders.pretrained import quiet
from trigner.errors import InputError
from trigner.machine import unique_keys

LARGEST = 10_000_000
"""Of a number in an encoder's configuration, such as the size of a vocabulary."""

MOST_LAYERS = 1_000
"""Of anything that is called layers, and entries of a list."""

LARGEST_SETTING = 65_536
"""Of a number in a network's settings."""

SMALLER = {"rounds": 100, "heads": 1_000, "dilations": 1_000}
"""Settings that are not a width, and their largest values."""


def check_settings(settings: Mapping[str, Any], path: Path | None) -> None:
    """Raises InputError for a network's settings, of a file if any, that are absurdly large."""
    _check_numbers(settings, path, "model", LARGEST_SETTING)


def check_configuration(path: Path) -> None:
    """Raises InputError for an encoder's configuration that is absurdly large, or no JSON."""
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text, object_pairs_hook=unique_keys)
        if not isinstance(content, dict):
            raise ValueError("it is not an object")
        _check_numbers(content, path, "", LARGEST)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"is not a valid encoder configuration: {error}", path=path) from error


def check_shapes(build: Callable[[], nn.Module], weights: Path) -> None:
    """Raises InputError when a file holds other weights than those of the module that is built.

    It is built without memory for its weights. What cannot be built that way is not checked here.
    """
    try:
        with torch.device("meta"), quiet():
            wanted = {name: list(own.shape) for name, own in build().state_dict().items()}
    except InputError:
        raise
    except Exception:  # some architectures look at their numbers while they are built
        return
    try:
        with safe_open(weights, framework="pt") as file:
            held = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise InputError(f"does not match the model: {error}", path=weights) from error
    for name in sorted(wanted.keys() | held.keys()):
        if name not in held:
            fault = f"{name} is missing"
        elif name not in wanted:
            fault = f"{name} is unexpected"
        elif held[name] != wanted[name]:
            fault = f"{name} has the shape {held[name]}, in the model {wanted[name]}"
        else:
            continue
        raise InputError(f"does not match the model: {fault}", path=weights)


def check_numbers(weights: Mapping[str, torch.Tensor], path: Path) -> None:
    """Raises InputError naming the first of a file's weights that has a NaN or an infinite one."""
    for name, values in weights.items():
        if values.is_floating_point() and not torch.isfinite(values).all():
            raise InputError(f"is damaged: {name} has weights that are NaN or infinite", path=path)


def _check_numbers(value: Any, path: Path | None, name: str, largest: int) -> None:
    if isinstance(value, Mapping):
        for key, own in value.items():
            limit = MOST_LAYERS if "layers" in str(key) else SMALLER.get(str(key), largest)
            _check_numbers(own, path, f"{name}.{key}".lstrip("."), limit)
    elif isinstance(value, list | tuple):
        if len(value) > MOST_LAYERS:
            raise InputError(f"{name} has {len(value)} entries, at most {MOST_LAYERS}", path=path)
        for own in value:
            _check_numbers(own, path, name, largest)
    elif isinstance(value, int | float) and not -largest <= value <= largest:
        # Without the number: one of hundreds of digits is no float, and no help either.
        bound = f"at least {-largest:,}" if value < -largest else f"at most {largest:,}"
        raise InputError(f"{name} must be {bound}", path=path)
