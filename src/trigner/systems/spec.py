"""One row a system: everything that commands, settings, studies and docs know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from trigner.errors import InputError
from trigner.systems.sections import EncoderOptimisation, OptimisationSettings, SamplingSettings

if TYPE_CHECKING:
    from trigner.evaluation import RoundTrip

Implementation = str | Callable[..., Any]
"""A function, or where it is as `module:name`: then it is imported when it is needed."""

CAPABILITIES = {
    "ceiling": "measure the best score that the format could reach",
    "calibration": "fit a temperature on dev",
    "export": "export to ONNX",
    "grid": "show the word-pair grid",
    "triplets": "train with the triplet loss",
    "init_from": "start from another model's weights",
    "teachers": "learn from other models",
}
"""What only some systems can do."""

_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "build": (("settings", "labels", "init_from"), ()),
    "load": (("folder", "description"), ("device", "threads")),
    "export": (("folder", "out"), ("int8", "overwrite")),
}
"""What a row's functions are called with: by place, and by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SystemSpec:
    """A system: its name, what builds and loads it, its settings and what else it can do.

    `about` says in a line what it is; of the systems of this package the registry says it.
    `settings` is the model of its own settings, the section `model`, all of them with defaults. The
    other sections of a training are there as far as the system reads them: `encoder` is the
    pretrained encoder that it takes unless told otherwise, None where it reads none; `task` the
    model of the settings of its loss; `triplets`, `sampling` and `optimisation` the shared ones,
    of which a system may have its own, with other defaults. What a system does not read is no
    setting of its trainings.

    `build(settings, labels, init_from)` gives a `System`; `init_from` is a model folder or None.
    `load(folder, description, device=..., threads=...)` gives a `Predictor`.
    `round_trip(labels, settings)`, of its own settings, gives what encodes and decodes in its
    format (`evaluation.RoundTrip`); `export(folder, out, int8=..., overwrite=...)`
    writes a model for ONNX Runtime. `reasons` say why it lacks a capability, where a reader would
    ask.
    """

    name: str
    about: str = ""
    build: Implementation
    load: Implementation
    settings: type[BaseModel]
    encoder: str | None = "minilm"
    task: type[BaseModel] | None = None
    triplets: bool = False
    sampling: type[SamplingSettings] | None = SamplingSettings
    optimisation: type[OptimisationSettings] | None = EncoderOptimisation
    round_trip: Callable[[Sequence[str], Any], RoundTrip] | None = None
    export: Implementation | None = None
    calibration: bool = False
    grid: bool = False
    init_from: bool = False
    teachers: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    package: str = "trigner"

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Which of `CAPABILITIES` it has."""
        has = {
            "ceiling": self.round_trip is not None,
            "calibration": self.calibration,
            "export": self.export is not None,
            "grid": self.grid,
            "triplets": self.triplets,
            "init_from": self.init_from,
            "teachers": self.teachers,
        }
        return tuple(name for name in CAPABILITIES if has[name])

    def require(self, capability: str) -> None:
        """Raises InputError, in one sentence, unless the system has this capability."""
        if capability not in self.capabilities:
            why = f": {self.reasons[capability]}" if capability in self.reasons else ""
            raise InputError(f"the system {self.name} cannot {CAPABILITIES[capability]}{why}")

    def implementation(self, part: str) -> Callable[..., Any]:
        """`build`, `load` or `export`, imported.

        Raises InputError when it cannot be, or does not take what it is called with.
        """
        found = self._imported(part)
        if not callable(found):
            fault = f"is a {type(found).__name__}, not a function"
        elif reason := _refused(found, *_ARGUMENTS[part]):
            fault = reason
        else:
            return found  # type: ignore[no-any-return]
        raise InputError(
            f"the {part} function of the system {self.name} (package {self.package}) {fault}"
        )

    def _imported(self, part: str) -> Any:
        found = getattr(self, part)
        if not isinstance(found, str):
            return found
        try:
            return resolve_name(found)
        except (ImportError, AttributeError, ValueError) as error:
            if self.package == "trigner":
                raise
            raise InputError(
                f"the system {self.name} of the package {self.package} names {found!r} as its"
                f" {part} function, which cannot be imported: {error}"
            ) from error


def _refused(
    function: Callable[..., Any], by_place: Sequence[str], by_name: Sequence[str]
) -> str | None:
    """Why a function cannot be called with these arguments, or None."""
    try:
        takes = signature(function)
    except (TypeError, ValueError):  # some that are written in C do not say
        return None
    try:
        takes.bind(*by_place, **dict.fromkeys(by_name))
    except TypeError as error:
        arguments = ", ".join((*by_place, *(f"{name}=..." for name in by_name)))
        return f"cannot be called as ({arguments}): {error}"
    return None
