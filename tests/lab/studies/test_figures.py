from __future__ import annotations

import re
from dataclasses import replace

from study_results import result_of
from trigner.evaluation.statistics import describe
from trigner.lab.studies.figures import difference_figure, gap_figure, score_figure
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results
from trigner.lab.studies.summary import gather, summarise


def test_scores_over_an_axis_with_the_baseline(finished, corpus):
    study, results = finished
    systems = gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)
    summary = summarise("small", systems, ["control"])
    svg = score_figure(summary, "triplets.window")
    assert svg.startswith("<svg")
    assert svg.endswith("</svg>")
    for text in (">none<", ">5<", ">window<", ">control<", ">discontinuous entities<"):
        assert text in svg
    assert "http" not in svg.replace("http://www.w3.org", "").replace(
        "http://purl.org", ""
    ).replace("http://creativecommons.org", "").replace("https://matplotlib.org", "")
    assert score_figure(summary, "triplets.window") == svg
    assert score_figure(summary, "triplets.margin") == ""


def drawn(declare, corpus, tmp_path, axes, plot):
    """The texts of the figure over an axis, where all runs found the same."""
    study = declare(f"title: a\nseeds: [1]\naxes: {axes}\n")
    made = runs(study, protocol("full"))
    for run in made:
        result_of(run, corpus, tmp_path)
    systems = gather(made, read_results(tmp_path, "small"), corpus.hashes)
    return re.findall(r">([^<>]+)</text>", score_figure(summarise("small", systems, []), plot))


def test_a_line_has_the_values_of_the_other_axes(declare, corpus, tmp_path):
    axes = "{triplets.window: [5, 10], triplets.margin: [0.5, 1.0], model.lstm_size: [8]}"
    texts = drawn(declare, corpus, tmp_path, axes, "triplets.window")
    named = [text for text in texts if "=" in text]
    assert named == ["margin=0.5, lstm_size=8", "margin=1.0, lstm_size=8"] * 2


def test_an_axis_of_lists_is_drawn(declare, corpus, tmp_path):
    axes = "{sampling.conjunctions: [[and], [and, or]], sampling.coordination: [0.5]}"
    texts = drawn(declare, corpus, tmp_path, axes, "sampling.conjunctions")
    assert texts.count("['and', 'or']") == 2


def test_differences_from_a_baseline(finished, corpus):
    study, results = finished
    systems = gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)
    summary = summarise("small", systems, ["control"])
    svg = difference_figure(summary, "control")
    shown = re.findall(r">([^<>]+)</text>", svg)
    compared = list(dict.fromkeys(own.system for own in summary.comparisons))
    assert [text for text in shown if text in compared] == compared
    for text in (
        "points of F1 against control",
        "all entities",
        "discontinuous entities",
        "chosen by overall F1 on dev",
        "chosen by discontinuous F1 on dev",
    ):
        assert text in shown
    assert difference_figure(summary, "control") == svg
    assert difference_figure(summary, "another") == ""


def test_names_with_dollar_signs_are_no_formulas(finished, corpus):
    study, results = finished
    systems = gather(runs(study, protocol("full")), read_results(results, "small"), corpus.hashes)
    summary = summarise("small", systems, ["control"])
    tests = [replace(own, system="$\\a$", baseline="$\\b$") for own in summary.comparisons]
    svg = difference_figure(replace(summary, comparisons=tuple(tests)), "$\\b$")
    assert ">$\\a$</text>" in svg
    assert ">points of F1 against $\\b$</text>" in svg
    renamed = [
        replace(own, declared="_$\\a$") if own.point else replace(own, name="_$\\b$")
        for own in summary.systems
    ]
    known = replace(summary, systems=tuple(renamed), baselines=("_$\\b$",))
    svg = score_figure(known, "triplets.window")
    for name in ("_$\\a$", "_$\\b$"):
        assert f">{name}</text>" in svg


def test_gaps(corpus):
    assert "words in the gap" in gap_figure(describe(corpus.test))
