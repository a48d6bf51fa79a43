"""The paper's tables: published numbers, and ours in the columns before them."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.evaluation import SLICES
from trigner.lab.studies.layout import NOTHING, RATE_NAMES, SLICE_NAMES, Section, Table, cells_of
from trigner.lab.studies.published import (
    CORPORA,
    PublishedRates,
    PublishedRow,
    PublishedTable,
    published,
)
from trigner.lab.studies.results import CHOSEN_BY
from trigner.lab.studies.summary import RATES, Summary


def published_section(name: str, summaries: Sequence[Summary]) -> Section:
    """The tables of a rate each. Raises InputError for an unknown one."""
    known = published(name)
    tables = [_published(known, summaries, rate) for rate in RATES]
    note = " ".join(filter(None, [known.about, known.source]))
    shown = tuple(table for table in tables if table is not None)
    return Section("Compared with published numbers", (note,), shown)


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
    return Table(f"{RATE_NAMES[rate]}, published and ours", cells_of(rows, columns))


def _column(corpus: str, slice_: str) -> str:
    return corpus if slice_ == SLICES[0] else f"{corpus} {SLICE_NAMES[slice_]}"


def _rate(row: PublishedRow, corpus: str, slice_: str, rate: str) -> str:
    rates: PublishedRates | None = row.scores.get(corpus, {}).get(slice_)
    value = None if rates is None else getattr(rates, rate)
    return NOTHING if value is None else f"{value:.2f}"


def _ours(
    name: str | None,
    chosen_by: str,
    summaries: Sequence[Summary],
    slices: Sequence[str],
    rate: str,
) -> list[str]:
    found = [next((s for s in each.systems if s.name == name), None) for each in summaries]
    spreads = [s and s.spread(chosen_by, "test", slice_, rate) for s in found for slice_ in slices]
    return [NOTHING if spread is None else str(spread) for spread in spreads]
