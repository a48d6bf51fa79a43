"""Kept runs of studies, chosen by what they were trained with, and the figures that pages show."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from trigner.evaluation import compare_slices
from trigner.lab.studies.results import Result, read_results

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "research/results/studies"
SLICES = ("overall", "discontinuous")
ANY = "any"
"""In place of a setting's value: whatever it was."""

Part = Literal["dev", "test"]


@dataclass(frozen=True)
class Group:
    """Runs that differ in their seed alone, by seed; none where they have not been run."""

    name: str
    runs: Mapping[int, Result]

    def scores(self, part: Part) -> str:
        """F1 in percent, of all mentions / of discontinuous ones, where overall F1 chose."""
        chosen = [run.chosen["overall"] for run in self.runs.values()]
        by_slice = ([100 * own.score(part, name).f1 for own in chosen] for name in SLICES)
        return " / ".join(map(spread, by_slice))


def spread(values: Sequence[float]) -> str:
    """Mean and standard deviation; the value where it is one."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


@dataclass(frozen=True)
class Difference:
    """F1 on test of a group less that of a baseline, in points, over the seeds that both have.

    `slices` has for each slice the difference and the two ends of the paired bootstrap's 95 %
    interval, or the difference alone where what was found is not kept.
    """

    seeds: tuple[int, ...]
    slices: Mapping[str, Sequence[float]]

    def __getitem__(self, name: str) -> str:
        own, *interval = (f"{value:+.1f}" for value in self.slices[name])
        return f"{own} [{', '.join(interval)}]" if interval else own


class Differences:
    """Differences of groups. Each takes seconds, and runs never change: a file keeps them."""

    def __init__(self, file: Path) -> None:
        self._kept: dict[str, dict[str, list[float]]] = (
            json.loads(file.read_text("utf-8")) if file.exists() else {}
        )
        self._used: set[str] = set()

    def between(self, baseline: Group, group: Group) -> Difference:
        """That of a group from its baseline."""
        seeds = tuple(sorted(baseline.runs.keys() & group.runs.keys()))
        sides = [[side.runs[seed] for seed in seeds] for side in (group, baseline)]
        key = " less ".join(" ".join(run.name for run in side) for side in sides)
        self._used.add(key)
        if key not in self._kept:
            self._kept[key] = _compared(sides[1], sides[0])
        return Difference(seeds, self._kept[key])

    def text(self) -> str:
        """The file of those that were asked for."""
        kept = {key: self._kept[key] for key in sorted(self._used)}
        lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in kept.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"


def _compared(baseline: Sequence[Result], runs: Sequence[Result]) -> dict[str, list[float]]:
    if any(run.found is None for run in (*baseline, *runs)):
        means = [_f1(runs, name) - _f1(baseline, name) for name in SLICES]
        return {name: [round(mean, 4)] for name, mean in zip(SLICES, means, strict=True)}
    sides = [[_counts(run) for run in side] for side in (baseline, runs)]
    return {
        name: [round(100 * value, 4) for value in (test.difference, test.low, test.high)]
        for name, test in compare_slices(*sides).items()
    }


def _f1(runs: Sequence[Result], name: str) -> float:
    """The mean, in percent."""
    return statistics.mean(100 * run.chosen["overall"].score("test", name).f1 for run in runs)


def _counts(run: Result) -> dict[str, Any]:
    slices = run.predictions()["overall"].counts.slices
    return {name: slices[name] for name in SLICES}


class KeptRuns:
    """The groups that a declaration names.

    `usual` has what a run was trained with unless its group says otherwise (None: it lacks that
    setting), `groups` for each name the corpus, the protocol and what differs.
    """

    def __init__(self, declaration: Mapping[str, Any], folder: Path = RUNS) -> None:
        self._usual: Mapping[str, Any] = declaration["usual"]
        self._groups: Mapping[str, Mapping[str, Any]] = declaration["groups"]
        self._read = cache(lambda corpus: read_results(folder, corpus))

    @cache  # noqa: B019  there is one for a whole run of the script
    def __getitem__(self, name: str) -> Group:
        """Raises ValueError where two runs of one seed fit."""
        declared = self._declared(name)
        runs: dict[int, Result] = {}
        for run in self._read(declared["corpus"]):
            if run.protocol == declared["protocol"] and self._fits(run, declared["with"]):
                if run.seed in runs:
                    both = f"{runs[run.seed].name} and {run.name}"
                    raise ValueError(f"{name!r} has two runs of seed {run.seed}: {both}")
                runs[run.seed] = run
        return Group(name, dict(sorted(runs.items())))

    def _declared(self, name: str) -> dict[str, Any]:
        own = self._groups[name]
        like = self._declared(own["like"]) if "like" in own else {"with": self._usual}
        return {**like, **own, "with": {**like["with"], **own.get("with", {})}}

    def _fits(self, run: Result, wanted: Mapping[str, Any]) -> bool:
        own = dict(run.settings)
        own["encoder"] = str(own["encoder"]).partition("#")[0]
        own["adapted"] = own.get("adaptation.learning_rate") is not None
        return all(value in (ANY, own.get(name)) for name, value in wanted.items())
