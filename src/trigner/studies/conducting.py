"""The three things done with a study: run it, see how far it is, report what it has found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from trigner.atomic_files import write_text
from trigner.errors import InputError, TrignerError
from trigner.evaluation import Statistics, describe
from trigner.rendering import differences_page
from trigner.studies.corpus import Corpus, Place, read_corpus
from trigner.studies.declaration import Study
from trigner.studies.grid import Changes, Run, runs
from trigner.studies.jobs import Room, work_off
from trigner.studies.predictions import read_found
from trigner.studies.prompted import Beside, beside
from trigner.studies.protocols import Protocol
from trigner.studies.report import make_report
from trigner.studies.results import Result, find, flat, read_results
from trigner.studies.running import RECORD, Folders, Making, Options, begun
from trigner.studies.search import Searched, search, standing
from trigner.studies.summary import Summary, System, gather, summarise
from trigner.studies.written import (
    as_markdown,
    as_page,
    figure_files,
    runs_csv,
    significance_csv,
    summary_csv,
)
from trigner.training.trainer import check_trackers

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Setup:
    """A study with what the command line adds: corpora, protocol, changes and folders."""

    study: Study
    protocol: Protocol
    places: tuple[Place, ...]
    changes: Changes
    folders: Folders
    format: str | None = None
    skip_bad: bool = False

    def corpus(self, place: Place, tell: Tell) -> Corpus:
        """The corpus at a place; what its readers have to say is told."""
        corpus = read_corpus(
            place,
            self.protocol,
            types=self.study.types,
            format=self.format,
            skip_bad=self.skip_bad,
        )
        for notice in corpus.notices:
            tell(str(notice))
        return corpus

    def searched(self, name: str, corpus: Corpus | None) -> Searched:
        """How far the search on a corpus has come."""
        hashes = None if corpus is None else corpus.hashes
        return standing(self.study, name, self.protocol, self.changes, self.folders, hashes)

    def runs(self, name: str, corpus: Corpus | None = None) -> list[Run]:
        """All runs on a corpus; those of the search's best settings once it has made its trials."""
        found = None
        if self.study.search is not None:
            state = self.searched(name, corpus)
            if len(state.tried) + state.failed >= self.study.search.trials:
                found = state.best
        return runs(self.study, self.protocol, self.changes, found=found)


@dataclass(frozen=True)
class Standing:
    """A run: `done`, `begun` (it will be gone on with) or `to do`."""

    run: Run
    state: str
    result: Result | None


def conduct(setup: Setup, options: Options, space: Room, console: Console, tell: Tell) -> None:
    """Make all runs that are not there yet.

    Raises TrignerError at the end when runs have failed; the others are made before.
    """
    if not setup.places:
        raise InputError("say where the corpus lies: --data DIR, or --data NAME=DIR")
    check_trackers(options.report_to)
    # A declaration that cannot be is told before anything is read.
    setup.runs(setup.places[0].name)
    failed = 0
    for place in setup.places:
        corpus = setup.corpus(place, tell)
        if setup.study.search is not None:
            found = search(
                setup.study,
                setup.protocol,
                corpus,
                setup.changes,
                setup.folders,
                options,
                space,
                console,
                tell=tell,
            )
            told = ", ".join(f"{name}={value}" for name, value in (found.best or {}).items())
            tell(f"{corpus.name}: best on dev after {len(found.tried)} trials: {told}")
        failed += _make(setup, corpus, options, space, console, tell)
    if failed:
        raise TrignerError(f"{failed} of the runs failed, see above; the others are done")


def _make(
    setup: Setup, corpus: Corpus, options: Options, space: Room, console: Console, tell: Tell
) -> int:
    """Make the runs on a corpus that are not there; how many have failed."""
    wanted = setup.runs(corpus.name, corpus)
    there = read_results(setup.folders.results, corpus.name)
    left = _distinct(run for run in wanted if find(there, run.identity, corpus.hashes) is None)
    tell(
        f"{corpus.name}: {len(wanted)} runs, {len(left)} to do, {space.jobs} at a time;"
        f" protocol {setup.protocol.name}"
    )

    def note(position: int, result: Result) -> None:
        run, chosen = left[position], result.chosen["overall"]
        f1 = 100 * chosen.score("dev", "overall").f1
        split = 100 * chosen.score("dev", "discontinuous").f1
        tell(
            f"{corpus.name}: {run.system}, seed {run.seed}: dev F1 {f1:.2f}"
            f" (discontinuous {split:.2f}), {result.seconds / 60:.1f} minutes"
        )

    making = Making(setup.protocol.name)
    outcome = work_off(making, left, corpus, setup.folders, options, space, console, tell=note)
    if outcome.busy:
        tell(f"{corpus.name}: {len(outcome.busy)} runs are at work in another process")
    return len(outcome.failed)


def _distinct(wanted: Iterable[Run]) -> list[Run]:
    """Runs without those that are the same under another name."""
    seen: list[dict[str, Any]] = []
    kept = []
    for run in wanted:
        if run.identity not in seen:
            seen.append(run.identity)
            kept.append(run)
    return kept


def stand(setup: Setup, tell: Tell) -> dict[str, list[Standing]]:
    """How far each run is, by corpus."""
    found = {}
    for name, data in _corpora(setup, tell).items():
        there = _results(setup, name, data)
        at_work = _begun(setup.folders.work / name)
        standings = []
        for run in setup.runs(name, data):
            result = find(there, run.identity, None if data is None else data.hashes)
            state = "to do"
            if result is not None:
                state = "done"
            elif any(settings == flat(run.identity) for settings in at_work):
                state = "begun"
            standings.append(Standing(run, state, result))
        found[name] = standings
    return found


def summaries(setup: Setup, corpora: Mapping[str, Corpus | None]) -> list[Summary]:
    """The numbers of each corpus that has results."""
    found = []
    for name, corpus in corpora.items():
        there = _results(setup, name, corpus)
        hashes = None if corpus is None else corpus.hashes
        systems = gather(setup.runs(name, corpus), there, hashes)
        if any(system.results for system in systems):
            found.append(summarise(name, systems, setup.study.report.baseline))
    return found


def report(
    setup: Setup,
    out: Path,
    tell: Tell,
    *,
    cases: tuple[str, str] | None = None,
    texts: bool = True,
    prompted: Sequence[Path] = (),
) -> list[Path]:
    """Write the report of what is there: Markdown, HTML and CSV; with the data also cases.

    `cases` are the two systems to be shown sentence by sentence; by default the first baseline
    and the best on dev. Without `texts` nothing is written that holds sentences of a corpus.
    `prompted` are folders of `trigner prompt`, whose answers are scored beside
    the systems. Raises InputError when there is no result.
    """
    corpora = _corpora(setup, tell)
    found = summaries(setup, corpora)
    if not found:
        raise InputError(f"{setup.study.name} has no results yet", path=setup.folders.results)
    statistics = {name: _statistics(c) for name, c in corpora.items() if c is not None}
    compared = _beside(corpora, found, prompted)
    searches = {name: setup.searched(name, c) for name, c in corpora.items()}
    written = make_report(
        setup.study, setup.protocol, found, statistics, searches=searches, prompted=compared
    )
    pages = {
        "report.md": as_markdown(written),
        "report.html": as_page(written),
        "runs.csv": runs_csv(found),
        "summary.csv": summary_csv(found),
        "significance.csv": significance_csv(found),
        **figure_files(written),
    }
    for summary in found:
        corpus = corpora[summary.corpus]
        if corpus is None:
            tell(f"{summary.corpus}: for its statistics and cases give --data")
            continue
        pair = _pair(summary, cases)
        if pair is not None and texts:
            pages[f"cases-{summary.corpus}.html"] = _cases(corpus, *pair)
    for number, each in enumerate(compared if texts else (), 1):
        pages[f"language-models-{each.corpus}-{number}.html"] = each.page()
    for name, text in pages.items():
        write_text(out / name, text)
    return [out / name for name in pages]


def _beside(
    corpora: Mapping[str, Corpus | None], summaries: Sequence[Summary], folders: Sequence[Path]
) -> list[Beside]:
    if not folders:
        return []
    there = [corpus for corpus in corpora.values() if corpus is not None]
    if len(there) != 1:
        raise InputError("answers of language models are of one corpus: name it with --data")
    systems = [
        s for summary in summaries if summary.corpus == there[0].name for s in summary.systems
    ]
    return beside(there[0], systems, folders)


def _corpora(setup: Setup, tell: Tell) -> dict[str, Corpus | None]:
    """The corpora given; without any those that results are on, unread."""
    if setup.places:
        return {place.name: setup.corpus(place, tell) for place in setup.places}
    folder = setup.folders.results
    names = (
        sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    )
    return dict.fromkeys(n for n in names if setup.study.corpus in (None, n))


def _results(setup: Setup, name: str, corpus: Corpus | None) -> list[Result]:
    """The results that may belong to the study; without the data the protocol tells them apart."""
    there = read_results(setup.folders.results, name)
    return [r for r in there if corpus is not None or r.protocol == setup.protocol.name]


def _begun(folder: Path) -> list[dict[str, Any]]:
    records = (begun(path) for path in sorted(folder.glob(f"*/{RECORD}")))
    return [flat(record.get("settings") or {}) for record in records]


def _statistics(corpus: Corpus) -> dict[str, Statistics]:
    parts = {"train": corpus.train, "dev": corpus.dev, "test": corpus.test}
    return {name: describe(documents) for name, documents in parts.items()}


def _pair(summary: Summary, cases: tuple[str, str] | None) -> tuple[Result, Result] | None:
    """Results of one seed of two systems that both have predictions."""
    able = {s.name: s for s in summary.systems if any(r.found for r in s.results)}
    if cases is not None:
        if unknown := [name for name in cases if name not in able]:
            told = ", ".join(able) or "no system has any"
            raise InputError(f"no predictions of a system {unknown[0]!r} are kept, only: {told}")
        return _of_one_seed(able[cases[0]], able[cases[1]])
    first = next((able[name] for name in (*summary.baselines, *able) if name in able), None)
    others = [system for system in able.values() if system is not first]
    if first is None or not others:
        return None
    best = max(others, key=_dev_f1)
    return _of_one_seed(first, best)


def _dev_f1(system: System) -> float:
    spread = system.spread("overall", "dev", "overall")
    return 0.0 if spread is None else spread.mean


def _of_one_seed(first: System, second: System) -> tuple[Result, Result] | None:
    by_seed = {result.seed: result for result in second.results if result.found}
    for result in first.results:
        if result.found and result.seed in by_seed:
            return result, by_seed[result.seed]
    return None


def _cases(corpus: Corpus, first: Result, second: Result) -> str:
    """Both systems as of one seed, the models chosen by overall F1."""
    shown = {}
    for result in (first, second):
        if result.path is not None and result.found is not None:
            found = read_found(result.path.with_name(result.found))["overall"]
            shown[result.system] = found.on(corpus.test)
    title = f"{first.system} and {second.system} on {corpus.name}, test, seed {first.seed}"
    return differences_page(corpus.test, shown, title=title)
