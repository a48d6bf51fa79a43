"""Discontinuous named entity recognition: entities whose words do not stand side by side."""

from __future__ import annotations

from os import environ as _environ
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trigner.inference import load
    from trigner.rendering import to_dataframe

# ONNX Runtime from 1.29 on reports its use to its maker and keeps a number of the device on disk,
# as soon as it is imported. These are the names of two versions; a value that is set stays.
for _name in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):
    _environ.setdefault(_name, "1")

__version__ = "0.1.0"

__all__ = ["__version__", "load", "to_dataframe"]


def __getattr__(name: str) -> Any:
    # `load` brings the runtime with it: rooms that need numpy alone must not pay for it.
    if name == "load":
        from trigner.inference import load

        globals()["load"] = load
        return load
    if name == "to_dataframe":
        from trigner.rendering import to_dataframe

        globals()["to_dataframe"] = to_dataframe
        return to_dataframe
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
