"""A report as files: Markdown, one self-contained HTML page, and CSV of every number."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterable, Sequence
from importlib.resources import files
from itertools import product

from trigner.evaluation import SLICES
from trigner.studies.corpus import PARTS as DATA
from trigner.studies.layout import Report, Section, Table
from trigner.studies.results import CHOSEN_BY
from trigner.studies.summary import PARTS, RATES, Summary

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def as_markdown(report: Report) -> str:
    """The report, its figures linked as files of their names beside it."""
    lines = [f"# {report.title}", ""]
    for paragraph in report.about:
        lines += [paragraph, ""]
    for section in report.sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.paragraphs:
            lines += [paragraph, ""]
        for table in section.tables:
            lines += [*_markdown_table(table), ""]
        for figure in section.figures:
            lines += [f"![{figure.title}]({figure.name}.svg)", "", f"*{figure.title}.*", ""]
        lines += [f"- {remark}" for remark in section.remarks]
        if section.remarks:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def figure_files(report: Report) -> dict[str, str]:
    """The figures as files that Markdown can show."""
    figures = (figure for section in report.sections for figure in section.figures)
    return {f"{figure.name}.svg": f"{figure.svg}\n" for figure in figures}


def as_page(report: Report) -> str:
    """The report as one HTML file that loads nothing and runs nothing."""
    style = files("trigner.studies").joinpath("report.css").read_text("utf-8")
    body = [f"<h1>{html.escape(report.title)}</h1>"]
    body += [f"<p>{_inline(paragraph)}</p>" for paragraph in report.about]
    body += [_section(section) for section in report.sections]
    return _PAGE.format(title=html.escape(report.title), style=style, body="\n".join(body))


def runs_csv(summaries: Iterable[Summary]) -> str:
    """A line for each run, model, part and slice, with counts and the hashes of all data."""
    header = ["corpus", "system", "seed", "chosen_by", "epoch", "part", "slice"]
    header += ["f1", "precision", "recall", "correct", "predicted", "gold", "signature"]
    header += [f"{part}_data" for part in DATA]
    rows: list[Sequence[object]] = [header]
    for summary in summaries:
        for system in summary.systems:
            for result in system.results:
                data = [result.data[part] for part in DATA]
                for chosen_by, chosen in result.chosen.items():
                    for part in PARTS:
                        for slice_ in SLICES:
                            found = chosen.score(part, slice_)
                            rates = (found.f1, found.precision, found.recall)
                            counts = (found.correct, found.predicted, found.gold)
                            where = (summary.corpus, system.name, result.seed, chosen_by)
                            what = (chosen.epoch, part, slice_)
                            signed = (result.signature, *data)
                            rows.append((*where, *what, *rates, *counts, *signed))
    return _csv(rows)


def summary_csv(summaries: Iterable[Summary]) -> str:
    """A line for each system, model, part, slice and rate, in percent."""
    header = ["corpus", "system", "chosen_by", "part", "slice", "rate", "mean", "deviation"]
    rows: list[Sequence[object]] = [[*header, "seeds"]]
    for summary in summaries:
        for system in summary.systems:
            for what in product(CHOSEN_BY, PARTS, SLICES, RATES):
                spread = system.spread(*what)
                if spread is not None:
                    numbers = (spread.mean, spread.deviation, len(spread.values))
                    rows.append((summary.corpus, system.name, *what, *numbers))
    return _csv(rows)


def significance_csv(summaries: Iterable[Summary]) -> str:
    """A line for each system, baseline, model and slice: F1 on test, differences in points."""
    header = ["corpus", "system", "baseline", "chosen_by", "slice", "seeds"]
    header += ["difference", "low", "high", "p_bootstrap", "p_randomisation"]
    rows: list[Sequence[object]] = [header]
    for summary in summaries:
        for compared in summary.comparisons:
            where = (summary.corpus, compared.system, compared.baseline, compared.chosen_by)
            for slice_, test in compared.tests.items():
                points = (100 * value for value in (test.difference, test.low, test.high))
                ps = (test.p_bootstrap, test.p_randomisation)
                rows.append((*where, slice_, len(compared.seeds), *points, *ps))
    return _csv(rows)


def _csv(rows: Iterable[Sequence[object]]) -> str:
    held = io.StringIO()
    csv.writer(held, lineterminator="\n").writerows(
        [round(c, 6) if isinstance(c, float) else c for c in row] for row in rows
    )
    return held.getvalue()


def _markdown_table(table: Table) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    rules = ["---", *("---" if table.prose else "---:" for _ in table.columns[1:])]
    lines = [f"**{table.title}**", "", line(table.columns), line(rules), *map(line, table.rows)]
    return [*lines, "", table.note] if table.note else lines


def _section(section: Section) -> str:
    parts = [f"<h2>{html.escape(section.title)}</h2>"]
    parts += [f"<p>{_inline(paragraph)}</p>" for paragraph in section.paragraphs]
    parts += [_table(table) for table in section.tables]
    if section.figures:
        parts.append('<div class="figures">')
        parts += [
            f"<figure>{figure.svg}<figcaption>{html.escape(figure.title)}</figcaption></figure>"
            for figure in section.figures
        ]
        parts.append("</div>")
    if section.remarks:
        remarks = "".join(f"<li>{_inline(remark)}</li>" for remark in section.remarks)
        parts.append(f'<ul class="remarks">{remarks}</ul>')
    return f"<section>{''.join(parts)}</section>"


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in table.columns)
    rows = "".join(
        f'<tr><th scope="row">{_inline(row[0])}</th>'
        f"{''.join(f'<td>{_inline(cell)}</td>' for cell in row[1:])}</tr>"
        for row in table.rows
    )
    note = f'<p class="note">{_inline(table.note)}</p>' if table.note else ""
    kind = ' class="prose"' if table.prose else ""
    return (
        f"<h3>{html.escape(table.title)}</h3>"
        f'<div class="wide"><table{kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )


def _inline(text: str) -> str:
    """Markdown's bold and code within a line."""
    shown = html.escape(text)
    shown = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", shown)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", shown)
