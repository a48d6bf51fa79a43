"""The page on rescoring: its rows are what `benchmarks/rescoring.py` kept."""

from __future__ import annotations

import json

import pytest

from kept_runs import ROOT

PAGE = (ROOT / "docs/decisions/rescoring.md").read_text("utf-8")
KEPT = {
    path.stem: json.loads(path.read_text("utf-8"))
    for path in sorted((ROOT / "docs/results/rescoring").glob("*.json"))
}


def f1(figures, name):
    return " / ".join(f"{100 * figures[name][s]['f1']:.2f}" for s in ("overall", "discontinuous"))


def difference(own):
    values = [100 * own[name] for name in ("difference", "low", "high")]
    return f"{values[0]:+.2f} [{values[1]:+.2f}, {values[2]:+.2f}]"


def row(kept):
    (figures,) = kept["models"]
    dev = f"{100 * figures['dev']['f1_before']:.2f}, {100 * figures['dev']['f1']:.2f}"
    errors = [f"{100 * figures[name]['calibration_error']:.1f}" for name in ("without", "with")]
    if "why" in figures["dev"]:
        return f"{dev} | {f1(figures, 'without')} | none kept | | | {errors[0]} |"
    own = (f1(figures, "without"), f1(figures, "with"))
    told = [difference(kept[name]) for name in ("overall", "discontinuous")]
    return " | ".join([dev, *own, *told, ", ".join(errors)]) + " |"


@pytest.mark.parametrize("name", KEPT)
def test_a_row_is_what_was_kept(name):
    corpus, _, system = name.rpartition("-")
    titles = {"chia": "Chia", "psytar": "PsyTAR", "spl-adr": "spl-adr"}
    assert f"| {titles[corpus]} | `{system}` | {row(KEPT[name])}" in PAGE


def test_there_are_kept_figures():
    assert len(KEPT) >= 4
