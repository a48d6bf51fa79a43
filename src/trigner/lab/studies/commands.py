"""The commands of a study: run it, show its status, write its report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from rich.console import Console

from trigner.corpora import PARTS
from trigner.errors import InputError, TrignerError
from trigner.evaluation import describe
from trigner.lab.studies.cases import cases_page, check_cases, chosen_cases
from trigner.lab.studies.context import StudyContext, log
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.grid import TrainingRun, check_axes, runs
from trigner.lab.studies.jobs import run_all
from trigner.lab.studies.prompted import PromptedComparison, compare_prompted
from trigner.lab.studies.report import make_report
from trigner.lab.studies.results import Result, find, read_results
from trigner.lab.studies.running import RECORD, read_run_record, run_job
from trigner.lab.studies.search import search, search_state
from trigner.lab.studies.store import corpora_with_runs
from trigner.lab.studies.summary import Summary, gather, summarise
from trigner.lab.studies.written import report_files
from trigner.machine import check_folder, explained, write_text
from trigner.training import check_trackers, flat


@dataclass(frozen=True)
class RunStatus:
    """A run: `done`, `started` (it will be resumed) or `to do`."""

    run: TrainingRun
    state: str
    result: Result | None


def seconds_left(statuses: Sequence[RunStatus]) -> float | None:
    """What the runs without a result take one after another, as far as finished ones tell.

    A run takes as long as those of its system with other seeds did on average, else as long as all
    did. None when no run is finished.
    """
    took: dict[str, list[float]] = {}
    for each in statuses:
        if each.result is not None:
            took.setdefault(each.run.system, []).append(each.result.seconds)
    if not took:
        return None
    overall = mean(mean(own) for own in took.values())
    means = {system: mean(own) for system, own in took.items()}
    return sum(means.get(e.run.system, overall) for e in statuses if e.result is None)


def study_runs(
    context: StudyContext, name: str, corpus: CorpusSplits | None = None
) -> list[TrainingRun]:
    """All runs on a corpus; with a search those of its best settings once its trials are made."""
    found = None
    if context.study.search is not None:
        state = search_state(context, name, _hashes(corpus))
        if len(state.tried) + state.failed >= context.study.search.trials:
            found = state.best
    return runs(context.study, context.protocol, context.changes, found=found)


def run_study(context: StudyContext, console: Console) -> None:
    """Do all runs that have no result yet.

    Raises TrignerError at the end when runs have failed; the others are done before.
    """
    if not context.locations:
        raise InputError("no corpus given: use --data DIR or --data NAME=DIR")
    check_trackers(context.report_to)
    # Wrong declarations are reported before any corpus is read.
    made = study_runs(context, context.locations[0].name)
    check_axes(context.study, context.changes, made)
    for folder in (context.work, context.results):
        check_folder(folder)
        with explained(folder):  # or every run would fail
            folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for location in context.locations:
        corpus = context.read(location, console)
        if context.study.search is not None:
            found = search(context, corpus, console)
            best = ", ".join(f"{name}={value}" for name, value in (found.best or {}).items())
            log(console, f"{corpus.name}: best on dev after {len(found.tried)} trials: {best}")
        failed += _run_missing(context, corpus, console)
    if failed:
        raise TrignerError(f"{failed} of the runs failed, see above; the others are done")


def _run_missing(context: StudyContext, corpus: CorpusSplits, console: Console) -> int:
    """Do the runs on a corpus that have no result; the number of those that failed."""
    wanted = study_runs(context, corpus.name, corpus)
    there = read_results(context.results, corpus.name)
    left: list[TrainingRun] = []
    for run in wanted:
        same = any(run.identity == other.identity for other in left)  # under another name
        if not same and find(there, run.identity, corpus.hashes) is None:
            left.append(run)
    log(
        console,
        f"{corpus.name}: {len(wanted)} runs, {len(left)} to do, {context.parallelism.jobs} at a"
        f" time; protocol {context.protocol.name}",
    )

    def on_done(position: int, result: Result) -> None:
        run, chosen = left[position], result.chosen["overall"]
        f1 = 100 * chosen.score("dev", "overall").f1
        split = 100 * chosen.score("dev", "discontinuous").f1
        log(
            console,
            f"{corpus.name}: {run.system}, seed {run.seed}: dev F1 {f1:.2f}"
            f" (discontinuous {split:.2f}), {result.seconds / 60:.1f} minutes",
        )

    results = run_all(run_job, left, corpus, context, console, on_done=on_done)
    if results.busy:
        log(console, f"{corpus.name}: {len(results.busy)} runs are in progress in another process")
    return len(results.failed)


def study_status(context: StudyContext, console: Console) -> dict[str, list[RunStatus]]:
    """The status of each run, by corpus."""
    found = {}
    for name, corpus in _corpora(context, console).items():
        there = _results(context, name, corpus)
        records = map(read_run_record, sorted((context.work / name).glob(f"*/{RECORD}")))
        started = [flat(record.get("settings") or {}) for record in records]
        statuses = []
        for run in study_runs(context, name, corpus):
            result = find(there, run.identity, _hashes(corpus))
            state = "done" if result else "started" if flat(run.identity) in started else "to do"
            statuses.append(RunStatus(run, state, result))
        found[name] = statuses
    return found


def write_report(
    context: StudyContext,
    out: Path,
    console: Console,
    *,
    cases: tuple[str, str] | None = None,
    texts: bool = True,
    prompted: Sequence[Path] = (),
) -> list[Path]:
    """Write the report of all results: Markdown, HTML and CSV; with the data also cases.

    `cases` are the two systems to show sentence by sentence; by default the first baseline
    and the best on dev. Without `texts` no file contains sentences of a corpus.
    `prompted` are folders of `trigner prompt`, whose answers are compared with the systems.
    Raises InputError when there is no result, for `cases` that cannot be shown, and for an `out`
    that cannot be a folder.
    """
    check_folder(out)
    check_cases(cases, data=bool(context.locations), texts=texts)
    corpora = _corpora(context, console)
    summaries = _summaries(context, corpora)
    if not summaries:
        raise InputError(f"{context.study.name} has no results yet", path=context.results)
    compared = _compare_prompted(corpora, summaries, prompted)
    report = make_report(
        context.study,
        context.protocol,
        summaries,
        {
            name: {part: describe(getattr(corpus, part)) for part in PARTS}
            for name, corpus in corpora.items()
            if corpus is not None
        },
        searches={
            name: search_state(context, name, _hashes(corpus)) for name, corpus in corpora.items()
        },
        prompted=compared,
    )
    files = report_files(report, summaries)
    for summary in summaries:
        corpus = corpora[summary.corpus]
        if corpus is None:
            log(console, f"{summary.corpus}: use --data to include its statistics and cases")
            continue
        chosen = chosen_cases(summary, cases)
        if chosen is not None and texts:
            files[f"cases-{summary.corpus}.html"] = cases_page(corpus, chosen)
    for number, each in enumerate(compared if texts else (), 1):
        files[f"language-models-{each.corpus}-{number}.html"] = each.page()
    for name, text in files.items():
        write_text(out / name, text)
    return [out / name for name in files]


def _summaries(context: StudyContext, corpora: Mapping[str, CorpusSplits | None]) -> list[Summary]:
    """The numbers of each corpus that has results."""
    found = []
    for name, corpus in corpora.items():
        there = _results(context, name, corpus)
        systems = gather(study_runs(context, name, corpus), there, _hashes(corpus))
        if any(system.results for system in systems):
            found.append(summarise(name, systems, context.study.report.baseline))
    return found


def _compare_prompted(
    corpora: Mapping[str, CorpusSplits | None],
    summaries: Sequence[Summary],
    folders: Sequence[Path],
) -> list[PromptedComparison]:
    if not folders:
        return []
    there = [corpus for corpus in corpora.values() if corpus is not None]
    if len(there) != 1:
        raise InputError("--prompted needs the one corpus of its answers: name it with --data")
    systems = [s for each in summaries if each.corpus == there[0].name for s in each.systems]
    return compare_prompted(there[0], systems, folders)


def _corpora(context: StudyContext, console: Console) -> dict[str, CorpusSplits | None]:
    """The corpora given; without any those that have results, unread.

    Raises InputError for wrong settings whether there are any or not.
    """
    runs(context.study, context.protocol, context.changes)
    if context.results.exists() and not context.results.is_dir():
        raise InputError("is not a folder: results of studies are in one", path=context.results)
    if context.locations:
        return {each.name: context.read(each, console) for each in context.locations}
    names = corpora_with_runs(context.results)
    return dict.fromkeys(n for n in names if context.study.corpus in (None, n))


def _results(context: StudyContext, name: str, corpus: CorpusSplits | None) -> list[Result]:
    """The results that may belong to the study; without the data those of its protocol."""
    there = read_results(context.results, name)
    return [r for r in there if corpus is not None or r.protocol == context.protocol.name]


def _hashes(corpus: CorpusSplits | None) -> dict[str, str] | None:
    """Of a corpus that was read."""
    return None if corpus is None else corpus.hashes
