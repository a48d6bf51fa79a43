"""A report as files: Markdown, one self-contained HTML page, and CSV of every number."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from pandas import DataFrame

from trigner.corpora import PARTS
from trigner.evaluation import SLICES
from trigner.lab.studies.layout import Report
from trigner.lab.studies.summary import RATES, SCORED_PARTS, Summary
from trigner.rendering import html_page


def report_files(report: Report, summaries: Sequence[Summary]) -> dict[str, str]:
    """The text of each file by its name; figures also as files that Markdown can show."""
    scores = score_frame(summaries)
    frames = {
        "runs.csv": scores,
        "summary.csv": summary_frame(scores),
        "significance.csv": significance_frame(summaries),
    }
    return {
        "report.md": as_markdown(report),
        "report.html": as_page(report),
        **{n: f.round(6).to_csv(index=False, lineterminator="\n") for n, f in frames.items()},
        **{f"{f.name}.svg": f"{f.svg}\n" for section in report.sections for f in section.figures},
    }


def as_markdown(report: Report) -> str:
    """The report, its figures linked as files of their names in the same folder."""
    return _templates().get_template("report.md.jinja").render(report=report).rstrip() + "\n"


def as_page(report: Report) -> str:
    """The report as one HTML file that loads nothing and runs nothing."""
    style = files("trigner.lab.studies").joinpath("templates/report.css").read_text("utf-8")
    body = _templates().get_template("report.html.jinja").render(report=report)
    return html_page(report.title, body, style=style, inline_styles=True)


def score_frame(summaries: Sequence[Summary]) -> DataFrame:
    """A row for each run, model, part and slice, with counts and the hashes of all data."""
    rows = [
        {
            **{"corpus": summary.corpus, "system": system.name, "seed": result.seed},
            **{"chosen_by": chosen_by, "epoch": chosen.epoch, "part": part, "slice": slice_},
            **{"f1": score.f1, "precision": score.precision, "recall": score.recall},
            **{"correct": score.correct, "predicted": score.predicted, "gold": score.gold},
            "signature": result.signature,
            **{f"{name}_data": result.data[name] for name in PARTS},
        }
        for summary in summaries
        for system in summary.systems
        for result in system.results
        for chosen_by, chosen in result.chosen.items()
        for part in SCORED_PARTS
        for slice_ in SLICES
        for score in [chosen.score(part, slice_)]
    ]
    return DataFrame(rows).astype({"epoch": "Int64"})  # a run may lack it


def summary_frame(scores: DataFrame) -> DataFrame:
    """A row for each system, model, part, slice and rate: percent over seeds."""
    keys = ["corpus", "system", "chosen_by", "part", "slice"]
    rates = scores.melt(keys, list(RATES), "rate", "percent", ignore_index=False)
    rates["percent"] *= 100
    by_system = rates.sort_index(kind="stable").groupby([*keys, "rate"], sort=False)["percent"]
    return by_system.agg(mean="mean", deviation="std", seeds="count").reset_index()


def significance_frame(summaries: Sequence[Summary]) -> DataFrame:
    """A row for each system, baseline, model and slice: F1 on test, differences in points."""
    columns = ["corpus", "system", "baseline", "chosen_by", "slice", "seeds"]
    columns += ["difference", "low", "high", "p_bootstrap", "p_randomisation"]
    rows = [
        (summary.corpus, each.system, each.baseline, each.chosen_by, slice_, len(each.seeds))
        + (100 * test.difference, 100 * test.low, 100 * test.high)
        + (test.p_bootstrap, test.p_randomisation)
        for summary in summaries
        for each in summary.comparisons
        for slice_, test in each.tests.items()
    ]
    return DataFrame(rows, columns=columns)


def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("trigner.lab.studies"),
        autoescape=lambda name: name == "report.html.jinja",  # noqa: S701 - the others are no HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["inline"] = _inline
    return templates


def _inline(text: str) -> Markup:
    """Markdown's bold and code within a line, as HTML."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(text)))
    return Markup(re.sub(r"`(.+?)`", r"<code>\1</code>", bold))  # noqa: S704 - escaped above
