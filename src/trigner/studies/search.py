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
from trigner.training.records import differences

if TYPE_CHECKING:
    import optuna

DECLARED = "declared"
"""The attribute of Optuna's study that says what its trials are of."""


@dataclass(frozen=True)
class Searched:
    """Where a search stands: settings with their dev F1, best first, and how many trials failed."""

    tried: tuple[tuple[Mapping[str, Any], float], ...] = ()
    failed: int = 0

    @property
    def best(self) -> Mapping[str, Any] | None:
        """The settings with the highest dev F1 so far."""
        return self.tried[0][0] if self.tried else None


def journal(study: Study, corpus: str, protocol: Protocol, folders: Folders) -> Path:
    """The file that a search writes down its trials in."""
    return folders.results / corpus / f"{study.name}-{protocol.name}.journal"


def standing(
    study: Study,
    corpus: str,
    protocol: Protocol,
    changes: Changes,
    folders: Folders,
    data: Mapping[str, str] | None = None,
) -> Searched:
    """How far a search has come, without going on with it.

    `data` are the hashes of the corpus, if it was read. Raises InputError when the journal is
    damaged, or of other ranges, settings or data.
    """
    path = journal(study, corpus, protocol, folders)
    if study.search is None or not path.exists():
        return Searched()
    opened = _open(path)
    _the_same(opened, study, protocol, changes, data, path)
    return _standing(opened)


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

    Raises InputError when another process is at it, or the journal is damaged or of other ranges,
    settings or data; TrignerError when no trial came to an end.
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
            if DECLARED not in opened.user_attrs:
                declared = _declared(study, protocol, changes)
                opened.set_user_attr(DECLARED, {**declared, "data": corpus.hashes})
            _the_same(opened, study, protocol, changes, corpus.hashes, path)
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


def _declared(study: Study, protocol: Protocol, changes: Changes) -> dict[str, Any]:
    """What all trials of a search have in common; the ranges are there by their first values."""
    assert study.search is not None
    ranges = study.search.ranges
    first = {name: r.low if r.choices is None else r.choices[0] for name, r in ranges.items()}
    common = trial(study, protocol, changes, first, (changes.seeds or study.seeds)[0])
    return {
        "search": study.search.model_dump(mode="json", exclude={"trials"}),
        "settings": common.identity,
    }


def _the_same(
    opened: optuna.Study,
    study: Study,
    protocol: Protocol,
    changes: Changes,
    data: Mapping[str, str] | None,
    path: Path,
) -> None:
    """Raises InputError for a journal of a search that asks for something else."""
    before = opened.user_attrs.get(DECLARED, {})
    now = {**_declared(study, protocol, changes), "data": data or before.get("data")}
    if before != now:
        told = ", ".join(sorted(differences(before, now)))
        raise InputError(
            f"is of a search with other {told}: give what it was run with, or move it away to begin"
            " again",
            path=path,
        )


def _standing(opened: optuna.Study) -> Searched:
    from optuna.trial import TrialState

    complete = opened.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
    failed = len(opened.get_trials(deepcopy=False, states=(TrialState.FAIL,)))
    complete.sort(key=lambda t: (-(t.value or 0.0), t.number))
    return Searched(tuple((dict(t.params), t.value or 0.0) for t in complete), failed)


def _suggest(asked: optuna.Trial, name: str, values: Range) -> Any:
    if values.choices is not None:
        return asked.suggest_categorical(name, values.choices)
    low, high, step = values.low, values.high, values.step
    if isinstance(low, int) and isinstance(high, int):
        return asked.suggest_int(name, low, high, log=values.log, step=int(step or 1))
    assert low is not None
    assert high is not None
    return asked.suggest_float(name, low, high, log=values.log, step=step)
