"""Full runs: the tables of MPNet are what `evaluate` printed, in the files that are kept."""

from __future__ import annotations

import json
import re

import pytest

from kept_runs import ROOT

PAGE = (ROOT / "docs/results/end-to-end.md").read_text("utf-8")
SECTION = PAGE.split("## spl-adr with MPNet\n")[1].split("\n## ")[0]
NAMES = ("overall", "discontinuous", "sentences_with_discontinuous", "continuous")


def counts(scores: dict[str, float]) -> str:
    return " / ".join(f"{scores[name]:,}" for name in ("correct", "predicted", "gold"))


@pytest.mark.parametrize("part", ["dev", "test"])
def test_a_row_is_what_evaluate_printed(part):
    kept = ROOT / f"docs/results/end-to-end/spl-adr-best-mpnet-{part}.json"
    scores = json.loads(kept.read_text("utf-8"))
    cells = [f"{100 * scores[name]['f1']:.2f}" for name in NAMES]
    cells += [counts(scores["overall"]), counts(scores["discontinuous"])]
    assert re.findall(rf"^\| {part} \| (.+) \|$", SECTION, re.M) == [" | ".join(cells)]
