"""Discontinuous named entity recognition: entities whose words do not stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trigner.inference import load

__version__ = "0.1.0"

__all__ = ["__version__", "load"]


def __getattr__(name: str) -> Any:
    # `load` brings the runtime with it: rooms that need numpy alone must not pay for it.
    if name == "load":
        from trigner.inference import load

        globals()["load"] = load
        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
