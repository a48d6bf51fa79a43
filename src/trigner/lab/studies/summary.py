"""Results of a study in numbers: means and deviations over seeds, and tests against baselines."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from trigner.errors import InputError
from trigner.evaluation import Significance, compare_slices
from trigner.lab.studies.grid import TrainingRun
from trigner.lab.studies.predictions import SavedPredictions
from trigner.lab.studies.results import CHOSEN_BY, Result, find
from trigner.training import flat

Part = Literal["dev", "test"]
SCORED_PARTS: tuple[Part, ...] = ("dev", "test")
RATES = ("f1", "precision", "recall")


@dataclass(frozen=True, slots=True)
class Spread:
    """Values in percent of several seeds. `deviation` is that of a sample, None of one seed."""

    values: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.mean(self.values)

    @property
    def deviation(self) -> float | None:
        return statistics.stdev(self.values) if len(self.values) > 1 else None

    def __str__(self) -> str:
        spread = "" if self.deviation is None else f" ± {self.deviation:.2f}"
        return f"{self.mean:.2f}{spread}"


@dataclass(frozen=True)
class SystemResults:
    """A system of a study with the results that there are, one a seed, of `wanted` seeds.

    `settings` are those that decide what comes out, dotted, whatever the seed; `declared` is its
    name without the values of the axes, `point`.
    """

    name: str
    point: Mapping[str, Any]
    wanted: int
    results: tuple[Result, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    declared: str = ""

    def with_model(self, chosen_by: str) -> tuple[Result, ...]:
        """The results that have the model which this dev F1 chose."""
        return tuple(result for result in self.results if chosen_by in result.chosen)

    def predictions(self, chosen_by: str) -> dict[int, SavedPredictions]:
        """What these models found, by seed, where that was saved."""
        found = {result.seed: result.predictions() for result in self.with_model(chosen_by)}
        return {seed: saved[chosen_by] for seed, saved in found.items() if saved}

    def spread(self, chosen_by: str, part: Part, slice_: str, rate: str = "f1") -> Spread | None:
        """A rate over seeds, of the models that one dev F1 chose; None without any."""
        found = [r.chosen[chosen_by].score(part, slice_) for r in self.with_model(chosen_by)]
        return Spread(tuple(100 * getattr(score, rate) for score in found)) if found else None


@dataclass(frozen=True)
class BaselineTest:
    """A system compared with a baseline on the test part, by slice of `SLICES`.

    `seeds` are those that both have predictions of; without any there is no test.
    """

    system: str
    baseline: str
    chosen_by: str
    seeds: tuple[int, ...]
    tests: Mapping[str, Significance]


@dataclass(frozen=True)
class Summary:
    """All of a study on one corpus. `remarks` are what a reader of its numbers has to know.

    `baselines` are those of the declared ones that have results.
    """

    corpus: str
    systems: tuple[SystemResults, ...]
    baselines: tuple[str, ...]
    comparisons: tuple[BaselineTest, ...]
    remarks: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of all systems."""
        return tuple(result for system in self.systems for result in system.results)


def gather(
    runs: Sequence[TrainingRun], results: Sequence[Result], data: Mapping[str, str] | None
) -> tuple[SystemResults, ...]:
    """The systems of a study in the order of declaration, with the results that belong to them.

    Without `data` they may be on any; raises InputError when they are on several.
    """
    systems = []
    by_system: dict[str, list[TrainingRun]] = {}
    for run in runs:
        by_system.setdefault(run.system, []).append(run)
    for name, members in by_system.items():
        found = [find(results, run.identity, data) for run in members]
        there = tuple(result for result in found if result is not None)
        first = members[0]
        settings = {k: v for k, v in flat(first.identity).items() if k != "seed"}
        systems.append(
            SystemResults(name, first.point, len(members), there, settings, first.declared)
        )
    if len({tuple(sorted(r.data.items())) for s in systems for r in s.results}) > 1:
        raise InputError(
            "there are results on several versions of this corpus: choose one with --data"
        )
    return tuple(systems)


def summarise(corpus: str, systems: Sequence[SystemResults], baselines: Sequence[str]) -> Summary:
    """Compare all systems with each baseline, and list what is missing or unlike in the results."""
    able = {system.name: system for system in systems if system.results}
    pairs = [
        (name, system.name, before.name)
        for name in baselines
        for system in able.values()
        if (before := baseline_of(name, system, able)) is not None
    ]
    used = {baseline for baseline, _, _ in pairs}
    there = tuple(name for name in baselines if name in able or name in used)
    comparisons = []
    for chosen_by in CHOSEN_BY if pairs else ():
        found = {name: system.predictions(chosen_by) for name, system in able.items()}
        comparisons += [
            BaselineTest(name, baseline, chosen_by, *_tested(name, found[before], found[name]))
            for baseline, name, before in pairs
        ]
    known = {name for system in systems for name in (system.name, system.declared)}
    remarks = [
        f"{name} {'has no results' if name in known else 'is left out here'}, so nothing is tested"
        " against it"
        for name in baselines
        if name not in there
    ]
    remarks += _remarks(systems)
    return Summary(corpus, tuple(systems), there, tuple(comparisons), tuple(remarks))


def baseline_of(
    name: str, system: SystemResults, able: Mapping[str, SystemResults]
) -> SystemResults | None:
    """What a system is tested against: the system of that name or, where it stands at several
    points of the axes, it at the same point."""
    at_point = (
        other
        for other in able.values()
        if other.point and (other.declared, other.point) == (name, system.point)
    )
    found = able.get(name) or next(at_point, None)
    return None if found is system else found


def _tested(
    name: str, before: Mapping[int, SavedPredictions], after: Mapping[int, SavedPredictions]
) -> tuple[tuple[int, ...], dict[str, Significance]]:
    seeds = tuple(sorted(before.keys() & after.keys()))
    if not seeds:
        return seeds, {}
    for seed in seeds:
        if not before[seed].is_paired_with(after[seed]):
            raise InputError(
                f"{name}, seed {seed}: its result and that of its baseline are on the test"
                " documents in another order: move one of the two away and run it again"
            )
    return seeds, compare_slices(
        *([side[seed].counts.slices for seed in seeds] for side in (before, after))
    )


def _remarks(systems: Sequence[SystemResults]) -> list[str]:
    results = [result for system in systems for result in system.results]
    remarks = [
        f"{system.name}: {len(system.results)} of {system.wanted} seeds have results"
        for system in systems
        if len(system.results) < system.wanted
    ]
    for chosen_by in CHOSEN_BY:
        if lacking := [r.name for r in results if chosen_by not in r.chosen]:
            remarks.append(
                f"without the model chosen by {chosen_by} F1: {', '.join(lacking)}; it was not kept"
            )
    if lacking := [r.name for r in results if r.found is None]:
        remarks.append(f"without predictions, so in no test: {', '.join(lacking)}")
    versions = {_versions(result) for result in results}
    if len(versions) > 1:
        remarks.append(f"trained with different versions: {'; '.join(sorted(versions))}")
    remarks += [f"{r.name}: {note}" for r in results for note in r.notes]
    return remarks


def _versions(result: Result) -> str:
    shown = ("version:", "torch:", "transformers:")
    return ", ".join(p for p in result.signature.split("|") if p.startswith(shown))
