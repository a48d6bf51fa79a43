"""The report of a study: what it says, before it becomes Markdown, CSV or HTML.

Scores are those of the test part, in percent, as mean and deviation over seeds. A row never mixes
two models: those that overall F1 chose and those that discontinuous F1 chose have tables of their
own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trigner.evaluation import SLICES, Statistics
from trigner.studies.declaration import Study
from trigner.studies.figures import gap_figure, score_figure
from trigner.studies.grid import START, identity
from trigner.studies.prompted import Beside
from trigner.studies.protocols import Protocol
from trigner.studies.published import CORPORA, PublishedRow, PublishedTable, Rates, published
from trigner.studies.results import CHOSEN_BY, flat
from trigner.studies.search import Searched
from trigner.studies.summary import RATES, Compared, Spread, Summary
from trigner.training import resolve

SLICE_NAMES = dict(zip(SLICES, ("overall", "DiscSent", "DiscEnt"), strict=True))
"""As the paper calls them: sentences with a discontinuous entity, discontinuous entities alone."""

RATE_NAMES = dict(zip(RATES, ("F1", "P", "R"), strict=True))
NOTHING = "–"
SHOWN_TRIALS = 10


@dataclass(frozen=True)
class Table:
    """Cells as text; `**` around one marks the best of its column.

    `prose` says that cells hold words to be read, not numbers to be compared.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    prose: bool = False


@dataclass(frozen=True)
class Figure:
    """An SVG element, what it shows, and what a file of it may be called."""

    name: str
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
    *,
    searches: Mapping[str, Searched] | None = None,
    prompted: Sequence[Beside] = (),
) -> Report:
    """What a study has found on each corpus.

    `statistics` are by corpus and part, `searches` by corpus.
    """
    about = [study.about] if study.about else []
    about.append(
        f"Protocol: {protocol.about.rstrip('.')}. Scores of the test part in percent, mean ±"
        " deviation over seeds; the epoch is chosen on dev."
    )
    sections = [_compared_systems(summaries), _beside(study, summaries)]
    for summary in summaries:
        sections.append(_search(summary.corpus, (searches or {}).get(summary.corpus)))
        sections += _of_corpus(study, summary, statistics.get(summary.corpus, {}))
    sections += map(_prompted, prompted)
    return Report(study.title, tuple(about), tuple(s for s in sections if s is not None))


def _compared_systems(summaries: Sequence[Summary]) -> Section:
    """What each system sets otherwise than the preset that studies start from."""
    clean = flat(identity(resolve(preset=START), None))
    own = {
        system.name: {
            name: value
            for name, value in system.settings.items()
            if value != clean.get(name) and not name.startswith("revisions.")
        }
        for summary in summaries
        for system in summary.systems
    }
    shared = {
        name: value
        for name, value in next(iter(own.values()), {}).items()
        if len(own) > 1 and all(name in o and o[name] == value for o in own.values())
    }
    rows = tuple(
        (name, _listed({n: v for n, v in settings.items() if n not in shared}) or NOTHING)
        for name, settings in own.items()
    )
    told = f"Beside what is listed, all have {_listed(shared)}." if shared else ""
    title = f"Settings other than those of the preset {START}"
    table = Table(title, ("system", "settings"), rows, prose=True)
    return Section("Systems", tuple(filter(None, [told])), (table,))


def _listed(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}={_written(value)}`" for name, value in settings.items())


def _written(value: Any) -> str:
    """A value as `--set` takes it."""
    shown = json.dumps(value)
    return "none" if value is None else value if isinstance(value, str) else shown


def _search(corpus: str, found: Searched | None) -> Section | None:
    if found is None or not found.tried:
        return None
    names = list(found.tried[0][0])
    rows = tuple(
        (str(place), f"{100 * f1:.2f}", *(_written(settings[name]) for name in names))
        for place, (settings, f1) in enumerate(found.tried[:SHOWN_TRIALS], 1)
    )
    told = f"{len(found.tried)} trials, {found.failed} more failed, each scored on dev alone."
    title = f"The best {len(rows)} trials"
    return Section(f"{corpus}: search", (told,), (Table(title, ("", "dev F1", *names), rows),))


def _beside(study: Study, summaries: Sequence[Summary]) -> Section | None:
    """The paper's tables: published numbers, and ours in the columns before them."""
    if study.report.published is None:
        return None
    known = published(study.report.published)
    tables = [_published(known, summaries, rate) for rate in RATES]
    note = " ".join(filter(None, [known.about, known.source]))
    shown = tuple(table for table in tables if table is not None)
    return Section("Beside the published numbers", (note,), shown)


def _published(known: PublishedTable, summaries: Sequence[Summary], rate: str) -> Table | None:
    """One rate, published and ours; None where it is published nowhere."""
    theirs = [
        (corpus, slice_)
        for corpus in CORPORA
        for slice_ in SLICES
        if any(_rate(row, corpus, slice_, rate) != NOTHING for row in known.rows)
    ]
    if not theirs:
        return None
    slices = [slice_ for slice_ in SLICES if any(found == slice_ for _, found in theirs)]
    columns = ["system"]
    columns += [_column(f"ours: {s.corpus}", slice_) for s in summaries for slice_ in slices]
    columns += [_column(CORPORA[corpus], slice_) for corpus, slice_ in theirs]
    names = dict.fromkeys(system.name for summary in summaries for system in summary.systems)
    rows = []
    matched = set()
    for row in known.rows:
        chosen_by = row.chosen_by or CHOSEN_BY[0]
        name = next((name for name in row.ours if name in names), None)
        matched.add((name, chosen_by))
        cells = [_rate(row, corpus, slice_, rate) for corpus, slice_ in theirs]
        rows.append((row.system, *_ours(name, chosen_by, summaries, slices, rate), *cells))
    for name in names:
        if not any((name, chosen_by) in matched for chosen_by in CHOSEN_BY):
            ours = _ours(name, CHOSEN_BY[0], summaries, slices, rate)
            rows.append((f"ours: {name}", *ours, *(NOTHING for _ in theirs)))
    return Table(f"{RATE_NAMES[rate]}, published and ours", tuple(columns), tuple(rows))


def _column(corpus: str, slice_: str) -> str:
    return corpus if slice_ == SLICES[0] else f"{corpus} {SLICE_NAMES[slice_]}"


def _rate(row: PublishedRow, corpus: str, slice_: str, rate: str) -> str:
    rates: Rates | None = row.scores.get(corpus, {}).get(slice_)
    value = None if rates is None else getattr(rates, rate)
    return NOTHING if value is None else f"{value:.2f}"


def _ours(
    name: str | None,
    chosen_by: str,
    summaries: Sequence[Summary],
    slices: Sequence[str],
    rate: str,
) -> list[str]:
    cells = []
    for summary in summaries:
        system = next((s for s in summary.systems if s.name == name), None)
        for slice_ in slices:
            spread = None if system is None else system.spread(chosen_by, "test", slice_, rate)
            cells.append(NOTHING if spread is None else str(spread))
    return cells


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
    seeds = [len(system.with_model(chosen_by)) for system in systems]
    marked = _with_best(cells, [number == max(seeds) for number in seeds])
    rows = [
        (system.name, _seeds(number, system.wanted), *shown)
        for system, number, shown in zip(systems, seeds, marked, strict=True)
    ]
    title = f"Test, models chosen by {chosen_by} F1 on dev"
    note = "Bold: the best of those with most seeds." if len(set(seeds)) > 1 else ""
    return Table(title, tuple(columns), tuple(rows), note)


def _seeds(there: int, wanted: int) -> str:
    return str(there) if there == wanted else f"{there} of {wanted}"


def _with_best(
    cells: Sequence[Sequence[Spread | None]], comparable: Sequence[bool]
) -> list[list[str]]:
    """Spreads as text, the highest mean of each column marked, if it is of a comparable row."""
    shown = [[NOTHING if spread is None else str(spread) for spread in row] for row in cells]
    for column in range(len(cells[0]) if cells else 0):
        means = {
            number: spread.mean
            for number, row in enumerate(cells)
            if comparable[number] and (spread := row[column]) is not None
        }
        best = max(means.values(), default=0.0)
        for number, mean in means.items():
            if mean == best > min(means.values()):
                shown[number][column] = f"**{shown[number][column]}**"
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
    most = max(seeds for _, seeds, _ in found)
    # A language model is asked once, and always answers the same.
    comparable = [seeds in (0, most) for _, seeds, _ in found]
    cells = _with_best([spreads for _, _, spreads in found], comparable)
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
        Figure(
            f"gaps-{corpus}-{part}",
            f"Token gaps of discontinuous entities, {part}",
            gap_figure(found),
        )
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
    # A signature is of the part that scores are counted on; the other parts decide them, too.
    data = next(iter(summary.results)).data
    hashes = ", ".join(f"{part} `{digest[:16]}`" for part, digest in data.items())
    told = f"Hashes of the documents that all runs had: {hashes}."
    return Section(f"{summary.corpus}: runs", (told,), (table,), (), summary.remarks)
