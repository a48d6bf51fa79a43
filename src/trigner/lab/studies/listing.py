"""The studies that come with the package, as a list."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from trigner.lab.studies.declaration import find_study, shipped
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol


@dataclass(frozen=True, slots=True)
class Listed:
    """A study: its name and title, how many runs it has, and how many trials its search makes."""

    name: str
    title: str
    runs: int
    trials: int

    def as_json(self) -> dict[str, Any]:
        """The study, ready for JSON."""
        return asdict(self)


def listed() -> list[Listed]:
    """All studies that come with the package, by name. Runs of what a search finds are counted."""
    return [_listed(name) for name in shipped()]


def _listed(name: str) -> Listed:
    study = find_study(name)
    found = None if study.search is None else study.search.examples[0]
    number = len(runs(study, protocol(study.protocol), found=found))
    return Listed(name, study.title, number, 0 if study.search is None else study.search.trials)
