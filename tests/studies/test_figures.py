from __future__ import annotations

from trigner.evaluation import describe
from trigner.studies import protocol, runs
from trigner.studies.figures import gap_figure, score_figure
from trigner.studies.results import read_results
from trigner.studies.summary import gather, summarise


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


def test_gaps(corpus):
    assert "words in the gap" in gap_figure(describe(corpus.test))
