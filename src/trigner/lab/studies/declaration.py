"""A study as it is declared: a YAML file of the systems, their seeds and the protocol.

    title: Window of the candidates
    base: {triplets.source: pair_states}      settings of all runs; `preset` and `adapt` as well
    systems: {trigner: {}, control: {triplets.weight: 0}}
    axes: {triplets.window: [none, 5, 25]}    every system at every value
    compared: {larger: {model.lstm_size: 768}}  systems that the axes do not apply to
    seeds: [1, 2, 3]

Settings may be nested or dotted. The studies that come with the package are in `declared/`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from trigner.errors import InputError, validation_message
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.published import published
from trigner.systems import LARGEST_SEED
from trigner.training import KeyPath, LocatedYaml, flat, read_yaml

SHIPPED = "declared"
FOUND = "found"
"""The system with the settings that a search has found."""

REFUSED = {
    "seed": "declare seeds under `seeds`",
    "optimisation.select_by": "a study always keeps the best epoch by either score",
}
"""Settings that a study cannot set, and why."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


_Bound = Annotated[float | int, Field(ge=-(2**53), le=2**53)]
"""Whole numbers beyond are no longer exact in what Optuna computes with."""


class Range(_Part):
    """The values of a setting that a search may try: `choices`, or from `low` to `high`.

    Whole numbers when both bounds are; `log` spaces them by ratio, `step` by that much.
    """

    choices: list[Any] | None = None
    low: _Bound | None = None
    high: _Bound | None = None
    log: bool = False
    step: float | int | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Range:
        bounded = self.low is not None and self.high is not None
        if bounded == (self.choices is not None) or self.choices == []:
            raise ValueError("needs either choices, or low and high")
        if self.choices is not None and len(self.model_fields_set) > 1:
            raise ValueError("choices take no low, high, log or step")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low must be below high")
        if self.log and (self.step is not None or (self.low or 0) <= 0):
            raise ValueError("log needs low above 0 and no step")
        if self.step is not None and self.step <= 0:
            raise ValueError("step must be above 0")
        if self.is_whole and self.step is not None and self.step % 1:
            raise ValueError(
                "step must be whole, as low and high are; for fractions write low as 1.0"
            )
        return self

    @property
    def is_whole(self) -> bool:
        """Whether only whole numbers are tried."""
        return isinstance(self.low, int) and isinstance(self.high, int)

    @property
    def limits(self) -> list[Any]:
        """All choices, or both bounds and, between fractions, one that is hardly ever whole."""
        if self.low is None or self.high is None:
            return list(self.choices or ())
        span = self.high - self.low
        between = [] if self.is_whole else [self.low + min(self.step or span / math.pi, span)]
        return [self.low, *between, self.high]


class Search(_Part):
    """Which settings are searched for, on dev alone; the best become the system `found`."""

    trials: int = Field(ge=1)
    seed: int = Field(default=1, ge=0, le=LARGEST_SEED)
    metric: Literal["overall", "discontinuous"] = "overall"
    ranges: dict[str, Range] = Field(min_length=1)

    @property
    def examples(self) -> list[dict[str, Any]]:
        """Settings with each limit of each range, next to the first ones of the others."""
        first = {name: values.limits[0] for name, values in self.ranges.items()}
        others = [{**first, name: v} for name, r in self.ranges.items() for v in r.limits[1:]]
        return [first, *others]


class Reporting(_Part):
    """What the report shows in addition to the scores of all systems."""

    published: str | None = Field(default=None, description="a table of published numbers")
    baseline: tuple[str, ...] = Field(
        default=(), description="a system, or several, that each of the others is tested against"
    )
    plot: str | None = Field(default=None, description="axis to draw the scores over")

    @field_validator("baseline", mode="before")
    @classmethod
    def _one_or_several(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @field_validator("baseline")
    @classmethod
    def _none_twice(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) < len(names):
            raise ValueError("duplicate system")
        return names


_OR_EMPTY = BeforeValidator(lambda given: {} if given is None else given)
"""A key with nothing behind it, as in `base:`, declares nothing."""


def _dotted(given: dict[str, Any]) -> dict[str, Any]:
    settings = flat(given)
    if unnamed := [name for name in settings if not all(name.split("."))]:
        raise ValueError(f"{unnamed[0]!r} is no name of a setting")
    if len(settings) < _number_of(given):
        raise ValueError("a setting is there twice, nested and dotted")
    return settings


def _number_of(settings: Mapping[str, Any]) -> int:
    return sum(_number_of(v) if isinstance(v, Mapping) else 1 for v in settings.values())


_Dotted = Annotated[dict[str, Any], _OR_EMPTY, AfterValidator(_dotted)]
"""Settings, nested or dotted or none at all."""


def _named(systems: dict[str, Any]) -> dict[str, Any]:
    if bad := [name for name in systems if not name.isprintable()]:
        raise ValueError(f"{bad[0]!r} is no name of a system: tables and files cannot hold it")
    return systems


_Systems = Annotated[dict[str, _Dotted], _OR_EMPTY, AfterValidator(_named)]


class _File(_Part):
    """What a file declares."""

    title: str
    about: Annotated[str, AfterValidator(str.strip)] = ""
    corpus: str | None = Field(default=None, description="the one corpus it is about")
    types: list[str] | None = Field(default=None, description="entity types; others are left out")
    protocol: str = "full"
    base: _Dotted = {}
    systems: _Systems = {}
    axes: Annotated[dict[str, Annotated[list[Any], Field(min_length=1)]], _OR_EMPTY] = {}
    compared: _Systems = {}
    seeds: list[Annotated[int, Field(ge=0, le=LARGEST_SEED)]] = Field(min_length=1)
    search: Search | None = None
    report: Annotated[Reporting, _OR_EMPTY] = Reporting()


class Study(_File):
    """A declared study. Settings are dotted; `adapt` among them is not one of a training's."""

    name: str
    source: LocatedYaml

    def error(self, message: str, setting: str, *sections: KeyPath) -> InputError:
        """An error at the line of a setting, in the first of these sections that has it."""
        for section in sections:
            for key_path in self.source.lines:
                inside = key_path[len(section) :]
                if key_path[: len(section)] == section and ".".join(map(str, inside)) == setting:
                    return self.source.error(message, key_path)
        return self.source.error(message, sections[0] if sections else ())


def shipped() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    folder = Path(str(files("trigner.lab.studies").joinpath(SHIPPED)))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_study(name: str) -> Study:
    """The study of this name, or in this file.

    Raises InputError when there is none, and with file and line for a wrong declaration.
    """
    known = shipped()
    path = Path(name)
    if name not in known and not path.is_file():
        if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
            raise InputError("no such study file", path=path)
        raise InputError(
            f"unknown study {name!r}; choose one of {', '.join(known)}, or give a file"
        )
    return read_study(known.get(name, path))


def read_study(path: Path) -> Study:
    """The study in a file. Raises InputError, with file and line, for a wrong declaration."""
    located = read_yaml(path)
    try:
        file = _File.model_validate(located.data)
    except ValidationError as error:
        # An unknown key before one that is missing: it may be that one, misspelt.
        first = min(error.errors(), key=lambda own: own["type"] == "missing")
        raise located.error(_message(first), tuple(first["loc"])) from error
    study = Study.model_construct(name=path.stem, source=located, **dict(file))
    _check(study)
    return study


def _check(study: Study) -> None:
    levels: list[tuple[KeyPath, Mapping[str, Any]]] = [
        (("base",), study.base),
        (("axes",), study.axes),
        *((("systems", name), settings) for name, settings in study.systems.items()),
        *((("compared", name), settings) for name, settings in study.compared.items()),
    ]
    if study.search is not None:
        levels.append((("search", "ranges"), study.search.ranges))
        if study.axes or study.systems:
            message = "a search cannot be combined with systems or axes: use another study for them"
            raise study.source.error(message, ("search",))
        if FOUND in study.compared:
            message = f"{FOUND!r} is the name of what the search finds: choose another"
            raise study.source.error(message, ("compared", FOUND))
    for section, settings in levels:
        for name in settings:
            if refused := next(
                (own for own in _names_set(name, settings[name]) if own in REFUSED), None
            ):
                raise study.error(f"{refused}: {REFUSED[refused]}", name, section)
    if twice := set(study.systems) & set(study.compared):
        name = sorted(twice)[0]
        message = f"{name!r} is already the name of a system"
        raise study.source.error(message, ("compared", name))
    if len(set(study.seeds)) < len(study.seeds):
        raise study.source.error("duplicate seed", ("seeds",))
    try:
        protocol(study.protocol)
    except InputError as error:
        raise study.source.error(error.message, ("protocol",)) from error
    try:
        if study.report.published is not None:
            published(study.report.published)
    except InputError as error:
        raise study.source.error(error.message, ("report", "published")) from error
    if study.report.plot is not None and study.report.plot not in study.axes:
        message = f"{study.report.plot!r} is not an axis of this study"
        raise study.source.error(message, ("report", "plot"))


def _names_set(name: str, value: Any) -> Iterator[str]:
    """The settings that a value sets: of an axis or a range, each of its values does."""
    values = value.choices if isinstance(value, Range) else value
    for own in values if isinstance(values, list) else [values]:
        yield from flat({name: own})


def _message(error: Any) -> str:
    """One of pydantic's errors in plain words."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{name}: unknown key"
    if error["type"] == "missing":
        return f"{name}: missing"
    return f"{name}: {validation_message(error)}"
