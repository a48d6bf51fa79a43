"""What the command line changes in all runs of a study, over what the study declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from trigner.errors import InputError
from trigner.lab.studies.declaration import REFUSED, Study
from trigner.mentions import shortened
from trigner.training import flat, yaml_value


@dataclass(frozen=True)
class Changes:
    """What the command line sets for all runs of a study, over what is declared."""

    encoder: str | None = None
    preset: str | None = None
    assignments: Sequence[str] = ()
    seeds: tuple[int, ...] | None = None
    only: tuple[str, ...] | None = None

    @property
    def without_each(self) -> Mapping[str, Changes]:
        """The options that change settings, each with the changes that are left without it."""
        others = {
            f"--set {given}": replace(self, assignments=[a for a in self.assignments if a != given])
            for given in self.assignments
        }
        if self.preset is not None:
            others[f"--preset {self.preset}"] = replace(self, preset=None)
        if self.encoder is not None:
            others[f"--encoder {self.encoder}"] = replace(self, encoder=None)
        return others


def check_changes(study: Study, changes: Changes) -> None:
    """Raises InputError for what a study does not let the command line change.

    What it varies would be the same in all of its runs, under the names of different values.
    """
    varied = {*study.axes, *(() if study.search is None else study.search.ranges)}
    if changes.encoder is not None and "encoder" in varied:
        raise study.source.error("this study declares its encoders: omit --encoder", ("axes",))
    if changes.preset is not None and "preset" in {*study.base, *varied}:
        raise study.source.error("this study declares its preset: omit --preset", ("base",))
    for assignment in changes.assignments:
        for name in _assigned(assignment):
            if name in REFUSED:
                raise InputError(f"--set {assignment}: {REFUSED[name]}")
            if name in varied:
                message = f"this study varies {name}: omit it, or declare a study of your own"
                raise InputError(f"--set {assignment}: {message}")


def at_fault(changes: Changes, make: Callable[[Changes], object]) -> str:
    """The options without any one of which `make` raises no InputError, else all of them where only
    that helps; nothing where it raises one without them, too."""

    def works(others: Changes) -> bool:
        try:
            make(others)
        except InputError:
            return False
        return True

    without = changes.without_each
    found = [option for option, others in without.items() if works(others)]
    if not found and works(replace(changes, encoder=None, preset=None, assignments=())):
        found = list(without)
    return ", ".join(found)


def _assigned(assignment: str) -> dict[str, Any]:
    """The dotted settings of `--set`."""
    name, _, value = assignment.partition("=")
    try:
        return flat({name: yaml_value(value)})
    except InputError as error:
        raise InputError(f"--set {shortened(assignment)}: {error.message}") from error
