"""What batches count, on its page: dev F1 after each epoch as the kept runs have it."""

from __future__ import annotations

import json
import re
from typing import Any

from kept_runs import ROOT, spread

PAGE = (ROOT / "docs/decisions/batch-weighting.md").read_text("utf-8")
KEPT = ROOT / "docs/results/batch-weighting"
BATCHES = {
    "cells": "cells",
    "equal": "equal",
    "random": "as in random batches",
    "shuffled": "random batches, padded",
    "parts": "random batches in parts",
    "plain": "plain W2NER",
}
CORPORA = {"spl-adr": "spl-adr", "psytar": "PsyTAR, AdverseReaction"}


def row(runs: list[dict[str, Any]]) -> str:
    curves = zip(*([100 * epoch["f1"] for epoch in run["history"]] for run in runs), strict=True)
    seeds = ", ".join(str(run["seed"]) for run in runs)
    cells = [CORPORA[runs[0]["corpus"]], BATCHES[runs[0]["variant"]], seeds, *map(spread, curves)]
    return f"| {' | '.join(cells)} |"


def rows_of_kept_runs() -> list[str]:
    kept = [json.loads(path.read_text("utf-8")) for path in sorted(KEPT.glob("*.json"))]
    return [
        row([run for run in kept if (run["corpus"], run["variant"]) == (corpus, variant)])
        for corpus, variant in sorted({(run["corpus"], run["variant"]) for run in kept})
    ]


def test_the_table_is_what_the_kept_runs_had_on_dev():
    table = PAGE.split("| corpus | batches |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (?:spl-adr|PsyTAR).*$", table, re.M)
    assert sorted(rows) == sorted(rows_of_kept_runs())


def test_batches_on_spl_adr_are_level_from_the_second_epoch_on():
    runs = [json.loads(path.read_text("utf-8")) for path in KEPT.glob("spl-adr-*.json")]
    first, *others = zip(*([100 * e["f1"] for e in run["history"]] for run in runs), strict=True)
    assert max(max(each) - min(each) for each in others) <= 0.6
    of = {run["variant"]: f"{f1:.1f}" for run, f1 in zip(runs, first, strict=True)}
    text = " ".join(PAGE.split())
    assert "within 0.6 points of each other" in text
    assert f"the plain one has {of['plain']} and the others {of['parts']} and {of['cells']}" in text
