"""One row a system: everything that commands, settings, studies and docs know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from pydantic import BaseModel

from trigner.errors import InputError
from trigner.evaluation import RoundTrip

Implementation = str | Callable[..., Any]
"""A function, or where it is as `module:name`: then it is imported when it is needed."""

CAPABILITIES = {
    "ceiling": "measure what the format could reach at best",
    "calibration": "fit a temperature on dev",
    "export": "export to ONNX",
    "grid": "show the word-pair grid",
    "triplets": "train with the triplet loss",
    "init_from": "start from another model's weights",
}
"""What only some systems can do."""

_IDLE: Mapping[tuple[str, Any], tuple[str, ...]] = {
    ("sampling.coordination", 0): ("sampling.conjunctions",)
}
"""`SystemSpec.idle` of the settings that systems share."""


@dataclass(frozen=True, eq=False)
class SystemSpec:
    """A system: its name, what builds and loads it, its settings and what else it can do.

    `settings` is the model of its own settings, the section `model`, all of them with defaults.
    `defaults` are settings that it needs to be other than everybody's; presets and all else stand
    above them. `reads` are the shared settings that it looks at, sections or single ones
    (`optimisation`, `task.tag_weight`), `ignores` exceptions from these and from its own: what is
    not read changes no result, and is refused on the command line. A section of which nothing is
    read has its defaults whatever the preset. `idle` are settings that it does not look at where
    another one has a value: `{("model.co_predictor", "w2ner"): ("model.pair_map",)}`.

    `build(settings, labels, init_from)` gives a `System`; `init_from` is a model folder or None.
    `load(folder, description, device=..., threads=...)` gives a `Predictor`. `round_trip(labels)`
    gives what encodes and decodes in its format (`evaluation.RoundTrip`);
    `export(folder, out, int8=...)` writes a model for ONNX Runtime. `reasons` say why it lacks a
    capability, where a reader would ask.
    """

    name: str
    about: str
    build: Implementation
    load: Implementation
    settings: type[BaseModel]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    reads: tuple[str, ...] = ("encoder", "sampling", "optimisation")
    ignores: tuple[str, ...] = ()
    idle: Mapping[tuple[str, Any], tuple[str, ...]] = field(default_factory=dict)
    round_trip: Callable[[Sequence[str]], RoundTrip] | None = None
    export: Implementation | None = None
    calibration: bool = False
    grid: bool = False
    init_from: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    package: str = "trigner"

    @property
    def triplets(self) -> bool:
        """Whether it trains with the triplet loss."""
        return "triplets" in self.reads

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
        }
        return tuple(name for name in CAPABILITIES if has[name])

    def require(self, capability: str) -> None:
        """Raises InputError, in one sentence, unless the system has this capability."""
        if capability not in self.capabilities:
            why = f": {self.reasons[capability]}" if capability in self.reasons else ""
            raise InputError(f"the system {self.name} cannot {CAPABILITIES[capability]}{why}")

    def reads_setting(self, name: str) -> bool:
        """Whether a dotted setting changes what this system does."""
        return _within(name, ("seed", "model", *self.reads)) and not _within(name, self.ignores)

    def has_effect(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a dotted setting changes what this system does, given these other values."""
        idle = {**_IDLE, **self.idle}.items()
        return self.reads_setting(name) and not any(
            _within(name, others) for (other, value), others in idle if values.get(other) == value
        )

    def implementation(self, part: str) -> Callable[..., Any]:
        """`build`, `load` or `export`, imported. Raises InputError when it cannot be."""
        found = getattr(self, part)
        if not isinstance(found, str):
            return found  # type: ignore[no-any-return]
        try:
            return resolve_name(found)  # type: ignore[no-any-return]
        except (ImportError, AttributeError, ValueError) as error:
            if self.package == "trigner":
                raise
            raise InputError(
                f"the system {self.name} of the package {self.package} names {found!r} as its"
                f" {part} function, which cannot be imported: {error}"
            ) from error


def _within(name: str, sections: Sequence[str]) -> bool:
    return any(name == section or name.startswith(f"{section}.") for section in sections)
