from __future__ import annotations

from dataclasses import replace

import pytest

from study_results import result_of
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import Spread, gather, summarise


def test_mean_and_deviation():
    assert str(Spread((1.0, 2.0, 6.0))) == "3.00 ± 2.65"
    assert str(Spread((1.234,))) == "1.23"


def summary_of(study, results, corpus, baselines=("control",)):
    made = runs(study, protocol("full"))
    systems = gather(made, read_results(results, "small"), corpus.hashes)
    return summarise("small", systems, baselines)


def test_systems_in_order_with_a_test_against_the_baseline(finished, corpus):
    study, results = finished
    summary = summary_of(study, results, corpus)
    assert [s.name for s in summary.systems] == ["window=none", "window=5", "control"]
    none = summary.systems[0]
    spread = none.spread("overall", "test", "overall")
    assert spread.values == (pytest.approx(100 * 8 / 9), pytest.approx(100 * 8 / 9))
    assert {(c.system, c.chosen_by) for c in summary.comparisons} == {
        (name, by) for name in ("window=none", "window=5") for by in ("overall", "discontinuous")
    }
    compared = summary.comparisons[0]
    assert compared.seeds == (1, 2)
    assert compared.tests["overall"].difference == pytest.approx(8 / 9 - 4 / 7)
    assert summary.remarks == ()


def test_several_baselines_and_one_without_results(finished, corpus):
    summary = summary_of(*finished, corpus, ("control", "window=5", "other"))
    assert summary.baselines == ("control", "window=5")
    against = [(c.system, c.baseline) for c in summary.comparisons if c.chosen_by == "overall"]
    assert against == [
        ("window=none", "control"),
        ("window=5", "control"),
        ("window=none", "window=5"),
        ("control", "window=5"),
    ]
    there, back = (summary.comparisons[n].tests["overall"].difference for n in (1, 3))
    assert there == pytest.approx(-back)
    assert summary.remarks == ("other is left out here, so nothing is tested against it",)


def test_a_baseline_without_results_is_told(declare, corpus, tmp_path):
    study = declare()
    for run in runs(study, protocol("full")):
        if run.system != "control":
            result_of(run, corpus, tmp_path)
    remarks = summary_of(study, tmp_path, corpus).remarks
    assert "control has no results, so nothing is tested against it" in remarks


def test_a_system_at_several_points_is_a_baseline_at_each(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\nsystems: {with: , without: {triplets.weight: 0}}\n"
        "axes: {model.lstm_size: [8, 16]}\ncompared: {other: {triplets.margin: 2}}\n"
        "report: {baseline: without}\n"
    )
    for run in runs(study, protocol("full")):
        result_of(run, corpus, tmp_path, kept=1 if run.system == "with, lstm_size=8" else 3)
    summary = summary_of(study, tmp_path, corpus, study.report.baseline)
    found = {c.system: c for c in summary.comparisons if c.chosen_by == "overall"}
    assert set(found) == {"with, lstm_size=8", "with, lstm_size=16"}
    assert {c.baseline for c in found.values()} == {"without"}
    assert found["with, lstm_size=8"].tests["overall"].difference < 0
    assert found["with, lstm_size=16"].tests["overall"].difference == 0


def test_a_baseline_is_not_a_system_whose_name_begins_like_its(declare, corpus, tmp_path):
    study = declare(
        "title: a\nseeds: [1]\nsystems: {'own, raw': {triplets.margin: 2}, own: }\n"
        "axes: {model.lstm_size: [8, 16]}\nreport: {baseline: own}\n"
    )
    for run in runs(study, protocol("full")):
        result_of(run, corpus, tmp_path, kept=1 if run.declared == "own, raw" else 3)
    summary = summary_of(study, tmp_path, corpus, study.report.baseline)
    assert {c.system for c in summary.comparisons} == {
        "own, raw, lstm_size=8",
        "own, raw, lstm_size=16",
    }
    assert all(c.tests["overall"].difference < 0 for c in summary.comparisons)


def test_documents_in_another_order_are_not_compared(declare, corpus, tmp_path, refused):
    study = declare()
    turned = replace(corpus, test=corpus.test[::-1])
    for run in runs(study, protocol("full")):
        result_of(run, turned if run.system == "window=5" else corpus, tmp_path)
    with refused():
        summary_of(study, tmp_path, corpus)


def test_a_baseline_that_is_alone_is_there(declare, corpus, tmp_path):
    study = declare()
    for run in runs(study, protocol("full")):
        if run.system == "control":
            result_of(run, corpus, tmp_path)
    summary = summary_of(study, tmp_path, corpus)
    assert (summary.baselines, summary.comparisons) == (("control",), ())
    assert not any("has no results" in remark for remark in summary.remarks)


def test_what_is_uneven_is_told(declare, corpus, tmp_path):
    study = declare()
    first, second, control, *_ = runs(study, protocol("full"))
    result_of(first, corpus, tmp_path)
    made = result_of(second, corpus, tmp_path, models=["overall"])
    bare = replace(result_of(control, corpus, tmp_path), found=None, notes=("odd",))
    systems = gather(runs(study, protocol("full")), [made, bare], corpus.hashes)
    summary = summarise("small", systems, ["control"])
    told = "\n".join(summary.remarks)
    assert "window=none: 0 of 2 seeds have results" in told
    assert "without the model chosen by discontinuous F1: window=5-1-" in told
    assert "without predictions, so in no test: control-1-" in told
    assert told.endswith(": odd")
    assert all(not c.tests and not c.seeds for c in summary.comparisons)


def test_results_on_other_data_are_not_mixed(declare, corpus, tmp_path, refused):
    study = declare()
    first, second, *_ = runs(study, protocol("full"))
    one = result_of(first, corpus, tmp_path)
    other = replace(result_of(second, corpus, tmp_path), data={**corpus.hashes, "test": "0"})
    made = runs(study, protocol("full"))
    assert [len(s.results) for s in gather(made, [one, other], corpus.hashes)] == [1, 0, 0]
    with refused():
        gather(made, [one, other], None)
