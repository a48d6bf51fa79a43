"""A declared study as its runs: every system at every point of the axes, with every seed."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trigner.encoders import ENCODERS
from trigner.errors import InputError, unknown_setting, validation_message
from trigner.lab.studies.changes import Changes, at_fault, check_changes
from trigner.lab.studies.declaration import FOUND, Study
from trigner.lab.studies.protocols import Protocol
from trigner.lab.studies.results import with_defaults
from trigner.training import AdaptationSettings, KeyPath, Settings, resolve, yaml_value

ADAPT = "adapt"
"""The setting that adapts the encoder to the training text first; `adapt.epochs` and so on next to
it are those of the adaptation."""

INIT_FROM = "init_from"
"""The setting that names a model folder: the run starts from its weights, as `--init-from` does."""

START = "clean"
"""The preset of runs that name none: what additions are measured against."""

RANGES: KeyPath = ("search", "ranges")

_WEIGHTS = ("*.safetensors", "*.bin", "config.json", "vocab.txt", "tokenizer.json")


REVISIONS = {"sampling.coordination": "members of one kind"}
"""What a setting does today, where kept runs of the same setting did something else."""


@dataclass(frozen=True)
class TrainingRun:
    """One training of a study. `point` are the values of the axes, `declared` is the system's name
    without them; empty where the study declares axes alone."""

    system: str
    point: Mapping[str, Any]
    seed: int
    settings: Settings
    adaptation: AdaptationSettings | None = None
    init_from: Path | None = None
    declared: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """The dotted settings that decide what this run makes of the same data, without those that
        change nothing, second names and paths of this machine."""
        values = self.settings.identity()
        if "encoder" in values:
            values["encoder"] = encoder_identity(self.settings.encoder)
        if self.init_from is not None:
            values[INIT_FROM] = encoder_identity(str(self.init_from))
        values.pop("optimisation.select_by", None)  # the epochs of both are saved
        if "optimisation.cell_budget" in values:
            values["optimisation.cell_budget"] = self.settings.optimisation.cells
        revised = {name: what for name, what in REVISIONS.items() if values.get(name)}
        values |= {f"revisions.{name}": what for name, what in revised.items()}
        adapted = None if self.adaptation is None else self.adaptation.model_dump(mode="json")
        return with_defaults({**values, "adaptation": adapted})


@cache
def encoder_identity(encoder: str) -> str:
    """An encoder's name on the Hub; for a folder, also a model's, its name and the beginning of a
    hash of what it holds."""
    folder = Path(encoder)
    if not folder.is_dir():
        return ENCODERS.get(encoder, encoder)
    digest = hashlib.sha256()
    for path in sorted({file for pattern in _WEIGHTS for file in folder.glob(pattern)}):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return f"{folder.resolve().name}#{digest.hexdigest()[:12]}"


def runs(
    study: Study,
    protocol: Protocol,
    changes: Changes | None = None,
    *,
    found: Mapping[str, Any] | None = None,
) -> list[TrainingRun]:
    """All runs, seed by seed, so that a study that is stopped early has compared all systems.

    `found` are the settings that the study's search has found; without them there is no such
    system. Raises InputError, with file and line, for wrong settings.
    """
    changes = changes or Changes()
    points = list(_points(study))
    if found is not None:
        points.append(_searched(found, drawn=True))
    if len({point.label for point in points}) < len(points):
        raise study.source.error("two points of the axes have the same name", ("axes",))
    known = [point.label for point in points]
    if study.search is not None and found is None:
        known.append(FOUND)  # in time
    for name in study.report.baseline:
        # A system at several points of the axes is a baseline at each of them.
        if name not in (*known, *study.systems):
            message = f"unknown system {name!r}; this study has {', '.join(known)}"
            raise study.source.error(message, ("report", "baseline"))
    if changes.only is not None:
        if unknown := [name for name in changes.only if name not in known]:
            raise InputError(
                f"--only: unknown system {unknown[0]!r}; this study has {', '.join(known)}"
            )
        points = [point for point in points if point.label in changes.only]
    check_changes(study, changes)
    for values in () if study.search is None else study.search.examples:
        # Or it would fail when drawn, after hours.
        _run(study, protocol, changes, _searched(values), (changes.seeds or study.seeds)[0])
    seeds = study.seeds if changes.seeds is None else changes.seeds
    of_first_seed = [_run(study, protocol, changes, point, seeds[0]) for point in points]
    return [
        replace(run, seed=seed, settings=run.settings.model_copy(update={"seed": seed}))
        for seed in seeds
        for run in of_first_seed
    ]


def check_axes(study: Study, changes: Changes, made: Sequence[TrainingRun]) -> None:
    """Raises InputError for an axis along which all `made` runs are the same training.

    Of a study of which some systems are chosen no axis is refused.
    """
    for axis in study.axes if changes.only is None else ():
        along: dict[str, list[str]] = defaultdict(list)
        for run in made:
            if run.point:
                others = {name: value for name, value in run.point.items() if name != axis}
                line = f"{run.declared} {others} {run.seed}"
                along[line].append(json.dumps(run.identity))
        if any(len(line) > 1 for line in along.values()) and all(
            len(set(line)) == 1 for line in along.values()
        ):
            options = " and ".join(changes.without_each)
            by = f" with {options}" if options else ""
            message = f"{axis} changes nothing{by}: all its values would be the same training"
            raise study.error(message, axis, ("axes",))


def trial(
    study: Study, protocol: Protocol, changes: Changes, values: Mapping[str, Any]
) -> TrainingRun:
    """A run of a search: base settings with these values, and the first seed.

    Values without effect next to the others are no error, as what is drawn may well hold some.
    """
    check_changes(study, changes)
    seed = (changes.seeds or study.seeds)[0]
    return _run(study, protocol, changes, _searched(values, drawn=True), seed)


@dataclass(frozen=True)
class _Point:
    """A system at a point of the axes; of its `settings` those `shared` are for several."""

    label: str
    declared: str
    values: Mapping[str, Any]
    settings: Mapping[str, Any]
    section: KeyPath
    shared: Collection[str] = ()


def _searched(values: Mapping[str, Any], *, drawn: bool = False) -> _Point:
    """What a search tries or has found; of values that were `drawn` some may be without effect."""
    return _Point(FOUND, FOUND, {}, values, RANGES, shared=values.keys() if drawn else ())


def _points(study: Study) -> Iterator[_Point]:
    systems = study.systems
    if not systems and (study.axes or not (study.compared or study.search)):
        systems = {"": {}}
    for name, settings in systems.items():
        for values in itertools.product(*study.axes.values()):
            point = dict(zip(study.axes, values, strict=True))
            named = named_at(name, point) or study.name
            yield _Point(named, name, point, {**settings, **point}, ("systems", name), point.keys())
    for name, settings in study.compared.items():
        yield _Point(name, name, {}, settings, ("compared", name))


def named_at(declared: str, point: Mapping[str, Any]) -> str:
    """The name of a system at a point of the axes; empty for one without either."""
    return ", ".join(filter(None, [declared, *map(_shown, point, point.values())]))


def _shown(axis: str, value: Any) -> str:
    shown = "none" if value is None else str(value).lower() if value in (True, False) else value
    return f"{axis.rpartition('.')[2]}={Path(str(shown)).name if axis == 'encoder' else shown}"


def _run(
    study: Study, protocol: Protocol, changes: Changes, point: _Point, seed: int
) -> TrainingRun:
    """Raises InputError that names the options at fault or, where the study is, file and line."""

    def resolved(given: Changes) -> TrainingRun:
        return _resolved(study, protocol, given, point, seed)

    try:
        return resolved(changes)
    except InputError as error:
        options = at_fault(changes, resolved)
        if not options:
            raise
        told = error.message.removeprefix(f"{point.label}: ")
        named = told if told.startswith("--set ") else f"{options}: {error.message}"
        raise InputError(named) from error


def _resolved(
    study: Study, protocol: Protocol, changes: Changes, point: _Point, seed: int
) -> TrainingRun:
    sections: list[KeyPath] = [point.section, ("axes",), ("base",)]
    chosen = {} if changes.preset is None else {"preset": changes.preset}
    levels = {**study.base, **protocol.settings, **chosen, **point.settings}
    preset = levels.pop("preset", None)
    adapting = {name: levels.pop(name) for name in list(levels) if _adapts(name)}
    start = levels.pop(INIT_FROM, None)
    given = []
    for assignment in changes.assignments:
        name, _, value = assignment.partition("=")
        if _adapts(name):
            adapting[name] = yaml_value(value)
        elif name == INIT_FROM:
            start = yaml_value(value)
        else:
            given.append(assignment)
    # Only what the study says of this system must be its setting: all else is for several.
    own = [name for name in point.settings if name in levels and name not in point.shared]
    written = [f"{name}={json.dumps(value)}" for name, value in levels.items()]
    names = [text.partition("=")[0] for text in (*written, *given)]
    init_from = None if start is None else Path(str(start))
    try:
        settings = resolve(
            preset=str(preset or START),
            assignments=[*written, *given],
            optional=["encoder", *(name for name in names if name not in own)],
            options={"encoder": changes.encoder, "seed": seed},
            init_from=init_from,
        )
        adaptation = _adaptation(adapting)
        if adaptation is not None and init_from is not None:
            raise InputError(f"{ADAPT} has no effect with {INIT_FROM}: the encoder is that model's")
    except InputError as error:
        names = [name for name in (*levels, *adapting) if name in error.message]
        named = max(names, key=len, default="preset")
        if init_from is not None and error.path is not None:
            named, error = INIT_FROM, InputError(f"{error.path}: {error.message}")
        raise study.error(f"{point.label}: {error.message}", named, *sections) from error
    if settings.encoder is None:
        adaptation = None
    return TrainingRun(
        point.label, point.values, seed, settings, adaptation, init_from, point.declared
    )


def _adapts(name: str) -> bool:
    return name == ADAPT or name.startswith(f"{ADAPT}.")


def _adaptation(given: Mapping[str, Any]) -> AdaptationSettings | None:
    wanted = given.get(ADAPT, False)
    if not isinstance(wanted, bool):
        raise InputError(f"{ADAPT}: must be true or false, not {wanted!r}")
    named = {name.removeprefix(f"{ADAPT}."): v for name, v in given.items() if name != ADAPT}
    if named and ADAPT not in given:
        raise InputError(f"{ADAPT}.{next(iter(named))} has no effect without {ADAPT}: true")
    try:
        settings = AdaptationSettings(**named)
    except ValidationError as error:
        first = error.errors()[0]
        name, told = ".".join(map(str, first["loc"])), validation_message(first)
        if first["type"] == "extra_forbidden":
            told = unknown_setting(name, AdaptationSettings.model_fields)
        raise InputError(f"{ADAPT}.{name}: {told}") from error
    return settings if wanted else None
