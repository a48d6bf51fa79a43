"""Settings searched for on dev alone, with Optuna; what was tried is kept in a journal.

Only the process that holds the journal's lock searches; `jobs` trials go on at a time. Trials that
a kill left open are gone on with first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout
from rich.console import Console

from trigner.errors import InputError, TrignerError
from trigner.studies.corpus import Corpus
from trigner.studies.declaration import Range, Search, Study
from trigner.studies.grid import Changes, trial
from trigner.studies.jobs import Room, work_off
from trigner.studies.protocols import Protocol
from trigner.studies.running import Folders, Options, dev_scores

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class Searched:
    """Where a search stands. `best` are the settings with the highest dev F1 so far."""

    trials: int
    failed: int
    best: Mapping[str, Any] | None
    dev_f1: float | None


def journal(study: Study, corpus: str, protocol: Protocol, folders: Folders) -> Path:
    """The file that a search writes down its trials in."""
    return folders.results / corpus / f"{study.name}-{protocol.name}.journal"


def standing(study: Study, corpus: str, protocol: Protocol, folders: Folders) -> Searched:
    """How far a search has come, without going on with it."""
    path = journal(study, corpus, protocol, folders)
    if study.search is None or not path.exists():
        return Searched(0, 0, None, None)
    return _standing(_open(path))


def search(
    study: Study,
    protocol: Protocol,
    corpus: Corpus,
    changes: Changes,
    folders: Folders,
    options: Options,
    space: Room,
    console: Console,
    *,
    tell: Callable[[str], None],
) -> Searched:
    """Go on with a study's search until it has made its trials.

    Raises InputError when another process is at it, or the journal is damaged or of other ranges;
    TrignerError when no trial came to an end.
    """
    wanted = study.search
    if wanted is None:
        raise study.source.error("declares no search")
    path = journal(study, corpus.name, protocol, folders)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Not `.lock`: that is the name of the lock that the journal takes for each of its writes.
        with FileLock(f"{path}.in-use", timeout=0):
            opened = _open(path)
            _same_ranges(opened, wanted, corpus, changes, path)
            _go_on(opened, study, protocol, corpus, changes, folders, options, space, console, tell)
            found = _standing(opened)
    except Timeout as error:
        raise InputError("another process is at this search", path=path) from error
    if found.best is None:
        raise TrignerError("no trial of the search came to an end")
    return found


def _go_on(
    opened: optuna.Study,
    study: Study,
    protocol: Protocol,
    corpus: Corpus,
    changes: Changes,
    folders: Folders,
    options: Options,
    space: Room,
    console: Console,
    tell: Callable[[str], None],
) -> None:
    import optuna
    from optuna.trial import TrialState

    wanted = study.search
    assert wanted is not None
    seed = (changes.seeds or study.seeds)[0]
    while True:
        left = opened.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
        pending = {t.number: dict(t.params) for t in left if set(t.params) == set(wanted.ranges)}
        for broken in left:
            if broken.number not in pending:  # killed while it was being asked for
                opened.tell(broken.number, state=TrialState.FAIL)
        made = len(opened.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)))
        failed = len(opened.get_trials(deepcopy=False, states=(TrialState.FAIL,)))
        if not pending and made + failed >= wanted.trials:
            return
        while len(pending) < space.jobs and made + failed + len(pending) < wanted.trials:
            # Seeded by what there is: a search of several sittings asks as one of a single would.
            so_far = len(opened.get_trials(deepcopy=False))
            opened.sampler = optuna.samplers.TPESampler(seed=wanted.seed + so_far)
            asked = opened.ask()
            pending[asked.number] = {
                name: _suggest(asked, name, values) for name, values in wanted.ranges.items()
            }
        numbers = list(pending)
        runs = [trial(study, protocol, changes, pending[n], seed) for n in numbers]

        note = partial(_note, opened, wanted, pending, numbers, tell)
        outcome = work_off(dev_scores, runs, corpus, folders, options, space, console, tell=note)
        for position in (*outcome.failed, *outcome.busy):
            opened.tell(numbers[position], state=TrialState.FAIL)


def _note(
    opened: optuna.Study,
    wanted: Search,
    pending: Mapping[int, Mapping[str, Any]],
    numbers: Sequence[int],
    tell: Callable[[str], None],
    position: int,
    scores: Mapping[str, float],
) -> None:
    """Tell Optuna and the user how a trial has ended."""
    number = numbers[position]
    opened.tell(number, scores[wanted.metric])
    told = ", ".join(f"{name}={value}" for name, value in pending[number].items())
    f1 = f"{100 * scores[wanted.metric]:.2f}"
    tell(f"trial {number + 1} of {wanted.trials}: dev {wanted.metric} F1 {f1} with {told}")


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
        raise InputError(f"is damaged: {error}; move it away to begin again", path=path) from error


def _same_ranges(
    opened: optuna.Study, wanted: Search, corpus: Corpus, changes: Changes, path: Path
) -> None:
    declared = {
        "search": wanted.model_dump(mode="json", exclude={"trials"}),
        "data": corpus.hashes,
        "changes": [changes.encoder, *changes.assignments],
    }
    before = opened.user_attrs.get("declared")
    if before is None:
        opened.set_user_attr("declared", declared)
    elif before != declared:
        raise InputError(
            "is of a search with other ranges, data or settings: move it away to begin again",
            path=path,
        )


def _standing(opened: optuna.Study) -> Searched:
    from optuna.trial import TrialState

    complete = opened.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    failed = len(opened.get_trials(deepcopy=False, states=(TrialState.FAIL,)))
    if not complete:
        return Searched(0, failed, None, None)
    best = max(complete, key=lambda t: (t.value or 0.0, -t.number))
    return Searched(len(complete), failed, dict(best.params), best.value)


def _suggest(asked: optuna.Trial, name: str, values: Range) -> Any:
    if values.choices is not None:
        return asked.suggest_categorical(name, values.choices)
    low, high, step = values.low, values.high, values.step
    if isinstance(low, int) and isinstance(high, int):
        return asked.suggest_int(name, low, high, log=values.log, step=int(step or 1))
    assert low is not None
    assert high is not None
    return asked.suggest_float(name, low, high, log=values.log, step=step)
