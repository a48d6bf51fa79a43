"""From the folder of a tag scheme's model to a predictor, by the runtime it is made for."""

from __future__ import annotations

from pathlib import Path

from trigner.errors import require_extra
from trigner.families.tagging.predictor import TagPredictor
from trigner.models import Description


def load(
    folder: Path, description: Description, *, device: str = "auto", threads: int | None = None
) -> TagPredictor:
    """A predictor: of an exported model without PyTorch.

    `threads` are those of ONNX Runtime in one process; PyTorch's are set by `torch.set_num_threads`
    alone. Raises InputError when the folder cannot be loaded or the device is not there.
    """
    if description.is_exported:
        from trigner.families.tagging.onnx_runtime import onnx_predictor

        return onnx_predictor(folder, description, device=device, threads=threads)
    require_extra("train", "torch", "transformers")
    from trigner.encoders import choose_device
    from trigner.families.tagging.model import load as load_model
    from trigner.families.tagging.torch_runtime import torch_predictor

    return torch_predictor(load_model(folder), choose_device(device))
