"""Weights that a model has under several names, such as one table of subwords for both halves.

They are kept once in its state, as files hold them.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import nn

from trigner.errors import InputError


def keep_shared_once(module: nn.Module) -> None:
    """Let a module's state name each of its parameters once, and be loaded from such a state."""
    module.register_state_dict_post_hook(_leave_out_shared)
    module.register_load_state_dict_pre_hook(_put_back_shared)


def separate(module: nn.Module, names: Collection[str]) -> None:
    """Give the parameters of these names values of their own, where they share those of others.

    What a configuration says of sharing need not be so: `transformers` 5 has all of T5's family
    share the table of subwords, and reads weights of checkpoints that do not.
    """
    for name in _shared(module).keys() & set(names):
        owner, _, own = name.rpartition(".")
        part = module.get_submodule(owner)
        setattr(part, own, nn.Parameter(getattr(part, own).detach().clone()))


def weight_names(path: Path) -> set[str]:
    """The names of a file's weights. Raises InputError when it cannot be read."""
    try:
        with safe_open(path, framework="pt") as file:
            return set(file.keys())
    except (OSError, SafetensorError) as error:
        raise InputError(f"does not match the model: {error}", path=path) from error


def _shared(module: nn.Module) -> dict[str, str]:
    """Names of parameters that are others' again, each with the name that it has first."""
    first: dict[int, str] = {}
    again = {}
    for name, parameter in module.named_parameters(remove_duplicate=False):
        if first.setdefault(id(parameter), name) != name:
            again[name] = first[id(parameter)]
    return again


def _leave_out_shared(module: nn.Module, state: dict[str, Any], prefix: str, _: Any) -> None:
    for name in _shared(module):
        state.pop(prefix + name, None)


def _put_back_shared(module: nn.Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    for name, first in _shared(module).items():
        if prefix + first in state:
            state[prefix + name] = state[prefix + first]
