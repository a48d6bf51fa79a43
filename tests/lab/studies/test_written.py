from __future__ import annotations

import csv
import io

from pandas import DataFrame

from trigner.lab.studies.grid import runs
from trigner.lab.studies.layout import Figure, Report, Section, Table
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import gather, summarise
from trigner.lab.studies.written import as_markdown, as_page, report_files

CELLS = DataFrame({"a": ["x|y", "<i>"], "b": ["**1.00**", "`sig:1|2`"]})
REPORT = Report(
    "Title & more",
    ("About it.",),
    (
        Section(
            "One",
            ("Told.",),
            (
                Table(
                    "T", DataFrame({"a": ["x|y", "<i>"], "b": ["**1.00**", "`sig:1|2`"]}), "Note."
                ),
            ),
            (Figure("gaps", "Drawn", "<svg><text>7</text></svg>"),),
            ("a remark",),
        ),
    ),
)


def test_markdown():
    text = as_markdown(REPORT)
    assert text.startswith("# Title & more\n\nAbout it.\n\n## One\n\nTold.\n\n**T**\n\n| a | b |\n")
    assert "| --- | ---: |\n| x\\|y | **1.00** |\n" in text
    assert text.endswith("Note.\n\n![Drawn](gaps.svg)\n\n*Drawn.*\n\n- a remark\n")


def test_prose_is_not_lined_up_as_numbers_are():
    table = Table("T", DataFrame({"a": ["x"], "b": ["much to read"]}), prose=True)
    report = Report("R", (), (Section("One", (), (table,)),))
    assert "| --- | --- |" in as_markdown(report)
    assert '<table class="prose">' in as_page(report)


def test_the_page_holds_everything_and_loads_nothing():
    page = as_page(REPORT)
    assert "<title>Title &amp; more</title>" in page
    assert "<strong>1.00</strong>" in page
    assert "&lt;i&gt;" in page
    assert "<code>sig:1|2</code>" in page
    assert "<svg><text>7</text></svg><figcaption>Drawn" in page
    assert "<li>a remark</li>" in page
    assert "src=" not in page
    assert "href=" not in page
    assert "default-src 'none'" in page


def test_numbers_as_csv(finished, corpus):
    study, results = finished
    systems = gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)
    summary = summarise("small", systems, ["control"])
    files = report_files(REPORT, [summary])
    assert files["gaps.svg"] == "<svg><text>7</text></svg>\n"
    rows = list(csv.DictReader(io.StringIO(files["runs.csv"])))
    assert len(rows) == 6 * 2 * 2 * 3
    assert rows[0]["system"] == "window=none"
    assert {row["part"] for row in rows} == {"dev", "test"}
    hashes = {f"{part}_data": digest for part, digest in corpus.hashes.items()}
    assert all(row.items() >= hashes.items() for row in rows)
    table = list(csv.DictReader(io.StringIO(files["summary.csv"])))
    assert len(table) == 3 * 2 * 2 * 3 * 3
    tested = list(csv.DictReader(io.StringIO(files["significance.csv"])))
    assert len(tested) == 2 * 2 * 3
    assert {row["baseline"] for row in tested} == {"control"}
    assert all(0 <= float(row["p_bootstrap"]) <= 1 for row in tested)
