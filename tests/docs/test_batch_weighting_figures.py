"""What batches count, on its page: dev F1 after each epoch as the kept runs have it."""

from __future__ import annotations

import json
import re
from typing import Any

from kept_runs import ROOT

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


def row(run: dict[str, Any]) -> str:
    curve = (f"{100 * epoch['f1']:.1f}" for epoch in run["history"])
    return f"| {CORPORA[run['corpus']]} | {BATCHES[run['variant']]} | {' | '.join(curve)} |"


def test_the_table_is_what_the_kept_runs_had_on_dev():
    runs = [json.loads(path.read_text("utf-8")) for path in KEPT.glob("*.json")]
    assert {run["seed"] for run in runs} == {1}
    table = PAGE.split("| corpus | batches |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (?:spl-adr|PsyTAR).*$", table, re.M)
    assert sorted(rows) == sorted(row(run) for run in runs)
