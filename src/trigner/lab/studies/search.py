"""Settings searched for on dev alone, with Optuna; the trials are kept in a journal.

Only the process that holds the journal's lock searches, with several trials at a time if asked.
Trials that were interrupted are resumed first.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from trigner.errors import InputError, TrignerError
from trigner.lab.studies.context import StudyContext, log
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.declaration import Range, Search
from trigner.lab.studies.grid import TrainingRun, trial
from trigner.lab.studies.jobs import run_all
from trigner.lab.studies.results import with_defaults
from trigner.lab.studies.running import trial_job
from trigner.machine import locked
from trigner.systems import LARGEST_SEED
from trigner.training import differences

if TYPE_CHECKING:
    import optuna

DECLARED = "declared"
"""The attribute of Optuna's study that says what its trials are of."""


@dataclass(frozen=True)
class SearchState:
    """Settings that were tried with their dev F1, best first, and how many trials failed."""

    tried: tuple[tuple[Mapping[str, Any], float], ...] = ()
    failed: int = 0

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The settings with the highest dev F1 so far."""
        return self.tried[0][0] if self.tried else None


def journal(context: StudyContext, corpus: str) -> Path:
    """The file that the trials of a search are written to."""
    return context.results / corpus / f"{context.study.name}-{context.protocol.name}.journal"


def search_state(
    context: StudyContext, corpus: str, data: Mapping[str, str] | None = None
) -> SearchState:
    """The progress of a search, without continuing it.

    `data` are the hashes of the corpus, if it was read. Raises InputError when the journal is
    damaged, or of other ranges, settings or data.
    """
    path = journal(context, corpus)
    if context.study.search is None or not path.exists():
        return SearchState()
    opened = _open(path)
    _check_same(opened, context, data, path)
    return _state(opened)


def search(context: StudyContext, corpus: CorpusSplits, console: Console) -> SearchState:
    """Continue a study's search until it has made all its trials.

    Raises InputError when another process is running it, or the journal is damaged or of other
    ranges, settings or data; TrignerError when no trial was completed.
    """
    wanted = _wanted(context)
    path = journal(context, corpus.name)
    busy = InputError("another process is running this search", path=path)
    # Not `.lock`: that is the name of the lock that the journal takes for each of its writes.
    with locked(Path(f"{path}.in-use"), busy=busy):
        opened = _open(path)
        if DECLARED not in opened.user_attrs:
            declared = {**_declared(context), "data": corpus.hashes}
            opened.set_user_attr(DECLARED, declared)
        _check_same(opened, context, corpus.hashes, path)
        while pending := _next_trials(opened, wanted, context.parallelism.jobs):
            _run_trials(opened, pending, context, corpus, console)
        found = _state(opened)
    if found.best is None:
        raise TrignerError("no trial of the search was completed")
    return found


def _wanted(context: StudyContext) -> Search:
    if context.study.search is None:
        raise context.study.source.error("declares no search")
    return context.study.search


def _next_trials(opened: optuna.Study, wanted: Search, jobs: int) -> dict[int, dict[str, Any]]:
    """Settings of the next trials by number, interrupted ones first; none when all are made."""
    import optuna
    from optuna.trial import TrialState

    running = opened.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    pending = {t.number: dict(t.params) for t in running if set(t.params) == set(wanted.ranges)}
    for broken in running:
        if broken.number not in pending:  # killed while its settings were being chosen
            opened.tell(broken.number, state=TrialState.FAIL)
    states = (TrialState.COMPLETE, TrialState.FAIL)
    ended = len(opened.get_trials(deepcopy=False, states=states))
    while len(pending) < jobs and ended + len(pending) < wanted.trials:
        # Seeded by the number of trials: a search in several sittings tries what one would.
        so_far = len(opened.get_trials(deepcopy=False))
        seed = (wanted.seed + so_far) % (LARGEST_SEED + 1)
        opened.sampler = optuna.samplers.TPESampler(seed=seed)
        asked = opened.ask()
        pending[asked.number] = {
            name: _suggest(asked, name, values) for name, values in wanted.ranges.items()
        }
    return pending


def _run_trials(
    opened: optuna.Study,
    pending: Mapping[int, Mapping[str, Any]],
    context: StudyContext,
    corpus: CorpusSplits,
    console: Console,
) -> None:
    """Run trials, and give Optuna and the user their scores.

    What was tried before, or has the settings of one beside it in effect, is not trained again; a
    trial whose settings cannot go together has failed.
    """
    from optuna.trial import TrialState

    wanted = _wanted(context)

    def tell(number: int, f1: float, how: str = "") -> None:
        opened.tell(number, f1)
        settings = ", ".join(f"{name}={value}" for name, value in pending[number].items())
        trial_of = f"trial {number + 1} of {wanted.trials}"
        log(console, f"{trial_of}: dev {wanted.metric} F1 {100 * f1:.2f}{how} with {settings}")

    complete = opened.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    known = {_in_effect(_trial(context, t.params)): (t.number, t.value or 0.0) for t in complete}
    runs: dict[str, TrainingRun] = {}
    numbers: dict[str, list[int]] = {}
    for number, settings in pending.items():
        try:
            run = _trial(context, settings)
        except InputError as error:
            opened.tell(number, state=TrialState.FAIL)
            log(console, f"trial {number + 1} of {wanted.trials}: failed: {error.message}")
            continue
        if (same := _in_effect(run)) in known:
            before, f1 = known[same]
            tell(number, f1, f", that of trial {before + 1},")
            continue
        runs.setdefault(same, run)
        numbers.setdefault(same, []).append(number)

    of_run = [numbers[same] for same in runs]

    def on_done(position: int, scores: Mapping[str, float]) -> None:
        for number in of_run[position]:
            tell(number, scores[wanted.metric])

    trained = list(runs.values())
    results = run_all(trial_job, trained, corpus, context, console, on_done=on_done)
    for position in (*results.failed, *results.busy):
        for number in of_run[position]:
            opened.tell(number, state=TrialState.FAIL)


def _trial(context: StudyContext, values: Mapping[str, Any]) -> TrainingRun:
    return trial(context.study, context.protocol, context.changes, values)


def _in_effect(run: TrainingRun) -> str:
    """Equal for trials that train the same."""
    return json.dumps(run.identity, sort_keys=True)


def _open(path: Path) -> optuna.Study:
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            storage=optuna.storages.JournalStorage(JournalFileBackend(str(path))),
            study_name="search",
            direction="maximize",
            load_if_exists=True,
        )
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise InputError(f"is damaged: {error}; move it away to start again", path=path) from error


def _declared(context: StudyContext) -> dict[str, Any]:
    """What all trials of a search have in common; the ranges are there by their first values."""
    wanted = _wanted(context)
    return {
        "search": wanted.model_dump(mode="json", exclude={"trials"}),
        "settings": _trial(context, wanted.examples[0]).identity,
    }


def _check_same(
    opened: optuna.Study, context: StudyContext, data: Mapping[str, str] | None, path: Path
) -> None:
    """Raises InputError for the journal of a search with other ranges, settings or data."""
    before = dict(opened.user_attrs.get(DECLARED, {}))
    before["settings"] = with_defaults(before.get("settings", {}))
    now = {**_declared(context), "data": data or before.get("data")}
    if different := differences(before, now):
        names = ", ".join(sorted(different))
        raise InputError(
            f"was recorded with different {names}: rerun with the original values, or move it"
            " away to start again",
            path=path,
        )


def _state(opened: optuna.Study) -> SearchState:
    from optuna.trial import TrialState

    complete = opened.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    failed = len(opened.get_trials(deepcopy=False, states=(TrialState.FAIL,)))
    complete.sort(key=lambda t: (-(t.value or 0.0), t.number))
    return SearchState(tuple((dict(t.params), t.value or 0.0) for t in complete), failed)


def _suggest(asked: optuna.Trial, name: str, values: Range) -> Any:
    if values.choices is not None:
        return asked.suggest_categorical(name, values.choices)
    low, high, step = values.low, values.high, values.step
    assert low is not None
    assert high is not None
    if values.is_whole:
        return asked.suggest_int(name, int(low), int(high), log=values.log, step=int(step or 1))
    return asked.suggest_float(name, low, high, log=values.log, step=step)
