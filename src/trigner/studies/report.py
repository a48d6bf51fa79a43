"""The report of a study: what it says, before it becomes Markdown, CSV or HTML.

Scores are those of the test part, in percent, as mean and deviation over seeds. A row never mixes
two models: those that overall F1 chose and those that discontinuous F1 chose have tables of their
own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trigner.evaluation import SLICES, Statistics
from trigner.studies.declaration import Study
from trigner.studies.figures import gap_figure, score_figure
from trigner.studies.prompted import Beside
from trigner.studies.protocols import Protocol
from trigner.studies.published import CORPORA, PublishedRow, Rates, published
from trigner.studies.results import CHOSEN_BY
from trigner.studies.summary import RATES, Compared, Spread, Summary

SLICE_NAMES = dict(zip(SLICES, ("overall", "DiscSent", "DiscEnt"), strict=True))
"""As the paper calls them: sentences with a discontinuous entity, discontinuous entities alone."""

RATE_NAMES = dict(zip(RATES, ("F1", "P", "R"), strict=True))
NOTHING = "–"


@dataclass(frozen=True)
class Table:
    """Cells as text; `**` around one marks the best of its column."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Figure:
    """An SVG element and what it shows."""

    title: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A heading with what stands under it, in this order."""

    title: str
    paragraphs: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    remarks: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Report:
    """All of a report."""

    title: str
    about: tuple[str, ...]
    sections: tuple[Section, ...]


def make_report(
    study: Study,
    protocol: Protocol,
    summaries: Sequence[Summary],
    statistics: Mapping[str, Mapping[str, Statistics]],
    prompted: Sequence[Beside] = (),
) -> Report:
    """What a study has found on each corpus; `statistics` are by corpus and part."""
    about = [study.about] if study.about else []
    about.append(
        f"Protocol: {protocol.about.rstrip('.')}. Scores of the test part in percent, mean ±"
        " deviation over seeds; the epoch is chosen on dev."
    )
    sections = [_beside(study, summaries)]
    for summary in summaries:
        sections += _of_corpus(study, summary, statistics.get(summary.corpus, {}))
    sections += map(_prompted, prompted)
    return Report(study.title, tuple(about), tuple(s for s in sections if s is not None))


def _beside(study: Study, summaries: Sequence[Summary]) -> Section | None:
    """The paper's table: published numbers, and ours in the columns before them."""
    if study.report.published is None:
        return None
    known = published(study.report.published)
    theirs = [
        (corpus, slice_)
        for corpus in CORPORA
        for slice_ in SLICES
        if any(slice_ in row.scores.get(corpus, {}) for row in known.rows)
    ]
    slices = [slice_ for slice_ in SLICES if any(found == slice_ for _, found in theirs)]
    columns = ["system"]
    columns += [_column(f"ours: {s.corpus}", slice_) for s in summaries for slice_ in slices]
    columns += [_column(CORPORA[corpus], slice_) for corpus, slice_ in theirs]
    rows = []
    matched = set()
    for row in known.rows:
        chosen_by = row.chosen_by or CHOSEN_BY[0]
        matched.add((row.ours, chosen_by))
        rows.append(
            (
                row.system,
                *_ours(row.ours, chosen_by, summaries, slices),
                *(_rate(row, corpus, slice_) for corpus, slice_ in theirs),
            )
        )
    names = dict.fromkeys(system.name for summary in summaries for system in summary.systems)
    for name in names:
        if (name, CHOSEN_BY[0]) not in matched:
            cells = _ours(name, CHOSEN_BY[0], summaries, slices)
            rows.append((f"ours: {name}", *cells, *(NOTHING for _ in theirs)))
    note = " ".join(filter(None, [known.about, known.source]))
    table = Table("F1, published and ours", tuple(columns), tuple(rows), note)
    return Section("Beside the published numbers", tables=(table,))


def _column(corpus: str, slice_: str) -> str:
    return corpus if slice_ == SLICES[0] else f"{corpus} {SLICE_NAMES[slice_]}"


def _rate(row: PublishedRow, corpus: str, slice_: str) -> str:
    rates: Rates | None = row.scores.get(corpus, {}).get(slice_)
    return NOTHING if rates is None else f"{rates.f1:.2f}"


def _ours(
    name: str | None, chosen_by: str, summaries: Sequence[Summary], slices: Sequence[str]
) -> list[str]:
    cells = []
    for summary in summaries:
        system = next((s for s in summary.systems if s.name == name), None)
        for slice_ in slices:
            spread = None if system is None else system.spread(chosen_by, "test", slice_)
            cells.append(NOTHING if spread is None else str(spread))
    return cells


def _of_corpus(
    study: Study, summary: Summary, statistics: Mapping[str, Statistics]
) -> list[Section | None]:
    tables = [_complete(summary, chosen_by) for chosen_by in CHOSEN_BY]
    figures = []
    if study.report.plot is not None and (svg := score_figure(summary, study.report.plot)):
        figures.append(Figure("Test F1, error bars: deviation over seeds", svg))
    shown = tuple(table for table in (*tables, _on_dev(summary)) if table.rows)
    scores = Section(f"{summary.corpus}: scores", (), shown, tuple(figures))
    tests = None
    if any(compared.tests for compared in summary.comparisons):
        told = (
            "Each system less a baseline, in points of F1, with the 95 % interval of the paired"
            " bootstrap, its p value and that of approximate randomisation (10,000"
            " resamples of the test sentences each, two-sided, mean over the seeds that both have)."
            " They tell how sure a difference is on other sentences, not with other seeds:"
            " the deviations above do that.",
        )
        compared = (_tests(summary, b, by) for b in summary.baselines for by in CHOSEN_BY)
        with_rows = tuple(table for table in compared if table.rows)
        tests = Section(f"{summary.corpus}: significance", told, with_rows)
    return [scores, tests, _described(summary.corpus, statistics), _runs(summary)]


def _complete(summary: Summary, chosen_by: str) -> Table:
    systems = [s for s in summary.systems if s.with_model(chosen_by)]
    columns = ["system", "seeds"]
    columns += [f"{SLICE_NAMES[s]} {RATE_NAMES[r]}" for s in SLICES for r in RATES]
    cells = [
        [system.spread(chosen_by, "test", slice_, rate) for slice_ in SLICES for rate in RATES]
        for system in systems
    ]
    rows = [
        (system.name, str(len(system.with_model(chosen_by))), *shown)
        for system, shown in zip(systems, _with_best(cells), strict=True)
    ]
    title = f"Test, models chosen by {chosen_by} F1 on dev"
    return Table(title, tuple(columns), tuple(rows))


def _with_best(cells: Sequence[Sequence[Spread | None]]) -> list[list[str]]:
    """Spreads as text, the highest mean of each column marked."""
    shown = [[NOTHING if spread is None else str(spread) for spread in row] for row in cells]
    for column in range(len(cells[0]) if cells else 0):
        means = [row[column].mean if row[column] else 0.0 for row in cells]  # type: ignore[union-attr]
        if max(means) > min(means):
            for row, mean in zip(shown, means, strict=True):
                if mean == max(means):
                    row[column] = f"**{row[column]}**"
    return shown


def _on_dev(summary: Summary) -> Table:
    rows = []
    for system in summary.systems:
        cells = [
            system.spread(chosen_by, "dev", slice_)
            for chosen_by in CHOSEN_BY
            for slice_ in ("overall", "discontinuous")
        ]
        if any(cells):
            rows.append((system.name, *(NOTHING if c is None else str(c) for c in cells)))
    columns = [
        f"by {chosen_by}: {SLICE_NAMES[slice_]}"
        for chosen_by in CHOSEN_BY
        for slice_ in ("overall", "discontinuous")
    ]
    return Table("Dev F1, by what chose the model", ("system", *columns), tuple(rows))


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
    return Table(title, tuple(columns), tuple(rows))


def _tested(compared: Compared) -> list[str]:
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


def _prompted(beside: Beside) -> Section:
    columns = ["system", "seeds"]
    columns += [f"{SLICE_NAMES[s]} {RATE_NAMES[r]}" for s in SLICES for r in RATES]
    found = list(beside.spreads())
    cells = _with_best([spreads for _, _, spreads in found])
    rows = tuple(
        (name, str(seeds) if seeds else NOTHING, *shown)
        for (name, seeds, _), shown in zip(found, cells, strict=True)
    )
    asked = len(beside.gold)
    title = f"On the {asked:,} of {beside.total:,} test sentences that were asked about"
    note = (
        f"Entities of the type {' or '.join(beside.types)}. Indices of language models repaired by"
    )
    note += " the texts they name (repair `text`)."
    table = Table(title, tuple(columns), rows, note)
    return Section(f"{beside.corpus}: beside language models", tables=(table,))


def _described(corpus: str, statistics: Mapping[str, Statistics]) -> Section | None:
    if not statistics:
        return None
    rows: dict[str, list[str]] = {}

    def add(name: str, value: object) -> None:
        told = NOTHING if value is None else value if isinstance(value, str) else f"{value:,}"
        rows.setdefault(name, []).append(told)

    for part in statistics.values():
        whole, split = part.overall.continuous, part.overall.discontinuous
        add("documents", part.documents)
        add("sentences", part.sentences)
        add("entities", part.overall.entities)
        add("continuous entities", whole.n)
        add("their tokens", _range(whole.tokens))
        add("discontinuous entities", split.n)
        add("their share", f"{split.share:.1%}")
        add("their tokens ", _range(split.tokens))
        add("their start-end distance", _range(split.extent))
    table = Table(
        "Data statistics",
        ("", *statistics),
        tuple((name, *cells) for name, cells in rows.items()),
        "As the protocol takes the training part." if "train" in statistics else "",
    )
    figures = [
        Figure(f"Token gaps of discontinuous entities, {part}", gap_figure(found))
        for part, found in statistics.items()
        if found.overall.discontinuous.n
    ]
    return Section(f"{corpus}: data", (), (table,), tuple(figures))


def _range(found: tuple[int, int] | None) -> str | None:
    return None if found is None else f"{found[0]}–{found[1]}"


def _runs(summary: Summary) -> Section:
    rows = []
    for system in summary.systems:
        for result in system.results:
            epochs = "/".join(
                str(result.chosen[name].epoch or NOTHING) if name in result.chosen else NOTHING
                for name in CHOSEN_BY
            )
            rows.append(
                (
                    system.name,
                    str(result.seed),
                    f"{epochs} of {result.epochs or NOTHING}",
                    f"{result.parameters / 1e6:.1f}",
                    f"{result.seconds / 60:.1f}",
                    result.device,
                    f"`{result.signature}`",
                )
            )
    columns = ("system", "seed", "epochs chosen", "parameters (M)", "minutes", "on", "signature")
    note = "Epochs chosen by overall / discontinuous F1 on dev."
    table = Table("Runs", columns, tuple(rows), note)
    return Section(f"{summary.corpus}: runs", (), (table,), (), summary.remarks)
