"""Text -> entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigner.inference.calibration import calibrate
from trigner.inference.extraction import Extractor, RunStatistics
from trigner.inference.fetching import fetch
from trigner.inference.loading import load

if TYPE_CHECKING:
    from trigner.inference.exporting import export
    from trigner.inference.torch_runtime import choose_device, extractor

__all__ = [
    "Extractor",
    "RunStatistics",
    "calibrate",
    "choose_device",
    "export",
    "extractor",
    "fetch",
    "load",
]


def __getattr__(name: str) -> Any:
    # What needs torch is loaded when it is asked for: extraction itself runs without it.
    if name in {"choose_device", "extractor"}:
        from trigner.inference import torch_runtime

        return getattr(torch_runtime, name)
    if name == "export":
        from trigner.inference.exporting import export

        return export
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
