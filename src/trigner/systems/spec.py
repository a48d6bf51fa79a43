"""One row a system: everything that commands, settings, studies and docs know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from pkgutil import resolve_name
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from trigner.errors import InputError
from trigner.evaluation import RoundTrip

Implementation = str | Callable[..., Any]
"""A function, or where it is as `module:name`: then it is imported when it is needed."""

CAPABILITIES = {
    "ceiling": "measure the best score that the format could reach",
    "calibration": "fit a temperature on dev",
    "rescoring": "fit a rescorer on dev",
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

_IDLE: Mapping[tuple[str, Any], tuple[str, ...]] = {
    ("sampling.coordination", 0): (
        "sampling.conjunctions",
        "sampling.coordination_per_sentence",
        "sampling.coordination_pool",
        "sampling.coordination_until",
        "sampling.split_share",
        "sampling.whole_members",
    ),
    ("sampling.whole_members", 1): ("sampling.split_share",),
    ("optimisation.cell_budget", None): ("optimisation.batches",),
    ("triplets.window", None): ("triplets.window_metric", "triplets.window_from"),
    ("triplets.unique_pairs", False): ("triplets.unique_masks",),
    ("triplets.per_entity", False): ("triplets.unique_masks", "triplets.negatives"),
    ("triplets.one_word_anchor", "diagonal"): ("triplets.window_from",),
}
"""`SystemSpec.idle` of the settings that systems share."""


_NAMED = ("optimisation.distillation", "optimisation.rescoring")
"""Settings that a section in `SystemSpec.reads` does not stand for: what they ask for is up to the
system, so that a row says by their names that it has it."""


@dataclass(frozen=True, eq=False)
class SystemSpec:
    """A system: its name, what builds and loads it, its settings and what else it can do.

    `settings` is the model of its own settings, the section `model`, all of them with defaults.
    `defaults` are settings that it needs to be other than everybody's; presets and all else stand
    above them. `reads` are the shared settings that it looks at, sections or single ones
    (`optimisation`, `task.tag_weight`), `ignores` exceptions from these and from its own: what is
    not read changes no result, and is refused on the command line. `optimisation.distillation`
    and `optimisation.rescoring` are read by rows alone that name them. A section of which nothing
    is read has its defaults whatever the preset. `idle` are settings that it does not look at where
    another one has a value: `{("model.co_predictor", "w2ner"): ("model.pair_map",)}`.

    `build(settings, labels, init_from)` gives a `System`; `init_from` is a model folder or None.
    `load(folder, description, device=..., threads=...)` gives a `Predictor`.
    `round_trip(labels, settings)`, of its own settings, gives what encodes and decodes in its
    format (`evaluation.RoundTrip`); `export(folder, out, int8=..., overwrite=...)`
    writes a model for ONNX Runtime. `reasons` say why it lacks a capability, where a reader would
    ask.
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
    round_trip: Callable[[Sequence[str], Any], RoundTrip] | None = None
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
    def teachers(self) -> bool:
        """Whether it can learn from other models."""
        return "optimisation.distillation" in self.reads

    @property
    def rescoring(self) -> bool:
        """Whether a rescorer can be fitted to what it proposes."""
        return "optimisation.rescoring" in self.reads

    @property
    def capabilities(self) -> tuple[str, ...]:
        """Which of `CAPABILITIES` it has."""
        has = {
            "ceiling": self.round_trip is not None,
            "calibration": self.calibration,
            "rescoring": self.rescoring,
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

    def reads_setting(self, name: str) -> bool:
        """Whether a dotted setting changes what this system does."""
        read = (
            name in self.reads if name in _NAMED else _within(name, ("seed", "model", *self.reads))
        )
        return read and not _within(name, self.ignores)

    def has_effect(self, name: str, values: Mapping[str, Any]) -> bool:
        """Whether a dotted setting changes what this system does, given these other values."""
        return self.reads_setting(name) and self.idle_beside(name, values) is None

    def idle_beside(self, name: str, values: Mapping[str, Any]) -> tuple[str, Any] | None:
        """The setting among these others, and its value, beside which it is not looked at."""
        missing = object()
        for other, others in {**_IDLE, **self.idle}.items():
            if _within(name, others) and values.get(other[0], missing) == other[1]:
                return other
        return None

    def unknown_settings(self, settings: type[BaseModel]) -> list[str]:
        """Names in this row that are neither a setting nor a section of these settings."""
        idle = (name for (other, _), names in self.idle.items() for name in (other, *names))
        named = (*self.reads, *self.ignores, *idle, *_dotted(self.defaults))
        return [name for name in dict.fromkeys(named) if not _is_setting(name, settings)]

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


def _dotted(settings: Mapping[str, Any], above: str = "") -> Iterator[str]:
    for key, value in settings.items():
        if isinstance(value, Mapping) and value:
            yield from _dotted(value, f"{above}{key}.")
        else:
            yield f"{above}{key}"


def _is_setting(name: str, section: type[BaseModel]) -> bool:
    """Whether a dotted name is that of a setting in a section, or of a section in it."""
    first, _, rest = name.partition(".")
    if first not in section.model_fields:
        return False
    annotation = section.model_fields[first].annotation
    kinds = [get_origin(kind) or kind for kind in (annotation, *get_args(annotation))]
    classes = [kind for kind in kinds if isinstance(kind, type)]
    return not rest or any(
        _is_setting(rest, kind) if issubclass(kind, BaseModel) else issubclass(kind, Mapping)
        for kind in classes
    )


def _within(name: str, sections: Sequence[str]) -> bool:
    return any(name == section or name.startswith(f"{section}.") for section in sections)
