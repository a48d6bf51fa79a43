"""Text -> entities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trigner.inference.extraction import Extractor, Tally, of_words

if TYPE_CHECKING:
    from trigner.inference.loading import choose_device, extractor, load

__all__ = ["Extractor", "Tally", "choose_device", "extractor", "load", "of_words"]


def __getattr__(name: str) -> Any:
    # What needs torch is loaded when it is asked for: extraction itself runs without it.
    if name in {"choose_device", "extractor", "load"}:
        from trigner.inference import loading

        return getattr(loading, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
