"""Discontinuous named entity recognition: entities whose words do not stand side by side."""

from __future__ import annotations

import sys as _sys
from importlib import import_module as _import_module
from os import environ as _environ
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trigner.mentions import Document, Entity
    from trigner.pipeline import load
    from trigner.rendering import to_dataframe

# ONNX Runtime from 1.29 on reports its use to its maker and keeps a number of the device on disk,
# as soon as it is imported. These are the names of two versions; a value that is set stays.
for _name in ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED"):
    _environ.setdefault(_name, "1")

__version__ = "0.1.0"

__all__ = ["Document", "Entity", "__version__", "load", "to_dataframe"]

_ROOMS = {
    "Document": "trigner.mentions",
    "Entity": "trigner.mentions",
    "load": "trigner.pipeline",
    "to_dataframe": "trigner.rendering",
}
"""Where public names are. `load` brings the runtime with it: rooms that need numpy alone must not
pay for it."""


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(_import_module(_ROOMS[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


if "IPython" in _sys.modules:  # perhaps a notebook, which shows documents
    from trigner.rendering import register as _register

    _register()
