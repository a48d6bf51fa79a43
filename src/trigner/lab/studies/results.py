"""Finished runs: settings, data, scores, and what was found in the test part; kept in a `store`.

A result belongs to a run when data and settings are equal, whatever the study calls it: studies
share the runs that they have in common.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from trigner.errors import InputError
from trigner.evaluation import Score
from trigner.lab.studies.predictions import SavedPredictions, predictions_of
from trigner.lab.studies.store import DAMAGE, KeptRun, keep_run, kept_runs
from trigner.systems import SystemSpec, systems
from trigner.training import flat, settings_of
from trigner.triplets import SELECTION_ALIASES

CHOSEN_BY = ("overall", "discontinuous")
"""The dev F1 that chose an epoch; every run has a model of each."""

LONGEST_NAME = 100
"""Characters of a system in the name of a run: file systems take 255 of a whole name."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The epoch that one dev score chose, and its scores as `Scores.as_json` has them."""

    epoch: int | None
    dev: Mapping[str, Any]
    test: Mapping[str, Any]

    def score(self, part: Literal["dev", "test"], slice_: str) -> Score:
        """The counts of a slice."""
        counts = getattr(self, part)[slice_]
        return Score(counts["correct"], counts["predicted"], counts["gold"])


@dataclass(frozen=True)
class Result:
    """A finished run.

    `name` is that of its file, `settings` is `TrainingRun.identity`, `data` the hash of each part,
    `curve` the dev scores of each epoch that has some. `chosen` lacks what was not saved; `found`
    is what `predictions_text` made of its predictions (None: they were not saved). `notes` say in
    which way it is unlike other runs.
    """

    name: str
    system: str
    corpus: str
    protocol: str
    seed: int
    settings: Mapping[str, Any]
    data: Mapping[str, str]
    train: Mapping[str, int]
    parameters: int
    epochs: int
    seconds: float
    device: str
    signature: str
    chosen: Mapping[str, Chosen]
    curve: Sequence[Mapping[str, float]] = ()
    notes: Sequence[str] = ()
    found: str | None = None
    path: Path | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)

    def predictions(self) -> dict[str, SavedPredictions]:
        """What its models found, by what chose them; empty when that was not saved.

        Raises InputError when it is damaged.
        """
        try:
            return {} if self.found is None else predictions_of(self.found)
        except DAMAGE as error:
            raise _damaged(error, self.path, self.line) from error

    def is_of(self, settings: Mapping[str, Any], data: Mapping[str, str] | None) -> bool:
        """Whether it is what a run of these settings makes of these data (None: of any)."""
        if data is not None and dict(self.data) != dict(data):
            return False
        return with_defaults(self.settings) == with_defaults(settings)


def run_name(system: str, settings: Mapping[str, Any], data: Mapping[str, str]) -> str:
    """`SYSTEM-SEED-HASH`: a name for people, and what tells runs of equal names apart."""
    readable = re.sub(r"[^a-z0-9.=]+", "-", system.lower())[:LONGEST_NAME].strip("-") or "run"
    written = json.dumps([flat(settings), dict(data)], sort_keys=True)
    digest = hashlib.sha256(written.encode()).hexdigest()
    return f"{readable}-{settings['seed']}-{digest[:8]}"


def with_defaults(values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a run, dotted, in the form that is compared.

    What a run lacks has its default: a setting that was added later, or one that changed nothing
    beside the others. Of triplets that are switched off the weight alone counts, so that the
    control of one study is that of another. Settings of a system that is not installed stay as
    they are.
    """
    found = flat(values)
    if (system := systems().get(str(found.get("system", "")))) is not None:
        found = {**_defaults(system), **found}
    if not found.get("triplets.weight"):
        others = [n for n in found if n.startswith("triplets.") and n != "triplets.weight"]
        found = {name: value for name, value in found.items() if name not in others}
    else:
        found["triplets.window"] = found["triplets.window"] or None
        selection = found["triplets.selection"]
        found["triplets.selection"] = SELECTION_ALIASES.get(selection, selection)
    return found


@cache
def _defaults(system: SystemSpec) -> Mapping[str, Any]:
    return {**settings_of(system)().identity(), "adaptation": None}


def write_result(result: Result, folder: Path) -> Result:
    """Keep a result below the folder of all results, whole or not at all; it then has its path.

    Raises TrignerError where another one of its name is.
    """
    content = asdict(result)
    for other in ("found", "path", "line"):
        del content[other]
    return replace(result, path=keep_run(folder, result.corpus, content, result.found))


def read_results(folder: Path, corpus: str) -> list[Result]:
    """All results of a corpus by name, packed or not. Raises InputError as `kept_runs` does."""
    return [_result(kept) for kept in kept_runs(folder, corpus)]


def find(
    results: Sequence[Result], settings: Mapping[str, Any], data: Mapping[str, str] | None
) -> Result | None:
    """The result of a run; of several the one with predictions, then the first."""
    found = [result for result in results if result.is_of(settings, data)]
    found.sort(key=lambda result: result.found is None)
    return found[0] if found else None


def _result(kept: KeptRun) -> Result:
    try:
        content = dict(kept.run)
        if not all(isinstance(content[name], dict) for name in ("settings", "data", "train")):
            raise ValueError("settings, data and train are objects")
        chosen = {name: Chosen(**found) for name, found in content.pop("chosen").items()}
        curve, notes = tuple(content.pop("curve")), tuple(content.pop("notes"))
        for found in chosen.values():
            found.score("dev", "overall"), found.score("test", "overall")
        return Result(
            **content,
            chosen=chosen,
            curve=curve,
            notes=notes,
            found=kept.found,
            path=kept.path,
            line=kept.line,
        )
    except DAMAGE as error:
        raise _damaged(error, kept.path, kept.line) from error


def _damaged(error: Exception, path: Path | None, line: int | None) -> InputError:
    return InputError(f"is damaged: {error}", path=path, line=line)
