"""From a model folder to something that extracts, with the runtime that the folder is made for."""

from __future__ import annotations

from pathlib import Path

from trigner.errors import require_extra
from trigner.inference.extraction import Extractor
from trigner.inference.fetching import fetch
from trigner.model_folder import BUNDLED, is_exported, read_description


def load(
    model: str | Path = BUNDLED,
    *,
    device: str = "auto",
    batch_size: int = 32,
    threshold: float = 0.0,
) -> Extractor:
    """The model in a folder or with a name on the Hub, `user/name` or `user/name@revision`.

    Without a name it is the model that ships with the package, for adverse reactions. A folder
    made by `trigner export` runs without PyTorch. `device` is `auto`, `cpu`, `cuda`, `cuda:1` or,
    with PyTorch, another of its names. Raises InputError when the folder cannot be loaded or the
    device is not there, TrignerError when PyTorch is needed and not installed or the Hub cannot be
    reached.
    """
    folder = fetch(model)
    if is_exported(read_description(folder)):
        from trigner.inference import onnx_runtime

        return onnx_runtime.load(folder, device=device, batch_size=batch_size, threshold=threshold)
    require_extra("train", "torch", "transformers")
    from trigner.inference import torch_runtime
    from trigner.networks import load as load_model

    return torch_runtime.extractor(
        load_model(folder), device=device, batch_size=batch_size, threshold=threshold
    )
