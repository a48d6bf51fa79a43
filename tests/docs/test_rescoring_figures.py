"""The page on rescoring: its rows are what `research/benchmarks/rescoring.py` kept."""

from __future__ import annotations

import json

import pytest

from kept_runs import ROOT

PAGE = (ROOT / "docs/decisions/rescoring.md").read_text("utf-8")
KEPT = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((ROOT / "docs/results/rescoring").glob("*.json"))
}


def mean(models, *path):
    """The mean of a figure of all models, in percent."""
    values = []
    for found in models:
        for name in path:
            found = found[name]
        values.append(100 * found)
    return sum(values) / len(values)


def f1(models, name):
    slices = ("overall", "discontinuous")
    return " / ".join(f"{mean(models, name, own, 'f1'):.1f}" for own in slices)


def difference(own):
    values = [100 * own[name] for name in ("difference", "low", "high")]
    return f"{values[0]:+.1f} [{values[1]:+.1f}, {values[2]:+.1f}]"


def row(kept):
    models = kept["models"]
    dev = f"{mean(models, 'dev', 'f1_before'):.1f}, {mean(models, 'dev', 'f1'):.1f}"
    errors = [f"{mean(models, name, 'calibration_error'):.1f}" for name in ("without", "with")]
    if all("why" in own["dev"] for own in models):
        return f"{dev} | {f1(models, 'without')} | none kept | | | | {errors[0]} |"
    own = (f1(models, "without"), f1(models, "with"))
    told = [difference(kept["differences"][name]) for name in ("overall", "discontinuous")]
    precision, recall = (
        ", ".join(f"{mean(models, name, 'overall', rate):.0f}" for name in ("without", "with"))
        for rate in ("precision", "recall")
    )
    return " | ".join([dev, *own, *told, f"{precision}; {recall}", ", ".join(errors)]) + " |"


@pytest.mark.parametrize("name", KEPT)
def test_a_row_is_what_was_kept(name):
    corpus, _, system = name.rpartition("-")
    titles = {"chia": "Chia", "psytar": "PsyTAR", "spl-adr": "spl-adr"}
    assert f"| {titles[corpus]} | `{system}` | {row(KEPT[name])}" in PAGE


def test_there_are_kept_figures():
    assert len(KEPT) >= 4
