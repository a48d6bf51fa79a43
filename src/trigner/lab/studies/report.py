"""The report of a study: what it says, before it becomes Markdown, CSV or HTML.

Scores are those of the test part, in percent, as mean and deviation over seeds. A row never mixes
two models: those that overall F1 chose and those that discontinuous F1 chose have tables of their
own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from pandas import DataFrame

from trigner.evaluation import SLICES, Statistics
from trigner.lab.studies.declaration import Study
from trigner.lab.studies.figures import difference_figure, gap_figure, score_figure
from trigner.lab.studies.grid import START, TrainingRun
from trigner.lab.studies.layout import (
    NOTHING,
    SLICE_NAMES,
    Figure,
    Report,
    Section,
    Table,
    cells_of,
    score_table,
)
from trigner.lab.studies.paper_tables import published_section
from trigner.lab.studies.prompted import PromptedComparison
from trigner.lab.studies.protocols import Protocol
from trigner.lab.studies.results import CHOSEN_BY, Result
from trigner.lab.studies.search import SearchState
from trigner.lab.studies.summary import RATES, BaselineTest, Summary
from trigner.training import flat, resolve

SHOWN_TRIALS = 10


def make_report(
    study: Study,
    protocol: Protocol,
    summaries: Sequence[Summary],
    statistics: Mapping[str, Mapping[str, Statistics]],
    *,
    searches: Mapping[str, SearchState] | None = None,
    prompted: Sequence[PromptedComparison] = (),
) -> Report:
    """What a study has found on each corpus.

    `statistics` are by corpus and part, `searches` by corpus.
    """
    about = [study.about] if study.about else []
    about.append(
        f"Protocol: {protocol.about.rstrip('.')}. Scores of the test part in percent, mean ±"
        " deviation over seeds; the epoch is chosen on dev."
    )
    sections: list[Section | None] = [_compared_systems(summaries)]
    if study.report.published is not None:
        sections.append(published_section(study.report.published, summaries))
    for summary in summaries:
        sections.append(_search(summary.corpus, (searches or {}).get(summary.corpus)))
        sections += _of_corpus(study, summary, statistics.get(summary.corpus, {}))
    sections += map(_prompted, prompted)
    return Report(study.title, tuple(about), tuple(s for s in sections if s is not None))


def _compared_systems(summaries: Sequence[Summary]) -> Section:
    """The settings of each system that differ from the preset that studies start from."""
    by_corpus: dict[str, dict[str, dict[str, Any]]] = {}
    for summary, system in ((each, s) for each in summaries for s in each.systems):
        clean = _start(system.settings["system"])
        by_corpus.setdefault(system.name, {})[summary.corpus] = {
            name: value for name, value in system.settings.items() if value != clean.get(name)
        }
    own: dict[str, dict[str, Any]] = {}
    for name, found in by_corpus.items():
        first, *others = found.values()
        if all(other == first for other in others):
            own[name] = first
        else:  # what a search has found on each
            own |= {f"{name} ({corpus})": settings for corpus, settings in found.items()}
    shared = {
        name: value
        for name, value in next(iter(own.values()), {}).items()
        if len(own) > 1 and all(name in o and o[name] == value for o in own.values())
    }
    rows = [
        (name, _listed({n: v for n, v in settings.items() if n not in shared}) or NOTHING)
        for name, settings in own.items()
    ]
    common = f"In addition, all have {_listed(shared)}." if shared else ""
    title = f"Settings that differ from the preset {START}"
    table = Table(title, cells_of(rows, ["system", "settings"]), prose=True)
    return Section("Systems", tuple(filter(None, [common])), (table,))


def _start(system: str) -> dict[str, Any]:
    """The settings that a study's run of a system has where the study says nothing."""
    settings = resolve(preset=START, options={"system": system})
    run = TrainingRun(START, {}, settings.seed, settings)
    return {**flat(settings.as_json()), **run.identity, "system": None}  # which system is said


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={_written(value)}`" for name, value in settings.items())


def _written(value: Any) -> str:
    """A value as `--set` takes it."""
    shown = json.dumps(value)
    return "none" if value is None else value if isinstance(value, str) else shown


def _search(corpus: str, found: SearchState | None) -> Section | None:
    if found is None or not found.tried:
        return None
    rows = [
        {
            "": str(rank),
            "dev F1": f"{100 * f1:.2f}",
            **{name: _written(value) for name, value in settings.items()},
        }
        for rank, (settings, f1) in enumerate(found.tried[:SHOWN_TRIALS], 1)
    ]
    counts = f"{len(found.tried)} trials, {found.failed} more failed, each scored on dev alone."
    table = Table(f"The best {len(rows)} trials", cells_of(rows))
    return Section(f"{corpus}: search", (counts,), (table,))


def _of_corpus(
    study: Study, summary: Summary, statistics: Mapping[str, Statistics]
) -> list[Section | None]:
    tables = [_complete(summary, chosen_by) for chosen_by in CHOSEN_BY]
    figures = []
    axis = study.report.plot
    if axis is not None and (svg := score_figure(summary, axis)):
        caption = "Test F1 of the models chosen by overall F1 on dev; bars: deviation over seeds"
        if base := [s.name for s in summary.systems if s.name in summary.baselines[:1]]:
            caption += f"; broken line: {base[0]}, in grey its deviation"
        figures.append(Figure(f"{axis.rpartition('.')[2]}-{summary.corpus}", caption, svg))
    shown = tuple(table for table in (*tables, _on_dev(summary)) if not table.cells.empty)
    scores = Section(f"{summary.corpus}: scores", (), shown, tuple(figures))
    tests = None
    if any(compared.tests for compared in summary.comparisons):
        about = (
            "Each system less a baseline, in points of F1, with the 95 % interval of the paired"
            " bootstrap, its p value and that of approximate randomisation (10,000"
            " resamples of the test sentences each, two-sided, mean over the seeds that both have)."
            " They show how certain a difference is on other sentences, not with other seeds:"
            " for those see the deviations above.",
        )
        compared = (_tests(summary, b, by) for b in summary.baselines for by in CHOSEN_BY)
        with_rows = tuple(table for table in compared if not table.cells.empty)
        tests = Section(f"{summary.corpus}: significance", about, with_rows, _differences(summary))
    return [scores, tests, _described(summary.corpus, statistics), _runs(summary)]


def _differences(summary: Summary) -> tuple[Figure, ...]:
    """A figure for each baseline, numbered: files cannot have every name that a system can."""
    return tuple(
        Figure(
            f"differences-{number}-{summary.corpus}",
            f"Test F1 less that of {baseline}, with the 95 % interval of the paired bootstrap",
            svg,
        )
        for number, baseline in enumerate(summary.baselines, 1)
        if (svg := difference_figure(summary, baseline))
    )


def _complete(summary: Summary, chosen_by: str) -> Table:
    systems = [s for s in summary.systems if s.with_model(chosen_by)]
    seeds = [len(system.with_model(chosen_by)) for system in systems]
    return score_table(
        f"Test, models chosen by {chosen_by} F1 on dev",
        [(s.name, _seeds(n, s.wanted)) for s, n in zip(systems, seeds, strict=True)],
        [[s.spread(chosen_by, "test", *what) for what in product(SLICES, RATES)] for s in systems],
        [number == max(seeds) for number in seeds],
        "Bold: the best of those with most seeds." if len(set(seeds)) > 1 else "",
    )


def _seeds(there: int, wanted: int) -> str:
    return str(there) if there == wanted else f"{there} of {wanted}"


def _on_dev(summary: Summary) -> Table:
    slices = ("overall", "discontinuous")
    rows = [
        {
            "system": system.name,
            **{
                f"by {chosen_by}: {SLICE_NAMES[slice_]}": system.spread(chosen_by, "dev", slice_)
                for chosen_by, slice_ in product(CHOSEN_BY, slices)
            },
        }
        for system in summary.systems
        if system.results
    ]
    return Table("Dev F1, by what chose the model", cells_of(rows))


def _tests(summary: Summary, baseline: str, chosen_by: str) -> Table:
    columns = ["system", "seeds"]
    for slice_ in SLICES:
        name = SLICE_NAMES[slice_]
        columns += [f"{name}: difference", "p, boot.", "p, rand."]
    rows = [
        (compared.system, str(len(compared.seeds)), *_tested(compared))
        for compared in summary.comparisons
        if (compared.baseline, compared.chosen_by) == (baseline, chosen_by) and compared.tests
    ]
    title = f"Against {baseline}, models chosen by {chosen_by} F1"
    return Table(title, cells_of(rows, columns))


def _tested(compared: BaselineTest) -> list[str]:
    cells = []
    for slice_ in SLICES:
        test = compared.tests.get(slice_)
        if test is None:
            cells += [NOTHING] * 3
            continue
        low, high = 100 * test.low, 100 * test.high
        cells.append(f"{100 * test.difference:+.2f} [{low:+.2f}, {high:+.2f}]")
        cells += [_p(test.p_bootstrap), _p(test.p_randomisation)]
    return cells


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _prompted(compared: PromptedComparison) -> Section:
    found = list(compared.spreads())
    most = max(seeds for _, seeds, _ in found)
    table = score_table(
        f"On the {len(compared.gold):,} of {compared.total:,} test sentences that were asked about",
        [(name, str(seeds) if seeds else NOTHING) for name, seeds, _ in found],
        [spreads for _, _, spreads in found],
        # A language model is asked once, and always gives the same answer.
        [seeds in (0, most) for _, seeds, _ in found],
        f"Entities of the type {' or '.join(compared.types)}. Indices of language models repaired"
        " by the texts they name (repair `text`).",
    )
    return Section(f"{compared.corpus}: compared with language models", tables=(table,))


def _described(corpus: str, statistics: Mapping[str, Statistics]) -> Section | None:
    if not statistics:
        return None
    cells = DataFrame({name: _counts(part) for name, part in statistics.items()}, dtype=object)
    table = Table(
        "Data statistics",
        cells_of(cells.rename_axis("").reset_index().to_dict("records")),
        "The training part is what the protocol takes of it." if "train" in statistics else "",
    )
    figures = [
        Figure(
            f"gaps-{corpus}-{part}",
            f"Token gaps of discontinuous entities, {part}",
            gap_figure(found),
        )
        for part, found in statistics.items()
        if found.overall.discontinuous.n
    ]
    return Section(f"{corpus}: data", (), (table,), tuple(figures))


def _counts(part: Statistics) -> dict[str, str | None]:
    whole, split = part.overall.continuous, part.overall.discontinuous
    return {
        "documents": f"{part.documents:,}",
        "sentences": f"{part.sentences:,}",
        "entities": f"{part.overall.entities:,}",
        "continuous entities": f"{whole.n:,}",
        "their tokens": _range(whole.tokens),
        "discontinuous entities": f"{split.n:,}",
        "their share": f"{split.share:.1%}",
        "their tokens ": _range(split.tokens),
        "their start-end distance": _range(split.extent),
    }


def _range(found: tuple[int, int] | None) -> str | None:
    return None if found is None else f"{found[0]}–{found[1]}"


def _runs(summary: Summary) -> Section:
    rows = [
        {
            "system": system.name,
            "seed": result.seed,
            "epochs chosen": f"{_epochs(result)} of {result.epochs or NOTHING}",
            "parameters (M)": f"{result.parameters / 1e6:.1f}",
            "minutes": f"{result.seconds / 60:.1f}",
            "on": result.device,
            "signature": f"`{result.signature}`",
        }
        for system in summary.systems
        for result in system.results
    ]
    table = Table("Runs", cells_of(rows), "Epochs chosen by overall / discontinuous F1 on dev.")
    # A signature is of the part that scores are counted on; the other parts decide them, too.
    data = next(iter(summary.results)).data
    hashes = ", ".join(f"{part} `{digest[:16]}`" for part, digest in data.items())
    used = f"Hashes of the documents that all runs used: {hashes}."
    return Section(f"{summary.corpus}: runs", (used,), (table,), (), summary.remarks)


def _epochs(result: Result) -> str:
    chosen = [result.chosen.get(name) for name in CHOSEN_BY]
    return "/".join(str((each and each.epoch) or NOTHING) for each in chosen)
