from __future__ import annotations

from dataclasses import replace

import pytest

from study_results import result_of
from trigner.evaluation.statistics import describe
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.report import make_report
from trigner.lab.studies.results import read_results
from trigner.lab.studies.search import SearchState
from trigner.lab.studies.summary import gather, summarise


def report_of(study, there, corpus, baselines=(), statistics=None, **further):
    """The report of a study from these results."""
    systems = gather(runs(study, protocol("full")), there, corpus.hashes)
    summary = summarise("small", systems, baselines)
    return make_report(study, protocol("full"), [summary], statistics or {}, **further)


@pytest.fixture
def tables(finished, corpus):
    study, results = finished
    statistics = {"small": {"test": describe(corpus.test)}}
    report = report_of(study, read_results(results, "small"), corpus, ["control"], statistics)
    assert [section.title for section in report.sections] == [
        "Systems",
        "Compared with published numbers",
        "small: scores",
        "small: significance",
        "small: data",
        "small: runs",
    ]
    (figure,) = report.sections[2].figures
    assert figure.name == "window-small"
    assert figure.title.endswith("broken line: control, in grey its deviation")
    (figure,) = report.sections[3].figures
    assert figure.name == "differences-1-small"
    assert figure.title.startswith("Test F1 less that of control")
    return {table.title: table for section in report.sections for table in section.tables}


def test_what_systems_set(tables):
    rows = dict(tables["Settings that differ from the preset clean"].rows)
    assert rows["window=5"] == "`triplets.window=5`"
    assert rows["window=none"] == "`triplets.window=none`"
    assert rows["control"] == "`triplets.weight=0.0`"


def test_what_a_search_found_is_told_of_each_corpus(finished, corpus):
    study, results = finished
    made = runs(study, protocol("full"))
    systems = gather(made, read_results(results, "small"), corpus.hashes)
    wider = [replace(s, settings={**s.settings, "model.lstm_size": 9}) for s in systems[:1]]
    summaries = [summarise("one", systems, []), summarise("two", [*wider, *systems[1:]], [])]
    report = make_report(study, protocol("full"), summaries, {})
    rows = dict(report.sections[0].tables[0].rows)
    assert set(rows) == {"window=none (one)", "window=none (two)", "window=5", "control"}
    assert "model.lstm_size=9" in rows["window=none (two)"]


def test_another_scheme_sets_nothing_else(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\nsystems:\n  corro: {system: corro}\n"
        "  mac: {system: mac, model.mac.span_size: 96}\n"
    )
    for run in runs(study, protocol("full")):
        result_of(run, corpus, tmp_path)
    report = report_of(study, read_results(tmp_path, "small"), corpus)
    ((corro, of_corro), (mac, of_mac)) = report.sections[0].tables[0].rows
    assert (corro, mac) == ("corro", "mac")
    assert of_corro == "`system=corro`"
    assert of_mac == "`system=mac`, `model.mac.span_size=96`"


def test_models_chosen_in_two_ways_have_tables_of_their_own(tables):
    for chosen_by in ("overall", "discontinuous"):
        table = tables[f"Test, models chosen by {chosen_by} F1 on dev"]
        assert table.columns[2:5] == ["overall F1", "overall P", "overall R"]
        assert len(table.columns) == 11
        rows = {row[0]: row for row in table.rows}
        assert rows["window=5"][:3] == ("window=5", "2", "**88.89 ± 0.00**")
        assert rows["control"][2] == "57.14 ± 0.00"
        assert rows["control"][3] == "100.00 ± 0.00"  # all alike: none is best


def test_differences_have_an_interval_and_two_p_values(tables):
    table = tables["Against control, models chosen by overall F1"]
    row = table.rows[0]
    assert row[:2] == ("window=none", "2")
    assert row[2].startswith("+31.75 [")
    assert float(row[3].removeprefix("< ")) <= 1


def test_statistics_and_signatures(tables):
    rows = {row[0]: row[1] for row in tables["Data statistics"].rows}
    assert (rows["entities"], rows["discontinuous entities"]) == ("5", "3")
    runs_table = tables["Runs"]
    assert len(runs_table.rows) == 6
    assert all(row[-1].startswith("`data:") for row in runs_table.rows)
    assert runs_table.rows[0][2] == "1/1 of 2"


def test_what_was_not_kept_has_no_empty_table(declare, corpus, tmp_path):
    study = declare()
    for run in runs(study, protocol("full"))[:3]:
        result_of(run, corpus, tmp_path, models=["overall"])
    there = [replace(r, found=None) for r in read_results(tmp_path, "small")]
    report = report_of(study, there, corpus, ["control"])
    assert [section.title for section in report.sections] == [
        "Systems",
        "Compared with published numbers",
        "small: scores",
        "small: runs",
    ]
    titles = [table.title for table in report.sections[2].tables]
    assert titles == ["Test, models chosen by overall F1 on dev", "Dev F1, by what chose the model"]


def test_of_fewer_seeds_none_is_the_best(declare, corpus, tmp_path):
    study = declare()
    for run in runs(study, protocol("full")):
        if run.seed == 1 or run.system != "window=5":
            result_of(run, corpus, tmp_path, kept=3 if run.system == "window=5" else 1)
    report = report_of(study, read_results(tmp_path, "small"), corpus, ["control"])
    table = report.sections[2].tables[0]
    rows = {row[0]: row for row in table.rows}
    assert rows["window=5"][1] == "1 of 2"
    assert not any("**" in cell for row in table.rows for cell in row)
    assert table.note == "Bold: the best of those with most seeds."


def test_the_best_trials_of_a_search(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\ncompared: {control: {triplets.weight: 0}}\n"
        "search: {trials: 12, ranges: {triplets.window: {choices: [none, 5]}}}\n"
    )
    for run in runs(study, protocol("full")):
        result_of(run, corpus, tmp_path)
    tried = tuple(({"triplets.window": None if n else 5}, 0.5 - n / 100) for n in range(11))
    searches = {"small": SearchState(tried, failed=1)}
    report = report_of(study, read_results(tmp_path, "small"), corpus, searches=searches)
    (section,) = (s for s in report.sections if s.title == "small: search")
    assert section.paragraphs == ("11 trials, 1 more failed, each scored on dev alone.",)
    (table,) = section.tables
    assert table.columns == ["", "dev F1", "triplets.window"]
    assert table.rows[:2] == [("1", "50.00", "5"), ("2", "49.00", "none")]
    assert len(table.rows) == 10
