"""A study as it is declared: a YAML file of what is compared, how often and under which protocol.

    title: Window of the candidates
    base: {triplets.source: pair_states}      settings of all runs; `preset` and `adapt` as well
    systems: {trigner: {}, control: {triplets.weight: 0}}
    axes: {triplets.window: [none, 5, 25]}    every system at every value
    beside: {w2ner: {preset: w2ner}}          systems that the axes do not touch
    seeds: [1, 2, 3]

Settings may be nested or dotted. The studies that come with the package stand in `declared/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from trigner.errors import InputError
from trigner.studies.lines import Located, Place, read_located
from trigner.studies.protocols import protocol
from trigner.studies.published import published

SHIPPED = "declared"
_SEED = "seeds are declared apart, under seeds"
REFUSED = {
    "seed": _SEED,
    "optimisation.select_by": "the epochs that both scores choose are kept",
}
"""Settings that are no study's to set, and why."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Range(_Part):
    """The values of a setting that a search may try: `choices`, or from `low` to `high`.

    Whole numbers when both bounds are; `log` spaces them by ratio, `step` by that much.
    """

    choices: list[Any] | None = None
    low: float | int | None = None
    high: float | int | None = None
    log: bool = False
    step: float | int | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Range:
        bounded = self.low is not None and self.high is not None
        if bounded == (self.choices is not None) or self.choices == []:
            raise ValueError("takes choices, or low and high")
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise ValueError("low must be below high")
        if self.log and (self.step is not None or (self.low or 0) <= 0):
            raise ValueError("log takes no step and a low above 0")
        return self


class Search(_Part):
    """Which settings are searched for, on dev alone; the best become the system `found`."""

    trials: int = Field(ge=1)
    seed: int = Field(default=1, ge=0)
    metric: Literal["overall", "discontinuous"] = "overall"
    ranges: dict[str, Range] = Field(min_length=1)


class Reporting(_Part):
    """What the report shows beside the scores of all systems."""

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
            raise ValueError("a system stands twice")
        return names


class _File(_Part):
    title: str
    about: str = ""
    corpus: str | None = Field(default=None, description="the one corpus it is about")
    types: list[str] | None = Field(default=None, description="entity types; others are left out")
    protocol: str = "full"
    base: dict[str, Any] = {}
    systems: dict[str, dict[str, Any] | None] = {}
    axes: dict[str, Annotated[list[Any], Field(min_length=1)]] = {}
    beside: dict[str, dict[str, Any] | None] = {}
    seeds: list[Annotated[int, Field(ge=0)]] = Field(min_length=1)
    search: Search | None = None
    report: Reporting = Reporting()


@dataclass(frozen=True)
class Study:
    """A declared study. Settings are dotted; `adapt` among them is not one of a training's."""

    name: str
    title: str
    about: str
    corpus: str | None
    types: tuple[str, ...] | None
    protocol: str
    base: Mapping[str, Any]
    systems: Mapping[str, Mapping[str, Any]]
    axes: Mapping[str, tuple[Any, ...]]
    beside: Mapping[str, Mapping[str, Any]]
    seeds: tuple[int, ...]
    search: Search | None
    report: Reporting
    source: Located

    def error(self, message: str, setting: str, *sections: Place) -> InputError:
        """An error at the line of a setting, in the first of these sections that has it."""
        for section in sections:
            for place in self.source.lines:
                inside = place[len(section) :]
                if place[: len(section)] == section and ".".join(map(str, inside)) == setting:
                    return self.source.error(message, place)
        return self.source.error(message, sections[0] if sections else ())


def shipped() -> dict[str, Path]:
    """The studies that come with the package, by name."""
    folder = Path(str(files("trigner.studies").joinpath(SHIPPED)))
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}


def find_study(name: str) -> Study:
    """The study of this name, or in this file of yours.

    Raises InputError when there is none, and naming file and line for what cannot be.
    """
    known = shipped()
    path = Path(name)
    if name not in known and not path.is_file():
        if path.suffix in {".yaml", ".yml"} or len(path.parts) > 1:
            raise InputError("no such study file", path=path)
        raise InputError(f"unknown study {name!r}; known are: {', '.join(known)}; or name a file")
    return read_study(known.get(name, path))


def read_study(path: Path) -> Study:
    """The study in a file. Raises InputError, naming file and line, for what cannot be."""
    located = read_located(path)
    try:
        file = _File.model_validate(located.data)
    except ValidationError as error:
        first = error.errors()[0]
        raise located.error(_told(first), tuple(first["loc"])) from error
    systems = {name: _flat(settings or {}) for name, settings in file.systems.items()}
    study = Study(
        name=path.stem,
        title=file.title,
        about=file.about.strip(),
        corpus=file.corpus,
        types=None if file.types is None else tuple(file.types),
        protocol=file.protocol,
        base=_flat(file.base),
        systems=systems,
        axes={name: tuple(values) for name, values in file.axes.items()},
        beside={name: _flat(settings or {}) for name, settings in file.beside.items()},
        seeds=tuple(file.seeds),
        search=file.search,
        report=file.report,
        source=located,
    )
    _check(study)
    return study


def _check(study: Study) -> None:
    levels: list[tuple[Place, Mapping[str, Any]]] = [
        (("base",), study.base),
        (("axes",), study.axes),
        *((("systems", name), settings) for name, settings in study.systems.items()),
        *((("beside", name), settings) for name, settings in study.beside.items()),
    ]
    if study.search is not None:
        levels.append((("search", "ranges"), study.search.ranges))
        if study.axes or study.systems:
            message = "a search has neither systems nor axes: put them into a study of their own"
            raise study.source.error(message, ("search",))
    for section, settings in levels:
        for name in settings:
            if name in REFUSED:
                raise study.error(f"{name}: {REFUSED[name]}", name, section)
    if twice := set(study.systems) & set(study.beside):
        name = sorted(twice)[0]
        message = f"{name!r} is one of the systems already"
        raise study.source.error(message, ("beside", name))
    if len(set(study.seeds)) < len(study.seeds):
        raise study.source.error("a seed stands twice", ("seeds",))
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
        message = f"{study.report.plot!r} is no axis of this study"
        raise study.source.error(message, ("report", "plot"))


def _flat(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested settings by dotted names, as they may be written too."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{above}{key}"
        found.update(_flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value})
    return found


def _told(error: Any) -> str:
    """One of pydantic's errors in our words."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{name}: undeclared option"
    if error["type"] == "missing":
        return f"{name}: is missing"
    return f"{name}: {str(error['msg']).removeprefix('Value error, ')}"
